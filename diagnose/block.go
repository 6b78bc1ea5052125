package diagnose

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/track"
)

// Block formats the diagnosis for git runr diagnose: runr's layout, with more information.
func (d Diagnosis) Block(place Place) string {
	var b strings.Builder
	if d.RunID != "" {
		head := "Run " + d.RunID
		if d.over != "" {
			head += " is " + d.over + "; before that it"
		}
		safetext.Fprintf(&b, "%s STOPPED: %s\n", head, oneLine(d.StopReason))
	} else {
		safetext.Fprintf(&b, "Review %s: %s\n", d.ReviewID, oneLine(d.StopReason))
	}
	b.WriteString("\nDiagnostics:\n")
	d.writeFacts(&b, place)
	width := max(place.Width, 40)
	requests := d.requested(width - 10)
	requests.title, requests.form = "Requests", listed
	if len(requests.lines) == 1 && !slices.ContainsFunc(d.Requests, func(t track.Request) bool { return t.Last > 1 }) {
		requests.lines = nil // the facts have the one request of the only round
	}
	writeText(&b, "  ", d.said(width-6), d.failed(), d.unmet(), requests, d.files())
	if d.Family != record.FamilyReview { // a review loop's unmet checks say the same in runr's words
		writeText(&b, "  ", d.provided())
	}
	actions := part{title: "Suggested actions", form: numbered}
	for i, a := range d.SuggestedActions {
		actions.lines = append(actions.lines, d.actionLine(a, i, place))
	}
	writeText(&b, "  ", d.putBack(), actions)
	instead := d.intervene()
	instead.title, instead.lines = "Or use intervention", prefixed(" ", instead.lines)
	writeText(&b, "    ", instead)
	return b.String()
}

// unmet lists the codes of what is unmet.
func (d Diagnosis) unmet() part { return part{"Unmet checks", d.UnmetChecks, listed} }

// files lists the files that caused the stop.
func (d Diagnosis) files() part { return part{"Files", d.Files, listed} }

// provided lists the evidence.
func (d Diagnosis) provided() part { return part{"Evidence provided", d.LastEvidenceProvided, listed} }

// writeFacts writes the facts that fit on one line each.
func (d Diagnosis) writeFacts(b *strings.Builder, place Place) {
	if d.LoopCount > 0 {
		safetext.Fprintf(b, "  Loop count: %d%s\n", d.LoopCount, d.since)
	}
	if n := len(d.LastReviewRequests); n > 0 {
		safetext.Fprintf(b, "  Last reviewer request: \"%s\"\n", oneLine(d.LastReviewRequests[0]))
	}
	if d.plain() {
		for line := range strings.Lines(d.paragraph(max(place.Width, 40) - 2)) {
			b.WriteString("  " + line)
		}
	}
	if !d.LastActivityAt.IsZero() {
		idle := time.Duration(d.TimeSinceActivity) * time.Millisecond
		safetext.Fprintf(b, "  Last activity: %s, %s before the stop\n", d.LastActivityAt.Format(time.RFC3339),
			idle.Round(100*time.Millisecond))
	}
	if tree, ok := safetext.ShellWord(place.Tree); ok && place.Tree != "" {
		safetext.Fprintf(b, "  Working tree: %s\n", tree)
	}
	if d.Setting != nil {
		safetext.Fprintf(b, "  Ended by %s\n", d.Setting.String())
	}
	for _, line := range d.endLines(place) {
		safetext.Fprintf(b, "  %s\n", line)
	}
}

// actionLine formats one suggested action for a list.
func (d Diagnosis) actionLine(a Action, i int, place Place) string {
	if a.Edit != "" {
		return fmt.Sprintf("Edit: %s  %s", a.Edit, prose.CutColumns(oneLine(a.Description), max(place.Width, 40)))
	}
	line := a.label + ": " + a.Command
	if cd, ok := safetext.CommandLine("cd", place.Dir); ok && place.Dir != "" && a.label == labelRun {
		line = a.label + ": " + cd + " && " + a.Command
	}
	if a.label != labelRun || place.Files == "" || i >= len(d.SuggestedCommands) {
		return line
	}
	log, ok := safetext.ShellWord(path.Join(place.Files, d.SuggestedCommands[i].log))
	if !ok || d.SuggestedCommands[i].log == "" {
		return line
	}
	return line + " 2>&1 | tee " + log
}
