package diagnose

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Of diagnoses run, which stopped or is about to stop, because of stop.
func Of(run record.Run, stop record.Stop) Diagnosis {
	reason, known, checks := stop.Explained(), proofOf(run), newMatcher(run.Plan.Checks)
	d := Diagnosis{
		StopReason: stop.Reason, Explanation: reason.Explanation, Detail: stop.Detail, LoopCount: stop.Round,
		LastReviewRequests: requests(run, stop), LastEvidenceProvided: provided(run, known),
		RunID: run.ID, Title: run.Plan.Entity.Name(),
		Family: reason.Family, Resumable: reason.Resumable, ExitStatus: reason.Status,
		Round: stop.Round, MaxRounds: stop.MaxRounds, Checkpoint: checkpointOf(run),
		Files: filesAtStop(run, stop), Requests: fates(run, checks, known),
		ResumeAfter: stop.ResumeAfter, Setting: stop.Setting, Said: stop.Said, SaidBy: stop.SaidBy,
		Transcript: transcriptOf(run, reason.Family),
	}
	if stop.Round > 0 && len(run.Rounds) > stop.Round {
		d.since = " since it was resumed"
	}
	if run.Status.Over() {
		d.over = string(run.Status)
	}
	if stop.Reason == record.ReasonSpent {
		d.Spending = run.Spending
	}
	if checks := run.LastChecks(); checks != nil {
		d.FailingChecks = failingChecks(run.Failing(), checks.Event)
	}
	d.UnmetChecks = unmetOf(run, checks, d.LastReviewRequests, known)
	if slices.Contains([]record.Family{record.FamilyLimit, record.FamilyUser, record.FamilyAgent}, reason.Family) {
		d.activity(run, stop)
	}
	d.SuggestedCommands = suggestions(run.Plan, checks, d.LastReviewRequests, known)
	if run.Status == record.RunAborted || run.Status == record.RunSkipped { // nothing is left to act on
		reason.Intervene, reason.Next, d.Resumable = "", afterwards, false
	} else if d.Checkpoint != nil && !stop.Answered && !stop.NotAsIs && !slices.Contains(reason.Next, record.StepAccept) {
		d.Accept = record.StepAccept.For(run.ID)
	}
	d.NextSteps = d.nextSteps(reason)
	d.PutBack = stop.Undo
	if reason.Intervene != "" {
		d.intervention = intervention(run.ID, reason.Intervene, d.note(checks), d.SuggestedCommands)
		d.Intervention = strings.Join(d.intervention, " ")
	}
	d.SuggestedActions = slices.Concat(d.runs(), d.steps(), edits(run, stop, d.Files))
	return d
}

// requests returns what the reviewer still asks for: the stop's unmet requests, else those of the newest review that
// did not pass.
func requests(run record.Run, stop record.Stop) []string {
	if len(stop.Unmet) > 0 {
		return stop.Unmet
	}
	if round := run.LastRound(); round != nil && round.Report.Effective.Passed() {
		return nil
	}
	_, asked := run.Open()
	return asked
}

func checkpointOf(run record.Run) *Checkpoint {
	head := run.Head()
	c := &Checkpoint{Commit: head, Attempts: len(run.Attempts)}
	for _, iv := range run.Interventions {
		if iv.Commit == head {
			c.Intervention = iv.Number
		}
	}
	for _, a := range run.GoodAttempts() {
		if a.Commit == head || c.Intervention > 0 {
			c.Attempt = a.Number
		}
	}
	if head == "" || c.Attempt == 0 && c.Intervention == 0 {
		return nil
	}
	return c
}

// filesAtStop returns the paths that caused a stop: those outside the scope, those that could not be restored, or those
// that nobody claims.
func filesAtStop(run record.Run, stop record.Stop) []string {
	last := run.LastAttempt()
	switch {
	case last == nil:
	case stop.Reason == record.ReasonScope:
		return run.Plan.Outside(last.Files)
	case stop.Reason == record.ReasonRevertConflict && last.Reverted != nil:
		return append(slices.Clone(last.Reverted.Conflicts), last.Reverted.Left...)
	case stop.Reason == record.ReasonUnclaimed:
		return last.Unclaimed
	}
	return nil
}

// activity fills in the time of the last sign of activity, and how long before the stop that was.
func (d *Diagnosis) activity(run record.Run, stop record.Stop) {
	at, end := stop.LastActivity, stop.At
	if end.IsZero() {
		end = run.UpdatedAt
	}
	if at.IsZero() {
		at = lastEvent(run)
	}
	if at.IsZero() {
		return
	}
	d.LastActivityAt = at.UTC()
	d.TimeSinceActivity = max(end.Sub(at).Milliseconds(), 0)
}

