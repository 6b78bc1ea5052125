package runrimport

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
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

// keptFile is the attachment of a run's last event that holds the events kept as text.
const keptFile = "timeline.jsonl"

// handlers maps types of runr's events to the functions that import them. Events of other types are kept as text.
var handlers = map[string]func(*importer, event){
	"run_started":         (*importer).working,
	"phase_start":         (*importer).working,
	"resume":              (*importer).working,
	"run_resumed":         (*importer).working,
	"auto_resume_started": (*importer).working,
	"worker_response":     (*importer).workerResponse,
	"implement_complete":  (*importer).implemented,
	"verification":        (*importer).verified,
	"review_complete":     (*importer).reviewed,
	"max_ticks_reached":   (*importer).stopping,
	"run_complete":        (*importer).stopping,

	record.EventReviewLoopDetected.Name: (*importer).stopping,
	record.EventRunStopped.Name:         (*importer).stopping,
}

// importer makes the events of one run. It folds them as it goes, so that each event is made in the state in which it
// will be read.
type importer struct {
	run     record.Run
	kept    string
	explain runner.Explainer
	events  []record.NewEvent
	bad     error

	at       time.Time // of the current event
	from     time.Time // when the turn began whose result comes next
	activity time.Time // of the newest event before a stop
	// the last stop, with runr's reason, if no work follows it; several events about one stop are merged
	halt *record.Stop
}

// importRun returns the events of t for run, which has only begun.
func importRun(run record.Run, t Timeline, now time.Time, explain runner.Explainer) ([]record.NewEvent, error) {
	_, at := t.began(now)
	im := &importer{run: run, kept: string(t.kept), explain: explain, at: at, from: at, activity: at}
	for _, e := range t.events {
		im.at = e.when(im.at, now)
		if handle := handlers[e.Type]; handle != nil {
			handle(im, e)
		}
		if im.halt == nil {
			im.activity = im.at
		}
	}
	im.finish()
	return im.events, im.bad
}

// add records one event.
func (im *importer) add(event record.NewEvent) {
	body, err := json.Marshal(event.Payload)
	if err == nil {
		err = im.run.Apply(record.Event{Type: event.Type, Run: im.run.ID, Timestamp: im.at, Payload: body})
	}
	if err == nil && len(im.events) == maxRecorded {
		err = fmt.Errorf("more than %d attempts, checks and reviews", maxRecorded)
	}
	if err != nil && im.bad == nil {
		im.bad = fmt.Errorf("import %s: %w", event.Type, err)
	}
	event.At = im.at
	if im.bad == nil {
		im.events = append(im.events, event)
	}
}

// working is called for an event that shows that the run continues: a stop before it was not the end.
func (im *importer) working(event) { im.halt, im.from = nil, im.at }

// took returns how long the turn that ends now took, and begins the next one.
func (im *importer) took() duration.Duration {
	d := duration.Duration(max(0, im.at.Sub(im.from)))
	im.working(event{})
	return d
}

// step returns the name of the workflow's last step of a kind, or the usual name if it has none.
func (im *importer) step(kind runplan.StepKind, usual string) string {
	for _, step := range slices.Backward(im.run.Plan.Policy.Workflow) {
		if step.Kind == kind {
			return step.Name
		}
	}
	return usual
}

// mode returns the implementer's task: to fix what was refused or failed since its last turn, or to implement.
func (im *importer) mode() record.AttemptMode {
	last, round, checks := im.run.LastAttempt(), im.run.LastRound(), im.run.LastChecks()
	if last == nil {
		return record.ModeImplement
	}
	refused := round != nil && round.Attempt == last.Number && !round.Report.Effective.Passed()
	if refused || checks != nil && checks.Attempt == last.Number && checks.Failed() {
		return record.ModeFix
	}
	return record.ModeImplement
}

// workerResponse reads an agent's answer. The timeline does not record which files an implementer changed.
func (im *importer) workerResponse(e event) {
	switch strings.ToLower(e.Phase) {
	case "implement":
		im.implemented(e)
	case "review":
		im.round(e.agent("reviewer"), e.answer())
	}
}

// implemented records an attempt, which began when its phase did. An answer without a verification section is recorded
// whole as its verification.
func (im *importer) implemented(e event) {
	text := e.answer()
	a := record.Attempt{
		Number: len(im.run.Attempts) + 1, Step: im.step(runplan.StepAgent, "implement"), Mode: im.mode(),
		Agent: e.agent("implementer"), From: im.run.Head(), Files: []string{},
	}
	end := im.at
	im.at = im.from
	im.add(record.EventAttemptStarted.New(importSource, fmt.Sprintf("attempt %d, %s", a.Number, a.Mode), a))
	im.at = end
	report := reply.ParseExecutor(text)
	a.Claim(report)
	a.Warnings, a.Files = nil, insidePaths(e.Changed)
	if a.Status == reply.ExecutorUnknown && e.Type == "implement_complete" { // as the event's type says
		a.Status = reply.ExecutorComplete
	}
	a.Verification = cmp.Or(report.Verification, strings.TrimSpace(text))
	a.Duration = im.took()
	title := fmt.Sprintf("attempt %d changed %s", a.Number, prose.Count(len(a.Files), "file"))
	if e.Changed == nil {
		title = fmt.Sprintf("attempt %d by %s", a.Number, a.Agent)
	}
	im.add(record.EventAttemptCompleted.New(importSource, title, a).Attach("executor.md", text))
}

