package loop

import "strings"

// reason is what an implementer that did not finish says of it: what follows
// "**Reason:**", then the sections that tell what it waits for.
func reasonIn(md mdText) string {
	var parts []string
	for i, l := range md.lines {
		if value, ok := statedReason(l); ok {
			parts = append(parts, strings.TrimSpace(value+"\n"+paragraphBelow(md, i)))
		}
	}
	wanted := func(title string) bool {
		return titleIs(title, "reason", "awaiting", "blocked by", "blocker", "blockers", "checkpoint details", "what i need", "what is needed")
	}
	for _, s := range md.sections(wanted, true) {
		_, told := statedReason(md.lines[s.from-1])
		if text := md.text(s); text != "" && !told {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n")
}

// statedReason reads "**Reason:** the database is missing".
func statedReason(l mdLine) (string, bool) {
	if l.kind != lineText || indentOf(l.text) > 3 {
		return "", false
	}
	return cutLabel(labelled(l.text), "reason")
}

// paragraphBelow are the lines of text that follow line i without a blank one, a
// heading or another label between them.
func paragraphBelow(md mdText, i int) string {
	var lines []string
	for _, l := range md.lines[i+1:] {
		level, _ := l.headingOrBold()
		if l.kind != lineText || l.blank() || level > 0 || strings.HasPrefix(strings.TrimSpace(l.text), "**") {
			break
		}
		lines = append(lines, l.text)
	}
	return strings.Join(lines, "\n")
}
