package runrimport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
)

// halt is a stop that the timeline mentions. It is recorded when nothing follows it, or when the run was resumed.
type halt struct {
	code   string // runr's
	at     time.Time
	stated bool // an event says that the run stopped, and not only that something was wrong
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

// sayLimit says which limit was passed, in milliseconds, where the event has one.
func (h *halt) sayLimit(format string, took, most int) {
	if longest := 365 * 24 * 3_600_000; took > 0 && most > 0 && took < longest && most < longest {
		seconds := func(ms int) time.Duration { return (time.Duration(ms) * time.Millisecond).Round(time.Second) }
		h.say(format, seconds(took), seconds(most))
	}
}

// sourceReasons are runr's codes that have another name here.
var sourceReasons = map[string]string{
	"verification_failed": record.ReasonChecksFailed, sourceMaxTicks: record.ReasonBudget,
	"guard_violation": record.ReasonScope, "guard_fail": record.ReasonScope,
	"ownership_violation": record.ReasonScope, "plan_scope_violation": record.ReasonScope,
	"implement_parse_failed": record.ReasonAgentFailed, "plan_parse_failed": record.ReasonAgentFailed,
	"insufficient_evidence": record.ReasonNoChange,
}

// nativeReason returns our code for one of runr's. A code that is not known stays what it is.
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

// halting returns the stop with a code: the pending one where that has the same code.
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

// lastRound records the review that the event of a loop mentions, where the timeline has none that asked for anything.
func (im *importer) lastRound() {
	if _, asked := im.run.Open(); len(asked) > 0 || len(im.halt.unmet) == 0 {
		return
	}
	im.round("reviewer", changesText("request_changes", im.halt.unmet))
}

// complete records a run that ended well, as it was recorded.
func (im *importer) complete() {
	done := record.CompletedPayload{Result: record.ResultPass, Commit: im.head()}
	if round := im.run.LastRound(); round != nil {
		done.Open = round.Report.Findings
	}
	im.add(record.EventRunCompleted.New(importSource, done.Result, done))
}

// beginNext begins the attempt that a resumed run would otherwise take for done: it would pass, review or undo work
// that is not in this repository.
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

// beginAgain begins the last attempt once more, with what is known of its first time, or a new one where the last
// one's work is here.
func (im *importer) beginAgain(mode record.AttemptMode) {
	last := im.run.LastAttempt()
	if last == nil || last.Commit != "" {
		im.begin(mode, cmp.Or(im.run.Plan.Implementer, "implementer"))
		return
	}
	a := *last
	a.Mode, a.StartedAt, a.EndedAt = mode, time.Time{}, time.Time{}
	im.open = true
	title := fmt.Sprintf("attempt %d, again: its work is not here", a.Number)
	im.add(record.EventAttemptStarted.New(importSource, title, a))
}

// stop records the pending stop. The last stop of the run gets a diagnosis, as from the runner.
func (im *importer) stop(last bool) {
	h := *im.halt
	stop := record.Stop{Reason: nativeReason(h.code), At: im.at, LastActivity: im.activity, Detail: im.detail(h)}
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
	var files map[string][]byte
	if last && im.explain != nil {
		step := loop.Next(im.run, im.run.Plan.Policy)
		if stop.Reason == record.ReasonReviewLoop && step.Action == loop.DoExhaust {
			stop.Repeated = step.Repeated
		}
		stop, files = im.explain(im.run, stop)
	}
	event := kind.New(importSource, title, record.StopPayload{Stop: stop, Commit: im.head()})
	event.Attachments = files
	im.add(event)
}

// detail returns what is known of a stop, after runr's name for it where it has another here.
func (im *importer) detail(h halt) string {
	parts := h.detail
	if why := cmp.Or(im.problem[h.code], im.problem[nativeReason(h.code)]); why != "" {
		parts = append([]string{why}, parts...)
	}
	text := ""
	for i, part := range parts {
		if !slices.Contains(parts[:i], part) {
			text = strings.TrimPrefix(text+"; "+part, "; ")
		}
	}
	if nativeReason(h.code) != h.code && h.code != "" {
		text = strings.TrimSuffix(prose.OneLine(h.code)+": "+text, ": ")
	}
	return text
}

// refusedInARow returns how many rounds did not pass since the last that did.
func (im *importer) refusedInARow() int {
	n := 0
	for i := len(im.run.Rounds) - 1; i >= 0 && !im.run.Rounds[i].Report.Effective.Passed(); i-- {
		n++
	}
	return n
}

// active is called for an event that shows that the run goes on: a stop before it was not the end.
func (im *importer) active() {
	if im.halt == nil {
		return
	}
	if halt := *im.halt; halt.stated && !halt.completed() {
		at := im.at
		im.at = halt.at
		im.lastRound()
		im.stop(false)
		im.at = at
		im.add(record.EventRunResumed.New(importSource, "from "+string(im.run.Status), record.ResumedPayload{}))
	}
	im.halt = nil
}

// finish records how the run ended. A run that just ends was interrupted.
func (im *importer) finish() {
	if im.halt == nil {
		im.halt = &halt{
			code: record.ReasonInterrupted, at: im.at, stated: true, detail: []string{"the timeline ends without a stop"},
		}
	}
	im.at = im.halt.at
	im.flushChecks()
	if im.halt.completed() {
		im.complete()
		return
	}
	im.lastRound()
	im.beginNext()
	im.stop(true)
}
