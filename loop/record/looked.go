package record

import (
	"cmp"
	"fmt"
	"slices"

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