// lastEvent returns when something last happened in run, other than its end or an agent's failure.
func lastEvent(run record.Run) time.Time {
	all := []time.Time{run.CreatedAt}
	for _, a := range run.Attempts {
		if all = append(all, a.StartedAt); a.Failure == nil {
			all = append(all, a.EndedAt)
		}
	}
	for _, c := range run.Checks {
		all = append(all, c.At)
	}
	for _, r := range run.Rounds {
		if r.Failure == nil {
			all = append(all, r.At)
		}
	}
	for _, iv := range run.Interventions {
		all = append(all, iv.At)
	}
	return slices.MaxFunc(all, time.Time.Compare)
}

// suggestions returns the checks that requests or done criteria mention and that did not pass on the newest tree, and
// those that failed. A command always comes from the configuration, never from a reviewer's text.
func suggestions(plan runplan.Plan, checks matcher, asked []string, known proof) []Suggestion {
	wanted := checks.commands(asked...)
	for _, command := range checks.commands(doneChecks(plan)...) {
		if c := checkWith(plan.Checks, command); known.of(c).state != passed {
			wanted = append(wanted, command)
		}
	}
	for _, c := range plan.Checks {
		if known.of(c).state == failed {
			wanted = append(wanted, c.Command)
		}
	}
	logs := map[string]string{}
	for i, name := range runner.EvidenceFiles(plan.Checks) {
		logs[plan.Checks[i].Name] = name
	}
	var found []Suggestion
	for i, command := range wanted {
		line, ok := safetext.PortableCommand(command)
		if !ok || slices.Contains(wanted[:i], command) {
			continue
		}
		check := checkWith(plan.Checks, command)
		found = append(found, Suggestion{Check: check.Name, Command: command, Was: known.of(check).was, line: line,
			log: logs[check.Name]})
	}
	return found
}

// checkWith returns the check configured with command, or the zero Check.
func checkWith(checks []runplan.Check, command string) runplan.Check {
	c, _ := each.First(checks, func(c runplan.Check) bool { return c.Command == command })
	return c
}

// afterwards are the next steps for an abandoned run.
var afterwards = []record.NextStep{{Command: "git runr show RUN", What: "see what it came to"},
	{Command: "git runr show --steps RUN", What: "see what each attempt did"}}

// nextSteps returns the registry's next steps for this run: the footer's list and, with d.Accept, the diagnosis's.
func (d Diagnosis) nextSteps(reason record.Reason) []record.NextStep {
	steps := []record.NextStep{}
	for _, s := range reason.Next {
		if d.Checkpoint != nil || s != record.StepAccept && s != record.StepAudit { // these steps need work to act on
			steps = append(steps, record.NextStep{Command: s.For(d.RunID), What: s.What})
		}
	}
	return steps
}

// editsShown is the maximum number of places suggested for editing.
const editsShown = 10

// edits returns the places to change: the files that caused the stop, and the places of open findings.
func edits(run record.Run, stop record.Stop, files []string) []Action {
	why := map[string]string{
		record.ReasonScope:          "outside of the run's scope: undo the change, or allow it under [scope] in .runr.toml",
		record.ReasonRevertConflict: "changed since the attempt: give it the content it should have",
		record.ReasonUnclaimed:      "changed while the agent worked, but not reported by it: keep it or undo it",
	}[stop.Reason]
	actions := each.Of(files, func(f string) Action { return Action{Edit: oneLine(f), Description: why, label: "Edit"} })
	findings, _ := run.Open()
	if len(requests(run, stop)) == 0 {
		findings = nil
	}
	for _, f := range findings {
		if f.File != "" {
			actions = append(actions, Action{Edit: oneLine(f.Place()), Description: oneLine(f.Issue), label: "Edit"})
		}
	}
	return actions[:min(len(actions), editsShown)]
}

// Explain adds the diagnosis to a stop's event, and returns the files stored with a stop: stop_diagnostics.json and
// review_digest.md.
func Explain(run record.Run, stop record.Stop) (record.Stop, map[string][]byte) {
	d := Of(run, stop)
	stop.Unmet, stop.UnmetChecks, stop.Intervention = d.LastReviewRequests, d.UnmetChecks, d.Intervention
	stop.Commands = each.Of(d.SuggestedCommands, func(s Suggestion) string { return s.Command })
	stop.NextSteps = each.Of(d.NextSteps, func(s record.NextStep) string { return s.Command })
	return stop, map[string][]byte{
		"stop_diagnostics.json": d.document(),
		"review_digest.md":      []byte(d.Digest()),
	}
}

// document formats d as a JSON file.
func (d Diagnosis) document() []byte {
	versioned := struct {
		V int `json:"v"`
		Diagnosis
	}{1, d}
	body, err := json.MarshalIndent(versioned, "", "  ")
	if err != nil { // unreachable: a Diagnosis holds only strings, numbers and times of this age
		body = []byte("{}")
	}
	return append(body, '\n')
}
