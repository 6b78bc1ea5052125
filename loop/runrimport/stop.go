package runrimport

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"git-runr/loop"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/reply"
)

// sourceReasons are codes that have another name here.
var sourceReasons = map[string]string{
	"verification_failed": record.ReasonChecksFailed, "max_ticks_reached": record.ReasonBudget, "guard_violation": record.ReasonScope, "guard_fail": record.ReasonScope,
	"ownership_violation": record.ReasonScope, "plan_scope_violation": record.ReasonScope, "implement_parse_failed": record.ReasonAgentFailed,
	"plan_parse_failed": record.ReasonAgentFailed, "insufficient_evidence": record.ReasonNoChange,
}

// nativeReason is the registry's code for one of the other system's; a code that
// the registry does not know stays what it is.
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

// halting is the stop with code: the one that is pending where it is the same.
func (im *importer) halting(code string, stated bool) *halt {
	if im.halt == nil || im.halt.code != code && (im.halt.stated || stated) {
		before := im.halt
		im.halt = &halt{code: code, at: im.at}
		if before != nil && !before.stated {
			im.halt.detail = before.detail
		}
	}
	im.halt.stated = im.halt.stated || stated
	return im.halt
}

// lastRound makes up for the review that a loop's event speaks of, where the
// timeline has none that asked for anything.
func (im *importer) lastRound() {
	if _, asked := im.run.Open(); len(asked) > 0 || len(im.halt.unmet) == 0 {
		return
	}
	changes := make([]json.RawMessage, len(im.halt.unmet))
	for i, request := range im.halt.unmet {
		changes[i], _ = json.Marshal(request) // a string is always JSON
	}
	im.round("reviewer", changesText("request_changes", changes))
}

// complete records a run that ended well, as it was recorded.
func (im *importer) complete() {
	done := record.CompletedPayload{Result: record.ResultPass, Commit: im.head()}
	if round := im.run.LastRound(); round != nil {
		done.Open = round.Report.Findings
	}
	im.add(record.EventRunCompleted.New(importSource, done.Result, done))
}

// beginNext begins the attempt that a resumed run would otherwise take for done: it
// would pass, review or undo work that is not in this repository.
func (im *importer) beginNext() {
	next := im.run
	for _, eventType := range []string{record.EventRunStopped.Name, record.EventRunResumed.Name} {
		event := record.Event{Type: eventType, Timestamp: im.at, Payload: []byte(`{"reason":"interrupted"}`)}
		if err := next.Apply(event); err != nil && im.bad == nil { // unreachable: the payload is ours
			im.bad = err
		}
	}
	last := im.run.LastAttempt()
	switch step := loop.Next(next, next.Plan.Policy); step.Action {
	case loop.DoRevert:
		im.beginAgain(record.ModeReexecute)
	case loop.DoComplete:
		im.beginAgain(im.mode())
	case loop.DoReview, loop.DoChecks:
		if last == nil || last.Commit == "" {
			im.beginAgain(im.mode())
		}
	}
}

// beginAgain begins the last attempt once more, with what is known of its first
// time, or a new one where the last one's work is here.
func (im *importer) beginAgain(mode record.AttemptMode) {
	last := im.run.LastAttempt()
	if last == nil || last.Commit != "" {
		im.begin(mode, cmp.Or(im.run.Plan.Implementer, "implementer"))
		return
	}
	a := *last
	a.Mode, a.StartedAt, a.EndedAt = mode, time.Time{}, time.Time{}
	im.open = true
	im.add(record.EventAttemptStarted.New(importSource, fmt.Sprintf("attempt %d, again: its work is not here", a.Number), a))
}

// stop records the pending stop, with its diagnosis, as the runner would.
func (im *importer) stop() {
	h := *im.halt
	stop := record.Stop{Reason: nativeReason(h.code), At: im.at, LastActivity: im.activity, Detail: im.detail(h)}
	kind, title := record.EventRunStopped, stop.Reason
	if stop.Reason == record.ReasonReviewLoop {
		kind = record.EventReviewLoopDetected
		stop.Round, stop.MaxRounds = cmp.Or(h.round, im.refusedInARow()), cmp.Or(h.max, im.run.Plan.Policy.MaxRetries)
		stop.Unmet = im.unmet(h.unmet)
		title = fmt.Sprintf("round %d/%d, %s unmet", stop.Round, stop.MaxRounds, prose.Count(len(stop.Unmet), "request"))
	}
	var files map[string][]byte
	if im.stops <= maxExplained {
		stop, files = im.explained(stop)
	}
	event := kind.New(importSource, title, record.StopPayload{Stop: stop, Commit: im.head()})
	event.Attachments = files
	im.add(event)
}

func (im *importer) explained(stop record.Stop) (record.Stop, map[string][]byte) {
	if step := loop.Next(im.run, im.run.Plan.Policy); stop.Reason == record.ReasonReviewLoop && step.Action == loop.DoExhaust {
		stop.Repeated = step.Repeated
	}
	if im.explain == nil {
		return stop, nil
	}
	return im.explain(im.run, stop)
}

// detail is what is known of a stop, after its name there where it has another
// here.
func (im *importer) detail(h halt) string {
	parts := h.detail
	if why := cmp.Or(im.problem[h.code], im.problem[nativeReason(h.code)]); why != "" {
		parts = append([]string{why}, parts...)
	}
	seen := map[string]bool{}
	text := ""
	for _, part := range parts {
		if !seen[part] {
			seen[part] = true
			text += "; " + part
		}
	}
	text = strings.TrimPrefix(text, "; ")
	if nativeReason(h.code) != h.code && h.code != "" {
		text = strings.TrimSuffix(prose.OneLine(h.code)+": "+text, ": ")
	}
	return text
}

// unmet are the requests of the last round, and those recorded with the stop that
// none of them says.
func (im *importer) unmet(recorded []string) []string {
	_, asked := im.run.Open()
	if round := im.run.LastRound(); round == nil || round.Report.Effective.Passed() {
		asked = nil
	}
	asked = slices.Clone(asked)
	said := ""
	for _, r := range asked {
		said += " " + reply.RequestKey(r) + " "
	}
	for _, r := range recorded {
		if key := reply.RequestKey(r); key != "" && !strings.Contains(said, " "+key+" ") {
			asked = append(asked, r)
			said += " " + key + " "
		}
	}
	return asked
}

// refusedInARow are the newest rounds, one after the other, that did not pass.
func (im *importer) refusedInARow() int {
	n := 0
	for i := len(im.run.Rounds) - 1; i >= 0 && !im.run.Rounds[i].Report.Effective.Passed(); i-- {
		n++
	}
	return n
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
		im.add(record.EventRunResumed.New(importSource, "from "+string(im.run.Status), record.ResumedPayload{}))
	}
	im.halt = nil
}
