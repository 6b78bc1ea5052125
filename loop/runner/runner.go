package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/landing"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Start records a run and executes it. source names who requested it.
func (r *Runner) Start(ctx context.Context, plan runplan.Plan, source string) (record.Run, error) {
	if err := plan.Policy.Check(); err != nil {
		return record.Run{}, err
	}
	run, err := r.Store.BeginRun(ctx, source, plan.Entity.Name(), plan, func(now time.Time) (id, at time.Time) {
		return now, now
	})
	if err != nil {
		return run, fmt.Errorf("start run: %w", err)
	}
	return r.Continue(ctx, run)
}

// Continue resumes run where its events end. Only one process can do that at a time: any other gets gitstore.ErrBusy.
func (r *Runner) Continue(ctx context.Context, run record.Run) (record.Run, error) {
	unlock, err := workspace.HoldRun(r.Store, run.ID)
	if err != nil {
		return run, err
	}
	defer unlock()
	ctx, ended, err := r.takeUp(ctx, run)
	if err != nil {
		return run, err
	}
	defer ended()
	ctx, free := workspace.Stoppable(ctx, r.Store, run.ID)
	defer free()
	turn := &execution{Runner: r, ctx: ctx, run: run, base: map[string]record.CheckResult{},
		quiet: map[string]bool{}}
	if !run.Done() {
		free, err := turn.openTree()
		if err != nil {
			return run, err
		}
		defer free()
		if err := turn.takeFound(); err != nil {
			return turn.interrupted(err)
		}
	}
	for !turn.run.Done() {
		step, err := turn.affords(Next(turn.run, turn.run.Plan.Policy))
		if err == nil {
			err = turn.do(step)
		}
		if err != nil {
			return turn.interrupted(err)
		}
	}
	left, err := turn.cleanUp(false)
	if err != nil {
		turn.Progress.Say(err.Error())
	}
	for _, line := range left.Lines("git runr undo --to " + left.Snapshot.Short() + " --into DIR") {
		turn.Progress.Say(line)
	}
	if turn.run.Status == record.RunCompleted {
		r.Store.Repo.DropLock(workspace.LockName(run.ID))
	}
	return turn.run, nil
}

func (t *execution) do(step Step) error {
	switch step.Action {
	case DoAttempt:
		if err := t.prepare(); err != nil || t.run.Done() {
			return err
		}
		return t.attempt(step)
	case DoChecks:
		return t.checks(step)
	case DoReview:
		return t.review(step)
	case DoRevert:
		return t.revert(step)
	case DoExhaust:
		return t.exhausted(step)
	case DoStop:
		stop := record.Stop{Reason: step.Reason, Detail: step.Detail}
		if f := step.Failure; f != nil {
			stop.Setting, stop.Reached, stop.ResumeAfter = f.Setting, f.Reached, f.RetryAt
		}
		return t.stop(stop, record.EventRunStopped)
	case DoComplete:
		if t.run.Answer == runplan.ChoiceCommit { // the process that recorded the answer was killed
			return t.complete(record.ResultWithIssues)
		}
		return t.complete(t.run.Outcome())
	}
	return fmt.Errorf("run %s: no way to do %q", t.run.ID, step.Action)
}

// interrupted records that the run stopped because this process was interrupted, or asked to stop. Any other error
// leaves the run as it is, so that it can be resumed.
func (t *execution) interrupted(err error) (record.Run, error) {
	if t.ctx.Err() == nil {
		return t.run, err
	}
	stop, asked := record.Stop{Reason: record.ReasonInterrupted}, new(workspace.StoppedError)
	if errors.As(context.Cause(t.ctx), &asked) {
		stop.Detail = asked.Error()
	}
	t.ctx = context.WithoutCancel(t.ctx)
	if stopErr := t.stop(stop, record.EventRunStopped); stopErr != nil {
		return t.run, errors.Join(err, stopErr)
	}
	return t.run, nil
}

// cleanUp removes the worktree of a finished run. The work is on the run's branch; left is a snapshot of anything else
// in the worktree.
func (t *execution) cleanUp(byHand bool) (left Left, err error) {
	if !t.run.Status.Over() || t.run.Plan.InPlace {
		return Left{}, nil
	}
	return removeTree(context.WithoutCancel(t.ctx), t.Store, t.run, byHand)
}

