package main

import (
	"context"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/steps"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

// steps takes the steps of reviews, on the remote that is synced with and here.
func (s *session) steps(store *store.Store) steps.Taker {
	return steps.Taker{
		Store: store, Closing: s.closing(store),
		Claim: func(ctx context.Context, id string, by record.Hold) (review record.Review, provisional string, err error) {
			if remote := s.sharedRemote(store); remote != "" {
				return share.Claim(ctx, store, remote, id, by)
			}
			if !s.Bool("local") && len(store.Repo.Remotes()) > 0 {
				provisional = "nothing was synced with a remote so far"
			}
			review, err = store.ClaimReview(ctx, id, by)
			return review, provisional, err
		},
		Held: func(ctx context.Context, id string, by record.Hold, ask bool) (record.Review, error) {
			if remote := s.sharedRemote(store); remote != "" {
				return share.CheckClaim(ctx, store, remote, id, by, ask)
			}
			return record.Review{}, nil
		},
		Unclaim: func(review record.Review, by record.Hold) { s.unshare(store, review, by) },
		Closed: func() {
			s.project(s.ctx, store)
			s.tidy(s.ctx, store)
		},
	}
}

// tidy does loop.Tidy, of which nobody needs to hear.
func (c *console) tidy(ctx context.Context, store *store.Store) {
	if conf, err := config.Read(ctx, store.Repo, c.getenv); err == nil {
		_ = loop.Tidy(ctx, store, time.Duration(conf.Inbox.Retention), conf.Inbox.Closing)
	}
}

// closing is what ends by itself here; nothing where the configuration cannot be read.
func (s *session) closing(store *store.Store) closing.Rule {
	conf, err := s.configuration(store)
	if err != nil {
		return closing.Never
	}
	return conf.Inbox.Closing
}

// claim claims a review, and says where that does not count in all clones.
func (s *session) claim(store *store.Store, id string, by record.Hold) (record.Review, error) {
	review, provisional, err := s.steps(store).Claim(s.ctx, id, by)
	if provisional != "" && err == nil {
		s.say("claimed in this clone only, nobody else can see it: %s", provisional)
	}
	return review, err
}

// sharedRemote is the remote where clones decide who has a review: one that was
// synced with. "" where there is none, or it is not to be asked.
func (s *session) sharedRemote(store *store.Store) string {
	if s.Bool("local") || len(store.Repo.Remotes()) == 0 {
		return ""
	}
	conf, err := s.configuration(store)
	if err != nil {
		return ""
	}
	remote, err := store.Repo.ElectRemote(conf.Sync.Remote)
	if err != nil {
		return ""
	}
	synced, err := store.Repo.Refs(s.ctx, "refs/runr-remotes/"+remote+"/")
	if err != nil || len(synced) == 0 {
		return ""
	}
	return remote
}

// unshare gives the claim on the remote back. Where that fails it lapses, or the
// next one who claims forces it.
func (s *session) unshare(store *store.Store, review record.Review, by record.Hold) {
	remote := s.sharedRemote(store)
	if remote == "" {
		return
	}
	if err := share.DropClaim(s.ctx, store, remote, review.ID, by); err != nil {
		s.say("the claim stays on %s for now: %v", remote, err)
	}
}
