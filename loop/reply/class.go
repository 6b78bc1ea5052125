package reply

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/markdown"
)

// role is the kind of a line in a review.
type role byte

const (
	roleNone    role = iota // blank, or not the author's words
	roleText                // prose or an item
	roleRule                // a horizontal rule
	roleTitle               // a heading, or a line in bold alone
	roleVerdict             // "### Verdict: PASS"
	roleField               // "**Severity:** High"
	roleLead                // a severity and its finding
	roleGroup               // a severity alone, for the lines below
	roleRow                 // of a table of findings
	roleTally               // "Critical: 2"
	roleLegend              // explains a severity
)

// readLine is a line with its role.
type readLine struct {
	markdown.Line
	role   role
	level  int    // of a title
	title  string // of a title
	indent int
	listed bool
	mark   severityMark
	rest   string        // the text after a lead's severity mark, or after a verdict line's label
	asked  bool          // a verdict line in a documented form
	draft  *findingDraft // of a row
}

// classify determines the role of each line of md, for all readers of findings and verdicts.
func classify(md markdown.Text) []readLine {
	c := classifier{lines: make([]readLine, len(md.Lines)), below: make([]string, len(md.Lines)+1)}
	for i, l := range slices.Backward(md.Lines) {
		if c.below[i] = l.Text; l.Blank() {
			c.below[i] = c.below[i+1]
		}
	}
	for i, l := range md.Lines {
		c.lines[i].Line = l
		if l.Kind != markdown.LineText || l.Blank() || !c.row(i) {
			c.columns = nil
		}
		if l.Kind == markdown.LineText && !l.Blank() && c.lines[i].role == roleNone {
			c.line(i)
		}
	}
	markLegends(c.lines)
	return c.lines
}

// classifier holds the context that classifying a line requires.
type classifier struct {
	lines   []readLine
	below   []string // for each line, itself or the next one that is not blank
	columns []string // header of the current table; nil: no table, empty: no header
}

// line classifies a line outside a table.
func (c *classifier) line(i int) {
	l := &c.lines[i]
	var item string
	l.indent, item, l.listed = markdown.CutBullet(l.Text)
	item = strings.TrimSuffix(item, "</li>")
	if v, ok := verdictLine(l.Line); ok {
		l.role, l.rest, l.asked = roleVerdict, v.value, v.asked
		return
	}
	if f, value := readField(l.Text); f != noField {
		l.role = roleField
		if f == severityField && definesSeverity(value) {
			l.role = roleLegend
		}
		return
	}
	l.level, l.title = l.Title()
	if title, ok := summaryOf(l.Text); ok {
		l.level, l.title = levelSummary, title
	}
	switch {
	case l.level > 0:
		_, item, _ = markdown.CutBullet(l.title)
		l.title = markdown.TrimDecor(l.title)
	case isRule(l.Text):
		l.role = roleRule
		return
	}
	l.words(item, c.titles(i))
	if l.role == roleLead && l.level == 0 && !l.listed && i > 0 && c.lines[i-1].role == roleText &&
		goesOn(c.lines[i-1].Text) && !namesPlace(l.rest) {
		l.role = roleText // "… of which one is" / "critical - the lock"
	}
	if l.role == roleText && isTag(strings.TrimSpace(l.Text)) {
		l.role = roleNone
	}
}

// titles reports whether line i can be a title: a list or the underline of a heading is
// below it.
func (c *classifier) titles(i int) bool {
	below := strings.TrimSpace(c.below[i+1])
	_, _, listed := markdown.CutBullet(below)
	return listed || below != "" && strings.Trim(below, "-=") == ""
}

// words classifies a title, an item or a line of prose.
func (l *readLine) words(item string, titles bool) {
	m, ok := aloneMark(item)
	if !ok && (l.level > 0 || titles) {
		m, ok = readMark(item)
	}
	if ok {
		l.role, l.mark = roleGroup, m
		return
	}
	if critical, ok := criticalTally(item); ok {
		l.role, l.mark.count = roleTally, critical
		return
	}
	if l.mark, l.rest, ok = cutMark(item); ok {
		l.role = roleLead
		return
	}
	if l.mark, l.rest, ok = cutSign(item); ok && (l.level == 0 || saysFault(l.rest)) {
		l.role = roleLead
		if titles && !saysFault(l.rest) {
			l.role = roleGroup // "🔴 Security", above a list
		}
		return
	}
	l.role = roleText
	if l.level > 0 {
		l.role = roleTitle
	} else if definesSeverity(item) {
		l.role = roleLegend // "Critical = stops the release"
	}
}

