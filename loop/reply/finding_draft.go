package reply

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
)

// loosePlace sets place and issue from a finding's text. It cuts the place off the start or
// end of the text; a place in the middle stays in the text too.
func (d *findingDraft) loosePlace(text string) {
	if p := place.Read(text); p.Line > 0 && strings.ContainsAny(p.File, "./") && !strings.ContainsAny(text, " ") {
		d.set(placeField, text)
		d.current = issueField
		return
	}
	if p, rest := place.Cut(text); p.File != "" {
		d.set(placeField, p.String())
		text = rest
	} else if before, after, ok := cutPlaceAtEnd(text); ok {
		d.set(placeField, after)
		text = before
	} else if p := placeAmong(text); p.File != "" {
		d.set(placeField, p.String())
	}
	d.set(issueField, withoutEmphasis(text))
}

// cutPlaceAtEnd reads "title — /path/to/file:4-4", "title (file:4)" and "title in file:4".
func cutPlaceAtEnd(text string) (before, after string, ok bool) {
	for _, sep := range []string{" — ", " – ", " - ", " (", " in ", " at ", " `"} {
		i := strings.LastIndex(text, sep)
		if i <= 0 {
			continue
		}
		after := strings.TrimRight(text[i+len(sep):], ".!*_`")
		if p := place.Read(after); p.Line > 0 && strings.ContainsAny(p.File, "./") && len(strings.Fields(after)) < 4 {
			return strings.TrimSpace(text[:i]), after, true
		}
	}
	return text, "", false
}

// placeAmong returns the first place with a line among the words of a text.
func placeAmong(text string) place.Place {
	for word := range strings.FieldsSeq(prose.Cut(text, place.MaxPath)) {
		if p := place.Read(strings.Trim(word, "*_`\"'()[],;.")); p.Line > 0 && strings.ContainsAny(p.File, "./") &&
			place.HasExtension(p.File) {
			return p
		}
	}
	return place.Place{}
}

// rowDraft reads a row of a table as a finding, by its header or else by the form of its
// cells. If no column is the issue, the cells without a field form it.
func rowDraft(columns, cells []string) *findingDraft {
	d := &findingDraft{}
	var others []string
	for n, cell := range cells {
		if f := d.column(columns, n, cell); f == noField {
			others = append(others, cell)
		} else if cell != "" && !d.has[f] {
			d.set(f, cell)
		}
	}
	if said := strings.TrimSpace(strings.Join(others, " ")); !d.has[issueField] && len(columns) > 0 {
		d.loosePlace(said)
	} else if !d.has[issueField] {
		d.set(issueField, said)
	}
	return d
}

// column returns the field of a cell.
func (d *findingDraft) column(columns []string, n int, cell string) field {
	if len(columns) > 0 {
		if n < len(columns) {
			f, _ := readField(columns[n] + ":")
			return f
		}
		return noField
	}
	if _, known := readMark(cell); known && !d.has[severityField] {
		return severityField
	}
	_, _, more := cutPlaceAtEnd(cell)
	switch {
	case !d.has[placeField] && !d.has[issueField] && !more && place.Read(cell).Line > 0:
		return placeField
	case !d.has[severityField] || isNone(cell):
		return noField
	case !d.has[issueField]:
		return issueField
	}
	return fixField
}

// isHeader reports whether a row without dashes below it is a header: it must name severity and issue.
func isHeader(cells []string) bool {
	var has [numFields]bool
	for _, cell := range cells {
		f, _ := readField(cell + ":")
		has[f] = true
	}
	return has[severityField] && has[issueField]
}

// findingDraft is a finding whose lines are still being read.
type findingDraft struct {
	values  [numFields][]string
	has     [numFields]bool
	current field // continuation lines belong to it
	indent  int   // of its first line
	listed  bool  // its first line is a list item
	loose   bool  // the finding is a single item
	short   bool  // the finding is a single paragraph
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

// place combines the file field and the line field.
func (d *findingDraft) place() place.Place {
	p := place.Read(d.value(placeField))
	if lines := d.value(lineField); p.File != "" && p.Line == 0 && lines != "" {
		return place.Read(p.File + ":" + strings.TrimLeft(lines, "Ll ~`"))
	}
	return p
}

// isEmpty reports whether the draft has no known severity and no text: "Severity: None".
func (d *findingDraft) isEmpty() bool {
	_, known := readSeverity(d.value(severityField))
	return !known && isNone(d.value(issueField)) && isNone(d.value(fixField))
}

// isTemplate reports whether the draft repeats the prompt's template.
func (d *findingDraft) isTemplate() bool {
	severity, issue := d.value(severityField), d.value(issueField)
	filled := issue != "" && !place.IsPlaceholder(issue) &&
		!(strings.HasPrefix(issue, "[") && strings.HasSuffix(issue, "]"))
	return !filled && (issue != "" && severity == "" || place.IsPlaceholder(severity) || len(severitiesIn(severity)) > 1)
}

func (d *findingDraft) finding(plain bool, log *markdown.Warnings) Finding {
	if _, issue, ok := markIn(d.value(severityField)); ok && d.value(issueField) == "" {
		d.loosePlace(issue)
	}
	f := Finding{Severity: Warning, Issue: d.value(issueField), Fix: d.value(fixField)}
	if severity := d.value(severityField); severity != "" || !plain {
		f.Severity = severityOf(severity, log)
	}
	if isNone(f.Fix) {
		f.Fix = ""
	}
	f.At(d.place())
	if p, issue := place.Cut(f.Issue); f.File == "" && p.File != "" {
		f.At(p)
		f.Issue = issue
	}
	for _, l := range slices.Concat([]markdown.Line{{Text: d.heading}}, markdown.Split(f.Issue).Lines) {
		if l.Kind == markdown.LineText && f.File == "" { // neither code nor quoted
			f.At(placeAmong(l.Text))
		}
	}
	return described(f, d.heading, log)
}
