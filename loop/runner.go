package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"git-runr/gitstore"
	"git-runr/gitstore/safefile"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/reply"
)

// Runner carries out runs: it does what Next says until nothing is left to do.
type Runner struct {
	Store       *record.Store                                    // required
	Implementer func(name string) (Implementer, *record.Failure) // required
	Reviewer    func(name string) (Reviewer, *record.Failure)    // required
	Checker     Checker                                          // required where the plan has checks
	Progress    Progress                                         // required
	// Ask decides on a run whose retries are used up. nil: nobody is there to ask.
	Ask func(ctx context.Context, run record.Run, why Step) (record.Choice, error)
	// Keep begins an attempt again that was killed or failed on the files as they are
	// now, and takes nothing back of what it left.
	Keep bool
	// Explain fills in what a stop's event says beyond its reason, and what it leaves behind.
	Explain func(run record.Run, stop record.Stop) (record.Stop, map[string][]byte)
}

// Start records a run and carries it out. source is who asked for it.
func (r *Runner) Start(ctx context.Context, plan record.RunPlan, source string) (record.Run, error) {
	if err := plan.Policy.Check(); err != nil {
		return record.Run{}, err
	}
	event, err := r.Store.Append(ctx, func(v *record.View) (record.NewEvent, error) {
		plan.Branch = ""
		id, err := record.NewID(v.Now, v.Writer, v.Clock, plan)
		plan.Branch = "runr/" + id
		d := record.EventRunStarted.New(source, plan.Entity.Name(), plan)
		d.Run, d.Status = id, func(record.Event) string { return string(record.RunRunning) }
		return d, err
	})
	if err != nil {
		return record.Run{}, fmt.Errorf("start run: %w", err)
	}
	run, bad := record.FoldRun([]record.Event{event})
	if len(bad) > 0 {
		return run, errors.Join(bad...)
	}
	return r.Continue(ctx, run)
}

// Continue carries run on from where its events leave it. Only one process at a
// time can: another gets gitstore.ErrBusy.
func (r *Runner) Continue(ctx context.Context, run record.Run) (record.Run, error) {
	unlock, err := HoldRun(r.Store, run.ID)
	if err != nil {
		return run, err
	}
	defer unlock()
	turn := &turn{Runner: r, ctx: ctx, run: run, base: map[string]record.CheckResult{}}
	if !run.Done() {
		free, err := turn.openTree()
		if err != nil {
			return run, err
		}
		defer free()
	}
	for !turn.run.Done() {
		if err := turn.do(Next(turn.run, turn.run.Plan.Policy)); err != nil {
			return turn.interrupted(err)
		}
	}
	left, err := turn.cleanUp()
	if err != nil {
		turn.Progress.Say(err.Error())
	}
	if left != "" {
		turn.Progress.Say("the run's working tree is removed; what came too late for the run: git runr restore " + left.Short() + " --to DIR")
	}
	if turn.run.Status == record.RunCompleted {
		r.Store.Repo.DropLock(runLock(run.ID))
	}
	return turn.run, nil
}

// turn is one process's turn at a run.
type turn struct {
	*Runner
	ctx    context.Context
	run    record.Run
	tree   *gitstore.Worktree
	base   map[string]record.CheckResult // what checks came to on the run's base, as far as they were run there
	warned string                        // the implementer of whose silence people were told
}

func (t *turn) do(step Step) error {
	switch step.Action {
	case DoAttempt:
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
		return t.stop(record.Stop{Reason: step.Reason, Detail: step.Detail}, record.EventRunStopped)
	case DoComplete:
		if t.run.Answer == record.ChoiceCommit { // a process that was ended between the answer and this
			return t.complete(record.ResultWithIssues)
		}
		return t.complete(t.run.Outcome())
	}
	return fmt.Errorf("run %s: no way to do %q", t.run.ID, step.Action)
}

