package runrimport

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/checklog"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
)

// importSource is the source of imported events.
const importSource = "import"

// handlers convert runr's events to ours.
var handlers = map[string]func(*importer, SourceEvent){
	"phase_start":                       (*importer).phase,
	"worker_response":                   (*importer).workerResponse,
	"implement_complete":                (*importer).implemented,
	"verification":                      (*importer).verified,
	"review_complete":                   (*importer).reviewComplete,
	"resume":                            (*importer).resumed,
	"run_resumed":                       (*importer).resumed,
	"auto_resume_started":               (*importer).resumed,
	"max_ticks_reached":                 (*importer).stopping,
	"run_complete":                      (*importer).stopping,
	record.EventReviewLoopDetected.Name: (*importer).stopping,
	record.EventRunStopped.Name:         (*importer).stopping,
}

// quietTypes are events without information that a run here records.
var quietTypes = prose.WordSet(`run_started plan_generated worktree_created checkpoint_complete milestone_complete preflight
	fast_path_skip verify_complete verify_failed_retry verify_failed_max_retries no_changes_evidence_ok worker_fallback
	ignored_changes worker_stats auto_resume_scheduled auto_resume_result resume_checkpoint_selected run_submitted`)

// importer makes the events of one run. It folds them as it goes, so that each event is made in the state in which it
// will be read. It has no side effects: the same timeline gives the same events, so a killed import can continue.
type importer struct {
	run     record.Run
	source  SourceRun
	explain runner.Explainer
	events  []record.NewEvent
	bad     error

	at        time.Time            // of the current event
	activity  time.Time            // of the newest event before a stop
	open      bool                 // an attempt has begun and not ended
	reviewAt  time.Time            // when the reviewer was started
	pending   []record.CheckResult // results of commands since the last check step
	checkedAt time.Time            // when the newest of them ran
	halt      *halt
}

// importRun returns the events of source after run, which has only begun: all events but the first, and the run in its
// final state.
func importRun(
	run record.Run, source SourceRun, now time.Time, explain runner.Explainer,
) ([]record.NewEvent, record.Run, error) {
	im := &importer{run: run, source: source, explain: explain, at: source.at(0, now), activity: source.at(0, now)}
	for i, e := range source.Events {
		im.at = source.at(i, now)
		if handle := handlers[e.Type]; handle != nil {
			handle(im, e)
		}
		if im.halt == nil {
			im.activity = im.at
		}
	}
	im.finish()
	return im.events, im.run, im.bad
}

// add records one event.
func (im *importer) add(event record.NewEvent) {
	body, err := json.Marshal(event.Payload)
	if err == nil {
		err = im.run.Apply(record.Event{Type: event.Type, Run: im.run.ID, Timestamp: im.at, Payload: body})
	}
	if err != nil && im.bad == nil { // unreachable: payloads are made here
		im.bad = fmt.Errorf("import %s: %w", event.Type, err)
	}
	event.At = im.at
	im.events = append(im.events, event)
}

// step returns the name of the workflow's step of a kind; for an agent the step before the review. A workflow without
// such a step gets the usual name.
func (im *importer) step(kind runplan.StepKind, usual string) string {
	policy := im.run.Plan.Policy
	at := slices.IndexFunc(policy.Workflow, func(s runplan.WorkStep) bool { return s.Kind == kind })
	if kind == runplan.StepAgent {
		review := slices.IndexFunc(policy.Workflow, func(s runplan.WorkStep) bool { return s.Kind == runplan.StepReview })
		if review <= 0 {
			review = len(policy.Workflow)
		}
		at = policy.FixStep(review)
	}
	if at < 0 {
		return usual
	}
	return policy.Workflow[at].Name
}

