package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/gitstore"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// person is who comments and submits here: --as, GIT_RUNR_ACTOR, or git's identity.
// It is the same in every terminal, as drafts are.
func (s *session) person(store *record.Store) (string, error) {
	if s.IsSet("as") {
		return s.String("as"), nil
	}
	if name := s.getenv("GIT_RUNR_ACTOR"); name != "" {
		return name, nil
	}
	id, err := store.Repo.Identity(s.ctx)
	return strings.TrimSpace(safetext.Line(id.String())), err
}

// actor is who claims here: person, and the terminal or chat that it acts in, so
// that two chats of one person are two.
func (s *session) actor(store *record.Store) (string, error) {
	name, err := s.person(store)
	if err != nil || s.IsSet("as") || s.getenv("GIT_RUNR_ACTOR") != "" {
		return name, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	session, err := unix.Getsid(0)
	if err != nil {
		session = os.Getpid()
	}
	return fmt.Sprintf("%s (%s %d)", name, safetext.Line(host), session), nil
}

func forceFlag() cli.Flag {
	return &cli.BoolFlag{Name: "force", Usage: "although somebody else has claimed it"}
}

func claimFlag() cli.Flag {
	return &cli.StringFlag{Name: "claim", Usage: "only while the claim `ID` stands, which claim --json gives: the first 7 digits will do"}
}

// hold is by whom a step is done, by the flags.
func (s *session) hold(actor string) record.Hold {
	return record.Hold{Actor: actor, Force: s.Bool("force"), Claim: gitstore.ID(s.String("claim"))}
}

func (p *program) inboxClaimCommand() *cli.Command {
	return &cli.Command{
		Name: "claim", Usage: "take a submitted review to address it, so that nobody else does", ArgsUsage: "ID",
		Description: "Whoever claims first has it until it is released, resolved, or its lease runs out; claiming again\nrenews the lease. Exit status 12: somebody else has it. You are told apart by terminal; in a program\nset GIT_RUNR_ACTOR or use --as.",
		Flags: []cli.Flag{
			asFlag(), &cli.StringFlag{Name: "lease", Usage: "let others take over after `DURATION`, such as 2h (default: never)"}, forceFlag(),
			&cli.BoolFlag{Name: "local", Usage: "do not ask the remote, which decides between clones"},
		},
		Action: p.action(inboxClaim),
	}
}

// actorDone is the answer of claim, release, resolve, cancel, reopen and answer.
type actorDone struct {
	ID      string              `json:"review_id"`
	Status  record.ReviewStatus `json:"status"`
	Actor   string              `json:"actor"`
	Claim   *record.Claim       `json:"claim,omitempty"`
	Resolve string              `json:"resolve_with,omitempty"` // the line that resolves what was claimed
	Answer  *record.Answer      `json:"answer,omitempty"`
	Open    int                 `json:"unanswered"`       // findings and comments without an answer
	Drafts  []record.KeptDraft  `json:"drafts,omitempty"` // of a review that is closed now
}

func inboxClaim(s *session) error {
	lease := record.Duration(0)
	if text := s.String("lease"); s.IsSet("lease") {
		if err := lease.UnmarshalText([]byte(text)); err != nil || lease <= 0 || time.Duration(lease) > record.MaxLease {
			return exit.Problemf(exit.Usage, "--lease %q is no duration such as 30m, 2h or 1d", text)
		}
	}
	return s.act(func(store *record.Store, id, actor string) (record.Review, error) {
		return s.claim(store, id, record.Hold{Actor: actor, Lease: time.Duration(lease), Force: s.Bool("force")})
	}, func(w io.Writer, done actorDone) {
		until := ""
		if !done.Claim.Until.IsZero() {
			until = " until " + shortTime(done.Claim.Until)
		}
		fmt.Fprintf(w, "Claimed %s as %s%s.\n", done.ID, safetext.Line(done.Actor), until)
		fmt.Fprintf(w, "  git runr inbox get %s\n", done.ID)
		if done.Resolve != "" {
			fmt.Fprintf(w, "  %s\n", done.Resolve)
		}
	})
}

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