// checks runs a check step.
func (t *execution) checks(step Step) error {
	attempt := t.run.LastAttempt()
	run := record.CheckRun{Step: step.Work.Name, Tree: t.run.Head()}
	if attempt != nil {
		run.Attempt = attempt.Number
	}
	mine := each.Where(t.run.Plan.Checks, func(c runplan.Check) bool { return step.Work.Runs(c.Name) })
	job := checking.Job{Checks: mine, Watch: t.watch, Tree: run.Tree, Base: t.run.Plan.Base, Changed: t.run.Files(),
		Own: func(c runplan.Check) bool { return asksFor(t.run.Plan, c) }, Known: t.base}
	var err error
	if run.Results, run.Failure, err = checking.Check(t.ctx, t.Store, t.Checker, t.Progress, job); err != nil &&
		run.Failure == nil {
		return err
	}
	if run.Failure != nil {
		t.ctx = context.WithoutCancel(t.ctx) // else the failure would not be recorded
	} else if run.Ignored, err = t.ignored(); err != nil {
		return err
	} else if hook := t.hookCheck(); hook != nil {
		run.Results = append([]record.CheckResult{*hook}, run.Results...)
	}
	whole := run.Results
	run.Results = record.WithoutOutput(whole)
	return t.record(record.EventChecksCompleted.New("runner", run.Title(), run).AttachChecks(whole))
}

// ignored returns what git ignores in the worktree if the run alters that: a check may pass because of a file that
// no commit has.
func (t *execution) ignored() ([]string, error) {
	alters := func(file string) bool { return path.Base(file) == ".gitignore" }
	if t.run.Plan.InPlace || !slices.ContainsFunc(t.run.Files(), alters) {
		return nil, nil
	}
	files, err := t.tree.Ignored(t.ctx)
	if err != nil {
		return nil, fmt.Errorf("list ignored files: %w", err)
	}
	return files, nil
}

// review runs a review step, which is one round.
func (t *execution) review(step Step) error {
	name := cmp.Or(step.Work.Agent, t.run.Plan.Reviewer)
	t.Progress.Step("review", fmt.Sprintf("round %d by %s", step.Number, name))
	if name == record.Human {
		return t.reviewByPerson(step, name)
	}
	round := t.newRound(step, name)
	started := time.Now()
	answer, err := t.answer(name, &round.Round)
	round.Spent = spend.NewSpent(name, answer.Calls)
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	round.Failure, round.Duration = answer.Failure, duration.Duration(time.Since(started))
	if answer.Failure == nil && !round.Census.Nothing() {
		round.Report = answer.Report
	}
	return t.recordRound(round, answer.Raw)
}

func (t *execution) answer(name string, round *record.Round) (role.ReviewAnswer, error) {
	reviewer, failure := reviewing.NewRelay(t.calls(name), t.Reviewer)
	if failure != nil {
		return role.ReviewAnswer{Failure: failure}, nil
	}
	plan := t.run.Plan
	var transcript io.WriteCloser
	answer, census, _, err := reviewing.Inquiry{
		Store: t.Store, Progress: t.Progress, Reviewer: reviewer, Exclude: plan.Exclude, All: plan.Generated,
		Instructed: plan.Instructed,
		Subject:    record.Subject{Kind: record.SubjectRange, Base: plan.Base, Tree: t.run.Head()},
		Question: func(reviewing.Change) (reviewing.Question, error) {
			var err error
			if transcript, err = t.transcript(fmt.Sprintf("review-%d.log", round.Number)); err != nil {
				return reviewing.Question{}, err
			}
			t.takeChecks(round)
			previous, _ := t.run.Open() // what the implementer was last asked to fix
			return reviewing.Question{Transcript: transcript, Checks: round.Checks, Prompt: reviewing.ReviewPrompt{
				Entity: plan.Entity, DoneCriteria: plan.DoneCriteria, References: plan.References,
				Commits: t.commitWords(), Verification: t.verification(), Round: round.Number, Previous: previous,
				Said: t.saidBefore(), Refuted: t.refuted(),
				People: t.run.FromPeople(), Scope: plan.ScopeText(), DoneChecks: doneEvidence(plan, round.Checks),
			}}, nil
		},
	}.Answer(t.ctx)
	if transcript != nil {
		transcript.Close()
	}
	round.Census, round.Told = census, answer.Told
	round.Census.CountChecks(round.Checks, 0)
	return answer, err
}

// exhausted applies the decision of the policy or a person about a run that gave up.
func (t *execution) exhausted(step Step) error {
	choice := t.run.Plan.Policy.OnExhausted
	by := "policy"
	if choice == runplan.ChoiceAsk || choice == "" {
		choice, by = runplan.ChoiceStop, "no terminal"
		if t.Ask != nil {
			var err error
			if choice, err = t.Ask(t.ctx, t.run, step); err != nil {
				return err
			}
			by = "terminal"
		}
	}
	if choice == runplan.ChoiceStop {
		return t.giveUp(step)
	}
	return t.answered(choice, by)
}

