package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/reply"
)

// Looked says who looked at a change. The built-in reviewer matches rules and reads no code:
// what it found nothing in is checked, never reviewed and never a pass.
type Looked string

const (
	LookedRules  Looked = "rules"
	LookedAgent  Looked = "agent"
	LookedPerson Looked = "person"
)

// Builtin names the reviewer that matches rules.
const Builtin = "builtin"

// lookedBy says who a reviewer is, by its name and the format of its report.
func lookedBy(reviewer, format string) Looked {
	switch {
	case format == reply.FormatHuman:
		return LookedPerson
	case reviewer == Builtin:
		return LookedRules
	}
	return LookedAgent
}

// Of is the verdict of who looked: rules that refuse nothing have checked, and passed nothing.
func (l Looked) Of(v reply.Verdict) reply.Verdict {
	if l == LookedRules && v.Passed() {
		return reply.Checked
	}
	return v
}

// farther returns the one of two that says more.
func (l Looked) farther(than Looked) Looked {
	ranks := []Looked{"", LookedRules, LookedAgent, LookedPerson}
	return slices.MaxFunc([]Looked{l, than}, func(a, b Looked) int { return cmp.Compare(slices.Index(ranks, a), slices.Index(ranks, b)) })
}

// read makes l of a report that was recorded, and names its verdicts by l.
func (l *Looked) read(reviewer string, r *reply.Report) {
	*l = lookedBy(reviewer, r.Format)
	r.Verdict, r.Effective = l.Of(r.Verdict), l.Of(r.Effective)
	r.Approved = r.Approved && *l != LookedRules
}

// afterRead completes a submission as it was recorded.
func (s *Submission) afterRead(Event) { s.Looked.read(s.Reviewer, &s.Report) }

// afterRead completes a round as it was recorded.
func (r *RoundPayload) afterRead(Event) { r.Looked.read(r.Reviewer, &r.Report) }

// Says is what rules, an agent or a person came to, in words: what was said, as Report.Says gives
// it, and by whom, or that rules alone checked.
func Says(by, said string, findings int) string {
	if said != string(reply.Checked) {
		return fmt.Sprintf("by %s: %s", by, said)
	}
	found := "nothing found"
	if findings > 0 {
		found = fmt.Sprintf("%d noted", findings)
	}
	return fmt.Sprintf("checked by %s: %s; nobody has read the code", by, found)
}

// Looked is the farthest that anybody has looked who answered; "" while nobody has.
func (r Review) Looked() Looked {
	farthest := Looked("")
	for _, sub := range r.Standing() {
		if sub.Outcome != OutcomeNothing {
			farthest = farthest.farther(sub.Looked)
		}
	}
	return farthest
}

// approvers are the people whose approval stands, by the names under which they gave it and
// by the identities that recorded it.
func (r Review) approvers() [][2]string {
	var all [][2]string
	for _, sub := range r.Standing() {
		if sub.Decision == Approve {
			all = append(all, [2]string{sub.Reviewer, sub.Recorder})
		}
	}
	return all
}

// Looked is the farthest that anybody has looked at what the run comes to; "" where nobody has.
func (r Run) Looked() Looked {
	farthest := Looked("")
	for _, round := range r.Rounds {
		if round.said() && round.Commit == r.Head() {
			farthest = farthest.farther(round.Looked)
		}
	}
	return farthest
}

// retitle names the verdict of rules in a title that an older program gave.
func (e *Event) retitle() {
	if e.Source != Builtin {
		return
	}
	for _, verdict := range []reply.Verdict{reply.Pass, reply.PassWithNotes} {
		e.Title = strings.Replace(e.Title, " "+string(verdict)+" by "+Builtin, " "+string(reply.Checked)+" by "+Builtin, 1)
	}
}

// SaysPass reports whether e completes a run whose title calls it a pass. Programs before rules were told from
// reviewers wrote that of runs at which rules alone had looked, which the event itself does not say.
func (e Event) SaysPass() bool {
	return e.Type == EventRunCompleted.Name && strings.HasSuffix(e.Title, ": "+ResultPass)
}

// WithResult returns e, which SaysPass, with the result that its run came to.
func (e Event) WithResult(result string) Event {
	e.Title = strings.TrimSuffix(e.Title, ResultPass) + result
	return e
}

// ReportTitle is a report in the subject of the event that records it.
func ReportTitle(r reply.Report, reviewer, by string) string {
	r.Effective = lookedBy(reviewer, r.Format).Of(r.Effective)
	return fmt.Sprintf("%s by %s, %s", r.Says(), by, r.Gist())
}