// mode returns the implementer's task: to fix what was refused or failed since its last turn, or to implement.
func (im *importer) mode() record.AttemptMode {
	last, round, checks := im.run.LastAttempt(), im.run.LastRound(), im.run.LastChecks()
	switch {
	case last == nil:
		return record.ModeImplement
	case im.open:
		return last.Mode
	case round != nil && round.Attempt == last.Number && !round.Report.Effective.Passed():
		return record.ModeFix
	case checks != nil && checks.Attempt == last.Number && checks.Failed():
		return record.ModeFix
	}
	return record.ModeImplement
}

// begin records that an attempt began. An attempt that never ended begins again under its number.
func (im *importer) begin(mode record.AttemptMode, agent string) {
	number := len(im.run.Attempts) + 1
	if im.open {
		number--
	}
	im.open = true
	step := im.step(runplan.StepAgent, "implement")
	a := record.Attempt{Number: number, Step: step, Mode: mode, Agent: agent, From: im.run.Head(), Files: []string{}}
	im.add(record.EventAttemptStarted.New(importSource, fmt.Sprintf("attempt %d, %s", a.Number, a.Mode), a))
}

func (im *importer) resumed(SourceEvent) { im.active() }

func (im *importer) phase(e SourceEvent) {
	im.active()
	switch strings.ToUpper(e.Phase) {
	case "VERIFY":
		return
	case "IMPLEMENT":
		im.flushChecks()
		im.begin(im.mode(), "implementer")
	case "REVIEW":
		im.reviewAt = im.at
	}
	im.flushChecks()
}

// workerResponse reads an agent's answer. The timeline does not record which files an implementer changed.
func (im *importer) workerResponse(e SourceEvent) {
	switch strings.ToLower(e.Phase) {
	case "implement":
		im.implemented(e)
	case "review":
		im.round(e.agent("reviewer"), e.answer())
	}
}

// implemented records the end of an attempt. If its beginning is not recorded, it began with the previous event. An
// answer without a verification section is recorded whole as its verification.
func (im *importer) implemented(e SourceEvent) {
	im.active()
	im.flushChecks()
	agent, text := e.agent("implementer"), e.answer()
	if !im.open {
		end := im.at
		im.at = im.activity
		im.begin(im.mode(), agent)
		im.at = end
	}
	report := reply.ParseExecutor(text)
	a := *im.run.LastAttempt()
	a.Claim(report)
	a.Agent, a.Warnings, a.Files = agent, nil, insidePaths(e.Changed)
	if a.Status == reply.ExecutorUnknown && e.Type == "implement_complete" { // as the event's type says
		a.Status = reply.ExecutorComplete
	}
	if a.Verification = report.Verification; a.Verification == "" {
		a.Verification = strings.TrimSpace(text)
	}
	a.Duration = duration.Duration(max(0, im.at.Sub(a.StartedAt)))
	a.StartedAt = time.Time{}
	title := fmt.Sprintf("attempt %d changed %s", a.Number, prose.Count(len(a.Files), "file"))
	if e.Changed == nil {
		title = fmt.Sprintf("attempt %d by %s", a.Number, a.Agent)
	}
	im.add(record.EventAttemptCompleted.New(importSource, title, a).Attach("executor.md", text))
	im.open = false
}

// insidePaths returns the names that are paths inside a repository, each once.
func insidePaths(names []string) []string {
	files := []string{}
	for _, name := range names[:min(len(names), maxSourceList)] {
		if clean := path.Clean(name); place.Unsafe(name) == "" && !slices.Contains(files, clean) {
			files = append(files, clean)
		}
	}
	return files
}

// reviewComplete reads the reviewer's decision and changes as if they were the reviewer's answer.
func (im *importer) reviewComplete(e SourceEvent) {
	var changes []string
	for _, raw := range e.Changes[:min(len(e.Changes), maxSourceList)] {
		if change := textOf(raw); strings.TrimSpace(change) != "" {
			changes = append(changes, prose.Cut(change, 16<<10))
		}
	}
	im.round(e.agent("reviewer"), changesText(e.Status, changes))
}

// changesText returns a reviewer's answer in runr's shape.
func changesText(status string, changes []string) string {
	body, _ := json.Marshal(map[string]any{"status": status, "changes": changes}) // which is always JSON
	return string(body)
}