// record appends one event of this run, if its newest state still allows it, and
// folds it in.
func (t *turn) record(d record.NewEvent) error {
	run, err := recordRun(t.ctx, t.Store, t.run, d)
	if err == nil {
		t.run = run
	}
	return err
}

// recordRun appends d to run's log and gives the run after it. Somebody else may
// have ended the run meanwhile: the newest state decides.
func recordRun(ctx context.Context, s *record.Store, run record.Run, d record.NewEvent) (record.Run, error) {
	event, err := s.Append(ctx, func(v *record.View) (record.NewEvent, error) {
		newest, err := v.RunOf(run.ID)
		if err != nil {
			return record.NewEvent{}, err
		}
		if refused := newest.Allow(d.Type); refused != nil {
			return record.NewEvent{}, refused
		}
		run = newest
		d.Run, d.Review = run.ID, run.Plan.FromReview
		d.Status = func(e record.Event) string {
			after := run
			_ = after.Apply(e) // what cannot be applied changes nothing
			return string(after.Status)
		}
		return d, nil
	})
	if err != nil {
		return run, err
	}
	return run, run.Apply(event)
}

// interrupted records that the run stopped because this process was told to end.
// Any other error leaves the run as it is, to be taken up again.
func (t *turn) interrupted(err error) (record.Run, error) {
	if t.ctx.Err() == nil {
		return t.run, err
	}
	t.ctx = context.WithoutCancel(t.ctx)
	if stopErr := t.stop(record.Stop{Reason: record.ReasonInterrupted}, record.EventRunStopped); stopErr != nil {
		return t.run, errors.Join(err, stopErr)
	}
	return t.run, nil
}

// cleanUp removes the worktree of a run that needs it no more. What it held is on
// the run's branch; left is a snapshot of anything else, "" for nothing.
func (t *turn) cleanUp() (left gitstore.ID, err error) {
	over := t.run.Status == record.RunCompleted || t.run.Status == record.RunSkipped || t.run.Status == record.RunAborted
	if !over || t.run.Plan.InPlace {
		return "", nil
	}
	return removeTree(context.WithoutCancel(t.ctx), t.Store, t.run)
}

// checks runs a check step.
func (t *turn) checks(step Step) error {
	attempt := t.run.LastAttempt()
	run := record.CheckRun{Step: step.Work.Name, Tree: t.run.Head()}
	if attempt != nil {
		run.Attempt = attempt.Number
	}
	job := checkup{dir: t.tree.Dir, tree: run.Tree, base: t.run.Plan.Base, changed: t.run.Files(), own: func(c record.Check) bool { return asksFor(t.run.Plan, c) }, known: t.base}
	for _, check := range t.run.Plan.Checks {
		if step.Work.Runs(check.Name) {
			job.checks = append(job.checks, check)
		}
	}
	var err error
	if run.Results, err = check(t.ctx, t.Store, t.Checker, t.Progress, job); err != nil {
		return err
	}
	attachments := map[string][]byte{}
	record.AddChecks(attachments, run.Results)
	run.Results = record.WithoutOutput(run.Results)
	return t.record(record.EventChecksCompleted.New("runner", run.Title(), run).With(attachments))
}

// review runs a review step: a round.
func (t *turn) review(step Step) error {
	name := cmp.Or(step.Work.Agent, t.run.Plan.Reviewer)
	t.Progress.Step("review", fmt.Sprintf("round %d by %s", step.Number, name))
	if name == record.Human {
		return t.reviewByPerson(step, name)
	}
	round := t.newRound(step, name)
	started := time.Now()
	answer, err := t.answer(name, &round.Round)
	if err != nil {
		return fmt.Errorf("review: %w", err)
	}
	round.Failure, round.Duration = answer.Failure, record.Duration(time.Since(started))
	if answer.Failure == nil && !round.Census.Nothing() {
		round.Report = answer.Report
	}
	return t.recordRound(round, answer.Raw)
}

