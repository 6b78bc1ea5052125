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
	b.WriteString(rule + header(*run.Stop, d.since) + "\n\n" + d.checkpoint(run) + "\n")
	switch {
	case d.plain():
		b.WriteString("\n" + d.paragraph(width))
		writeText(&b, "", d.said(width-4))
	case len(run.Stop.Repeated) > 0 && run.Stop.Round <= run.Stop.MaxRounds: // its retries were not used up
		b.WriteString("\n" + wrap(oneLine("Given up early: "+d.Detail), width))
	}
	writeText(&b, "", d.failed())
	if ending := d.ending(place); len(ending) > 0 {
		b.WriteString("\n" + strings.Join(ending, "\n") + "\n")
	}
	asked := part{title: "Reviewer requested", form: numbered}
	for _, r := range d.LastReviewRequests[:min(len(d.LastReviewRequests), requestsShown)] {
		asked.lines = append(asked.lines, prose.CutColumns(oneLine(r), width-5))
	}
	writeText(&b, "", asked)
	if more := len(d.LastReviewRequests) - requestsShown; more > 0 {
		safetext.Fprintf(&b, "  … and %d more\n", more)
	}
	commands := d.commandLines()
	if line, ok := safetext.CommandLine("cd", place.Dir); ok && place.Dir != "" && len(commands.lines) > 0 {
		commands.lines = append([]string{line}, commands.lines...)
	}
	writeText(&b, "", commands, d.intervene(), d.putBack(), part{title: "Next steps", form: typed,
		lines: each.Of(d.NextSteps, func(s record.NextStep) string { return s.Command })})
	return b.String() + rule
}

func (d Diagnosis) checkpoint(run record.Run) string {
	switch c := d.Checkpoint; {
	case c == nil && run.WorkAway():
		return "No checkpoint: none of its work is in this repository"
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

// ending returns which setting ended the run, and the endLines. It omits a default limit that the header's round shows.
func (d Diagnosis) ending(place Place) []string {
	lines := d.endLines(place)
	if d.Setting != nil && (d.plain() || d.Setting.From != runplan.SettingDefault) {
		return append([]string{"Ended by " + d.Setting.String()}, lines...)
	}
	return lines
}
