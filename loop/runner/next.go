package runner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
	"github.com/git-runr/git-runr/loop/track"
)

// Action is what a Step tells the runner to do.
type Action string

const (
	DoAttempt  Action = "attempt"
	DoChecks   Action = "checks"
	DoReview   Action = "review"
	DoRevert   Action = "revert"
	DoExhaust  Action = "exhausted" // ask, or do what the policy says
	DoStop     Action = "stop"
	DoComplete Action = "complete"
	DoNothing  Action = "nothing" // the run is over
)

// Step is the next thing that a run does.
type Step struct {
	Action   Action
	Work     runplan.WorkStep   // for attempt, checks and review
	Mode     record.AttemptMode // for attempt
	Number   int                // of the attempt or round; for revert, of the attempt to revert
	Redo     bool               // the attempt was started and never finished
	Kept     bool               // the attempt's changes are kept as its result, without calling the agent again
	Reason   string             // for stop and exhausted: a code of the registry
	Detail   string
	Repeated []string        // for exhausted: ids of findings that were unmet twice
	Failure  *record.Failure // for stop: why no further call of an agent may begin
}

// Next decides what a run does next. It depends on its arguments alone, so that another process continues a run in the
// same way.
func Next(run record.Run, policy runplan.Policy) Step {
	if run.Done() {
		return Step{Action: DoNothing}
	}
	step := next(run, policy)
	works := step.Action == DoAttempt || step.Action == DoChecks || step.Action == DoReview
	if took := run.UpdatedAt.Sub(run.Began); works && policy.TimeBudget > 0 && took >= time.Duration(policy.TimeBudget) {
		return stop(record.ReasonBudget, fmt.Sprintf("the run took %s; %s are allowed", took.Round(time.Second),
			policy.TimeBudget))
	}
	if asksAgent(run, step) {
		return step.unless(spentByRun(run, policy, spend.Usage{}))
	}
	return step
}

// asksAgent reports whether step calls an agent.
func asksAgent(run record.Run, step Step) bool {
	switch step.Action {
	case DoAttempt:
		return step.Mode != record.ModeGiven
	case DoReview:
		return !role.Reserved(cmp.Or(step.Work.Agent, run.Plan.Reviewer))
	}
	return false
}

// unless returns s, or a stop if refused is not nil.
func (s Step) unless(refused *record.Failure) Step {
	if refused == nil {
		return s
	}
	return Step{Action: DoStop, Reason: refused.Reason, Detail: refused.Detail, Failure: refused}
}

// spentByRun returns why no further call may begin in run, or nil if one may. more is the usage of calls that are not
// recorded yet.
func spentByRun(run record.Run, policy runplan.Policy, more spend.Usage) *record.Failure {
	spent := run.Usage.Add(more)
	reached, used := policy.Budget.Used(spent, runplan.SettingCost, runplan.SettingTokens)
	if !used {
		return nil
	}
	setting := run.Plan.Setting(reached.Name, reached.Value)
	return &record.Failure{Reason: record.ReasonSpent, Detail: fmt.Sprintf("the run's calls took %s; %s", spent, setting),
		Setting: setting, Reached: spent}
}

func next(run record.Run, policy runplan.Policy) Step {
	switch run.Last {
	case record.EventAttemptStarted.Name:
		a := run.LastAttempt()
		return Step{Action: DoAttempt, Work: stepNamed(policy, a.Step), Mode: a.Mode, Number: a.Number, Redo: true}
	case record.EventAttemptCompleted.Name:
		if stop, bad := afterAttempt(run, policy); bad {
			return stop
		}
	case record.EventAttemptReverted.Name:
		return afterRevert(run, policy)
	case record.EventChecksCompleted.Name:
		return afterChecks(run, policy)
	case record.EventRoundCompleted.Name:
		return afterRound(run, policy)
	case record.EventRunResumed.Name, record.EventRunIntervened.Name:
		return afterResume(run, policy)
	case record.EventRunAnswered.Name:
		return afterAnswer(run)
	}
	return onward(run, policy)
}

