package web

import (
	"bytes"
	"html/template"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/worddiff"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/syntax"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// rowMaker makes the rows of one file.
type rowMaker struct {
	split, crlf bool
	tokens      map[shown.Line][]syntax.Token
	notes       remarksAt
	shown       map[shown.Line]bool // which of notes have found their row
	old         []string            // lines of the old side, where they may differ in white space from those of the new one
}

func (m *rowMaker) hunk(h unidiff.Hunk) hunkView {
	v := hunkView{Start: h.NewStart, Rest: safetext.Line(strings.TrimSpace(h.Section))}
	marks := worddiff.Marks(h)
	if m.split {
		for _, row := range worddiff.Rows(h) {
			v.Rows = append(v.Rows, m.splitRow(h, row, marks))
		}
		return v
	}
	for i, l := range h.Lines {
		row := rowView{Old: l.Old, New: l.New, Right: m.cell(l, marks[i])}
		row.Notes = m.notesOn(l.Old, l.New)
		v.Rows = append(v.Rows, row)
	}
	return v
}

func (m *rowMaker) splitRow(h unidiff.Hunk, row worddiff.Row, marks map[int][][2]int) rowView {
	v := rowView{Left: cellView{Class: "e"}, Right: cellView{Class: "e"}}
	if row.Left >= 0 {
		v.Old, v.Left = h.Lines[row.Left].Old, m.cell(m.before(h.Lines[row.Left]), marks[row.Left])
	}
	if row.Right >= 0 {
		v.New, v.Right = h.Lines[row.Right].New, m.cell(h.Lines[row.Right], marks[row.Right])
	}
	v.Notes = m.notesOn(v.Old, v.New)
	return v
}

// before is a line as the old side has it: git shows what both have as the new one does.
func (m *rowMaker) before(l unidiff.Line) unidiff.Line {
	if l.Kind == ' ' && l.Old <= len(m.old) {
		l.Text, l.New = m.old[l.Old-1], 0
	}
	return l
}

// notesOn are the remarks on a row's line of the old side and of the new one.
func (m *rowMaker) notesOn(old, new int) []*remark {
	var found []*remark
	for _, at := range []shown.Line{{Side: record.SideOld, Line: old}, {Side: record.SideNew, Line: new}} {
		if at.Line > 0 && len(m.notes[at]) > 0 {
			found = append(found, m.notes[at]...)
			m.shown[at] = true
		}
	}
	return found
}

// left are the remarks that have found no row: on the file as a whole, and, unless
// more rows are to come, on lines that the diff does not show.
func (m *rowMaker) left(more bool) []*remark {
	var found []*remark
	for _, at := range shown.Lines(m.notes) {
		if m.shown[at] || more && at.Line > 0 {
			continue
		}
		for _, r := range m.notes[at] {
			r.Elsewhere = at.Line > 0
			found = append(found, r)
		}
	}
	return found
}

// whole makes rows of count lines of a file, from number first on; numbers returns the numbers that a line
// has on the old side and on the new one, 0 for none. lines is how many the file has.
func (m *rowMaker) whole(name string, data []byte, first, count int, numbers func(n int) (old, new int)) (rows []rowView, lines int) {
	m.crlf = bytes.Count(data, []byte("\r\n")) == bytes.Count(data, []byte("\n"))
	scan := syntax.NewScanner(syntax.Coloured(name))
	for raw := range bytes.Lines(data) {
		lines++
		text := strings.TrimSuffix(string(raw), "\n")
		tokens := scan.Line(text)
		if lines < first || lines >= first+count {
			continue
		}
		l := unidiff.Line{Kind: ' ', Text: text}
		l.Old, l.New = numbers(lines)
		m.tokens = map[shown.Line][]syntax.Token{lineOf(l): tokens}
		cell := m.cell(l, nil)
		rows = append(rows, rowView{Old: l.Old, New: l.New, Left: cell, Right: cell, Notes: m.notesOn(l.Old, l.New)})
	}
	return rows, lines
}

// lineOf is the side and number of a line: the new side's where it has both.
func lineOf(l unidiff.Line) shown.Line {
	if l.New == 0 {
		return shown.Line{Side: record.SideOld, Line: l.Old}
	}
	return shown.Line{Side: record.SideNew, Line: l.New}
}

// cell is one line. A carriage return is shown where not all lines have one.
func (m *rowMaker) cell(l unidiff.Line, marks [][2]int) cellView {
	v := cellView{Class: "x", Mark: " ", NoEOL: l.NoEOL}
	switch l.Kind {
	case '+':
		v.Class, v.Mark = "a", "+"
	case '-':
		v.Class, v.Mark = "d", "−"
	}
	line, carriage := strings.CutSuffix(l.Text, "\r")
	v.Code = codeHTML(line, m.tokens[lineOf(l)], marks)
	if carriage && !m.crlf {
		v.Code += template.HTML(`<span class="iv">\x0d</span>`)
	}
	return v
}

// hunkView is a hunk as rows of a table.
type hunkView struct {
	Gap    *gapView // before it, nil for none
	Header string   // ranges, as git writes them
	Rest   string   // the function they are in
	Start  int      // the first line
	Rows   []rowView
}

// rowView is one row. In the unified view Right is the line, whichever side it is of.
type rowView struct {
	Old, New    int // line numbers, 0 for none
	Left, Right cellView
	Notes       []*remark
	Blame       *blameView // nil where it was not asked for or is not known
}

// cellView is one line of code. Class is a for added, d for removed, x for neither
// and e for no line at all.
type cellView struct {
	Class, Mark string
	Code        template.HTML
	NoEOL       bool
}

// remarksAt are the remarks on a file by the lines that they are shown below.
type remarksAt = map[shown.Line][]*remark
