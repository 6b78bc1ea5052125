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
)

// Worker does the reviews that this clone asked for.
type Worker struct {
	Store    *record.Store                                 // required
	Reviewer func(name string) (Reviewer, *record.Failure) // required
	// Checks are those to run for a change, and why others are not run. nil: none.
	Checks   func(ctx context.Context, review record.Review, change Change) (run []record.Check, not []string)
	Checker  Checker  // required with Checks
	Retry    bool     // also reviews whose reviewer could not be run before
	Exclude  []string // git globs left out of every review
	Progress Progress // required
	// ExcludedBy is as in Limits.
	ExcludedBy string
}

// Work does every review that this clone asked an agent for, oldest first, until
// none is left; it returns how many are done and of how many an agent failed. A reviewer that could not be run is tried
// again when it is due, if it may well answer then, and otherwise when Retry says so.
// What is left alone is Held.
func (w *Worker) Work(ctx context.Context) (did, failed int, err error) {
	if _, err := dropCheckouts(ctx, w.Store, false); err != nil {
		return 0, 0, err
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
	failure := record.Failure{Reason: record.ReasonObjects, Detail: object.What, Try: object.Try, RetryAt: w.Store.Now().UTC().Truncate(time.Millisecond)}
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

func (w *Worker) answer(ctx context.Context, review record.Review, name string, reviewer Reviewer) (record.Submission, string, *record.Failure, error) {
	subject := review.Request.Subject
	sub := record.Submission{Reviewer: name, Commit: subject.Commit, Tree: subject.Tree, Outcome: record.OutcomeNothing, Report: record.EmptyReport()}
	limits := reviewer.Limits()
	limits.Exclude, limits.ExcludedBy = append(limits.Exclude, w.Exclude...), w.ExcludedBy
	change, err := ReadChange(ctx, w.Store, subject, limits)
	sub.Census = change.Census
	if err == nil && change.Census.Files == 0 {
		err = nothing(ctx, w.Store, subject)
		if none := new(NothingError); errors.As(err, &none) {
			sub.Report.Summary, err = none.text(), nil
		}
	}
	if err != nil || change.Census.Nothing() {
		return sub, "", nil, err
	}
	job := ReviewJob{Change: change, OnLine: w.Progress.Line}
	var checks []record.Check
	if w.Checks != nil {
		checks, job.NotChecked = w.Checks(ctx, review, change)
	}
	job.Prompt = ReviewPrompt{
		Entity: record.Entity{Type: "commit", Identifier: subject.Spec, Title: subject.Title}, Message: review.Request.Message, Commits: subject.Words(),
		Round: 1, NotChecked: job.NotChecked,
	}
	answer, err := w.examine(ctx, subject, reviewer, checks, &job)
	if err != nil || answer.Failure != nil {
		return sub, answer.Raw, answer.Failure, err
	}
	sub.Report, sub.Checks, sub.SkippedBy = answer.Report, job.Checks, job.NotChecked
	sub.Census.CountChecks(job.Checks, len(job.NotChecked))
	see(&sub.Report, change.Census)
	switch passed := sub.Report.Effective.Passed(); {
	case passed && change.Census.Partial():
		sub.Outcome = record.OutcomePartial
	case passed:
		sub.Outcome = record.OutcomePassed
	default:
		sub.Outcome = record.OutcomeFailed
	}
	if len(sub.Report.Findings) == 0 && change.Census.SentLines == 0 {
		sub.Outcome = record.OutcomeNothing // only binary files, and nothing to say of them
	}
	return sub, answer.Raw, nil, nil
}

// examine runs the checks and asks the reviewer, in a checkout of its own where
// one is needed.
func (w *Worker) examine(ctx context.Context, subject record.Subject, reviewer Reviewer, checks []record.Check, job *ReviewJob) (ReviewAnswer, error) {
	if len(checks) == 0 && !reviewer.NeedsCheckout() {
		return reviewParts(ctx, reviewer, *job, w.beginPart)
	}
	var answer ReviewAnswer
	err := inCheckout(ctx, w.Store, subject.Tree, func(tree *gitstore.Worktree) error {
		var err error
		job.Checks, err = check(ctx, w.Store, w.Checker, w.Progress, checkup{
			checks: checks, dir: tree.Dir, tree: subject.Tree, base: subject.Base, changed: job.Change.Files, known: map[string]record.CheckResult{},
		})
		if err != nil {
			return err
		}
		job.Dir, job.Prompt.Checks = tree.Dir, job.Checks
		answer, err = w.reviewReadOnly(ctx, tree, reviewer, *job)
		return err
	})
	return answer, err
}

// reviewReadOnly asks the reviewer and makes its answer void when it changed the
// files that it was to read.
func (w *Worker) reviewReadOnly(ctx context.Context, tree *gitstore.Worktree, reviewer Reviewer, job ReviewJob) (ReviewAnswer, error) {
	all := func() (ReviewAnswer, error) { return reviewParts(ctx, reviewer, job, w.beginPart) }
	if !reviewer.NeedsCheckout() {
		return all()
	}
	return guardTree(ctx, tree, all)
}

func (w *Worker) beginPart(part string) { w.Progress.Step("review", part) }

// guardTree makes review's answer a failure when the working tree is another afterwards.
func guardTree(ctx context.Context, tree *gitstore.Worktree, review func() (ReviewAnswer, error)) (ReviewAnswer, error) {
	before, err := tree.NormalTree(ctx)
	if err != nil {
		return ReviewAnswer{}, err
	}
	answer, err := review()
	if err != nil || answer.Failure != nil {
		return answer, err
	}
	after, err := tree.NormalTree(ctx)
	if err == nil && after != before {
		answer.Failure = &record.Failure{Reason: record.ReasonTampered, Detail: "files differ from what was to be reviewed"}
	}
	return answer, err
}
