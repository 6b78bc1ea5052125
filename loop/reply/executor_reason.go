package reply

import (
	"strings"

	"github.com/git-runr/git-runr/loop/internal/markdown"
)

// reasonIn returns why an implementer did not finish, or refutes a finding: the text after "**Reason:**", then
// the sections about what it waits for or what is wrong.
func reasonIn(md markdown.Text) string {
	var parts []string
	for i, l := range md.Lines {
		if value, ok := statedReason(l); ok {
			parts = append(parts, strings.TrimSpace(value+"\n"+paragraphBelow(md, i)))
		}
	}
	about := titled("reason", "awaiting", "blocked by", "blocker", "blockers", "checkpoint details", "what i need",
		"what is needed", "refuted", "refutation")
	for _, s := range md.Sections(about, true) {
		_, told := statedReason(md.Lines[s.From-1])
		if text := md.Text(s); text != "" && !told {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// statedReason reads "**Reason:** the database is missing".
func statedReason(l markdown.Line) (string, bool) {
	value, ok := markdown.CutLabel(markdown.Labelled(l.Text), "reason")
	return value, ok && isSaid(l)
}

// paragraphBelow returns the lines of text after line i, up to a blank line, a heading or
// another label.
func paragraphBelow(md markdown.Text, i int) string {
	var lines []string
	for _, l := range md.Lines[i+1:] {
		level, _ := l.HeadingOrBold()
		if l.Kind != markdown.LineText || l.Blank() || level > 0 || strings.HasPrefix(strings.TrimSpace(l.Text), "**") {
			break
		}
		lines = append(lines, l.Text)
	}
	return strings.Join(lines, "\n")
}