func (t *turn) newRound(step Step, reviewer string) record.RoundPayload {
	round := record.Round{Number: step.Number, Reviewer: reviewer, Commit: t.run.Head(), Report: record.EmptyReport()}
	round.Tree = cmp.Or(t.run.HeadTree(), round.Commit)
	if a := t.run.LastAttempt(); a != nil {
		round.Attempt = a.Number
	}
	return record.RoundPayload{Step: step.Work.Name, Round: round}
}

// takeChecks makes the evidence of the attempt under review the round's.
func (t *turn) takeChecks(round *record.Round) {
	if checks := t.run.LastChecks(); checks != nil && checks.Attempt == round.Attempt {
		round.Checks = checks.Results
		round.Census.CountChecks(checks.Results, 0)
	}
}

// recordRound works out what the round's answer comes to, and records it. raw is the
// answer as it was given.
func (t *turn) recordRound(round record.RoundPayload, raw string) error {
	title := fmt.Sprintf("round %d by %s: ", round.Number, round.Reviewer)
	switch {
	case round.Failure != nil:
		title += round.Failure.Reason
	case round.Census.Nothing():
		title += record.ReasonNothing
	default:
		round.Report.Effective = reply.EffectiveVerdict(round.Report.Verdict, round.Report.Findings, round.ChecksFailed())
		see(&round.Report, round.Census)
		title = fmt.Sprintf("round %d %s by %s, %s", round.Number, round.Report.Effective, round.Reviewer, round.Report.Gist())
	}
	attachments := map[string][]byte{}
	if raw != "" {
		attachments["review.md"] = []byte(raw)
	}
	return t.record(record.EventRoundCompleted.New(round.Reviewer, title, round).With(attachments))
}

func (t *turn) answer(name string, round *record.Round) (ReviewAnswer, error) {
	reviewer, failure := t.Reviewer(name)
	if failure != nil {
		return ReviewAnswer{Failure: failure}, nil
	}
	plan := t.run.Plan
	limits := reviewer.Limits()
	limits.Exclude = append(limits.Exclude, plan.Exclude...)
	change, err := ReadChange(t.ctx, t.Store, record.Subject{Kind: record.SubjectRange, Base: plan.Base, Tree: t.run.Head()}, limits)
	round.Census = change.Census
	if err != nil || change.Census.Nothing() {
		return ReviewAnswer{}, err
	}
	job := ReviewJob{Change: change, OnLine: t.Progress.Line}
	t.takeChecks(round)
	job.Checks = round.Checks
	job.Prompt = ReviewPrompt{
		Entity: plan.Entity, DoneCriteria: plan.DoneCriteria, References: plan.References,
		Commits: plan.Commits(), Verification: t.verification(), Round: round.Number, Previous: t.previous(), Said: t.saidBefore(), Checks: job.Checks,
		People: t.run.FromPeople(), Scope: plan.ScopeText(), DoneChecks: doneEvidence(plan, job.Checks),
	}
	transcript, err := t.transcript(fmt.Sprintf("review-%d.log", round.Number))
	if err != nil {
		return ReviewAnswer{}, err
	}
	defer transcript.Close()
	job.Transcript = transcript
	all := func() (ReviewAnswer, error) {
		return reviewParts(t.ctx, reviewer, job, func(part string) { t.Progress.Step("review", part) })
	}
	if !reviewer.NeedsCheckout() {
		return all()
	}
	var answer ReviewAnswer
	err = inCheckout(t.ctx, t.Store, t.run.Head(), func(tree *gitstore.Worktree) error {
		job.Dir = tree.Dir
		answer, err = guardTree(t.ctx, tree, all)
		return err
	})
	return answer, err
}

// verification is what the newest implementer says that it verified.
func (t *turn) verification() string {
	if a := t.run.LastAttempt(); a != nil {
		return a.Verification
	}
	return ""
}

// previous are the findings that the implementer was last asked to meet.
func (t *turn) previous() []reply.Finding {
	findings, _ := t.run.Open()
	return findings
}

