package runrimport

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/internal/markdown"
	"git-runr/loop/internal/strictjson"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/reply"
)

const sourceCheckpoint = "checkpoint_complete"

// importSource is the source of events that were imported.
const importSource = "import"

// importHandlers turn the other system's events into native ones.
var importHandlers = map[string]func(*importer, SourceEvent){
	"phase_start":                       (*importer).phase,
	"worker_response":                   (*importer).workerResponse,
	"implement_complete":                (*importer).implemented,
	"no_changes_evidence_ok":            (*importer).evidence,
	"no_changes_evidence_failed":        (*importer).evidence,
	"verification":                      (*importer).verified,
	"verify_failed_retry":               (*importer).verifyFailed,
	"verify_failed_max_retries":         (*importer).verifyFailed,
	"verify_complete":                   (*importer).verifyComplete,
	"review_complete":                   (*importer).reviewComplete,
	"resume":                            (*importer).tookUp,
	"run_resumed":                       (*importer).tookUp,
	"auto_resume_started":               (*importer).tookUp,
	"parse_failed":                      (*importer).parseFailed,
	"guard_violation":                   (*importer).violated,
	"ownership_violation":               (*importer).violated,
	"plan_scope_violation":              (*importer).violated,
	"parallel_file_collision":           (*importer).violated,
	"max_ticks_reached":                 (*importer).stopping,
	"run_dry_stop":                      (*importer).stopping,
	"run_complete":                      (*importer).stopping,
	record.EventReviewLoopDetected.Name: (*importer).stopping,
	record.EventRunStopped.Name:         (*importer).stopping,
}

// importer makes the native events of one source run. It folds as it goes, so that
// each event is made in the state that it will be read in. It has no effects: the
// same timeline gives the same events, by which an import that was killed goes on.
type importer struct {
	run     record.Run
	source  SourceRun
	found   foundWork
	explain func(record.Run, record.Stop) (record.Stop, map[string][]byte)
	now     time.Time // of events without a time
	events  []record.NewEvent
	bad     error

	commits   map[int]string       // recorded id of the checkpoint that holds an attempt's work, by line of the attempt's event
	at        time.Time            // of the event that is being read
	activity  time.Time            // of the newest event before a stop
	open      bool                 // an attempt was begun and has not ended
	reviewAt  time.Time            // when the reviewer was asked
	pending   []record.CheckResult // of commands since the last check step
	checkedAt time.Time            // when the newest of them ran
	proof     string               // what the implementer showed for having changed nothing
	problem   map[string]string
	halt      *halt
	stops     int // events that say so and are still to come
}

// maxExplained is how many of a run's stops, the newest, get a diagnosis: each one
// looks at the whole run.
const maxExplained = 20

// importRun is what becomes of source after run, which has only begun: all
// events but the first, and the run as they leave it.
func importRun(run record.Run, source SourceRun, found foundWork, now time.Time, explain func(record.Run, record.Stop) (record.Stop, map[string][]byte)) ([]record.NewEvent, record.Run, error) {
	im := &importer{run: run, source: source, found: found, explain: explain, now: now, commits: map[int]string{}, problem: map[string]string{}}
	im.matchCheckpoints()
	im.at = source.at(0, now)
	im.activity = im.at
	im.stops = source.count(record.EventRunStopped.Name, record.EventReviewLoopDetected.Name, "max_ticks_reached")
	for i, e := range source.Events {
		handle := importHandlers[e.Type]
		im.at = source.at(i, now)
		if handle != nil {
			handle(im, e)
		}
		if im.halt == nil {
			im.activity = im.at
		}
	}
	im.finish()
	return im.events, im.run, im.bad
}

// add records one native event.
func (im *importer) add(event record.NewEvent) {
	body, err := json.Marshal(event.Payload)
	if err == nil {
		err = im.run.Apply(record.Event{Type: event.Type, Run: im.run.ID, Timestamp: im.at, Payload: body})
	}
	if err != nil && im.bad == nil { // unreachable: payloads are made here
		im.bad = fmt.Errorf("import %s: %w", event.Type, err)
	}
	status := string(im.run.Status)
	event.Run, event.At, event.Status = im.run.ID, im.at, func(record.Event) string { return status }
	im.events = append(im.events, event)
}

// matchCheckpoints finds out which attempt each checkpoint commits.
func (im *importer) matchCheckpoints() {
	line := 0
	for _, e := range im.source.Events {
		switch {
		case e.Type == "implement_complete", e.Type == "worker_response" && e.fields.text("phase") == "implement":
			line = e.Line
		case e.Type == sourceCheckpoint && line > 0:
			im.commits[line] = e.fields.text("commit")
			line = 0
		}
	}
}