// onward returns the workflow step at the run's position.
func onward(run record.Run, policy runplan.Policy) Step {
	if run.Plan.Context != nil && len(run.Attempts) == 0 {
		return givenAttempt(policy)
	}
	if run.Position >= len(policy.Workflow) {
		return Step{Action: DoComplete}
	}
	work := policy.Workflow[run.Position]
	switch work.Kind {
	case runplan.StepCheck:
		return Step{Action: DoChecks, Work: work}
	case runplan.StepReview:
		return Step{Action: DoReview, Work: work, Number: len(run.Rounds) + 1}
	}
	return attempt(run, work, record.ModeImplement)
}

func attempt(run record.Run, work runplan.WorkStep, mode record.AttemptMode) Step {
	if mode == record.ModeImplement && len(run.Plan.Findings)+len(run.Plan.Requests)+len(run.Plan.Said) > 0 {
		mode = record.ModeFix // the run was started to fix a submitted review
	}
	return Step{Action: DoAttempt, Work: work, Mode: mode, Number: len(run.Attempts) + 1}
}

// givenAttempt returns the first attempt of a run that takes over an executor's finished work. It replaces the last
// agent step before the review.
func givenAttempt(policy runplan.Policy) Step {
	review := slices.IndexFunc(policy.Workflow, func(s runplan.WorkStep) bool { return s.Kind == runplan.StepReview })
	if review < 0 {
		review = len(policy.Workflow)
	}
	work := runplan.WorkStep{Name: "given", Kind: runplan.StepAgent}
	if at := policy.FixStep(review); at >= 0 {
		work = policy.Workflow[at]
	}
	return Step{Action: DoAttempt, Work: work, Mode: record.ModeGiven, Number: 1}
}

func stop(reason, detail string) Step {
	return Step{Action: DoStop, Reason: reason, Detail: detail}
}

// afterAttempt returns a stop if the attempt failed or made no progress, or if files changed in the user's checkout
// that the implementer does not claim.
func afterAttempt(run record.Run, policy runplan.Policy) (Step, bool) {
	a := *run.LastAttempt()
	switch {
	case a.Failure != nil:
		return stop(a.Failure.Reason, a.Failure.Detail), true
	case a.Status == reply.ExecutorFailed:
		return stop(record.ReasonBlocked, ""), true
	case a.Status == reply.ExecutorCheckpoint:
		return stop(record.ReasonCheckpoint, ""), true
	case run.Plan.InPlace && a.Mode != record.ModeGiven && len(a.Unclaimed) > 0:
		return stop(record.ReasonUnclaimed, strings.Join(a.Unclaimed, ", ")), true
	}
	return withoutProgress(run, policy)
}

// withoutProgress returns a stop if the attempt brought nothing new.
func withoutProgress(run record.Run, policy runplan.Policy) (Step, bool) {
	a, before := *run.LastAttempt(), record.Attempt{}
	if n := len(run.Attempts); n > 1 {
		before = run.Attempts[n-2]
	}
	switch {
	case a.Refutes != "" && a.Mode == record.ModeFix && before.Refutes == "":
		return Step{}, false // the reviewer sees the objection
	case len(a.Files) == 0 && a.Mode != record.ModeImplement && a.Mode != record.ModeGiven:
		return stop(record.ReasonNoChange, denied(fmt.Sprintf("attempt %d changed nothing", a.Number), a)), true
	case run.Head() == run.Plan.Base && !ahead(run, policy, runplan.StepAgent) && a.Mode == record.ModeImplement:
		return stop(record.ReasonNoChange,
			denied(fmt.Sprintf("after attempt %d nothing differs from where the run began", a.Number), a)), true
	}
	if earlier := refusedBefore(run, policy, a); earlier != 0 {
		return stop(record.ReasonNoProgress, fmt.Sprintf("attempt %d brought back the tree of attempt %d", a.Number,
			earlier)), true
	}
	return Step{}, false
}

