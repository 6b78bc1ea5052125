package loop

import (
	"iter"
	"strings"
)

// findingMode is what a finding may look like.
type findingMode byte

const (
	modeStructured findingMode = iota // "- **Severity:** High" and more fields
	modeTagged                        // also "- **[HIGH]** auth.go:12 leaks", table rows, items under "#### Critical"
	modeLoose                         // also "- High: auth.go:12 leaks" and what only a Findings section makes a finding
	modePlain                         // also every list item, as a warning
)

// foundFinding is a finding and the lines that it was read from.
type foundFinding struct {
	Finding
	lines []int
}

type field byte

const (
	noField field = iota
	severityField
	placeField
	lineField
	issueField
	fixField
	numFields
)

// fieldLabels are the names of fields, those that contain another one first.
var fieldLabels = []struct {
	name  string
	field field
}{
	{"severity", severityField},
	{"file:line", placeField}, {"file/line", placeField}, {"file, line", placeField}, {"file", placeField},
	{"location", placeField}, {"path", placeField},
	{"lines", lineField}, {"line", lineField},
	{"issue", issueField}, {"problem", issueField}, {"description", issueField}, {"finding", issueField},
	{"suggested fix", fixField}, {"fix", fixField}, {"suggestion", fixField}, {"recommendation", fixField}, {"resolution", fixField},
}

func readField(text string) (field, string) {
	text = labelled(text)
	if text == "" {
		return noField, ""
	}
	for _, l := range fieldLabels {
		if value, ok := cutLabel(text, l.name); ok {
			return l.field, value
		}
	}
	return noField, ""
}

// findingDraft is a finding of which lines are still being read.
type findingDraft struct {
	values  [numFields][]string
	has     [numFields]bool
	current field // what continuation lines belong to
	indent  int   // of its first line
	listed  bool  // its first line is a list item
	loose   bool  // one item is the whole of it
	blank   bool  // the line before was blank
	heading string
	lines   []int
}

func (d *findingDraft) set(f field, value string) {
	d.has[f], d.current = true, f
	d.values[f] = append(d.values[f], value)
}

func (d *findingDraft) value(f field) string {
	return strings.TrimSpace(strings.Join(d.values[f], "\n"))
}

// findingReader reads findings line by line.
type findingReader struct {
	mode    findingMode
	log     *parseLog
	found   []foundFinding
	draft   *findingDraft
	starter field    // the field that begins each finding
	heading string   // the nearest one
	group   string   // severity that the nearest heading gives to the items below it
	table   []string // header cells of the table that is being read
}

// readFindings reads the findings in the lines of md that scope marks.
func readFindings(md mdText, scope []bool, mode findingMode, log *parseLog) []foundFinding {
	r := &findingReader{mode: mode, log: log}
	for i, l := range md.lines {
		if !scope[i] {
			r.flush()
			r.heading, r.group, r.starter = "", "", noField
			continue
		}
		r.line(i, l)
	}
	r.flush()
	return r.found
}

func (r *findingReader) line(i int, l mdLine) {
	switch l.kind {
	case lineText:
	case lineComment:
		return
	default: // code and quotations are part of the field above them
		r.extend(i, l.text)
		return
	}
	if !strings.HasPrefix(strings.TrimSpace(l.text), "|") {
		r.table = nil
	}
	if l.blank() {
		r.extend(i, "")
		if r.draft != nil {
			r.draft.blank = true
		}
		return
	}
	if f, _ := readField(l.text); f != noField {
		for _, part := range splitFields(l.text) {
			f, value := readField(part)
			r.field(i, l, f, value)
		}
		return
	}
	_, isVerdict := verdictLine(l)
	if level, title := l.headingOrBold(); level > 0 && !isVerdict {
		r.title(i, title)
		return
	}
	if isVerdict || isRule(l.text) {
		r.flush()
		return
	}
	if r.mode == modeStructured || !r.loose(i, l) {
		r.continued(i, l)
	}
	if r.draft != nil {
		r.draft.blank = false
	}
}

// splitFields parts a line with several fields in bold: "**Severity:** High | **File:** a.go".
func splitFields(text string) []string {
	var parts []string
	start := 0
	for at := range boldStarts(text) {
		before := strings.TrimRight(text[start:at], " ")
		f, _ := readField(cutBytes(text[at:], 80))
		if f != noField && strings.Contains(before, ":") && before != strings.TrimRight(before, "-|,;.—") {
			parts, start = append(parts, strings.TrimRight(before, " -|,;—")), at
		}
	}
	return append(parts, text[start:])
}

// boldStarts are the places in s where a space is followed by bold text.
func boldStarts(s string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := 0; ; {
			next := strings.Index(s[at:], " **")
			if next < 0 || !yield(at+next+1) {
				return
			}
			at += next + 3
		}
	}
}

