package diagnose

import (
	"fmt"
	"strings"

	"git-runr/loop"
	"git-runr/loop/safetext"
)

// requestsShown is how many requests a footer lists (seed 000).
const requestsShown = 3

// Footer is what the terminal shows when run has stopped: the layout of seed 000,
// section 2. width is that of the rules, in columns.
func Footer(run loop.Run, width int) string {
	if run.Stop == nil {
		return ""
	}
	stop, d := *run.Stop, Of(run, *run.Stop)
	rule := strings.Repeat("─", min(max(width, 20), 49)) + "\n"
	var b strings.Builder
	b.WriteString(rule + header(stop) + "\n\n" + checkpoint(run) + "\n\n")
	if d.Detail != "" {
		fmt.Fprintf(&b, "%s\n\n", oneLine(d.Detail))
	} else if len(d.LastReviewRequests) == 0 {
		fmt.Fprintf(&b, "%s\n\n", oneLine(d.Explanation))
	}
	writeRequests(&b, d.LastReviewRequests)
	writeCommands(&b, d.commands)
	b.WriteString("Next steps:\n")
	for _, c := range nextSteps(run, loop.ReasonOf(stop.Reason)) {
		fmt.Fprintf(&b, "  %s\n", c.line)
	}
	return b.String() + rule
}

func header(stop loop.Stop) string {
	text := "STOPPED: " + oneLine(stop.Reason)
	if stop.Round > 0 {
		text += fmt.Sprintf(" (round %d/%d)", stop.Round, stop.MaxRounds)
	}
	return text
}

func checkpoint(run loop.Run) string {
	good := run.GoodAttempts()
	if len(good) == 0 {
		return fmt.Sprintf("No checkpoint: nothing differs from %s", run.Plan.Base.Short())
	}
	return fmt.Sprintf("Last checkpoint: %s (attempt %d of %d)", run.Head().Short(), good[len(good)-1].Number, len(run.Attempts))
}

func writeRequests(b *strings.Builder, asked []string) {
	if len(asked) == 0 {
		return
	}
	b.WriteString("Reviewer requested:\n")
	for i, r := range asked[:min(len(asked), requestsShown)] {
		fmt.Fprintf(b, "  %d. %s\n", i+1, oneLine(r))
	}
	if more := len(asked) - requestsShown; more > 0 {
		fmt.Fprintf(b, "  … and %d more\n", more)
	}
	b.WriteString("\n")
}

func writeCommands(b *strings.Builder, commands []suggestion) {
	if len(commands) == 0 {
		return
	}
	widest := 0
	for _, c := range commands {
		widest = max(widest, len(c.command))
	}
	b.WriteString("Commands to satisfy:\n")
	for _, c := range commands {
		fmt.Fprintf(b, "  %-*s  # was: %s\n", widest, c.command, c.was)
	}
	b.WriteString("\n")
}

// Digest is review_digest.md: what the reviewer asked for and what to type.
func Digest(run loop.Run, stop loop.Stop) string {
	d := Of(run, stop)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n- Run: %s\n- Stop reason: %s\n- Rounds: %d\n\n%s\n", oneLine(run.Plan.Entity.Name()), run.ID, oneLine(stop.Reason), len(run.Rounds), oneLine(d.Explanation))
	section(&b, "Reviewer requested", d.LastReviewRequests)
	section(&b, "Evidence provided", d.LastEvidenceProvided)
	var lines []string
	for _, a := range d.SuggestedActions {
		lines = append(lines, a.Command+"  # "+a.Description)
	}
	if len(lines) > 0 {
		fmt.Fprintf(&b, "\n## Next\n\n```sh\n%s\n```\n", strings.Join(lines, "\n"))
	}
	return b.String()
}

func section(b *strings.Builder, title string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, item := range items {
		fmt.Fprintf(b, "- %s\n", oneLine(item))
	}
}

// oneLine is foreign text on one line, with nothing in it that a terminal acts on.
func oneLine(s string) string { return safetext.Line(strings.Join(strings.Fields(s), " ")) }
