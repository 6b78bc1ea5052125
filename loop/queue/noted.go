package queue

import (
	"context"
	"errors"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
)

// takeNoted examines a noted commit with rules and then with checks. If they find nothing, it records one event; else
// it requests the review and records the check results as its answer.
func (w *Worker) takeNoted(ctx context.Context, commit gitstore.ID) (done outcome, err error) {
	unlock, err := w.lock(string(commit))
	if err != nil {
		return done, err
	}
	defer unlock()
	noted, ok := intake.ReadNoted(w.Store, commit)
	if !ok { // another worker was faster
		return done, nil
	}
	if _, err := w.Store.Repo.Identity(ctx); err != nil {
		return done, err
	}
	asked, err := intake.AskedFor(ctx, w.Store, commit)
	if err == nil && !asked {
		done, err = w.checkNoted(ctx, noted)
	}
	if err != nil {
		return done, err
	}
	return done, intake.Forget(w.Store, commit)
}

// checkNoted is takeNoted for a commit about which nothing is recorded. If the commit cannot be examined here, it
// requests the review, whose turn reports the reason.
func (w *Worker) checkNoted(ctx context.Context, noted intake.Noted) (done outcome, err error) {
	request := noted.Request
	review := record.Review{ID: string(request.Subject.Commit), Request: request, Source: noted.Source,
		Writer: w.Store.Repo.Writer()}
	known, err := lineage.Known(ctx, w.Store, review)
	if known != "" {
		return done, nil
	}
	var sub record.Submission
	if err == nil {
		sub, err = w.reviewNoted(ctx, review)
	}
	missing := errors.As(err, new(*gitstore.MissingError))
	switch {
	case err != nil && !missing:
		return done, err
	case !missing && w.KeepChecked && w.Closing == closing.OnPass && record.FoundNothing(request, sub):
		return outcome{answered: 1}, w.Store.KeepChecked(request.Subject.Commit)
	case !missing && w.Closing == closing.OnPass && record.FoundNothing(request, sub):
		review, err = w.Store.RecordChecked(ctx, request, sub, noted.Source)
	default:
		review, err = w.Store.RequestReview(ctx, request, noted.Source)
		if err != nil || len(sub.Checks) == 0 { // its turn is next
			return done, err
		}
		return outcome{answered: 1}, w.recordAnswer(ctx, review, sub)
	}
	if err == nil {
		_, err = closing.Close(ctx, w.Store, review, w.Closing)
	}
	if err == nil {
		err = w.Store.Project(ctx)
	}
	return outcome{answered: 1}, err
}

// recordAnswer records the check results as the answer to a review.
func (w *Worker) recordAnswer(ctx context.Context, review record.Review, sub record.Submission) error {
	err := w.submit(ctx, review, sub, "")
	if err == nil {
		review, err = w.Store.Review(ctx, review.ID)
	}
	if err == nil {
		err = w.Store.Project(ctx)
	}
	if err == nil && w.Heard != nil {
		w.Heard(ctx, review)
	}
	return err
}

// reviewNoted runs the built-in reviewer's rules and, if they find nothing, its checks.
func (w *Worker) reviewNoted(ctx context.Context, review record.Review) (sub record.Submission, err error) {
	reviewer, failure := w.Reviewer(record.Builtin)
	if failure != nil {
		return sub, nil
	}
	started := time.Now()
	s := newSession(w, review.ID)
	defer s.status.close()
	w.Progress.Step("review", turnTitle(review, record.Builtin))
	progress := s.status.begin(record.Builtin, w.Progress)
	rules := *w
	rules.Checks = nil
	sub, _, failure, err = (&session{Worker: &rules}).answer(ctx, review, record.Builtin, reviewer, progress)
	if err == nil && failure == nil && w.Checks != nil && record.FoundNothing(review.Request, sub) {
		sub, _, failure, err = s.answer(ctx, review, record.Builtin, reviewer, progress)
	}
	if failure != nil {
		return record.Submission{}, err
	}
	sub.Duration = duration.Duration(time.Since(started))
	return sub, err
}