// isRule reports whether text is a horizontal rule.
func isRule(text string) bool {
	s := strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	return len(s) > 2 && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "")
}

// field takes a labelled line. A finding begins at the field that came first of all,
// and wherever a second severity stands.
func (r *findingReader) field(i int, l mdLine, f field, value string) {
	if r.starter == noField && r.draft == nil {
		r.starter = f
	}
	second := r.draft != nil && r.draft.has[f]
	if r.draft == nil || second && (f == r.starter || f == severityField) {
		r.start(l)
	}
	r.draft.set(f, value)
	r.draft.lines = append(r.draft.lines, i)
	r.draft.blank = false
}

func (r *findingReader) start(l mdLine) {
	r.flush()
	indent, _, listed := cutBullet(l.text)
	r.draft = &findingDraft{indent: indent, listed: listed, heading: r.heading}
	if r.group != "" {
		r.draft.values[severityField] = []string{r.group}
	}
}

// extend appends a line to the field that is being read.
func (r *findingReader) extend(i int, text string) {
	if r.draft == nil {
		return
	}
	f := r.draft.current
	if f < issueField && !r.draft.has[issueField] {
		f = issueField // a severity and a place are one line each
	}
	r.draft.values[f] = append(r.draft.values[f], text)
	r.draft.lines = append(r.draft.lines, i)
}

// continued takes a line without a label: more of the field above it, unless a
// blank line or the next item says that it is not.
func (r *findingReader) continued(i int, l mdLine) {
	if r.draft == nil {
		return
	}
	indent, _, listed := cutBullet(l.text)
	next := r.draft.loose && listed
	if r.draft.listed && indent <= r.draft.indent && (r.draft.blank || next) {
		r.flush()
		return
	}
	r.extend(i, strings.TrimSpace(l.text))
}

// title takes a heading, or a line in bold alone.
func (r *findingReader) title(i int, title string) {
	r.flush()
	r.heading, r.group, r.starter = title, "", noField
	if r.mode == modeStructured {
		return
	}
	_, title, _ = cutBullet(title)
	if severity, rest, ok := cutSeverity(title); ok && !isNone(rest) {
		r.start(mdLine{})
		r.draft.heading = ""
		r.draft.set(severityField, severity)
		r.loosePlace(rest)
		r.draft.lines = []int{i}
		return
	}
	if isGroup(title) && !r.asideOnly(title) {
		r.group, r.heading = title, ""
	}
}

// flush ends the finding that is being read.
func (r *findingReader) flush() {
	d := r.draft
	r.draft = nil
	if d == nil || d.isEmpty() {
		return
	}
	if d.value(severityField) == "" && (r.mode <= modeTagged || r.mode == modeLoose && d.value(issueField) == "") {
		return
	}
	if d.isTemplate() {
		if r.mode != modePlain { // which reads the same lines again
			r.log.add("a finding is a template: it was ignored")
		}
		return
	}
	r.found = append(r.found, foundFinding{Finding: d.finding(r.mode, r.log), lines: d.lines})
}

// isEmpty: no severity worth the name and nothing said. "Severity: None".
func (d *findingDraft) isEmpty() bool {
	_, known := readSeverity(d.value(severityField))
	return !known && isNone(d.value(issueField)) && isNone(d.value(fixField))
}

// isTemplate: the prompt's own lines said again.
func (d *findingDraft) isTemplate() bool {
	severity, issue := d.value(severityField), d.value(issueField)
	filled := issue != "" && !isPlaceholder(issue) && !(strings.HasPrefix(issue, "[") && strings.HasSuffix(issue, "]"))
	return !filled && (isPlaceholder(severity) || len(severitiesIn(severity)) > 1)
}

func (d *findingDraft) finding(mode findingMode, log *parseLog) Finding {
	f := Finding{Severity: Warning, Issue: d.value(issueField), Fix: d.value(fixField)}
	if severity := d.value(severityField); severity != "" || mode != modePlain {
		f.Severity = severityOf(severity, log)
	}
	if isNone(f.Fix) {
		f.Fix = ""
	}
	f.at(d.place())
	if p, issue := cutPlace(f.Issue); f.File == "" && p.file != "" {
		f.at(p)
		f.Issue = issue
	}
	return described(f, d.heading, log)
}

// place puts the file field and the line field together.
func (d *findingDraft) place() place {
	p := readPlace(d.value(placeField))
	if lines := d.value(lineField); p.file != "" && p.line == 0 && lines != "" {
		return readPlace(p.file + ":" + strings.TrimLeft(lines, "Ll ~`"))
	}
	return p
}