// saidBefore is what the implementer was last asked for in full, and the answers since
// that nobody could read.
func (t *turn) saidBefore() []record.Words {
	said := t.run.Said()
	if last := t.run.LastRound(); last != nil && last.Failure == nil && last.Report.Unreadable() {
		w := last.Words()
		w.By += " (this answer could not be read: answer in the form that is asked for below)"
		said = append(slices.Clone(said), w)
	}
	return said
}

// transcript opens a file for what an agent says, in full and for this clone only.
func (t *turn) transcript(name string) (io.WriteCloser, error) {
	dir := FilesDir(t.Store, t.run.ID)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	return file, nil
}

// exhausted does what the policy or a person says about a run that gave up.
func (t *turn) exhausted(step Step) error {
	choice := t.run.Plan.Policy.OnExhausted
	by := "policy"
	if choice == record.ChoiceAsk || choice == "" {
		choice, by = record.ChoiceStop, "no terminal"
		if t.Ask != nil {
			var err error
			if choice, err = t.Ask(t.ctx, t.run, step); err != nil {
				return err
			}
			by = "terminal"
		}
	}
	if choice == record.ChoiceStop {
		return t.giveUp(step)
	}
	return t.answered(choice, by)
}

func (t *turn) answered(choice record.Choice, by string) error {
	err := t.record(record.EventRunAnswered.New("runner", string(choice), record.AnswerPayload{Choice: choice, By: by}))
	if err != nil || choice != record.ChoiceCommit {
		return err
	}
	return t.complete(record.ResultWithIssues)
}

func (t *turn) giveUp(step Step) error {
	_, requests := t.run.Open()
	stop := record.Stop{
		Reason: step.Reason, Detail: step.Detail, Round: len(refusals(t.run, t.run.Plan.Policy)), MaxRounds: t.run.Plan.Policy.MaxRetries,
		Unmet: requests, Repeated: step.Repeated,
	}
	if step.Reason == record.ReasonReviewLoop {
		return t.stop(stop, record.EventReviewLoopDetected)
	}
	return t.stop(stop, record.EventRunStopped)
}

func (t *turn) stop(stop record.Stop, kind record.EventType[record.StopPayload]) error {
	var attachments map[string][]byte
	stop = facts(t.run, stop)
	stop.SaidBy, stop.Said = t.said(stop)
	stop.LastActivity, stop.At = t.run.LastActivity(), t.Store.Now().UTC().Truncate(time.Millisecond)
	if t.Explain != nil {
		stop, attachments = t.Explain(t.run, stop)
	}
	t.setEvidenceAside()
	if err := WriteFiles(FilesDir(t.Store, t.run.ID), attachments); err != nil {
		t.Progress.Say(err.Error())
	}
	title := stop.Reason
	if stop.Round > 0 {
		title = fmt.Sprintf("round %d/%d, %s unmet", stop.Round, stop.MaxRounds, prose.Count(len(stop.Unmet), "request"))
	}
	return t.record(kind.New("runner", title, record.StopPayload{Stop: stop, Commit: t.run.Head()}).With(attachments))
}

// WriteFiles writes files, by their slash paths, below dir.
func WriteFiles(dir string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := safefile.WriteFile(path, content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) complete(result string) error {
	done := record.CompletedPayload{Result: result, Commit: t.run.Head()}
	if round := t.run.LastRound(); round != nil {
		done.Open = round.Report.Findings
	}
	if t.run.Answer == record.ChoiceCommit {
		done.By = t.run.AnsweredBy
		if _, requests := t.run.Open(); len(done.Open) == 0 {
			done.Requests = requests
		}
	}
	err := t.record(record.EventRunCompleted.New("runner", result, done))
	if err != nil || !t.run.Plan.InPlace { // else it is done with when it lands
		return err
	}
	return settleAsked(t.ctx, t.Store, t.run, "run "+t.run.ID+" is completed")
}
