package runrimport

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
)

// halt is a stop in the timeline. It is recorded if it is the last event, or if the run was resumed after it.
type halt struct {
	code   string // runr's
	at     time.Time
	detail string
	round  int
	max    int
	unmet  []string
}

// sourceReasons maps runr's codes with another name here.
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
	code = strings.Map(func(r rune) rune {
		if r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(prose.Cut(code, 60)))
	return cmp.Or(strings.Trim(code, "_"), record.ReasonInterrupted)
}

// stopping reads an event that ends the run. Several events about one stop are merged.
func (im *importer) stopping(e SourceEvent) {
	code := strings.TrimSpace(prose.Cut(e.Reason, 100))
	switch e.Type {
	case record.EventReviewLoopDetected.Name:
		code = record.ReasonReviewLoop
	case "max_ticks_reached":
		code = e.Type
	case "run_complete":
		code = "complete"
	}
	if h := im.halt; h == nil || code != "" && h.code != code {
		im.halt = &halt{code: code, at: im.at}
	}
	h := im.halt
	h.round, h.max = cmp.Or(e.rounds(), h.round), cmp.Or(e.maxRounds(), h.max)
	h.detail = cmp.Or(prose.Cut(strings.TrimSpace(e.Error), 2000), h.detail)
	if asked := e.requests(); len(asked) > 0 {
		h.unmet = asked
	}
}

// lastRound records the review mentioned by a loop's stop event, if the timeline has no review with requests.
func (im *importer) lastRound() {
	_, asked := im.run.Open()
	if h := im.halt; len(asked) == 0 && len(h.unmet) > 0 {
		im.halt = nil // otherwise the round would resume the run
		im.round("reviewer", changesText("request_changes", h.unmet))
		im.halt = h
	}
}

// complete records a successful end.
func (im *importer) complete() {
	done := record.CompletedPayload{Result: record.ResultPass}
	if round := im.run.LastRound(); round != nil {
		done.Open = round.Report.Findings
	}
	im.add(record.EventRunCompleted.New(importSource, done.Result, done))
}

// beginNext begins the last attempt again, with its recorded data, if resuming the run would continue after it: its
// work is not in this repository, so it must not be passed, reviewed or undone.
func (im *importer) beginNext() {
	next := im.run
	for _, eventType := range []string{record.EventRunStopped.Name, record.EventRunResumed.Name} {
		event := record.Event{Type: eventType, Timestamp: im.at, Payload: []byte(`{"reason":"interrupted"}`)}
		if err := next.Apply(event); err != nil && im.bad == nil { // unreachable: the payload is ours
			im.bad = err
		}
	}
	mode := im.mode()
	switch runner.Next(next, next.Plan.Policy).Action {
	case runner.DoRevert:
		mode = record.ModeReexecute
	case runner.DoComplete, runner.DoReview, runner.DoChecks:
	default:
		return
	}
	last := im.run.LastAttempt()
	if last == nil {
		im.begin(mode, cmp.Or(im.run.Plan.Implementer, "implementer"))
		return
	}
	a := *last
	a.Mode, a.StartedAt, a.EndedAt = mode, time.Time{}, time.Time{}
	im.open = true
	title := fmt.Sprintf("attempt %d, again: its work is not here", a.Number)
	im.add(record.EventAttemptStarted.New(importSource, title, a))
}

// stop records the pending stop. The run's last stop gets a diagnosis, as the runner's stops do.
func (im *importer) stop(last bool) {
	h := *im.halt
	stop := record.Stop{Reason: nativeReason(h.code), At: im.at, LastActivity: im.activity, Detail: h.detail}
	if stop.Reason != h.code && h.code != "" {
		stop.Detail = strings.TrimSuffix(prose.OneLine(h.code)+": "+h.detail, ": ")
	}
	kind, title := record.EventRunStopped, stop.Reason
	if stop.Reason == record.ReasonReviewLoop {
		kind = record.EventReviewLoopDetected
		stop.Round = cmp.Or(h.round, im.refusedInARow())
		stop.MaxRounds = cmp.Or(h.max, im.run.Plan.Policy.MaxRetries)
		if round := im.run.LastRound(); round != nil && !round.Report.Effective.Passed() {
			_, stop.Unmet = im.run.Open()
		}
		title = fmt.Sprintf("round %d/%d, %s unmet", stop.Round, stop.MaxRounds, prose.Count(len(stop.Unmet), "request"))
	}
	event := kind.New(importSource, title, record.StopPayload{Stop: stop})
	if last && im.explain != nil {
		step := runner.Next(im.run, im.run.Plan.Policy)
		if stop.Reason == record.ReasonReviewLoop && step.Action == runner.DoExhaust {
			stop.Repeated = step.Repeated
		}
		explained, files := im.explain(im.run, stop)
		event = kind.New(importSource, title, record.StopPayload{Stop: explained})
		event.Attachments = files
	}
	im.add(event)
}

// refusedInARow returns how many rounds did not pass since the last one that did.
func (im *importer) refusedInARow() int {
	n := 0
	for i := len(im.run.Rounds) - 1; i >= 0 && !im.run.Rounds[i].Report.Effective.Passed(); i-- {
		n++
	}
	return n
}

// active is called for an event that shows that the run continues: a stop before it was not the end.
func (im *importer) active() {
	if im.halt == nil {
		return
	}
	if im.halt.code != "complete" {
		at := im.at
		im.at = im.halt.at
		im.lastRound()
		im.stop(false)
		im.at = at
		im.add(record.EventRunResumed.New(importSource, "from "+string(im.run.Status), record.ResumedPayload{}))
	}
	im.halt = nil
}

// finish records how the run ended. A run that ends without a stop was interrupted.
func (im *importer) finish() {
	if im.halt == nil {
		im.halt = &halt{code: record.ReasonInterrupted, at: im.at, detail: "the timeline ends without a stop"}
	}
	im.at = im.halt.at
	im.flushChecks()
	if im.halt.code == "complete" {
		im.complete()
		return
	}
	im.lastRound()
	im.beginNext()
	im.stop(true)
}
