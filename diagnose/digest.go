package diagnose

import (
	"cmp"
	"math"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
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
	writeMarkdown(&b, "##", d.said(math.MaxInt), d.failed(), d.requested(math.MaxInt), d.unmet(), d.files(), d.provided(),
		d.commandLines(), d.putBack(), d.intervene(), part{title: "Next steps", form: typed,
			lines: each.Of(d.NextSteps, func(s record.NextStep) string { return s.Command + "  # " + s.What })})
	return b.String()
}