// verified collects the results of commands until their turn ends: runr writes one event for each tier of checks.
func (im *importer) verified(e SourceEvent) {
	im.active()
	for _, r := range e.Results {
		im.addResult(r.Command, r.exit(), r.Output)
	}
	exit := -1
	if e.OK {
		exit = 0
	}
	for _, command := range e.Commands {
		if len(e.Results) == 0 {
			im.addResult(command, exit, "")
		}
	}
}

// addResult adds a command's result. It replaces an earlier result of the same command in the same turn.
func (im *importer) addResult(command string, exit int, output string) {
	command = prose.Cut(strings.TrimSpace(command), 4<<10)
	if command == "" || len(im.pending) >= maxSourceList {
		return
	}
	if over := len(output) - maxSourceText; over > 0 {
		output = "…\n" + strings.ToValidUTF8(output[over:], "")
	}
	im.pending = slices.DeleteFunc(im.pending, func(c record.CheckResult) bool { return c.Command == command })
	result := record.CheckResult{
		Name: im.checkName(command), Command: command, ExitCode: exit, Output: output,
		Said: checklog.Said(command, output, exit),
	}
	if exit < 0 {
		result.Reason = "not_recorded"
	}
	im.pending, im.checkedAt = append(im.pending, result), im.at
}

// checkName returns the name of the configured check with that command, else the command as a name, with a number if
// the name is taken.
func (im *importer) checkName(command string) string {
	taken := map[string]bool{}
	for _, c := range im.run.Plan.Checks {
		if strings.TrimSpace(c.Command) == command {
			return c.Name
		}
		taken[c.Name] = true
	}
	for _, c := range im.pending {
		taken[c.Name] = true
	}
	word := prose.Cut(strings.Trim(record.SafeName(command), "_-."), 40)
	if word == "" {
		word = "command"
	}
	name := word
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s-%d", word, i)
	}
	return name
}

// flushChecks records the collected results as one check step.
func (im *importer) flushChecks() {
	if len(im.pending) == 0 {
		return
	}
	run := record.CheckRun{Step: im.step(runplan.StepCheck, "check"), Results: record.WithoutOutput(im.pending)}
	if a := im.run.LastAttempt(); a != nil {
		run.Attempt = a.Number
	}
	now := im.at
	im.at = im.checkedAt
	im.add(record.EventChecksCompleted.New(importSource, run.Title(), run).AttachChecks(im.pending))
	im.at, im.pending = now, nil
}

// round records a reviewer's answer. The number of reviewed lines is not recorded. The census counts one for each file,
// so that the round is not taken for a review of nothing.
func (im *importer) round(reviewer, text string) {
	im.active()
	im.flushChecks()
	round := record.RoundPayload{Step: im.step(runplan.StepReview, "review"), Round: record.Round{
		Number: len(im.run.Rounds) + 1, Reviewer: reviewer, Report: reply.ParseReview(text, ""),
	}}
	files := 1
	if a := im.run.LastAttempt(); a != nil {
		round.Attempt = a.Number
		files = max(1, len(a.Files))
		if checks := im.run.LastChecks(); checks != nil && checks.Attempt == a.Number {
			round.Checks = checks.Results
		}
	}
	round.Census = record.Census{Files: files, SentFiles: files, Lines: files, SentLines: files}
	report := &round.Report
	report.Effective = reply.EffectiveVerdict(report.Verdict, report.Findings, round.ChecksFailed())
	if !im.reviewAt.IsZero() {
		round.Duration = duration.Duration(max(0, im.at.Sub(im.reviewAt)))
	}
	im.reviewAt = time.Time{}
	title := fmt.Sprintf("round %d %s by %s, %s", round.Number, report.Effective, reviewer,
		prose.Count(len(report.Findings), "finding"))
	im.add(record.EventRoundCompleted.New(importSource, title, round).Attach("review.md", text))
}
