package diagnose

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

// failuresShown is the maximum number of a check's failures in a diagnosis.
const failuresShown = 5

func failingChecks(results []record.CheckResult, event gitstore.ID) []FailingCheck {
	var failing []FailingCheck
	for _, c := range results {
		f := FailingCheck{Check: c.Name, State: c.State(), More: c.FailuresMore, Log: c.LogCommand(event)}
		for i, failure := range c.Failures {
			if i == failuresShown {
				f.More += len(c.Failures) - i
				break
			}
			f.Failures = append(f.Failures, oneLine(failure.String()))
		}
		failing = append(failing, f)
	}
	return failing
}

// transcriptOf returns the run's file with the whole output of the agent that caused the stop, or "".
func transcriptOf(run record.Run, family record.Family) string {
	if family != record.FamilyAgent && family != record.FamilyLimit {
		return ""
	}
	if round := run.LastRound(); round != nil && round.Failure != nil {
		return fmt.Sprintf("review-%d.log", round.Number)
	}
	if a := run.LastAttempt(); a != nil {
		return fmt.Sprintf("attempt-%d.log", a.Number)
	}
	return ""
}

// writeSaid quotes the words of the agent that caused the stop.
func (d Diagnosis) writeSaid(b *strings.Builder, indent string, width int) {
	if d.Said == "" {
		return
	}
	safetext.Fprintf(b, "%s%s said:\n", indent, oneLine(cmp.Or(d.SaidBy, "the agent")))
	for line := range strings.Lines(d.Said) {
		line, room := safetext.Line(strings.TrimRight(line, " \t\r\n")), max(width-len(indent)-4, 16)
		if prose.Columns(line) > room {
			line = strings.TrimSuffix(wrap(line, room), "\n")
		}
		for row := range strings.SplitSeq(line, "\n") {
			safetext.Fprintf(b, "%s  > %s\n", indent, row)
		}
	}
	b.WriteString("\n")
}

// writeFailing lists the failing checks, and for each what failed and where.
func (d Diagnosis) writeFailing(b *strings.Builder, indent string) {
	failing := d.failing()
	if len(failing) == 0 {
		return
	}
	safetext.Fprintf(b, "%sChecks that fail:\n", indent)
	for _, c := range failing {
		what := c.Failures
		if len(what) == 0 {
			what = []string{c.State}
		}
		for _, failed := range what {
			safetext.Fprintf(b, "%s  %s: %s\n", indent, oneLine(c.Check), failed)
		}
		if c.More > 0 {
			safetext.Fprintf(b, "%s  %s: … and %d more\n", indent, oneLine(c.Check), c.More)
		}
		if c.Log != "" {
			safetext.Fprintf(b, "%s    %s\n", indent, c.Log)
		}
	}
	b.WriteString("\n")
}

// endLines returns, as far as they are known, what the agents used, when to resume and where their words are.
func (d Diagnosis) endLines(place Place) []string {
	lines := []string{d.spentLine(), d.resumeLine(), d.transcriptLine(place)}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// spentLine returns what the run's agents used, or returns "" if no budget ended the run.
func (d Diagnosis) spentLine() string {
	if took := d.Spending.String(); took != "" {
		return "The agents used " + oneLine(took)
	}
	return ""
}

// resumeLine returns when the cause of the stop passes by itself, or returns "" if that is unknown.
func (d Diagnosis) resumeLine() string {
	if d.ResumeAfter.IsZero() {
		return ""
	}
	return fmt.Sprintf("Resume it after %s: git runr resume %s", d.ResumeAfter.UTC().Format(time.DateTime+"Z"), d.RunID)
}

// transcriptLine names the file with the agent's whole output, or returns "" if it is not in this clone.
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

func indented(by, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(by + line)
	}
	return b.String()
}

func writeItems(b *strings.Builder, title string, items []string) {
	if len(items) == 0 {
		return
	}
	safetext.Fprintf(b, "\n  %s\n", title)
	for _, item := range items {
		safetext.Fprintf(b, "    - %s\n", oneLine(item))
	}
}
