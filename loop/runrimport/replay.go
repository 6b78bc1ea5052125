package runrimport

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/duration"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/reply"
	"git-runr/loop/runplan"
)

// importSource is the source of events that were imported.
const importSource = "import"

// importer makes the native events of one source run. It folds as it goes, so that
// each event is made in the state that it will be read in. It has no effects: the
// same timeline gives the same events, by which an import that was killed goes on.
type importer struct {
	run     record.Run
	source  SourceRun
	found   foundWork
	explain loop.Explainer
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

// add records one native event.
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
func (im *importer) step(kind runplan.StepKind) string {
	policy := im.run.Plan.Policy
	review := slices.IndexFunc(policy.Workflow, func(s runplan.WorkStep) bool { return s.Kind == runplan.StepReview })
	if kind == runplan.StepAgent {
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
	a := record.Attempt{Number: number, Step: im.step(runplan.StepAgent), Mode: mode, Agent: agent, From: im.run.Head(), Files: []string{}}
	im.add(record.EventAttemptStarted.New(importSource, fmt.Sprintf("attempt %d, %s", a.Number, a.Mode), a))
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

// round records what a reviewer answered. How many lines it saw was not recorded:
// its census says one a file, so that it is not taken for a review of nothing.
func (im *importer) round(reviewer, text string) {
	round := record.RoundPayload{Step: im.step(runplan.StepReview), Round: record.Round{
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
		round.Duration = duration.Duration(max(0, im.at.Sub(im.reviewAt)))
	}
	im.reviewAt = time.Time{}
	title := fmt.Sprintf("round %d %s by %s, %s", round.Number, round.Report.Effective, reviewer, prose.Count(len(round.Report.Findings), "finding"))
	im.add(record.EventRoundCompleted.New(importSource, title, round).Attach("review.md", text))
}

// head is the commit that notes about the run's end go to; "" when nothing tells
// where the run stood.
func (im *importer) head() gitstore.ID {
	if head := im.run.Head(); head != im.run.Plan.Base || im.found.base == head {
		return head
	}
	return ""
}

// halt is a stop that the timeline speaks of. It is recorded when nothing follows
// it, or when the run was taken up again.
type halt struct {
	code   string // of the other system
	at     time.Time
	stated bool // that the run stopped, and not only that something was wrong
	detail []string
	round  int
	max    int
	unmet  []string
}

func (h halt) completed() bool { return h.code == "complete" }

func (h *halt) say(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); strings.TrimSpace(text) != "" {
		h.detail = append(h.detail, prose.Cut(text, 2000))
	}
}
