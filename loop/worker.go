package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/record"
	"git-runr/loop/role"
)

// Worker does the reviews that this clone asked for.
type Worker struct {
	Store    *record.Store                                      // required
	Reviewer func(name string) (role.Reviewer, *record.Failure) // required
	// Checks are those to run for a change, and why others are not run. nil: none.
	Checks   func(ctx context.Context, review record.Review, change Change) (run []record.Check, not []string)
	Checker  Checker  // required with Checks
	Retry    bool     // also reviews whose reviewer could not be run before
	Exclude  []string // git globs left out of every review
	Progress Progress // required
	// ExcludedBy is as in role.Limits.
	ExcludedBy string
	Generated  bool // look at generated and vendored files as well
}

// Work does every review that this clone asked an agent for, oldest first, until none is
// left; it returns how many are done and of how many an agent failed. A reviewer that could
// not be run is tried again when it is due, if it may well answer then, and otherwise when
// Retry says so. What is left alone is Held.
func (w *Worker) Work(ctx context.Context) (did, failed int, err error) {
	if _, err := dropCheckouts(ctx, w.Store, false); err != nil {
		return 0, 0, err
	}
	if _, err := Follow(ctx, w.Store); err != nil {
		if ctx.Err() != nil {
			return 0, 0, err
		}
		w.Progress.Say("What was rewritten is not followed: " + err.Error()) // the next worker does
	}
	var refusals []error // git's refusals of single reviews
	for seen := map[string]bool{}; ; {
		next, err := w.next(ctx, seen)
		if err != nil || next == "" {
			return did, failed, errors.Join(append(refusals, err)...)
		}
		seen[next] = true
		review, err := w.Store.Review(ctx, next)
		if err == nil {
			review, err = w.Review(ctx, review)
		}
		state, refused := new(record.StateError), new(gitstore.GitError)
		switch {
		case errors.As(err, &state), errors.Is(err, gitstore.ErrBusy): // somebody else was quicker
		case errors.As(err, &refused):
			refusals = append(refusals, err)
		case err != nil:
			return did, failed, errors.Join(append(refusals, err)...)
		case review.Failure != nil && review.Failure.Reason == record.ReasonObjects: // see Held
		case review.Failure != nil:
			failed++
		default:
			did++
		}
	}
}