// insidePaths returns the names that are paths inside a repository, each once.
func insidePaths(names []string) []string {
	files := []string{}
	for _, name := range names[:min(len(names), maxList)] {
		if clean := path.Clean(name); place.Unsafe(name) == "" && !slices.Contains(files, clean) {
			files = append(files, clean)
		}
	}
	return files
}

// reviewed reads the reviewer's decision and changes as if they were the reviewer's answer.
func (im *importer) reviewed(e event) {
	var changes []string
	for _, raw := range e.Changes[:min(len(e.Changes), maxList)] {
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

// verified records the results of commands as a step of checks.
func (im *importer) verified(e event) {
	im.working(e)
	var results []record.CheckResult
	for _, r := range e.Results[:min(len(e.Results), maxList)] {
		c := record.CheckResult{Command: prose.Cut(strings.TrimSpace(r.Command), 4<<10), Output: prose.Cut(r.Output, maxText)}
		exit, err := strconv.Atoi(strings.Trim(string(r.Exit), `"`))
		if c.ExitCode = exit; err != nil || exit < 0 || exit > 1<<16 {
			c.ExitCode, c.Reason = -1, "not_recorded"
		}
		if c.Command == "" {
			continue
		}
		c.Name, c.Said = im.checkName(c.Command), checklog.Said(c.Command, c.Output, c.ExitCode)
		results = slices.DeleteFunc(results, func(other record.CheckResult) bool { return other.Name == c.Name })
		results = append(results, c)
	}
	if len(results) == 0 {
		return
	}
	run := record.CheckRun{Step: im.step(runplan.StepCheck, "check"), Results: record.WithoutOutput(results)}
	if a := im.run.LastAttempt(); a != nil {
		run.Attempt = a.Number
	}
	im.add(record.EventChecksCompleted.New(importSource, run.Title(), run).AttachChecks(results))
}

// checkName returns the name of the configured check with that command, else the command as a name.
func (im *importer) checkName(command string) string {
	same := func(c runplan.Check) bool { return strings.TrimSpace(c.Command) == command }
	if c, ok := each.First(im.run.Plan.Checks, same); ok {
		return c.Name
	}
	return cmp.Or(prose.Cut(strings.Trim(record.SafeName(command), "_-."), 40), "command")
}

// round records a reviewer's answer. The number of reviewed lines is not recorded. The census counts one for each file,
// so that the round is not taken for a review of nothing.
func (im *importer) round(reviewer, text string) {
	round := record.RoundPayload{Step: im.step(runplan.StepReview, "review"), Round: record.Round{
		Number: len(im.run.Rounds) + 1, Reviewer: reviewer, Report: reply.ParseReview(text, ""), Duration: im.took(),
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
	title := fmt.Sprintf("round %d %s by %s, %s", round.Number, report.Effective, reviewer,
		prose.Count(len(report.Findings), "finding"))
	im.add(record.EventRoundCompleted.New(importSource, title, round).Attach("review.md", text))
}

// stopping reads an event that ends the run.
func (im *importer) stopping(e event) {
	code := strings.TrimSpace(prose.Cut(e.Reason, 100))
	switch e.Type {
	case record.EventReviewLoopDetected.Name:
		code = record.ReasonReviewLoop
	case "max_ticks_reached":
		code = e.Type
	case "run_complete":
		code = "complete"
	}
	if h := im.halt; h == nil || code != "" && h.Reason != code {
		im.halt = &record.Stop{Reason: code, At: im.at}
	}
	h := im.halt
	h.Round, h.MaxRounds = cmp.Or(e.rounds(), h.Round), cmp.Or(e.maxRounds(), h.MaxRounds)
	h.Detail = cmp.Or(prose.Cut(strings.TrimSpace(e.Error), 2000), h.Detail)
	if asked := e.requests(); len(asked) > 0 {
		h.Unmet = asked
	}
}

// finish records how the run ended. A run that ends without a stop was interrupted.
func (im *importer) finish() {
	h := im.halt
	if h == nil {
		h = &record.Stop{Reason: record.ReasonInterrupted, At: im.at, Detail: "the timeline ends without a stop"}
	}
	im.at = h.At
	if h.Reason == "complete" {
		done := record.CompletedPayload{Result: record.ResultPass}
		if round := im.run.LastRound(); round != nil {
			done.Open = round.Report.Findings
		}
		im.add(record.EventRunCompleted.New(importSource, done.Result, done).Attach(keptFile, im.kept))
		return
	}
	if _, asked := im.run.Open(); len(asked) == 0 && len(h.Unmet) > 0 { // the stop alone says what was asked for
		im.round("reviewer", changesText("request_changes", h.Unmet))
	}
	im.beginNext()
	im.stop(h)
}

// beginNext begins the last attempt again, with its recorded data, if resuming the run would continue after it: its
// work is not in this repository, so it must not be passed, reviewed or undone.
func (im *importer) beginNext() {
	next := im.run
	for _, eventType := range []string{record.EventRunStopped.Name, record.EventRunResumed.Name} {
		event := record.Event{Type: eventType, Timestamp: im.at, Payload: []byte(`{"reason":"interrupted"}`)}
		_ = next.Apply(event) // cannot fail: the payload is ours
	}
	a := record.Attempt{
		Number: 1, Step: im.step(runplan.StepAgent, "implement"),
		Agent: cmp.Or(im.run.Plan.Implementer, "implementer"), From: im.run.Head(), Files: []string{},
	}
	if last := im.run.LastAttempt(); last != nil {
		a = *last
		a.StartedAt, a.EndedAt = time.Time{}, time.Time{}
	}
	a.Mode = im.mode()
	switch runner.Next(next, next.Plan.Policy).Action {
	case runner.DoRevert:
		a.Mode = record.ModeReexecute
	case runner.DoComplete, runner.DoReview, runner.DoChecks:
	default:
		return
	}
	title := fmt.Sprintf("attempt %d, again: its work is not here", a.Number)
	im.add(record.EventAttemptStarted.New(importSource, title, a))
}

// stop records h with its diagnosis, as the runner records its stops.
func (im *importer) stop(h *record.Stop) {
	stop := record.Stop{Reason: nativeReason(h.Reason), At: im.at, LastActivity: im.activity, Detail: h.Detail,
		ForGood: im.run.Plan.Implementer == ""}
	if stop.Reason != h.Reason && h.Reason != "" {
		stop.Detail = strings.TrimSuffix(prose.OneLine(h.Reason)+": "+h.Detail, ": ")
	}
	kind, title := record.EventRunStopped, stop.Reason
	step := runner.Next(im.run, im.run.Plan.Policy)
	if stop.Reason == record.ReasonReviewLoop {
		kind = record.EventReviewLoopDetected
		stop.Round = cmp.Or(h.Round, im.refusedInARow())
		stop.MaxRounds = cmp.Or(h.MaxRounds, im.run.Plan.Policy.MaxRetries)
		if round := im.run.LastRound(); round != nil && !round.Report.Effective.Passed() {
			_, stop.Unmet = im.run.Open()
		}
		if step.Action == runner.DoExhaust {
			stop.Repeated = step.Repeated
		}
		title = record.RoundOf(stop.Round, stop.MaxRounds) + ", " + prose.Count(len(stop.Unmet), "request") + " unmet"
	}
	var files map[string][]byte
	if im.explain != nil {
		stop, files = im.explain(im.run, stop)
	}
	event := kind.New(importSource, title, record.StopPayload{Stop: stop})
	event.Attachments = files
	im.add(event.Attach(keptFile, im.kept))
}

// refusedInARow returns how many rounds did not pass since the last one that did.
func (im *importer) refusedInARow() int {
	n := 0
	for i := len(im.run.Rounds) - 1; i >= 0 && !im.run.Rounds[i].Report.Effective.Passed(); i-- {
		n++
	}
	return n
}

// sourceReasons maps runr's stop codes to ours where they differ.
var sourceReasons = map[string]string{
	"verification_failed": record.ReasonChecksFailed, "max_ticks_reached": record.ReasonBudget,
	"guard_violation": record.ReasonScope, "guard_fail": record.ReasonScope,
	"ownership_violation": record.ReasonScope, "plan_scope_violation": record.ReasonScope,
	"implement_parse_failed": record.ReasonAgentFailed, "plan_parse_failed": record.ReasonAgentFailed,
	"insufficient_evidence": record.ReasonNoChange,
}

// nativeReason returns our code for one of runr's. An unknown code is kept.
func nativeReason(code string) string {
	if reason, ok := sourceReasons[code]; ok {
		return reason
	}
	code = record.SafeName(strings.ToLower(prose.Cut(code, 60)))
	code = strings.NewReplacer("-", "_", ".", "_").Replace(code)
	return cmp.Or(strings.Trim(code, "_"), record.ReasonInterrupted)
}
