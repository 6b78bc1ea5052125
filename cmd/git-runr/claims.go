package main

import (
	"context"

	"git-runr/loop/record"
)

// claim claims a review on the remote that is synced with, and here.
func (s *session) claim(store *record.Store, id string, by record.Hold) (record.Review, error) {
	review, provisional, err := s.decideClaim(s.ctx, store, id, by)
	if provisional != "" {
		s.say("claimed in this clone only, for now: %s", provisional)
	}
	return review, err
}

// decideClaim claims a review where clones decide it; provisional says why the claim
// counts in this clone only.
func (s *session) decideClaim(ctx context.Context, store *record.Store, id string, by record.Hold) (review record.Review, provisional string, err error) {
	if remote := s.sharedRemote(store); remote != "" {
		return store.ClaimShared(ctx, remote, id, by)
	}
	review, err = store.ClaimReview(ctx, id, by)
	return review, "", err
}

// sharedRemote is the remote where clones decide who has a review: one that was
// synced with. "" where there is none, or it is not to be asked.
func (s *session) sharedRemote(store *record.Store) string {
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

// heldElsewhere refuses a step on a review that somebody else has where clones decide it;
// ask says whether the remote is to be asked, or what it said last will do.
func (s *session) heldElsewhere(ctx context.Context, store *record.Store, id string, by record.Hold, ask bool) (record.Review, error) {
	remote := s.sharedRemote(store)
	if remote == "" {
		return record.Review{}, nil
	}
	return store.CheckShared(ctx, remote, id, by, ask)
}

// unshare gives the claim on the remote back. Where that fails it lapses, or the
// next one who claims forces it.
func (s *session) unshare(store *record.Store, review record.Review, by record.Hold) {
	remote := s.sharedRemote(store)
	if remote == "" {
		return
	}
	if err := store.DropShared(s.ctx, remote, review.ID, by); err != nil {
		s.say("the claim stays on %s for now: %v", remote, err)
	}
}
