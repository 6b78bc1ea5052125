package record

import (
	"fmt"
	"slices"

	"github.com/git-runr/git-runr/loop/reply"
)

// Looked says who looked at a change. The built-in reviewer matches rules and reads no code, so a change in which it
// found nothing is "checked", never reviewed or passed.
type Looked string

const (
	LookedRules  Looked = "rules"
	LookedAgent  Looked = "agent"
	LookedPerson Looked = "person"
)

// Builtin names the reviewer that matches rules.
const Builtin = "builtin"

// lookedBy tells the kind of reviewer from its name and the format of its report.
func lookedBy(reviewer, format string) Looked {
	switch {
	case format == reply.FormatHuman:
		return LookedPerson
	case reviewer == Builtin:
		return LookedRules
	}
	return LookedAgent
}

// Of returns the verdict v as l may give it: a pass by rules is only "checked".
func (l Looked) Of(v reply.Verdict) reply.Verdict {
	if l == LookedRules && v.Passed() {
		return reply.Checked
	}
	return v
}

// farther returns the one of l and than that says more.
func (l Looked) farther(than Looked) Looked {
	ranks := []Looked{"", LookedRules, LookedAgent, LookedPerson}
	return ranks[max(0, slices.Index(ranks, l), slices.Index(ranks, than))]
}

// read sets l from a recorded report and adjusts the report's verdicts to it.
func (l *Looked) read(reviewer string, r *reply.Report) {
	*l = lookedBy(reviewer, r.Format)
	r.Verdict, r.Effective = l.Of(r.Verdict), l.Of(r.Effective)
	r.Approved = r.Approved && *l != LookedRules
}

// Says describes a result for people: said, as Report.Says gives it, and by whom. For a check by rules it says that
// nobody has read the code.
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