func (t *execution) answered(choice runplan.Choice, by string) error {
	err := t.record(record.EventRunAnswered.New("runner", string(choice), record.AnswerPayload{Choice: choice, By: by}))
	if err != nil || choice != runplan.ChoiceCommit {
		return err
	}
	return t.complete(record.ResultWithIssues)
}

func (t *execution) complete(result string) error {
	done := record.CompletedPayload{Result: result, Commit: t.run.Head()}
	if round := t.run.LastRound(); round != nil {
		done.Open = round.Report.Findings
	}
	if t.run.Answer == runplan.ChoiceCommit {
		done.By = t.run.AnsweredBy
		if _, requests := t.run.Open(); len(done.Open) == 0 {
			done.Requests = requests
		}
	}
	err := t.record(record.EventRunCompleted.New("runner", result, done))
	if err != nil || !t.run.Plan.InPlace { // a run in place is settled when it lands
		return err
	}
	return closing.SettleAsked(t.ctx, t.Store, t.run, "run "+t.run.ID+" is completed")
}

// Abort ends a run for good and removes its worktree. It first stops a process on this machine that executes the run,
// and what a killed one left running. The commits stay on the run's branch until the branch is deleted; left is a
// snapshot of anything else in the worktree, or "". The worktree is removed before the event is recorded: on a full
// disk that frees space, and a killed abort can be repeated.
func Abort(ctx context.Context, s *store.Store, run record.Run) (after record.Run, left Left, err error) {
	unlock, err := workspace.TakeRun(ctx, s, run)
	if err != nil {
		return run, left, err
	}
	defer unlock()
	if run, err = s.Run(ctx, run.ID); err != nil {
		return run, left, err
	}
	if err := run.Allow(record.EventRunAborted.Name); err != nil {
		return run, left, err
	}
	if _, err := stopLeft(s, run); err != nil {
		return run, left, err
	}
	if !run.Plan.InPlace {
		if left, err = removeTree(ctx, s, run, true); err != nil {
			return run, left, err
		}
	}
	run, err = s.RunEvent(ctx, run, record.EventRunAborted.New("cli", "by "+run.StartedBy, struct{}{}))
	if err != nil {
		return run, left, err
	}
	return run, left, closing.SettleAsked(ctx, s, run, "run "+run.ID+" was aborted")
}

// AnswerRun decides about a run that gave up: commit accepts it with its open findings, skip abandons it, stop leaves
// it stopped. stop also stops a run that a process on this machine executes. left is as in Abort.
func AnswerRun(ctx context.Context, s *store.Store, run record.Run,
	choice runplan.Choice) (after record.Run, left Left, err error) {
	if choice == runplan.ChoiceStop && run.Status == record.RunRunning && workspace.Live(s, run.ID) {
		unlock, err := workspace.TakeRun(ctx, s, run)
		if err != nil {
			return run, left, err
		}
		defer unlock()
		after, err = s.Run(ctx, run.ID)
		return after, left, err
	}
	if run.Status != record.RunReviewing && run.Status != record.RunStopped {
		status := workspace.Status(s, run.Summary())
		return run, left, &record.StateError{What: "run " + run.ID, Status: string(status), Cannot: "answered"}
	}
	if choice == runplan.ChoiceStop {
		return run, left, nil
	}
	unlock, err := workspace.HoldRun(s, run.ID)
	if err != nil {
		return run, left, err
	}
	defer unlock()
	t := &execution{Runner: &Runner{Store: s, Progress: checking.Quiet{}}, ctx: ctx, run: run}
	if choice == runplan.ChoiceCommit {
		if err := landing.CanAccept(ctx, s, run); err != nil {
			return run, left, err
		}
	}
	if err := t.answered(choice, "command line"); err != nil {
		return run, left, err
	}
	if left, err = t.cleanUp(true); err == nil && choice == runplan.ChoiceSkip {
		err = closing.SettleAsked(ctx, s, t.run, "run "+run.ID+" was skipped")
	}
	return t.run, left, err
}

// Resume resumes a stopped run; its retry limits count from zero again.
func (r *Runner) Resume(ctx context.Context, run record.Run) (record.Run, error) {
	if err := r.Store.Repo.Altered(ctx); err != nil { // before anything is recorded
		return run, err
	}
	if run.Status != record.RunRunning { // else its process was killed, and there is no stop to undo
		var payload record.ResumedPayload
		if r.Limits != nil {
			if limits := r.Limits(run); !reflect.DeepEqual(limits, run.Plan.Limits()) {
				payload.Limits = &limits
			}
		}
		var err error
		if run, err = r.Store.RunEvent(ctx, run,
			record.EventRunResumed.New("cli", "from "+string(run.Status), payload)); err != nil {
			return run, err
		}
	}
	return r.Continue(ctx, run)
}
