package diagnose

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"git-runr/gitstore"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// FailingCheck is a check that counts against the work, and where its output is.
type FailingCheck struct {
	Check    string   `json:"check"`
	State    string   `json:"state"`              // "exit 1 (3 errors)"
	Failures []string `json:"failures,omitempty"` // what failed, how and where, the first few
	More     int      `json:"more,omitempty"`
	Log      string   `json:"log,omitempty"` // a line to type that shows the whole output
}

// failuresShown is how many failures of one check a diagnosis repeats.
const failuresShown = 5

func failingChecks(results []record.CheckResult, event gitstore.ID) []FailingCheck {
	var failing []FailingCheck
	for _, c := range results {
		f := FailingCheck{Check: c.Name, State: c.State(), More: c.FailuresMore}
		for i, failure := range c.Failures {
			if i == failuresShown {
				f.More += len(c.Failures) - i
				break
			}
			f.Failures = append(f.Failures, oneLine(failure.String()))
		}
		if event != "" && c.Output != "" {
			f.Log = record.LogCommand(event, c.Name)
		}
		failing = append(failing, f)
	}
	return failing
}

// transcriptOf is the file among the run's own in which everything is that the agent wrote
// which the run stopped for; "" where it is about none.
func transcriptOf(run record.Run, family record.Family) string {
	if family != record.FamilyAgent && family != record.FamilyLimit {
		return ""
	}
	a, r := len(run.Attempts), len(run.Rounds)
	if r > 0 && run.Rounds[r-1].Failure != nil {
		return fmt.Sprintf("review-%d.log", run.Rounds[r-1].Number)
	}
	if a > 0 {
		return fmt.Sprintf("attempt-%d.log", run.Attempts[a-1].Number)
	}
	return ""
}

// plain reports whether a stop is told in words of its own, and not by what a reviewer
// asked for.
func (d Diagnosis) plain() bool {
	return d.Family != record.FamilyReview || len(d.LastReviewRequests) == 0
}

// writeSaid repeats whose words are the reason, each line quoted.
func (d Diagnosis) writeSaid(b *strings.Builder, indent string, width int) {
	if d.Said == "" {
		return
	}
	fmt.Fprintf(b, "%s%s said:\n", indent, oneLine(cmp.Or(d.SaidBy, "the agent")))
	for line := range strings.Lines(d.Said) {
		fmt.Fprintf(b, "%s  > %s\n", indent, cut(safetext.Line(strings.TrimRight(line, " \t\r\n")), max(width-len(indent)-4, 16)))
	}
	b.WriteString("\n")
}

// failing are the checks to list. Where a reviewer asked for something, the codes of what
// is unmet say already that they fail.
func (d Diagnosis) failing() []FailingCheck {
	if d.plain() {
		return d.FailingChecks
	}
	return slices.DeleteFunc(slices.Clone(d.FailingChecks), func(c FailingCheck) bool { return c.Log == "" && len(c.Failures) == 0 })
}

// writeFailing lists the checks that fail.
func (d Diagnosis) writeFailing(b *strings.Builder, indent string, width int) {
	failing := d.failing()
	if len(failing) == 0 {
		return
	}
	fmt.Fprintf(b, "%sChecks that fail:\n", indent)
	for _, c := range failing {
		what := c.State
		if len(c.Failures) > 0 {
			what = c.Failures[0]
		}
		if more := len(c.Failures) - 1 + c.More; more > 0 && len(c.Failures) > 0 {
			what += fmt.Sprintf(" (and %d more)", more)
		}
		fmt.Fprintf(b, "%s  %s\n", indent, cut(oneLine(c.Check+": "+what), max(width-len(indent)-2, 40)))
		if c.Log != "" {
			fmt.Fprintf(b, "%s    %s\n", indent, c.Log)
		}
	}
	b.WriteString("\n")
}

// limitLine says which setting ended the run, "" where none did.
func (d Diagnosis) limitLine() string {
	if d.Setting == nil {
		return ""
	}
	return "Ended by " + d.Setting.String()
}

// transcriptLine says where everything is that the agent wrote, "" where that is not here.
func (d Diagnosis) transcriptLine(place Place) string {
	if d.Transcript == "" || place.Files == "" {
		return ""
	}
	name, ok := safetext.ShellWord(path.Join(place.Files, d.Transcript))
	if !ok {
		return ""
	}
	return "What it wrote: " + name
}
