package diagnose

import (
	"fmt"
	"path"
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
	d.writeWords(&b, place)
	writeItems(&b, "Unmet checks:", d.UnmetChecks)
	d.writeFates(&b, place.Width)
	writeItems(&b, "Files:", d.Files)
	if d.Family != record.FamilyReview { // a review loop's unmet checks say the same in runr's words
		writeItems(&b, "Evidence provided:", d.LastEvidenceProvided)
	}
	if len(d.PutBack) > 0 {
		b.WriteString("\n")
		d.writePutBack(&b, "  ", "")
	}
	b.WriteString("\n  Suggested actions:\n")
	for i, a := range d.SuggestedActions {
		safetext.Fprintf(&b, "    %d. %s\n", i+1, d.actionLine(a, i, place))
	}
	if len(d.intervention) > 0 {
		b.WriteString("\n")
		d.writeIntervention(&b, "    Or use intervention:\n", "       ")
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String()
}

// writeFacts writes the facts that fit on one line each.
func (d Diagnosis) writeFacts(b *strings.Builder, place Place) {
	if d.LoopCount > 0 {
		safetext.Fprintf(b, "  Loop count: %d%s\n", d.LoopCount, d.since)
	}
	if n := len(d.LastReviewRequests); n > 0 {
		safetext.Fprintf(b, "  Last reviewer request: \"%s\"\n", oneLine(d.LastReviewRequests[0]))
	}
	if d.plain() {
		b.WriteString(indented("  ", d.paragraph(max(place.Width, 40)-2)))
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

// writeWords writes the details that need more than a line.
func (d Diagnosis) writeWords(b *strings.Builder, place Place) {
	var words strings.Builder
	d.writeSaid(&words, "  ", max(place.Width, 40))
	d.writeFailing(&words, "  ")
	if words.Len() > 0 {
		b.WriteString("\n" + strings.TrimSuffix(words.String(), "\n"))
	}
}

// writeFates lists the requests if there is more than one, or if there was more than one round.
func (d Diagnosis) writeFates(b *strings.Builder, width int) {
	var lines []string
	rounds, listed := 0, map[string]bool{}
	for _, t := range d.Requests {
		rounds = max(rounds, t.Last)
		text := prose.CutColumns(oneLine(t.Text), max(width, 40)-10)
		if listed[t.Text] && t.State == track.Similar {
			continue // the newest round's request in the same words is listed
		}
		listed[t.Text] = true
		lines = append(lines, text+" ("+fateOf(t)+")")
	}
	if rounds < 2 && len(lines) < 2 {
		return
	}
	writeItems(b, "Requests:", lines)
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
