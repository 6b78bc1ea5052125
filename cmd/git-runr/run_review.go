package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/background"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// runLease is the lease of the claim that a run has on the review it addresses. It
// is renewed at a third of it.
const runLease = 30 * time.Minute

// holdReview claims the review that a run addresses, so that nobody else does, until
// letGo is called. id "" is no review. One that this actor has claimed for good
// before, or that is closed, is left as it is.
func (s *session) holdReview(store *store.Store, id string) (letGo func(), err error) {
	nothing := func() {}
	if id == "" {
		return nothing, nil
	}
	review, err := store.Review(s.ctx, id)
	if err != nil || !review.ClosedAt.IsZero() {
		return nothing, err
	}
	hold := record.Hold{Lease: runLease}
	if hold.Actor, err = s.actor(store); err != nil {
		return nothing, err
	}
	if review.Claim != nil && review.Claim.By == hold.Actor && review.Claim.Until.IsZero() {
		return nothing, nil
	}
	claimed, err := s.claim(store, review.ID, hold)
	if state := new(record.StateError); errors.As(err, &state) && state.Holder != "" {
		err = pastClaim(err, review, "git runr inbox claim "+review.ID+" --force")
	}
	if err != nil {
		return nothing, err
	}
	review = claimed
	hold.Claim = review.Claim.ID
	remote := s.sharedRemote(store)
	stop := loop.Renew(context.WithoutCancel(s.ctx), hold.Lease, func(ctx context.Context) (lost bool) {
		state := new(record.StateError)
		return errors.As(share.RenewClaim(ctx, store, remote, review.ID, hold), &state)
	})
	return func() {
		stop()
		s.letGo(store, review.ID, hold)
	}, nil
}

// letGo gives a claim back, if it is still there to give.
func (s *session) letGo(store *store.Store, id string, hold record.Hold) {
	ctx := context.WithoutCancel(s.ctx)
	review, err := store.Review(ctx, id)
	if err == nil && (review.Status != record.ReviewClaimed || review.Claim.ID != hold.Claim) {
		return
	}
	if err == nil {
		review, err = store.ReleaseReview(ctx, id, hold)
	}
	if err != nil {
		s.say("the claim of review %s stays until it lapses: %v", id, err)
		return
	}
	s.unshare(store, review, hold)
}

// startWait is how long a run in the background is waited for until it has begun.
const startWait = 20 * time.Second

// begunJSON is the answer of git runr run --detached.
type begunJSON struct {
	Run    string `json:"run_id"`
	Review string `json:"review_id"`
}

// runDetached begins a run of a review in the background, and says which once it is there. A
// review has one run at a time of those that are begun so.
func (s *session) runDetached(store *store.Store, plan runplan.Plan) error {
	unlock, err := store.Repo.Lock(s.ctx, "run-detached")
	if err != nil {
		return err
	}
	defer unlock()
	before, err := store.RunsOf(s.ctx, plan.FromReview)
	if err != nil {
		return err
	}
	for id := range before {
		if workspace.Live(store, id) {
			return exit.Problemf(exit.State, "run %s works on review %s already", id, plan.FromReview).WithHint("git runr log --follow " + id)
		}
	}
	actor, err := s.detachedActor(store, plan.FromReview)
	if err != nil {
		return err
	}
	args := []string{"run", "--review", plan.FromReview}
	for _, id := range s.StringSlice("finding") {
		args = append(args, "--finding", id)
	}
	log := filepath.Join("web", "run-"+plan.FromReview+".log")
	if err := background.Command(store.Repo, actor, log, args...); err != nil {
		return err
	}
	for end := time.Now().Add(startWait); time.Now().Before(end); {
		if err := duration.Sleep(s.ctx, 50*time.Millisecond); err != nil {
			return err
		}
		runs, err := store.RunsOf(s.ctx, plan.FromReview)
		if err != nil {
			return err
		}
		for id := range runs {
			if !before[id] {
				return s.print(begunJSON{id, plan.FromReview}, func(w io.Writer) {
					safetext.Fprintf(w, "Run %s has begun.\n", id)
					screen.Next(w, "git runr log --follow "+id)
				})
			}
		}
	}
	return exit.Problemf(exit.Busy, "the run has not begun; %q may say why", filepath.Join(store.Repo.StateDir(), log))
}

// detachedActor is who holds a review while a run in the background addresses it: the person,
// where it is theirs. It is an error where somebody else has it.
func (s *session) detachedActor(store *store.Store, review string) (string, error) {
	now, err := store.Review(s.ctx, review)
	if err != nil {
		return "", err
	}
	person, err := s.person(store)
	if err != nil {
		return "", err
	}
	actor, err := s.actor(store)
	switch claim := now.Claim; {
	case err != nil || claim == nil || now.Status != record.ReviewClaimed || claim.Lapsed(s.now()):
	case claim.By == person:
		return person, nil
	case claim.By != actor:
		err := &record.StateError{What: "review " + review, Holder: claim.By}
		return "", pastClaim(err, now, "git runr inbox claim "+review+" --force")
	}
	return actor, err
}

// answerFindings records what a run fixed of the review that it addressed.
func (s *session) answerFindings(store *store.Store, run record.Run) {
	if run.Plan.FromReview == "" {
		return
	}
	actor, err := s.actor(store)
	if err == nil {
		err = loop.AnswerFixed(s.ctx, store, run, actor)
	}
	if err != nil {
		s.say("review %s does not say what was fixed: %v", run.Plan.FromReview, err)
	}
}
