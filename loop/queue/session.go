package queue

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// session is one review while its agents answer in parallel.
type session struct {
	*Worker
	status *statusFile

	checking sync.Mutex // held while checks run, so that they run once
	checked  []checkedFiles
}

func newSession(w *Worker, id string) *session {
	return &session{Worker: w, status: &statusFile{store: w.Store, path: statusPath(w.Store, id), at: map[string]atWork{}}}
}

// checkedFiles holds the check results for reviewers who see the same files.
type checkedFiles struct {
	files   []string
	results []record.CheckResult
}

// checkOnce runs the checks of a change, or returns their earlier results.
func (w *session) checkOnce(files []string,
	run func() ([]record.CheckResult, *record.Failure, error)) ([]record.CheckResult, *record.Failure, error) {
	w.checking.Lock()
	defer w.checking.Unlock()
	for _, c := range w.checked {
		if slices.Equal(c.files, files) {
			return slices.Clone(c.results), nil, nil
		}
	}
	results, tampered, err := run()
	if tampered == nil && err == nil {
		w.checked = append(w.checked, checkedFiles{files, results})
	}
	return slices.Clone(results), tampered, err
}

// review runs one agent's turn.
func (w *session) review(ctx context.Context, review record.Review, turn string) (outcome, error) {
	name, judge := record.AgentOf(turn)
	calls := w.Terms.Calls(w.Store, w.Progress, name)
	if w.Awaited {
		calls.Pause = w.Terms.Patience(w.Store, w.Progress).Wait
	}
	reviewer, failure, err := calls.Relay(ctx, name, w.Reviewer)
	if err != nil {
		return outcome{}, err
	}
	if failure != nil {
		return outcome{failed: 1}, w.fail(ctx, review, turn, *failure)
	}
	w.Progress.Step("review", turnTitle(review, turn))
	defer w.status.end(turn)
	if judge {
		return w.judge(ctx, review, name, reviewer, w.status.begin(turn, w.Progress))
	}
	started := time.Now()
	sub, raw, failure, err := w.answer(ctx, review, name, reviewer, w.status.begin(name, w.Progress))
	switch {
	case err != nil:
		_, err = w.skip(ctx, review, []string{name}, err)
		return outcome{}, err
	case failure != nil:
		failure.Spent = sub.Spent
		return outcome{failed: 1}, w.fail(ctx, review, name, *failure)
	}
	sub.Duration = duration.Duration(time.Since(started))
	return outcome{answered: 1}, w.submit(ctx, review, sub, raw)
}

// submit records an answer and closes the review if that completes it.
func (w *Worker) submit(ctx context.Context, review record.Review, sub record.Submission, raw string) error {
	review, err := w.Store.SubmitReview(ctx, review.ID, sub, raw)
	if err == nil {
		_, err = closing.Close(ctx, w.Store, review, w.Closing)
	}
	return err
}

// answer returns the answer of the reviewer called name about the review's subject.
func (w *session) answer(ctx context.Context, review record.Review, name string, reviewer role.Reviewer,
	progress checking.Progress) (record.Submission, string, *record.Failure, error) {
	subject := review.Request.Subject
	sub := record.Submission{Reviewer: name, Commit: subject.Commit, Tree: subject.Tree, Outcome: record.OutcomeNothing,
		Report: record.EmptyReport()}
	answer, census, checks, err := reviewing.Inquiry{
		Store: w.Store, Progress: progress, Reviewer: reviewer, Subject: subject, Exclude: w.Exclude,
		ExcludedBy: w.ExcludedBy, All: w.Generated, Instructed: w.Instructed,
		Question: func(change reviewing.Change) (reviewing.Question, error) {
			asked, skipped := w.question(ctx, review, change, progress)
			sub.SkippedBy = skipped
			return asked, nil
		},
	}.Answer(ctx)
	sub.Census, sub.Told, sub.Spent = census, answer.Told, spend.NewSpent(name, answer.Calls)
	if err == nil && census.Files == 0 {
		err = intake.Nothing(ctx, w.Store, subject)
		if none := new(intake.NothingError); errors.As(err, &none) {
			sub.Report.Summary, err = none.Text(), nil
		}
	}
	if err != nil || census.Nothing() || answer.Failure != nil {
		return sub, answer.Raw, answer.Failure, err
	}
	sub.Report, sub.Checks = answer.Report, checks
	sub.Census.CountChecks(checks, len(sub.SkippedBy))
	reviewing.BoundVerdict(&sub.Report, census)
	switch passed := sub.Report.Effective.Passed(); {
	case passed && census.Partial():
		sub.Outcome = record.OutcomePartial
	case passed:
		sub.Outcome = record.OutcomePassed
	default:
		sub.Outcome = record.OutcomeFailed
	}
	return sub, answer.Raw, nil, nil
}

// question returns the question to a reviewer about a commit or a range, with the checks to run for it. skipped says
// why other checks do not run.
func (w *session) question(ctx context.Context, review record.Review, change reviewing.Change,
	progress checking.Progress) (asked reviewing.Question, skipped []string) {
	subject := review.Request.Subject
	var checks []runplan.Check
	if w.Checks != nil {
		checks, skipped = w.Checks(ctx, review, change)
	}
	asked.Prompt = reviewing.ReviewPrompt{
		Entity:  runplan.Entity{Type: "commit", Identifier: subject.Spec, Title: subject.Title},
		Message: review.Request.Message, Commits: subject.Words(),
		Round: 1, NotChecked: skipped, Panel: review.Request.Panel,
	}
	w.addOtherReviews(ctx, review, change, &asked.Prompt)
	if len(checks) > 0 {
		asked.Check = func(ctx context.Context, tree *gitstore.Worktree) ([]record.CheckResult, *record.Failure, error) {
			watch := func(while string) checking.Watch { return checking.WatchCheckout(w.Store, progress, tree, while) }
			return w.checkOnce(change.Files, func() ([]record.CheckResult, *record.Failure, error) {
				return checking.Check(ctx, w.Store, w.Checker, progress, checking.Job{
					Checks: checks, Watch: watch, Fresh: true, Tree: subject.Tree, Base: subject.Base, Changed: change.Files,
					Known: map[string]record.CheckResult{},
				})
			})
		}
	}
	return asked, skipped
}