// next is the oldest review of this clone that waits for an agent and is not in done.
func (w *Worker) next(ctx context.Context, done map[string]bool) (string, error) {
	waits := func(r record.ReviewSummary) bool {
		return !done[r.ID] && r.Writer == w.Store.Repo.Writer() && len(w.turns(r.Waiting, r.Failed, r.RetryAt)) > 0
	}
	waiting, _, err := w.Store.Reviews(ctx, record.Filter{Status: record.WaitingStatus, Review: waits})
	if err != nil || len(waiting) == 0 {
		return "", err
	}
	oldest := slices.MinFunc(waiting, func(a, b record.ReviewSummary) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return oldest.ID, nil
}

// turns are the agents among those who are waited for that are to be run now: not those
// that failed, unless they are due again.
func (w *Worker) turns(waiting, failed []string, retryAt map[string]time.Time) []string {
	now := w.Store.Now()
	var agents []string
	for _, name := range waiting {
		at, due := retryAt[name]
		due = w.Retry || !slices.Contains(failed, name) || due && !now.Before(at)
		if name != record.Human && name != "" && due {
			agents = append(agents, name)
		}
	}
	return agents
}

// Review has every agent that was asked and has not answered do its review, and
// records the answers, or why there are none. It is gitstore.ErrBusy when another
// process of this clone is at it.
func (w *Worker) Review(ctx context.Context, review record.Review) (record.Review, error) {
	unlock, free, err := w.Store.Repo.TryLock("review-" + review.ID)
	if err != nil {
		return review, err
	}
	if !free {
		return review, fmt.Errorf("review %s: another worker is at it: %w", review.ID, gitstore.ErrBusy)
	}
	defer unlock()
	if review, err = w.Store.Review(ctx, review.ID); err != nil || !record.WaitingStatus(string(review.Status)) {
		return review, err
	}
	failed, retryAt := review.Failed()
	turns := w.turns(review.Waiting(), failed, retryAt)
	if err := w.Store.PinReview(ctx, review); err != nil {
		return w.skip(ctx, review, turns, err)
	}
	for _, name := range turns {
		if review, err = w.review(ctx, review, name); err != nil {
			return review, err
		}
	}
	if review.Status != record.ReviewOpen && len(w.turns(review.Waiting(), nil, nil)) == 0 {
		w.Store.Repo.DropLock("review-" + review.ID)
	}
	return review, w.Store.Project(ctx)
}

// skip records why a review cannot be done by those who were asked, once, where that
// is for want of an object, which may be there the next time. Any other err is returned.
func (w *Worker) skip(ctx context.Context, review record.Review, names []string, err error) (record.Review, error) {
	var object *gitstore.MissingError
	if !errors.As(err, &object) {
		return review, fmt.Errorf("review %s: %w", review.ID, err)
	}
	failure := record.Failure{Reason: record.ReasonObjects, Detail: object.What, Try: object.Try, RetryAt: w.Store.EventTime()}
	for _, name := range names {
		known := func(f record.Failure) bool {
			return f.Reviewer == name && f.Reason == failure.Reason && f.Detail == failure.Detail
		}
		if slices.ContainsFunc(review.Failures, known) {
			continue
		}
		if review, err = w.Store.FailReview(ctx, review.ID, name, failure); err != nil {
			return review, err
		}
	}
	return review, nil
}

func (w *Worker) review(ctx context.Context, review record.Review, name string) (record.Review, error) {
	reviewer, failure := w.Reviewer(name)
	if failure != nil {
		return w.fail(ctx, review, name, *failure)
	}
	w.Progress.Step("review", fmt.Sprintf("%s by %s", review.Request.Subject.Spec, name))
	started := time.Now()
	sub, raw, failure, err := w.answer(ctx, review, name, reviewer)
	switch {
	case err != nil:
		return w.skip(ctx, review, []string{name}, err)
	case failure != nil:
		return w.fail(ctx, review, name, *failure)
	}
	sub.Duration = record.Duration(time.Since(started))
	return w.Store.SubmitReview(ctx, review.ID, sub, raw)
}

// answer is what the reviewer called name says of the review's subject.
func (w *Worker) answer(ctx context.Context, review record.Review, name string, reviewer role.Reviewer) (record.Submission, string, *record.Failure, error) {
	subject := review.Request.Subject
	sub := record.Submission{Reviewer: name, Commit: subject.Commit, Tree: subject.Tree, Outcome: record.OutcomeNothing, Report: record.EmptyReport()}
	answer, census, checks, err := inquiry{
		store: w.Store, progress: w.Progress, reviewer: reviewer, subject: subject, exclude: w.Exclude, excluder: w.ExcludedBy, all: w.Generated,
		question: func(change Change) (question, error) {
			asked, skipped := w.question(ctx, review, change)
			sub.SkippedBy = skipped
			return asked, nil
		},
	}.answer(ctx)
	sub.Census = census
	if err == nil && census.Files == 0 {
		err = nothing(ctx, w.Store, subject)
		if none := new(NothingError); errors.As(err, &none) {
			sub.Report.Summary, err = none.text(), nil
		}
	}
	if err != nil || census.Nothing() || answer.Failure != nil {
		return sub, answer.Raw, answer.Failure, err
	}
	sub.Report, sub.Checks = answer.Report, checks
	sub.Census.CountChecks(checks, len(sub.SkippedBy))
	see(&sub.Report, census)
	switch passed := sub.Report.Effective.Passed(); {
	case len(sub.Report.Findings) == 0 && census.SentLines == 0: // only binary files, and nothing to say of them
	case passed && census.Partial():
		sub.Outcome = record.OutcomePartial
	case passed:
		sub.Outcome = record.OutcomePassed
	default:
		sub.Outcome = record.OutcomeFailed
	}
	return sub, answer.Raw, nil, nil
}

// question is what a reviewer is asked of a commit or a range, with the checks to be run
// for it; skipped says why others are not.
func (w *Worker) question(ctx context.Context, review record.Review, change Change) (asked question, skipped []string) {
	subject := review.Request.Subject
	var checks []record.Check
	if w.Checks != nil {
		checks, skipped = w.Checks(ctx, review, change)
	}
	asked.prompt = ReviewPrompt{
		Entity: record.Entity{Type: "commit", Identifier: subject.Spec, Title: subject.Title}, Message: review.Request.Message, Commits: subject.Words(),
		Round: 1, NotChecked: skipped,
	}
	if len(checks) > 0 {
		asked.check = func(ctx context.Context, dir string) ([]record.CheckResult, error) {
			return check(ctx, w.Store, w.Checker, w.Progress, checkup{
				checks: checks, dir: dir, tree: subject.Tree, base: subject.Base, changed: change.Files, known: map[string]record.CheckResult{},
			})
		}
	}
	return asked, skipped
}
