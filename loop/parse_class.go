package loop

import "strings"

// role is what a line is to those who read a review.
type role byte

const (
	roleNone    role = iota // blank, or not the author's words
	roleText                // prose or an item
	roleRule                // a horizontal rule
	roleTitle               // a heading, or a line in bold alone
	roleVerdict             // "### Verdict: PASS"
	roleField               // "**Severity:** High"
	roleLead                // a severity and what has it
	roleGroup               // a severity alone: what stands below has it
	roleRow                 // of a table that lists findings
	roleTally               // "Critical: 2"
	roleLegend              // says what a severity means
)

// readLine is a line and what it is.
type readLine struct {
	mdLine
	role   role
	level  int    // of a title or a group
	title  string // of a title
	indent int
	listed bool
	mark   severityMark
	rest   string // what a lead says behind its mark, or a verdict line behind its label
	label  string // of a verdict line
	titled bool   // a verdict line that is a heading or behind emphasis
	draft  *findingDraft
}

// classify says what each line of md is. All readers of findings and verdicts go by it.
func classify(md mdText) []readLine {
	lines := make([]readLine, len(md.lines))
	c := classifier{}
	for i, l := range md.lines {
		c.next = ""
		if i+1 < len(md.lines) {
			c.next = md.lines[i+1].text
		}
		lines[i] = c.line(l)
	}
	markLegends(lines)
	return lines
}

// classifier keeps what a line of a table needs of those above it.
type classifier struct {
	next    string   // the text of the line below
	columns []string // header of the table; empty and not nil: it has none
}

func (c *classifier) line(l mdLine) readLine {
	out := readLine{mdLine: l}
	if l.kind != lineText || l.blank() {
		c.columns = nil
		return out
	}
	var item string
	out.indent, item, out.listed = cutBullet(l.text)
	if strings.HasPrefix(item, "|") {
		return c.row(out)
	}
	c.columns = nil
	if v, ok := verdictLine(l); ok {
		out.role, out.rest, out.label, out.titled = roleVerdict, v.value, v.label, v.titled
		return out
	}
	if f, value := readField(l.text); f != noField {
		out.role = roleField
		if f == severityField && definesSeverity(value) {
			out.role = roleLegend
		}
		return out
	}
	out.level, out.title = l.headingOrBold()
	if out.level > 0 {
		_, item, _ = cutBullet(out.title)
	} else if isRule(l.text) {
		out.role = roleRule
		return out
	}
	out.words(item)
	return out
}

// words reads a title, an item or a line of prose.
func (l *readLine) words(item string) {
	m, ok := aloneMark(item)
	if !ok && l.level > 0 {
		m, ok = readMark(item)
	}
	if ok {
		l.role, l.mark = roleGroup, m
		return
	}
	if l.mark, l.rest, ok = cutMark(item); ok {
		l.role = roleLead
		switch n := strings.TrimSpace(l.rest); {
		case n == "":
			l.role = roleGroup
		case isNumber(n):
			l.role, l.mark.count = roleTally, lineNumber(n)
		}
		return
	}
	l.role = roleText
	if l.level > 0 {
		l.role = roleTitle
	} else if name, meaning, ok := strings.Cut(item, "="); ok && !namesPlace(meaning) {
		if _, ok := readMark(name); ok {
			l.role = roleLegend // "Critical = stops the release"
		}
	}
}

// definesSeverity: "Severity: Critical = stops the release".
func definesSeverity(value string) bool {
	name, meaning, ok := strings.Cut(value, "=")
	if !ok {
		name, meaning, ok = strings.Cut(value, " means ")
	}
	_, known := readMark(name)
	return ok && known && !namesPlace(meaning)
}

// row reads one row of a table. The first row is its header when a line of dashes
// stands below it, or when its cells name fields.
func (c *classifier) row(l readLine) readLine {
	cells := tableCells(l.text)
	l.role = roleRow
	switch {
	case isDashes(l.text):
		return l
	case c.columns == nil && (isHeader(cells) || isDashes(c.next)):
		c.columns = cells
		return l
	case c.columns == nil:
		c.columns = []string{}
	}
	d := rowDraft(c.columns, cells)
	m, known := readMark(d.value(severityField))
	if !known {
		return l
	}
	l.draft, l.mark = d, m
	if l.rest = d.value(issueField); isNumber(l.rest) && l.rest != "" {
		l.role, l.mark.count = roleTally, lineNumber(l.rest)
	}
	return l
}

// markLegends finds the runs of lines that say what the severities mean. An entry
// of a legend names no place, its severity stands only once in the run, and either
// the run's title says that it is a key or every entry says no more than what is
// done about such a finding. Any other entry is a finding.
func markLegends(lines []readLine) {
	title := ""
	for i := 0; i < len(lines); {
		end := entriesEnd(lines, i)
		if end == i {
			if l := lines[i]; !l.blank() && !isDashes(l.text) {
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

// legendTitle is what the line says as the title of a legend below it.
func (l readLine) legendTitle() string {
	switch {
	case l.level > 0:
		return l.title
	case l.role == roleRow:
		return strings.Join(tableCells(l.text), " ")
	case l.role == roleText && endsInColon(l.text):
		return l.text
	}
	return ""
}

// isDashes reports whether text is the line below a table's header.
func isDashes(text string) bool {
	return strings.Contains(text, "-") && strings.Trim(text, "|-: \t") == ""
}

// entriesEnd is where the run of severities with something behind them ends that
// begins at line i; i when none does. Single blank lines may part it.
func entriesEnd(lines []readLine, i int) int {
	end := i
	for n := i; n < len(lines) && n <= end+1; n++ {
		l := lines[n]
		switch {
		case l.role == roleLead && l.level == 0, l.role == roleRow && l.draft != nil:
			end = n + 1
		case !l.blank() || end == i:
			return end
		}
	}
	return end
}

func isLegend(run []readLine, title string) bool {
	severities := map[string]bool{}
	defined := true
	for _, l := range run {
		if l.role == roleNone {
			continue
		}
		said := l.rest
		if l.draft != nil {
			said = l.draft.value(placeField) + " " + said
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
	return isKeyTitle(title) || defined && len(severities) > 1
}

// marksBetween are the marks in the rest of a line that lists them: "/ Warning / Note".
func marksBetween(text string) []string {
	var words []string
	for n, part := range strings.FieldsFunc("."+text, func(r rune) bool { return strings.ContainsRune("/|·•;", r) }) {
		m, ok := readMark(part)
		if !ok {
			m, _, ok = leadingMark(part)
		}
		if n > 0 && ok {
			words = append(words, m.word)
		}
	}
	return words
}