// step is the name of the workflow's step of kind: for an agent's the one before
// the review. A workflow without one gets the usual name.
func (im *importer) step(kind record.StepKind) string {
	policy := im.run.Plan.Policy
	review := slices.IndexFunc(policy.Workflow, func(s record.WorkStep) bool { return s.Kind == record.StepReview })
	if kind == record.StepAgent {
		if at := policy.FixStep(cmp.Or(max(review, 0), len(policy.Workflow))); at >= 0 {
			return policy.Workflow[at].Name
		}
		return "implement"
	}
	for _, s := range policy.Workflow {
		if s.Kind == kind {
			return s.Name
		}
	}
	return string(kind)
}

// active is called by what shows that the run goes on: a stop before it was not
// the end.
func (im *importer) active() {
	if im.halt == nil {
		return
	}
	if halt := *im.halt; halt.stated && !halt.completed() {
		at := im.at
		im.at = halt.at
		im.lastRound()
		im.stop()
		im.at = at
		im.add(record.EventRunResumed.New(importSource, "from "+string(im.run.Status), struct{}{}))
	}
	im.halt = nil
}

func (im *importer) tookUp(SourceEvent) { im.active() }

func (im *importer) phase(e SourceEvent) {
	im.active()
	switch phase := strings.ToUpper(e.fields.text("phase")); phase {
	case "VERIFY":
	case "IMPLEMENT":
		im.flushChecks()
		im.begin(im.mode(), "implementer")
	case "REVIEW":
		im.flushChecks()
		im.reviewAt = im.at
	default:
		im.flushChecks()
	}
}

// mode is how the implementer must have been asked: to fix what was refused or
// failed since its last turn.
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

// begin records that an attempt began. One that never ended is begun again under
// its number.
func (im *importer) begin(mode record.AttemptMode, agent string) {
	number := len(im.run.Attempts) + 1
	if im.open {
		number--
	}
	im.open = true
	a := record.Attempt{Number: number, Step: im.step(record.StepAgent), Mode: mode, Agent: agent, From: im.run.Head(), Files: []string{}}
	im.add(record.EventAttemptStarted.New(importSource, fmt.Sprintf("attempt %d, %s", a.Number, a.Mode), a))
}

// worked records the end of an attempt, which began with the event before when
// nothing says when it did.
func (im *importer) worked(e SourceEvent, a record.Attempt, text string) {
	im.active()
	im.flushChecks()
	if !im.open {
		end := im.at
		im.at = cmp.Or(im.activity, end)
		im.begin(im.mode(), a.Agent)
		im.at = end
	}
	begun := *im.run.LastAttempt()
	a.Number, a.Step, a.Mode, a.From = begun.Number, begun.Step, begun.Mode, begun.From
	a.Duration = record.Duration(max(0, im.at.Sub(begun.StartedAt)))
	if id := im.found.commits[im.commits[e.Line]]; id != "" {
		a.Commit, a.Tree = id, im.found.trees[id]
	}
	attachments := map[string][]byte{}
	if text != "" {
		attachments["executor.md"] = []byte(text)
	}
	title := fmt.Sprintf("attempt %d changed %s", a.Number, prose.Count(len(a.Files), "file"))
	if e.fields["changed_files"] == nil {
		title = fmt.Sprintf("attempt %d by %s", a.Number, a.Agent)
	}
	if a.Failure != nil {
		title = fmt.Sprintf("attempt %d: %s", a.Number, a.Failure.Reason)
	}
	im.add(record.EventAttemptCompleted.New(importSource, title, a).With(attachments))
	im.open, im.proof = false, ""
}

// implemented reads implement_complete: the other system's own list of changed
// files, and the implementer's memo.
func (im *importer) implemented(e SourceEvent) {
	memo := e.fields.prose("handoff_memo", "response", "content")
	report := reply.ParseExecutor(memo)
	a := record.Attempt{Agent: e.agent("implementer"), Files: e.fields.paths("changed_files")}
	a.Claim(report)
	a.Warnings = nil
	if a.Status == reply.ExecutorUnknown {
		a.Status = reply.ExecutorComplete // so says the event
	}
	a.Verification = strings.TrimSpace(cmp.Or(report.Verification, memo) + "\n\n" + im.proof)
	im.worked(e, a, memo)
}

// workerResponse reads the event of a worker: an agent's answer, and in which phase.
func (im *importer) workerResponse(e SourceEvent) {
	text := e.fields.prose("response", "content", "output", "text")
	switch strings.ToLower(e.fields.text("phase")) {
	case "implement":
		im.implementerSaid(e, text)
	case "review":
		im.reviewed(e, text)
	}
}

// implementerSaid keeps the whole answer as what the implementer showed. Which
// files it changed nobody recorded, so there is nothing to compare its list with.
func (im *importer) implementerSaid(e SourceEvent, text string) {
	said := implementerAnswer(text)
	report := reply.ParseExecutor(said)
	a := record.Attempt{
		Agent: e.agent("implementer"), Files: []string{}, Claimed: report.Files, Status: report.Status,
		Verification: cmp.Or(report.Verification, said),
	}
	im.worked(e, a, text)
}

