package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/loop"
	"git-runr/loop/record"
	"git-runr/loop/reply"
	"git-runr/loop/share"
)

// runLease is the lease of the claim that a run has on the review it addresses. It
// is renewed at a third of it.
const runLease = 30 * time.Minute

// holdReview claims the review that a run addresses, so that nobody else does, until
// letGo is called. id "" is no review. One that this actor has claimed for good
// before, or that is closed, is left as it is.
func (s *session) holdReview(store *record.Store, id string) (letGo func(), err error) {
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
	if review, err = s.claim(store, review.ID, hold); err != nil {
		var state *record.StateError
		if errors.As(err, &state) && state.Holder != "" {
			err = exit.Problemf(exit.Claimed, "%w", err).WithHint("git runr inbox claim " + review.ID + " --force   although it is somebody else's")
		}
		return nothing, err
	}
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
func (s *session) letGo(store *record.Store, id string, hold record.Hold) {
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

// answerFindings records what a run that is completed fixed of the review that it
// addressed: what its last round did not find again.
func (s *session) answerFindings(store *record.Store, run record.Run) {
	if run.Plan.FromReview == "" || run.Status != record.RunCompleted {
		return
	}
	review, err := store.Review(s.ctx, run.Plan.FromReview)
	if err != nil || !review.ClosedAt.IsZero() || run.Result != record.ResultPass {
		return // there is nothing to say, or nothing to say it of any more
	}
	open, _ := run.Open()
	actor, err := s.actor(store)
	for _, f := range run.Plan.Findings {
		again := func(o reply.Finding) bool { return o.ID == f.ID || o.ID == reply.FindingID(f) }
		if _, answered := review.AnswerTo(f.ID); err != nil || answered || slices.ContainsFunc(open, again) {
			continue
		}
		_, err = store.AnswerFinding(s.ctx, review.ID, record.Answer{Finding: f.ID, Kind: record.AnswerFixed, Commit: run.Commit, Reason: "run " + run.ID, Actor: actor}, false)
	}
	if err != nil {
		s.say("review %s does not say what was fixed: %v", review.ID, err)
	}
}