// denied adds to detail the attempt's files that are not carried, and what the agent was not allowed to do.
func denied(detail string, a record.Attempt) string {
	for _, left := range a.NotCarried {
		detail += "; " + left.String()
	}
	return strings.TrimSuffix(detail+"; "+a.Denied, "; ")
}

// refusedBefore returns the number of an earlier attempt with the same tree as a, which a review refused, or 0.
func refusedBefore(run record.Run, policy runplan.Policy, a record.Attempt) int {
	round, _ := each.First(run.Rounds, func(round record.Round) bool {
		return round.Tree == a.Tree && round.Attempt != a.Number && round.RefusedBy(policy)
	})
	return round.Attempt
}

func afterRevert(run record.Run, policy runplan.Policy) Step {
	if a := run.LastAttempt(); a != nil && a.Reverted != nil {
		files, where := a.Reverted.Conflicts, fmt.Sprintf("since attempt %d", a.Number)
		if len(files) == 0 {
			files, where = a.Reverted.Left, "in your checkout since the executor"
		}
		if len(files) > 0 {
			return stop(record.ReasonRevertConflict, fmt.Sprintf("%s changed %s: %s", prose.Count(len(files), "file"), where,
				strings.Join(files, ", ")))
		}
	}
	at := policy.FixStep(run.Position)
	if at < 0 {
		return stop(record.ReasonReviewNotPassed, "")
	}
	return attempt(run, policy.Workflow[at], record.ModeReexecute)
}

// afterChecks goes on to the review, which weighs the results. If no review follows, a failed check needs a fix.
func afterChecks(run record.Run, policy runplan.Policy) Step {
	checks := run.LastChecks()
	if checks.Failure != nil {
		return stop(checks.Failure.Reason, checks.Failure.Detail)
	}
	if missing := notRun(*checks); missing != "" {
		return stop(record.ReasonChecksNotRun, missing)
	}
	if !checks.Failed() || ahead(run, policy, runplan.StepReview) {
		return onward(run, policy)
	}
	again := func(c record.CheckRun) bool { return c.Step == checks.Step && c.Failed() }
	failed := each.Count(run.Checks[min(run.ChecksSince, len(run.Checks)):], again)
	at := policy.FixStep(run.Position)
	if at < 0 || failed > policy.MaxRetries {
		return stop(record.ReasonChecksFailed,
			fmt.Sprintf("failing: %s; step %q failed %d times", checks.Failing(), checks.Step, failed))
	}
	return attempt(run, policy.Workflow[at], record.ModeFix)
}

// notRun returns which checks could not start, and why, or "" if all did. It leaves out a user's hook that must not
// run, and checks that wait for a setup which the change broke: that is a fault to fix.
func notRun(checks record.CheckRun) string {
	var missing []string
	for _, c := range checks.Results {
		if c.Name == checking.SetupName && c.Fails() {
			return ""
		}
		if c.NotRun != "" && c.Name != commitHook {
			missing = append(missing, c.Name+": "+c.NotRun)
		}
	}
	return strings.Join(missing, "; ")
}

// ahead reports whether a step of kind is still to come.
func ahead(run record.Run, policy runplan.Policy, kind runplan.StepKind) bool {
	rest := policy.Workflow[min(run.Position, len(policy.Workflow)):]
	return slices.ContainsFunc(rest, func(s runplan.WorkStep) bool { return s.Kind == kind })
}

func afterRound(run record.Run, policy runplan.Policy) Step {
	round := *run.LastRound()
	switch {
	case round.Failure != nil:
		return stop(round.Failure.Reason, round.Failure.Detail)
	case round.Census.Nothing():
		return stop(record.ReasonNothing, "")
	case round.Report.Unreadable() && policy.Blocks(round.Report, round.ChecksFailed()):
		// The second call, for the block alone, was made already: an implementer can do nothing with such an answer.
		why := append([]string{"the reviewer's answer could not be read"}, round.Report.Warnings...)
		return Step{Action: DoExhaust, Reason: record.ReasonReviewUnreadable,
			Detail: strings.Join(why[:min(2, len(why))], ": ")}
	case !policy.Blocks(round.Report, round.ChecksFailed()) && round.Census.Partial():
		return Step{Action: DoExhaust, Reason: record.ReasonPartial, Detail: "not reviewed: " + round.Census.Unread()}
	case !policy.Blocks(round.Report, round.ChecksFailed()):
		return onward(run, policy)
	}
	return refused(run, policy)
}

