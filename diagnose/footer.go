package diagnose

import (
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/safetext"
)

// requestsShown is the maximum number of requests in a footer.
const requestsShown = 3

// putBackTitle is the title above the commands that show, undo or accept changes outside an agent's work.
const putBackTitle = "To see what changed, put it back, or accept it"

// ruleWidth is the maximum width of the rules around a footer.
const ruleWidth = 49

// Footer returns what the terminal shows when run has stopped, in runr's layout. It cuts the text of people and agents
// to the width of place, but never a command. It returns "" if the run did not stop.
func Footer(run record.Run, place Place) string {
	if run.Stop == nil {
		return ""
	}
	width := max(place.Width, 20)
	d := Of(run, *run.Stop)
	rule := strings.Repeat("─", min(width, ruleWidth)) + "\n"
	var b strings.Builder
	b.WriteString(rule + header(*run.Stop, d.since) + "\n\n" + d.checkpoint(run) + "\n\n")
	switch {
	case d.plain():
		b.WriteString(d.paragraph(width) + "\n")
		d.writeSaid(&b, "", width)
	case len(run.Stop.Repeated) > 0 && run.Stop.Round <= run.Stop.MaxRounds: // its retries were not used up
		b.WriteString(wrap(oneLine("Given up early: "+d.Detail), width) + "\n")
	}
	d.writeFailing(&b, "")
	d.writeEnding(&b, place)
	d.writeRequests(&b, width)
	d.writeCommands(&b, place)
	d.writeIntervention(&b, "Suggested intervention:\n", "  ")
	d.writePutBack(&b, "", "\n")
	b.WriteString("Next steps:\n")
	for _, s := range d.NextSteps {
		safetext.Fprintf(&b, "  %s\n", s.Command)
	}
	return b.String() + rule
}

func (d Diagnosis) checkpoint(run record.Run) string {
	switch c := d.Checkpoint; {
	case c == nil && len(run.Attempts) > 0 && run.LastAttempt().Unseen():
		return "No checkpoint: what the attempt changed was not examined"
	case c == nil && run.Uncommitted() != nil:
		return fmt.Sprintf("No checkpoint: what attempt %d changed is in no commit", run.LastAttempt().Number)
	case c == nil:
		return fmt.Sprintf("No checkpoint (nothing differs from %s)", run.Plan.Base.Short())
	case c.Intervention > 0:
		return fmt.Sprintf("Last checkpoint: %s (intervention %d)", c.Commit.Short(), c.Intervention)
	default:
		return fmt.Sprintf("Last checkpoint: %s (attempt %d/%d)", c.Commit.Short(), c.Attempt, c.Attempts)
	}
}

// paragraph returns the explanation and the detail of the stop.
func (d Diagnosis) paragraph(width int) string {
	text := wrap(oneLine(d.Explanation), width)
	if d.Detail != "" {
		text += wrap(oneLine(d.Detail), width)
	}
	return text
}

func (d Diagnosis) writeRequests(b *strings.Builder, width int) {
	asked := d.LastReviewRequests
	if len(asked) == 0 {
		return
	}
	b.WriteString("Reviewer requested:\n")
	for i, r := range asked[:min(len(asked), requestsShown)] {
		safetext.Fprintf(b, "  %d. %s\n", i+1, prose.CutColumns(oneLine(r), width-5))
	}
	if more := len(asked) - requestsShown; more > 0 {
		safetext.Fprintf(b, "  … and %d more\n", more)
	}
	b.WriteString("\n")
}

// writeEnding writes which setting ended the run, and where the agent's words are. It omits a default limit that the
// header's round shows.
func (d Diagnosis) writeEnding(b *strings.Builder, place Place) {
	var lines []string
	if d.Setting != nil && (d.plain() || d.Setting.From != runplan.SettingDefault) {
		lines = append(lines, "Ended by "+d.Setting.String())
	}
	if lines = append(lines, d.endLines(place)...); len(lines) > 0 {
		b.WriteString(strings.Join(lines, "\n") + "\n\n")
	}
}

func (d Diagnosis) writePutBack(b *strings.Builder, indent, after string) {
	if len(d.PutBack) == 0 {
		return
	}
	b.WriteString(indent + putBackTitle + ":\n")
	for _, line := range d.PutBack {
		safetext.Fprintf(b, "%s  %s\n", indent, line)
	}
	b.WriteString(after)
}

func (d Diagnosis) writeCommands(b *strings.Builder, place Place) {
	if len(d.SuggestedCommands) == 0 {
		return
	}
	b.WriteString("Commands to satisfy:\n")
	if line, ok := safetext.CommandLine("cd", place.Dir); ok && place.Dir != "" {
		safetext.Fprintf(b, "  %s\n", line)
	}
	for _, line := range d.commandLines() {
		safetext.Fprintf(b, "  %s\n", line)
	}
	b.WriteString("\n")
}

// commandLines returns the suggested commands with their last results, aligned.
func (d Diagnosis) commandLines() []string {
	widest := 0
	for _, s := range d.SuggestedCommands {
		widest = max(widest, prose.Columns(s.line))
	}
	return each.Of(d.SuggestedCommands, func(s Suggestion) string {
		return s.line + strings.Repeat(" ", widest-prose.Columns(s.line)) + "  # was: " + s.Was
	})
}

// writeIntervention writes the three lines below title. A backslash at the end of a line joins it with the next one in
// sh, bash, zsh and fish.
func (d Diagnosis) writeIntervention(b *strings.Builder, title, indent string) {
	if len(d.intervention) == 0 {
		return
	}
	b.WriteString(title)
	for i, line := range d.intervention {
		if i > 0 {
			b.WriteString(" \\\n" + indent + "  " + line)
		} else {
			b.WriteString(indent + line)
		}
	}
	b.WriteString("\n\n")
}
