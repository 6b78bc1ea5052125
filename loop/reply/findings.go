package reply

import (
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
)

// foundFinding is a finding, the lines that it was read from, and whether they are in a
// section of findings.
type foundFinding struct {
	Finding
	lines  []int
	inside bool
}

// severityGroup is a severity that applies to the findings below it.
type severityGroup struct {
	severity string // "": no group
	level    int    // of its title
	indent   int    // of its item, -1 if it is not an item
	used     bool   // a finding of it was read
	listed   bool   // its findings are a list
}

// findingReader reads findings line by line.
type findingReader struct {
	log     *markdown.Warnings
	plain   bool // every item in a section of findings is a finding
	inside  bool // the line is in a section of findings
	found   []foundFinding
	other   []int // lines about severities that are not findings
	tallied int   // number of critical findings that the answer counts
	draft   *findingDraft
	starter field  // the field that begins each finding
	heading string // the nearest heading
	group   severityGroup
	file    string   // named by a line above: "In `@a.go`:"
	above   readLine // the nearest item that is not a finding by itself
}

// read reads the findings in the lines that are in scope.
func (r *findingReader) read(lines []readLine, scope []findingScope) {
	for i, l := range lines {
		out := scope[i] == scopeOut || r.plain && scope[i] == scopeStray
		if i > 0 && scope[i] != scope[i-1] || out {
			r.flush()
			r.heading, r.group, r.starter = "", severityGroup{}, noField
		}
		if r.inside = scope[i] == scopeIn; !out {
			r.line(i, l)
		}
	}
	r.flush()
}

func (r *findingReader) line(i int, l readLine) {
	if asideWords.Has(l.mark.word) && !r.inside && (l.role == roleLead || l.role == roleGroup) {
		l.role = roleText
		if l.level > 0 {
			l.role = roleTitle
		}
	}
	switch l.role {
	case roleNone:
		r.silent(i, l.Line)
		return
	case roleField:
		for _, part := range splitFields(l.Text) {
			f, value := readField(part)
			r.field(i, l, f, value)
		}
	case roleTitle:
		r.title(i, l)
	case roleGroup:
		r.flush()
		r.open(i, l)
	case roleLead:
		r.lead(i, l)
	case roleRow:
		r.row(i, l)
	case roleText:
		if named := inFile().FindStringSubmatch(l.Text); named != nil {
			r.flush()
			r.file = named[1]
			return
		}
		if !r.item(i, l) {
			r.continued(i, l)
		}
		if l.listed {
			r.above = l
		}
	case roleTally, roleLegend:
		r.flush()
		r.tallied += l.mark.count
		r.other = append(r.other, i)
	default:
		r.flush()
	}
	if r.draft != nil {
		r.draft.blank = false
	}
}

// silent reads a line that is not the author's words: code and quotations belong to the field
// above them.
func (r *findingReader) silent(i int, l markdown.Line) {
	switch {
	case r.draft == nil || l.Kind == markdown.LineComment:
	case l.Kind == markdown.LineText:
		r.extend(i, "")
		r.draft.blank = true
	case r.draft.short && r.draft.blank:
		r.flush()
	case r.draft.current < issueField && !r.draft.has[issueField]: // a quotation alone is not an issue
	default:
		r.extend(i, l.Text)
	}
}

// splitFields splits a line with several fields in bold: "**Severity:** High | **File:** a.go".
func splitFields(text string) []string {
	var parts []string
	start := 0
	for at := 0; ; at += len("**") {
		next := strings.Index(text[at:], " **")
		if next < 0 {
			return append(parts, text[start:])
		}
		at += next + 1
		before := strings.TrimRight(text[start:at], " ")
		f, _ := readField(prose.Cut(text[at:], 80))
		if f != noField && strings.Contains(before, ":") && before != strings.TrimRight(before, "-|,;.—") {
			parts, start = append(parts, strings.TrimRight(before, " -|,;—")), at
		}
	}
}

// field reads a labelled line. A finding begins at each repetition of the field that came
// first, and at each further severity.
func (r *findingReader) field(i int, l readLine, f field, value string) {
	if r.starter == noField && r.draft == nil {
		r.starter = f
	}
	second := r.draft != nil && r.draft.has[f]
	if r.draft == nil || second && (f == r.starter || f == severityField) {
		r.start(l)
	}
	r.draft.set(f, value)
	r.draft.lines = append(r.draft.lines, i)
	if _, issue, ok := markIn(value); ok && f == severityField && issue != "" {
		r.draft.short = true // "Severity: Critical — token logged"
	}
}

func (r *findingReader) start(l readLine) {
	r.flush()
	r.draft = &findingDraft{indent: l.indent, listed: l.listed, heading: r.heading}
	if r.above.listed && l.indent > r.above.indent {
		_, r.draft.heading, _ = markdown.CutBullet(r.above.Text)
	}
	if r.group.severity != "" {
		r.draft.values[severityField] = []string{r.group.severity}
		r.group.used, r.group.listed = true, l.listed
	}
}

// extend appends a line to the current field.
func (r *findingReader) extend(i int, text string) {
	f := r.draft.current
	if f < issueField && !r.draft.has[issueField] {
		f = issueField // severity and place are one line each
	}
	r.draft.values[f] = append(r.draft.values[f], text)
	r.draft.lines = append(r.draft.lines, i)
}

