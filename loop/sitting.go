package loop

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// sitting are the turns of one review that are taken side by side.
type sitting struct {
	*Worker
	board *board

	checking sync.Mutex // while checks run: they run once
	checked  []checkedFiles
}

// checkedFiles is what the checks of a change came to, for those who are shown the same files.
type checkedFiles struct {
	files   []string
	results []record.CheckResult
}

// checkOnce runs the checks of a change, or gives what they came to before.
func (w *sitting) checkOnce(files []string, run func() ([]record.CheckResult, *record.Failure, error)) ([]record.CheckResult, *record.Failure, error) {
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

// review is one agent's turn.
func (w *sitting) review(ctx context.Context, review record.Review, turn string) (turnsDone, error) {
	name, judge := record.AgentOf(turn)
	calls := w.Terms.calls(w.Store, w.Progress, name)
	if w.Awaited {
		calls.pause = w.Terms.patience(w.Store, w.Progress).wait
	}
	reviewer, failure, err := calls.relay(ctx, name, w.Reviewer)
	if err != nil {
		return turnsDone{}, err
	}
	if failure != nil {
		return turnsDone{failed: 1}, w.fail(ctx, review, turn, *failure)
	}
	w.Progress.Step("review", turnTitle(review, turn))
	defer w.board.end(turn)
	if judge {
		return w.judge(ctx, review, name, reviewer, w.board.begin(turn, w.Progress))
	}
	started := time.Now()
	sub, raw, failure, err := w.answer(ctx, review, name, reviewer, w.board.begin(name, w.Progress))
	switch {
	case err != nil:
		_, err = w.skip(ctx, review, []string{name}, err)
		return turnsDone{}, err
	case failure != nil:
		failure.Spent = sub.Spent
		return turnsDone{failed: 1}, w.fail(ctx, review, name, *failure)
	}
	sub.Duration = duration.Duration(time.Since(started))
	return turnsDone{answered: 1}, w.submit(ctx, review, sub, raw)
}

// submit records an answer, and does what follows from it.
func (w *Worker) submit(ctx context.Context, review record.Review, sub record.Submission, raw string) error {
	review, err := w.Store.SubmitReview(ctx, review.ID, sub, raw)
	if err == nil {
		_, err = closing.Close(ctx, w.Store, review, w.Closing)
	}
	return err
}

// answer is what the reviewer called name says of the review's subject.
func (w *sitting) answer(ctx context.Context, review record.Review, name string, reviewer role.Reviewer, progress Progress) (record.Submission, string, *record.Failure, error) {
	subject := review.Request.Subject
	sub := record.Submission{Reviewer: name, Commit: subject.Commit, Tree: subject.Tree, Outcome: record.OutcomeNothing, Report: record.EmptyReport()}
	answer, census, checks, err := inquiry{
		store: w.Store, progress: progress, reviewer: reviewer, subject: subject, exclude: w.Exclude, excluder: w.ExcludedBy, all: w.Generated, instructed: w.Instructed,
		question: func(change Change) (question, error) {
			asked, skipped := w.question(ctx, review, change, progress)
			sub.SkippedBy = skipped
			return asked, nil
		},
	}.answer(ctx)
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
	see(&sub.Report, census)
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

// question is what a reviewer is asked of a commit or a range, with the checks to be run
// for it; skipped says why others are not.
func (w *sitting) question(ctx context.Context, review record.Review, change Change, progress Progress) (asked question, skipped []string) {
	subject := review.Request.Subject
	var checks []runplan.Check
	if w.Checks != nil {
		checks, skipped = w.Checks(ctx, review, change)
	}
	asked.prompt = ReviewPrompt{
		Entity: runplan.Entity{Type: "commit", Identifier: subject.Spec, Title: subject.Title}, Message: review.Request.Message, Commits: subject.Words(),
		Round: 1, NotChecked: skipped, Panel: review.Request.Panel,
	}
	w.remember(ctx, review, change, &asked.prompt)
	if len(checks) > 0 {
		asked.check = func(ctx context.Context, tree *gitstore.Worktree) ([]record.CheckResult, *record.Failure, error) {
			watch := func(while string) watch { return watchCheckout(w.Store, progress, tree, while) }
			return w.checkOnce(change.Files, func() ([]record.CheckResult, *record.Failure, error) {
				return check(ctx, w.Store, w.Checker, progress, checkup{
					checks: checks, watch: watch, fresh: true, tree: subject.Tree, base: subject.Base, changed: change.Files, known: map[string]record.CheckResult{},
				})
			})
		}
	}
	return asked, skipped
}
