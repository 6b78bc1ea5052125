package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-runr/gitstore"
)

// Human names a person as reviewer or implementer: nothing is started.
const Human = "human"

// Worker does the reviews that this clone asked for.
type Worker struct {
	Store    *Store                                 // required
	Reviewer func(name string) (Reviewer, *Failure) // required
	// Checks are those to run for a change, and why others are not run. nil: none.
	Checks   func(ctx context.Context, review Review, change Change) (run []Check, not []string)
	RunCheck CheckRunner // required with Checks
	Retry    bool        // also reviews whose reviewer could not be run before
	Exclude  []string    // git globs left out of every review
	Progress Progress    // required
}

// Work does every review that this clone asked an agent for, oldest first, until
// none is left; it returns how many it did. A reviewer that cannot be run is not
// tried again unless Retry says so.
func (w *Worker) Work(ctx context.Context) (int, error) {
	done := map[string]bool{}
	for {
		next, err := w.next(ctx, done)
		if err != nil || next == "" {
			return len(done), err
		}
		done[next] = true
		review, err := w.Store.Review(ctx, next)
		if err == nil {
			_, err = w.Review(ctx, review)
		}
		if state := new(StateError); err != nil && !errors.As(err, &state) && !errors.Is(err, gitstore.ErrBusy) {
			return len(done), err
		}
	}
}