// refused returns the step after a review that did not pass.
func refused(run record.Run, policy runplan.Policy) Step {
	at := policy.FixStep(run.Position - 1)
	repeated := unmetTwice(run, policy)
	switch {
	case at < 0 || run.Plan.Implementer == "":
		return spent(run, policy, Step{Reason: record.ReasonReviewNotPassed})
	case len(repeated) > 0:
		return spent(run, policy, Step{Reason: record.ReasonReviewLoop, Detail: "the same finding was unmet twice",
			Repeated: repeated})
	case len(refusals(run, policy)) > policy.MaxRetries:
		return spent(run, policy, Step{Reason: record.ReasonReviewLoop, Detail: "the retries are used up"})
	}
	return backToWork(run, policy, at)
}

// spent gives up the run for the reason in step. If the reviewer has no objection and only checks fail, they are the
// reason.
func spent(run record.Run, policy runplan.Policy, step Step) Step {
	step.Action = DoExhaust
	if round := *run.LastRound(); round.RefusedByChecks(policy) {
		step.Reason = record.ReasonChecksFailed
		step.Detail = strings.TrimSuffix("failing: "+record.CheckRun{Results: round.Checks}.Failing()+"; "+step.Detail, "; ")
	}
	return step
}

// backToWork returns the next step towards a fix. Critical findings revert the attempt first, but never what a person
// did after it.
func backToWork(run record.Run, policy runplan.Policy, at int) Step {
	last := run.LastAttempt()
	critical := run.LastRound() != nil && run.LastRound().Report.Effective == reply.CriticalFail
	switch {
	case !critical || run.ByPeople(len(run.Attempts)) != "":
		return attempt(run, policy.Workflow[at], record.ModeFix)
	case last != nil && last.Reverted == nil:
		return Step{Action: DoRevert, Number: last.Number, Work: policy.Workflow[at]}
	}
	return attempt(run, policy.Workflow[at], record.ModeReexecute)
}

// refusals returns the rounds that did not pass since the run began or a person last intervened.
func refusals(run record.Run, policy runplan.Policy) []record.Round {
	since := run.Rounds[min(run.Since, len(run.Rounds)):]
	return each.Where(since, func(round record.Round) bool { return round.RefusedBy(policy) })
}

// unmetTwice returns the ids of findings that two attempts in a row were asked to fix and did not fix: each of the last
// three refusals has them, in the same words and at the same line of a file that nobody changed.
func unmetTwice(run record.Run, policy runplan.Policy) []string {
	rounds := refusals(run, policy)
	if len(rounds) < 3 {
		return nil
	}
	return track.Repeated(run.Tracked(rounds[len(rounds)-3:]))
}

// afterResume returns the step with which a stopped run is resumed. Resuming does not pass what was refused: it is
// fixed or reviewed again. What people did meanwhile decides.
func afterResume(run record.Run, policy runplan.Policy) Step {
	if step, ok := afterPeople(run, policy); ok {
		return step
	}
	if a := run.LastAttempt(); a != nil && a.Failed() && run.ByPeople(len(run.Attempts)) == "" {
		kept := a.Failure != nil && a.Failure.Reason == record.ReasonTamperedRepo && a.Before != "" && !run.Plan.InPlace
		return Step{Action: DoAttempt, Work: stepNamed(policy, a.Step), Mode: a.Mode, Number: a.Number, Redo: true,
			Kept: kept}
	}
	at := run.Position - 1
	if at < 0 || at >= len(policy.Workflow) {
		return onward(run, policy)
	}
	switch work := policy.Workflow[at]; {
	case work.Kind == runplan.StepAgent:
		return attemptResumed(run, policy, work)
	case work.Kind == runplan.StepReview && run.LastRound() != nil:
		return reviewResumed(run, policy, at)
	case work.Kind == runplan.StepCheck && run.LastChecks() != nil &&
		(run.LastChecks().Failure != nil || notRun(*run.LastChecks()) != ""):
		return Step{Action: DoChecks, Work: work}
	case work.Kind == runplan.StepCheck && run.LastChecks() != nil && run.LastChecks().Failed() &&
		!ahead(run, policy, runplan.StepReview):
		if fix := policy.FixStep(at); fix >= 0 {
			return attempt(run, policy.Workflow[fix], record.ModeFix)
		}
		return Step{Action: DoChecks, Work: work}
	}
	return onward(run, policy)
}

