package diagnose

import (
	"cmp"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/track"
)

// Digest returns the diagnosis as Markdown, for review_digest.md. Text by people and agents shows as they wrote it and
// never becomes markup.
func (d Diagnosis) Digest() string {
	var b strings.Builder
	safetext.Fprintf(&b, "# Review digest: %s\n\n", markdown(cmp.Or(d.Title, d.RunID+d.ReviewID)))
	if d.RunID != "" {
		safetext.Fprintf(&b, "- Run: %s\n", d.RunID)
	}
	if d.ReviewID != "" {
		safetext.Fprintf(&b, "- Review: %s\n", d.ReviewID)
	}
	safetext.Fprintf(&b, "- Stop reason: %s\n", markdown(d.StopReason))
	if d.Round > 0 {
		safetext.Fprintf(&b, "- Stopped in: %s\n", record.RoundOf(d.Round, d.MaxRounds))
	}
	if c := d.Checkpoint; c != nil {
		safetext.Fprintf(&b, "- Last checkpoint: %s\n", c.Commit)
	}
	if d.Setting != nil {
		safetext.Fprintf(&b, "- Ended by: %s\n", markdown(d.Setting.String()))
	}
	for _, line := range d.endLines(Place{}) {
		safetext.Fprintf(&b, "- %s\n", markdown(line))
	}
	safetext.Fprintf(&b, "\n%s\n", markdown(d.Explanation))
	if d.Detail != "" {
		safetext.Fprintf(&b, "\n%s\n", markdown(d.Detail))
	}
	d.digestSaid(&b)
	d.digestFailing(&b)
	d.digestRequests(&b)
	digestList(&b, "Unmet checks", d.UnmetChecks)
	digestList(&b, "Files", d.Files)
	digestList(&b, "Evidence provided", d.LastEvidenceProvided)
	digestCode(&b, "Commands to satisfy", d.commandLines())
	digestCode(&b, putBackTitle, d.PutBack)
	if d.Intervention != "" {
		digestCode(&b, "Suggested intervention", []string{strings.Join(d.intervention, " \\\n  ")})
	}
	steps := each.Of(d.NextSteps, func(s record.NextStep) string { return s.Command + "  # " + s.What })
	digestCode(&b, "Next steps", steps)
	return b.String()
}

func (d Diagnosis) digestSaid(b *strings.Builder) {
	if d.Said == "" {
		return
	}
	safetext.Fprintf(b, "\n## What %s said\n\n", markdown(cmp.Or(d.SaidBy, "the agent")))
	for line := range strings.Lines(d.Said) {
		safetext.Fprintf(b, "> %s\n", markdown(strings.TrimSpace(line)))
	}
}

func (d Diagnosis) digestFailing(b *strings.Builder) {
	failing := d.failing()
	if len(failing) == 0 {
		return
	}
	b.WriteString("\n## Checks that fail\n\n")
	var logs []string
	for _, c := range failing {
		safetext.Fprintf(b, "- %s: %s\n", markdown(c.Check), markdown(c.State))
		for _, f := range c.Failures {
			safetext.Fprintf(b, "  - %s\n", markdown(f))
		}
		if c.More > 0 {
			safetext.Fprintf(b, "  - … and %d more\n", c.More)
		}
		if c.Log != "" {
			logs = append(logs, c.Log)
		}
	}
	digestCode(b, "Their whole output", logs)
}

func (d Diagnosis) digestRequests(b *strings.Builder) {
	if len(d.LastReviewRequests)+len(d.Requests) == 0 {
		return
	}
	b.WriteString("\n## Reviewer requested\n\n")
	for i, r := range d.LastReviewRequests {
		safetext.Fprintf(b, "%d. %s%s\n", i+1, markdown(r), d.fate(r))
	}
	gone := map[track.State][]string{}
	for _, t := range d.Requests {
		gone[t.State] = append(gone[t.State], t.Text)
	}
	digestList(b, "Met since", gone[track.Met])
	digestList(b, "Not asked for again", gone[track.NotAsked])
}

func digestList(b *strings.Builder, title string, items []string) {
	if len(items) == 0 {
		return
	}
	safetext.Fprintf(b, "\n## %s\n\n", title)
	for _, item := range items {
		safetext.Fprintf(b, "- %s\n", markdown(item))
	}
}

// digestCode writes shell lines in a fence longer than any fence in them.
func digestCode(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	text := strings.Join(lines, "\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	safetext.Fprintf(b, "\n## %s\n\n%ssh\n%s\n%s\n", title, fence, safetext.Block(text), fence)
}