// next is the oldest review of this clone that waits for an agent and is not in done.
func (w *Worker) next(ctx context.Context, done map[string]bool) (string, error) {
	waits := func(r ReviewSummary) bool {
		return !done[r.ID] && r.Writer == w.Store.Repo.Writer() && len(w.turns(r.Waiting, r.Failed)) > 0
	}
	waiting, _, err := w.Store.Reviews(ctx, Filter{Status: inboxStatus, Review: waits})
	if err != nil || len(waiting) == 0 {
		return "", err
	}
	oldest := slices.MinFunc(waiting, func(a, b ReviewSummary) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return oldest.ID, nil
}

// turns are the agents among those who are waited for that are to be run now.
func (w *Worker) turns(waiting, failed []string) []string {
	var agents []string
	for _, name := range waiting {
		if name != Human && name != "" && (w.Retry || !slices.Contains(failed, name)) {
			agents = append(agents, name)
		}
	}
	return agents
}

// Review has every agent that was asked and has not answered do its review, and
// records the answers, or why there are none. It is gitstore.ErrBusy when another
// process of this clone is at it.
func (w *Worker) Review(ctx context.Context, review Review) (Review, error) {
	unlock, free, err := w.Store.Repo.TryLock("review-" + review.ID)
	if err != nil {
		return review, err
	}
	if !free {
		return review, fmt.Errorf("review %s: another worker is at it: %w", review.ID, gitstore.ErrBusy)
	}
	defer unlock()
	if review, err = w.Store.Review(ctx, review.ID); err != nil || !inboxStatus(string(review.Status)) {
		return review, err
	}
	if err := w.Store.PinReview(ctx, review); err != nil {
		return review, err
	}
	for _, name := range w.turns(review.Waiting(), review.failed()) {
		if review, err = w.review(ctx, review, name); err != nil {
			return review, err
		}
	}
	if review.Status != ReviewOpen && len(w.turns(review.Waiting(), nil)) == 0 {
		w.Store.Repo.DropLock("review-" + review.ID)
	}
	return review, w.Store.Project(ctx)
}

// failed are the reviewers that could not be run.
func (r Review) failed() []string {
	var names []string
	for _, f := range r.Failures {
		names = append(names, f.Reviewer)
	}
	return names
}

func (w *Worker) review(ctx context.Context, review Review, name string) (Review, error) {
	reviewer, failure := w.Reviewer(name)
	if failure != nil {
		return w.Store.FailReview(ctx, review.ID, name, *failure)
	}
	w.Progress.Step("review", fmt.Sprintf("%s by %s", review.Request.Subject.Spec, name))
	started := time.Now()
	sub, raw, failure, err := w.answer(ctx, review, name, reviewer)
	switch {
	case err != nil:
		return review, fmt.Errorf("review %s: %w", review.ID, err)
	case failure != nil:
		return w.Store.FailReview(ctx, review.ID, name, *failure)
	}
	sub.Duration = Duration(time.Since(started))
	return w.Store.SubmitReview(ctx, review.ID, sub, raw)
}

func (w *Worker) answer(ctx context.Context, review Review, name string, reviewer Reviewer) (Submission, string, *Failure, error) {
	subject := review.Request.Subject
	sub := Submission{Reviewer: name, Commit: subject.Commit, Tree: subject.Tree, Outcome: OutcomeNothing, Report: emptyReport()}
	limits := reviewer.Limits()
	limits.Exclude = append(limits.Exclude, w.Exclude...)
	change, err := w.Store.ReadChange(ctx, subject, limits)
	sub.Census = change.Census
	if err != nil || change.Census.Nothing() {
		return sub, "", nil, err
	}
	job := ReviewJob{Change: change, OnLine: w.Progress.Line}
	var checks []Check
	if w.Checks != nil {
		checks, job.NotChecked = w.Checks(ctx, review, change)
	}
	job.Prompt = ReviewPrompt{
		Entity: Entity{Type: "commit", Identifier: subject.Spec, Title: subject.Title}, Message: review.Request.Message, Commits: subject.words(),
		Round: 1, NotChecked: job.NotChecked,
	}
	answer, err := w.examine(ctx, subject, reviewer, checks, &job)
	if err != nil || answer.Failure != nil {
		return sub, answer.Raw, answer.Failure, err
	}
	sub.Report, sub.Checks, sub.SkippedBy = answer.Report, job.Checks, job.NotChecked
	sub.Report.see(change.Census)
	switch passed := sub.Report.Effective.Passed(); {
	case passed && change.Census.Partial():
		sub.Outcome = OutcomePartial
	case passed:
		sub.Outcome = OutcomePassed
	default:
		sub.Outcome = OutcomeFailed
	}
	if len(sub.Report.Findings) == 0 && change.Census.SentLines == 0 {
		sub.Outcome = OutcomeNothing // only binary files, and nothing to say of them
	}
	return sub, answer.Raw, nil, nil
}

func emptyReport() Report {
	return Report{Format: formatNone, Findings: []Finding{}, Requests: []string{}, Warnings: []string{}}
}

// examine runs the checks and asks the reviewer, in a checkout of its own where
// one is needed.
func (w *Worker) examine(ctx context.Context, subject Subject, reviewer Reviewer, checks []Check, job *ReviewJob) (ReviewAnswer, error) {
	if len(checks) == 0 && !reviewer.NeedsCheckout() {
		return reviewParts(ctx, reviewer, *job, w.beginPart)
	}
	var answer ReviewAnswer
	err := w.Store.inCheckout(ctx, subject.Tree, func(tree *gitstore.Worktree) error {
		job.Checks = w.runChecks(ctx, checks, tree.Dir, subject.Tree)
		if err := w.checkBase(ctx, subject, checks, job); err != nil {
			return err
		}
		job.Dir, job.Prompt.Checks = tree.Dir, job.Checks
		var err error
		answer, err = w.reviewReadOnly(ctx, tree, reviewer, *job)
		return err
	})
	return answer, err
}

func (w *Worker) runChecks(ctx context.Context, checks []Check, dir string, tree gitstore.ID) []CheckResult {
	var results []CheckResult
	for _, check := range checks {
		w.Progress.Step("check", check.Name)
		results = append(results, w.RunCheck(ctx, check, dir, tree))
	}
	return results
}

// checkBase runs the checks that failed on the base too: what failed before is not
// this change's fault.
func (w *Worker) checkBase(ctx context.Context, subject Subject, checks []Check, job *ReviewJob) error {
	var failed []Check
	for i, result := range job.Checks {
		if !result.OK() {
			failed = append(failed, checks[i])
		}
	}
	if _, err := w.Store.Repo.ReadCommit(ctx, subject.Base); len(failed) == 0 || err != nil {
		return nil // nothing failed, or there is nothing before
	}
	return w.Store.inCheckout(ctx, subject.Base, func(tree *gitstore.Worktree) error {
		job.BaseChecks = map[string]CheckResult{}
		for _, result := range w.runChecks(ctx, failed, tree.Dir, subject.Base) {
			job.BaseChecks[result.Name] = result
		}
		return nil
	})
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
		answer.Failure = &Failure{Reason: ReasonTampered, Detail: "files differ from what was to be reviewed"}
	}
	return answer, err
}

// inCheckout runs use in a temporary worktree of commit.
func (s *Store) inCheckout(ctx context.Context, commit gitstore.ID, use func(*gitstore.Worktree) error) error {
	parent := filepath.Join(s.Repo.StateDir(), "worktrees")
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	nonce, err := newNonce()
	if err != nil {
		return err
	}
	dir := filepath.Join(parent, "review-"+nonce)
	tree, err := s.Repo.AddWorktree(ctx, dir, "", commit)
	if err != nil {
		return fmt.Errorf("make worktree: %w", err)
	}
	err = use(tree)
	clean := context.WithoutCancel(ctx) // an interrupted review must not leave its checkout behind
	return errors.Join(err, s.Repo.RemoveWorktree(clean, dir))
}
