package loop

import "strings"

// loose reads a line that says severity, place and issue in one: a tagged item, a
// table row, or an item under a heading that names a severity.
func (r *findingReader) loose(i int, l mdLine) bool {
	if strings.HasPrefix(strings.TrimSpace(l.text), "|") {
		return r.row(i, l)
	}
	indent, item, listed := cutBullet(l.text)
	severity, rest, ok := cutSeverity(item)
	tagged := strings.HasPrefix(trimDecor(item), "[")
	plain := item == strings.TrimLeftFunc(item, isDecor)
	if r.mode == modeTagged && !tagged && (plain || r.asideOnly(severity)) {
		ok = false
	}
	if ok && (listed || tagged) {
		r.flush()
		if isNone(rest) {
			return true
		}
		r.startLoose(i, l, severity, rest)
		return true
	}
	if r.group == "" && r.mode != modePlain {
		return false
	}
	nested := r.draft != nil && (!listed || indent > r.draft.indent)
	if nested || !listed && r.group == "" {
		return false
	}
	r.flush()
	if !isNone(item) {
		r.startLoose(i, l, r.group, item)
	}
	return true
}

// asideOnly: outside a Findings section "Note" is a common word.
func (r *findingReader) asideOnly(title string) bool {
	severity, _ := readSeverity(title)
	return r.mode == modeTagged && severity == Note
}

func (r *findingReader) startLoose(i int, l mdLine, severity, text string) {
	r.start(l)
	r.draft.loose = true
	r.draft.values[severityField] = nil
	if severity != "" {
		r.draft.set(severityField, severity)
	}
	r.loosePlace(text)
	r.draft.lines = append(r.draft.lines, i)
}

// loosePlace takes the place off an issue, at its start or at its end.
func (r *findingReader) loosePlace(text string) {
	if p := readPlace(text); p.line > 0 && strings.ContainsAny(p.file, "./") && !strings.ContainsAny(text, " ") {
		r.draft.set(placeField, text)
		r.draft.current = issueField
		return
	}
	if p, rest := cutPlace(text); p.file != "" {
		r.draft.set(placeField, p.String())
		text = rest
	} else if before, after, ok := cutPlaceAtEnd(text); ok {
		r.draft.set(placeField, after)
		text = before
	}
	r.draft.set(issueField, text)
}

// cutPlaceAtEnd reads "title — /path/to/file:4-4" and "title (file:4)".
func cutPlaceAtEnd(text string) (before, after string, ok bool) {
	for _, sep := range []string{" — ", " – ", " - ", " ("} {
		i := strings.LastIndex(text, sep)
		if i <= 0 {
			continue
		}
		after := text[i+len(sep):]
		if p := readPlace(after); p.line > 0 && strings.ContainsAny(p.file, "./") {
			return strings.TrimSpace(text[:i]), after, true
		}
	}
	return text, "", false
}

// cutSeverity takes the severity off an item: "**[HIGH]** text", "[P1] text",
// "**Critical:** text", "**HIGH** - text", "🔴 Critical: text". A word that is
// neither in brackets nor in bold needs its colon or capitals.
func cutSeverity(item string) (severity, rest string, ok bool) {
	s := strings.TrimLeftFunc(item, isDecor)
	if tag, after, found := strings.Cut(strings.TrimPrefix(s, "["), "]"); found && strings.HasPrefix(s, "[") {
		_, ok := knownSeverity(tag)
		return tag, trimSeparator(after), ok
	}
	end := strings.IndexAny(s, ":*_ ")
	if end < 0 {
		return "", "", false
	}
	bold := strings.Contains(item[:len(item)-len(s)], "**")
	severity, after := s[:end], s[end:]
	if strings.HasPrefix(after, "_") {
		return "", "", false
	}
	_, ok = knownSeverity(severity)
	capitals := len(severity) > 2 && severity == strings.ToUpper(severity)
	closes := strings.HasPrefix(after, ":") || bold && strings.HasPrefix(after, "**") || capitals && strings.HasPrefix(after, " ")
	return severity, trimSeparator(after), ok && closes
}

// cutTag takes "[P1] " off a title.
func cutTag(title string) (Severity, string) {
	tag, rest, ok := strings.Cut(strings.TrimPrefix(title, "["), "]")
	if severity, known := knownSeverity(tag); ok && known && strings.HasPrefix(title, "[") {
		return severity, strings.TrimSpace(rest)
	}
	return "", title
}

func trimSeparator(s string) string {
	s = strings.TrimLeft(s, " \t*:—–-")
	return strings.TrimSpace(s)
}

// isGroup reports whether a heading gives a severity to what stands below it:
// "Critical", "Critical issues (2)", "⚠️ Warnings".
func isGroup(title string) bool {
	title, _, _ = strings.Cut(title, "(")
	words := strings.Fields(requestKey(title))
	if len(words) == 0 || len(words) > 2 {
		return false
	}
	if _, known := knownSeverity(words[0]); !known {
		return false
	}
	if len(words) == 1 {
		return true
	}
	switch strings.TrimSuffix(words[1], "s") {
	case "issue", "finding", "problem", "severity", "item":
		return true
	}
	return isNumber(words[1])
}

// row reads one row of a table of findings. The first row is the header when a
// cell of it names a field.
func (r *findingReader) row(i int, l mdLine) bool {
	cells := tableCells(l.text)
	if r.table == nil {
		r.flush()
		r.table = cells
		if isHeader(cells) {
			return true
		}
		r.table = []string{}
	}
	d := &findingDraft{lines: []int{i}}
	for n, cell := range cells {
		if f := r.column(d, n, cell); f != noField && cell != "" && !d.has[f] {
			d.set(f, cell)
		}
	}
	_, known := knownSeverity(d.value(severityField))
	if !known || isNone(d.value(issueField)) {
		return true
	}
	r.flush()
	r.draft = d
	r.flush()
	return true
}

// column is the field of a cell: by the header, and without one by what it looks like.
func (r *findingReader) column(d *findingDraft, n int, cell string) field {
	if len(r.table) > 0 {
		if n < len(r.table) {
			f, _ := readField(r.table[n] + ":")
			return f
		}
		return noField
	}
	if _, known := knownSeverity(cell); known && !d.has[severityField] {
		return severityField
	}
	switch {
	case !d.has[placeField] && !d.has[issueField] && readPlace(cell).line > 0:
		return placeField
	case !d.has[severityField] || isNone(cell):
		return noField
	case !d.has[issueField]:
		return issueField
	}
	return fixField
}

// isHeader: a header tells where to look only if it names severity and issue.
func isHeader(cells []string) bool {
	var has [numFields]bool
	for _, cell := range cells {
		f, _ := readField(cell + ":")
		has[f] = true
	}
	return has[severityField] && has[issueField]
}

// tableCells splits a row at its bars, except those that are escaped.
func tableCells(text string) []string {
	s := strings.Trim(strings.ReplaceAll(strings.TrimSpace(text), `\|`, "\x00"), "|")
	var cells []string
	for cell := range strings.SplitSeq(s, "|") {
		cells = append(cells, strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|")))
	}
	return cells
}

// String is the place as readPlace reads it.
func (p place) String() string {
	return Finding{File: p.file, Line: p.line, EndLine: p.end}.Place()
}