// continued reads a line without a label: it continues the field above, unless a blank line
// or a new item ends the finding.
func (r *findingReader) continued(i int, l readLine) {
	if r.draft == nil {
		return
	}
	next := r.draft.loose && l.listed
	over := r.draft.short && (r.draft.blank || isLabel(l.Text)) && !l.listed
	outer := r.draft.blank && l.indent < r.draft.indent
	if r.draft.listed && l.indent <= r.draft.indent && (r.draft.blank || next) || over && l.indent <= r.draft.indent ||
		outer {
		r.flush()
		return
	}
	r.extend(i, strings.TrimSpace(l.Text))
}

// title reads a heading, or a line in bold alone. Below a severity it is the title of a
// finding.
func (r *findingReader) title(i int, l readLine) {
	r.flush()
	g := r.group
	if g.severity != "" && l.level == levelSummary && !g.used {
		return
	}
	if g.severity != "" && l.level < levelSummary && (l.level > g.level || !g.used && l.level == markdown.LevelBold) &&
		!isNone(l.title) {
		r.startLoose(i, readLine{}, g.severity, l.title)
		r.group.used = true
		return
	}
	r.heading, r.group, r.starter, r.above = l.title, severityGroup{}, noField, readLine{}
}

// open begins a severity group.
func (r *findingReader) open(i int, l readLine) {
	r.heading, r.starter = "", noField
	r.group = severityGroup{severity: string(l.mark.severity), level: l.level, indent: -1}
	if l.listed {
		r.group.indent = l.indent
	}
	if l.level == 0 {
		r.group.level = levelSummary
		r.other = append(r.other, i)
	}
	if l.mark.severity == Critical {
		r.tallied += l.mark.count
	}
}

// lead reads a line with severity, place and issue in one.
func (r *findingReader) lead(i int, l readLine) {
	r.flush()
	if l.level > 0 {
		r.heading, r.group, r.starter = "", severityGroup{}, noField
	}
	if isNone(l.rest) {
		r.other = append(r.other, i)
		return
	}
	r.startLoose(i, l, string(l.mark.severity), l.rest)
	r.draft.short = l.level == 0
}

// isLabel reports whether a line begins with one word and a colon: "question: why?".
func isLabel(text string) bool {
	word, _, ok := strings.Cut(markdown.Labelled(text), ":")
	return ok && word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
}

func (r *findingReader) startLoose(i int, l readLine, severity, text string) {
	r.start(l)
	r.draft.loose = l.level == 0 && l.Text != ""
	r.draft.listed = r.draft.listed && l.level == 0
	r.draft.values[severityField] = nil
	if severity != "" {
		r.draft.set(severityField, severity)
	}
	r.draft.loosePlace(text)
	r.draft.lines = append(r.draft.lines, i)
}

// row reads a row of a table of findings.
func (r *findingReader) row(i int, l readLine) {
	r.flush()
	if l.draft == nil {
		return
	}
	if issue := l.draft.value(issueField); isNone(issue) && (issue != "" || l.draft.place() == place.Place{}) {
		if issue == "" && !r.plain {
			r.log.Add("a row of a table names a severity and nothing else: it was ignored")
		}
		return
	}
	r.draft = l.draft
	r.draft.lines = []int{i}
	r.flush()
}

// item reads an item without a severity of its own: below a severity, or where all items are
// findings. ok is false if the line belongs to the text above it.
func (r *findingReader) item(i int, l readLine) (ok bool) {
	if r.group.severity == "" && !r.plain {
		return false
	}
	nested := r.draft != nil && (!l.listed || l.indent > r.draft.indent)
	if nested || !l.listed && (r.group.severity == "" || r.group.used) {
		return false
	}
	if r.group.severity != "" && l.listed && l.indent <= r.group.indent || l.listed && r.group.used && !r.group.listed {
		r.group = severityGroup{}
		return false
	}
	r.flush()
	_, text, _ := markdown.CutBullet(l.Text)
	if isNone(text) {
		r.group = severityGroup{}
		return true
	}
	r.group.used, r.group.listed = true, l.listed
	r.startLoose(i, l, r.group.severity, text)
	return true
}

// flush ends the current finding.
func (r *findingReader) flush() {
	d := r.draft
	r.draft = nil
	if d == nil || d.isEmpty() {
		return
	}
	if issue := d.value(issueField); d.value(severityField) == "" && !r.plain &&
		(issue == "" || !r.inside && d.place() == (place.Place{}) && !namesPlace(issue)) {
		return
	}
	if d.isTemplate() {
		if !r.plain { // the plain reader reads the same lines again
			r.log.Add("a finding is a template: it was ignored")
		}
		return
	}
	f := d.finding(r.plain, r.log)
	if r.file != "" && f.File == "" {
		lines := inLines().FindStringSubmatch(f.Issue + "\n")
		if f.At(place.Read(r.file)); lines != nil {
			f.At(place.Read(r.file + ":" + lines[1]))
			f.Issue = strings.TrimSpace(lines[2])
		}
	}
	r.found = append(r.found, foundFinding{Finding: f, lines: d.lines, inside: r.inside})
}

// inFile matches a line that names the file of the findings below it; inLines matches "Around line 12-14: it leaks".
var (
	inFile  = lazyre.Compile("^In `@?([^`\\s]+)`:\\s*$")
	inLines = lazyre.Compile(`(?is)^(?:around )?lines? (\d+(?:-\d+)?):(.+)$`)
)

// findingScope is whether a line is in a section of findings.
type findingScope byte

const (
	scopeStray findingScope = iota // outside a section of findings
	scopeIn                        // in a section of findings
	scopeOut                       // in a section about something else
)