// implementerAnswer is text, or what a JSON answer in it says: the memo, the
// commands that the implementer says it ran, and what it saw.
func implementerAnswer(text string) string {
	clean, _ := markdown.Clean(text, &markdown.Warnings{})
	for _, span := range slices.Backward(markdown.JSON(markdown.Read(clean))) {
		var answer sourceFields
		if !span.Valid || strictjson.Decode([]byte(span.Data), &answer) != nil || answer["handoff_memo"] == nil && answer["commands_run"] == nil {
			continue
		}
		parts := []string{answer.prose("handoff_memo")}
		for _, list := range []struct{ key, title string }{{"commands_run", "Commands run:"}, {"observations", "Observations:"}} {
			if lines := answer.lines(list.key); len(lines) > 0 {
				parts = append(parts, list.title+"\n- "+strings.Join(lines, "\n- "))
			}
		}
		return strings.TrimSpace(strings.Join(parts, "\n\n"))
	}
	return text
}

// evidence is what an implementer shows for changing nothing.
func (im *importer) evidence(e SourceEvent) {
	im.active()
	im.proof = e.fields.prose("evidence", "evidence_provided")
	if errors := e.fields.lines("errors"); len(errors) > 0 {
		im.problem["insufficient_evidence"] = strings.Join(errors, "; ")
	}
}

// reviewComplete reads the reviewer's decision and changes as the reviewer itself
// would have answered.
func (im *importer) reviewComplete(e SourceEvent) {
	changes := []json.RawMessage{}
	raws := e.fields.raws("changes")
	if e.fields.text("changes") != "" {
		raws = []json.RawMessage{e.fields["changes"]}
	}
	for _, raw := range raws {
		if change := readableChange(raw); change != nil {
			changes = append(changes, change)
		}
	}
	im.reviewed(e, changesText(e.fields.text("status"), changes))
}

// changesText is a reviewer's answer in runr's shape.
func changesText(status string, changes []json.RawMessage) string {
	body, err := json.Marshal(struct {
		Status  string            `json:"status"`
		Changes []json.RawMessage `json:"changes"`
	}{status, changes})
	if err != nil { // unreachable: every part was read as JSON
		return "{}"
	}
	return string(body)
}

// readableChange is raw, or raw as a text where the parser of reviews would refuse
// it: one odd change must not hide the others.
func readableChange(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if _, err := reply.ReadChange(raw, &markdown.Warnings{}); err == nil && len(raw) <= maxSourceChange {
		return raw
	}
	text, err := json.Marshal(prose.Cut(sourceFields{"": raw}.prose(""), maxSourceChange))
	if err != nil { // unreachable: a string
		return nil
	}
	return text
}

// maxSourceChange is how much of one change is kept, in bytes.
const maxSourceChange = 16 << 10

// reviewed records a round.
func (im *importer) reviewed(e SourceEvent, text string) {
	im.active()
	im.flushChecks()
	im.round(e.agent("reviewer"), text)
}

// round records what a reviewer answered. How many lines it saw was not recorded:
// its census says one a file, so that it is not taken for a review of nothing.
func (im *importer) round(reviewer, text string) {
	round := record.RoundPayload{Step: im.step(record.StepReview), Round: record.Round{
		Number: len(im.run.Rounds) + 1, Reviewer: reviewer, Report: reply.ParseReview(text, ""), Census: record.Census{Files: 1},
	}}
	if a := im.run.LastAttempt(); a != nil {
		round.Attempt, round.Commit, round.Tree = a.Number, a.Commit, a.Tree
		round.Census.Files = max(1, len(a.Files))
		if checks := im.run.LastChecks(); checks != nil && checks.Attempt == a.Number {
			round.Checks = checks.Results
		}
	}
	seen := &round.Census
	seen.SentFiles, seen.Lines, seen.SentLines = seen.Files, seen.Files, seen.Files
	round.Report.Effective = reply.EffectiveVerdict(round.Report.Verdict, round.Report.Findings, round.ChecksFailed())
	if !im.reviewAt.IsZero() {
		round.Duration = record.Duration(max(0, im.at.Sub(im.reviewAt)))
	}
	im.reviewAt = time.Time{}
	attachments := map[string][]byte{}
	if text != "" {
		attachments["review.md"] = []byte(text)
	}
	title := fmt.Sprintf("round %d %s by %s, %s", round.Number, round.Report.Effective, reviewer, prose.Count(len(round.Report.Findings), "finding"))
	im.add(record.EventRoundCompleted.New(importSource, title, round).With(attachments))
}

// head is the commit that notes about the run's end go to; "" when nothing tells
// where the run stood.
func (im *importer) head() gitstore.ID {
	if head := im.run.Head(); head != im.run.Plan.Base || im.found.base == head {
		return head
	}
	return ""
}