// afterPeople returns the step after an intervention. A comment on lines of the work leads to an attempt. Else a
// person's work, or commands that all passed, lead to checks and review before an implementer is called again.
func afterPeople(run record.Run, policy runplan.Policy) (Step, bool) {
	worked, proved, asked := false, false, false
	for _, iv := range run.News() {
		worked, asked = worked || iv.Commit != "", asked || iv.Lines != nil
		if shown, good := iv.Proof(); shown { // a note alone does not cancel a proof
			proved = good
		}
	}
	a := run.LastAttempt()
	unfinished := a != nil && a.Failed()
	if at := policy.FixStep(run.Position); asked && !unfinished && at >= 0 && run.Plan.Implementer != "" {
		return backToWork(run, policy, at), true
	}
	if !worked && (!proved || a == nil || unfinished || run.Head() == run.Plan.Base) {
		return Step{}, false
	}
	at := policy.FixStep(run.Position)
	if a != nil {
		at = slices.IndexFunc(policy.Workflow, func(s runplan.WorkStep) bool { return s.Name == a.Step })
	}
	run.Position = at + 1
	return onward(run, policy), true
}

// attemptResumed continues after an attempt. It repeats an attempt that made no progress.
func attemptResumed(run record.Run, policy runplan.Policy, work runplan.WorkStep) Step {
	a := run.LastAttempt()
	if a == nil {
		return onward(run, policy)
	}
	why, bad := afterAttempt(run, policy)
	if why.Reason == record.ReasonUnclaimed { // resuming says that those files are not the run's
		why, bad = withoutProgress(run, policy)
	}
	if !bad || why.Reason == record.ReasonCheckpoint && len(run.News()) == 0 {
		return onward(run, policy)
	}
	if a.Mode == record.ModeGiven {
		return attempt(run, work, record.ModeFix)
	}
	return attempt(run, work, a.Mode)
}

// reviewResumed continues after the review step at position at.
func reviewResumed(run record.Run, policy runplan.Policy, at int) Step {
	round := *run.LastRound()
	answered := round.Failure == nil && !round.Census.Nothing()
	passed := answered && !policy.Blocks(round.Report, round.ChecksFailed())
	again := passed && round.Census.Partial() || round.Report.Unreadable()
	switch fix := policy.FixStep(at); {
	case passed && !again:
		return onward(run, policy)
	case !again && answered && fix >= 0 && run.Plan.Implementer != "":
		return backToWork(run, policy, fix)
	}
	return Step{Action: DoReview, Work: policy.Workflow[at], Number: len(run.Rounds) + 1}
}

// afterAnswer completes a person's decision if the process that recorded it was killed.
func afterAnswer(run record.Run) Step {
	if run.Answer == runplan.ChoiceCommit {
		return Step{Action: DoComplete}
	}
	return stop(record.ReasonReviewLoop, "")
}

func stepNamed(policy runplan.Policy, name string) runplan.WorkStep {
	if i := slices.IndexFunc(policy.Workflow, func(s runplan.WorkStep) bool { return s.Name == name }); i >= 0 {
		return policy.Workflow[i]
	}
	return runplan.WorkStep{Name: name, Kind: runplan.StepAgent}
}