// definesSeverity reports whether value explains severities: "Severity: Critical = stops the
// release", "Severity level: critical, warning or note".
func definesSeverity(value string) bool {
	if listsSeverities(value) {
		return true
	}
	name, meaning, ok := strings.Cut(value, "=")
	if !ok {
		name, meaning, ok = strings.Cut(value, " means ")
	}
	_, known := readMark(name)
	return ok && known && !namesPlace(meaning)
}

// listsSeverities reports whether value names all three severities and nothing else: a scale.
func listsSeverities(value string) bool {
	named := map[Severity]bool{}
	for _, part := range alternatives(strings.ReplaceAll(value, ",", "|")) {
		m, ok := readMark(part)
		if !ok {
			return false
		}
		named[m.severity] = true
	}
	return len(named) == 3
}

// row reads one row of a table. The first row is the header if a line of dashes is below it or
// its cells name fields. A header without a severity column is ignored.
func (c *classifier) row(i int) (ok bool) {
	l := &c.lines[i]
	if _, item, _ := markdown.CutBullet(l.Text); !strings.HasPrefix(item, "|") {
		return false
	}
	cells := tableCells(l.Text)
	l.role = roleRow
	switch {
	case c.columns == nil && (isHeader(cells) || i+1 < len(c.lines) && isDashes(c.below[i+1])):
		c.columns = []string{}
		if slices.ContainsFunc(cells, func(cell string) bool { f, _ := readField(cell + ":"); return f == severityField }) {
			c.columns = cells
		}
		return true
	case c.columns == nil:
		c.columns = []string{}
	}
	d := rowDraft(c.columns, cells)
	m, known := readMark(d.value(severityField))
	if !known {
		return true
	}
	l.draft, l.mark, l.rest = d, m, d.value(issueField)
	if isNumber(l.rest) && l.rest != "" {
		l.role, l.mark.count = roleTally, 0
		if m.severity == Critical {
			l.mark.count = markdown.Number(l.rest)
		}
	}
	return true
}

// markLegends finds runs of lines that explain the severities. In such a legend no entry names
// a place, each severity occurs once, and either its title says that it is a key or every entry
// says only how such findings are handled. All other entries are findings.
func markLegends(lines []readLine) {
	title := ""
	for i := 0; i < len(lines); {
		end := entriesEnd(lines, i)
		if end == i {
			if l := lines[i]; !l.Blank() && !isDashes(l.Text) {
				title = l.legendTitle()
			}
			i++
			continue
		}
		if isLegend(lines[i:end], title) {
			for n := range lines[i:end] {
				lines[i+n].role = roleLegend
			}
		}
		title, i = "", end
	}
}

// legendTitle returns the line's text if it can be the title of a legend below.
func (l readLine) legendTitle() string {
	switch {
	case l.level > 0:
		return l.title
	case l.role == roleRow:
		return strings.Join(tableCells(l.Text), " ")
	case l.role == roleText && endsInColon(l.Text):
		return l.Text
	}
	return ""
}

// entriesEnd returns the end of the run of severities with text that begins at line i; i if
// there is none. Single blank lines may be inside the run.
func entriesEnd(lines []readLine, i int) int {
	end := i
	for n := i; n < len(lines) && n <= end+1; n++ {
		l := lines[n]
		switch {
		case l.role == roleLead && l.level == 0, l.role == roleRow && l.draft != nil:
			end = n + 1
		case !l.Blank() || end == i:
			return end
		}
	}
	return end
}

func isLegend(run []readLine, title string) bool {
	severities := map[string]bool{}
	defined, labelled := true, false
	for _, l := range run {
		if l.role == roleNone {
			continue
		}
		said := l.rest
		if l.draft != nil {
			said = l.draft.value(placeField) + " " + said
		} else if label, meanings, ok := strings.Cut(said, ":"); ok && isKeyTitle(label) {
			said, labelled = meanings, true // "Severity levels: Note (optional), Critical (must fix)"
		}
		if severities[l.mark.word] || namesPlace(said) {
			return false
		}
		severities[l.mark.word] = true
		defined = defined && defines(said)
		for _, word := range marksBetween(said) {
			severities[word] = true
		}
	}
	return isKeyTitle(title) || defined && (labelled || len(severities) > 1)
}

// marksBetween returns the severity words in the rest of a line that lists several: "/ Warning / Note".
func marksBetween(text string) []string {
	var words []string
	parts := strings.FieldsFunc("."+text, func(r rune) bool {
		_, sign := severitySigns[r]
		return sign || strings.ContainsRune("/|·•;", r)
	})
	for n, part := range parts {
		if m, ok := readMark(part); n > 0 && ok {
			words = append(words, m.word)
		}
	}
	return words
}
