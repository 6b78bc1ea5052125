package web

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

// rowMaker makes the rows of one file.
type rowMaker struct {
	split, crlf bool
	tokens      map[place][]token
	notes       remarksAt
	shown       map[place]bool // which of notes have found their row
}

func (m *rowMaker) hunk(h hunk) hunkView {
	v := hunkView{Header: h.header(), Rest: safetext.Line(h.section)}
	marks := h.marks()
	if m.split {
		for _, row := range h.splitRows() {
			v.Rows = append(v.Rows, m.splitRow(h, row, marks))
		}
		return v
	}
	for i, l := range h.lines {
		row := rowView{Old: l.old, New: l.new, Right: m.cell(l, marks[i])}
		row.Notes = m.notesOn(l.old, l.new)
		v.Rows = append(v.Rows, row)
	}
	return v
}

func (h hunk) header() string {
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.oldStart, h.oldCount, h.newStart, h.newCount)
}

// marks are the parts of lines that differ from their partner's, by index.
func (h hunk) marks() map[int][2]int {
	marks := map[int][2]int{}
	for i, j := range h.pairs() {
		if h.lines[i].kind != '-' {
			continue
		}
		if a, b, ok := changedPart(h.lines[i].text, h.lines[j].text); ok {
			marks[i], marks[j] = a, b
		}
	}
	return marks
}

func (m *rowMaker) splitRow(h hunk, row splitRow, marks map[int][2]int) rowView {
	v := rowView{Left: cellView{Class: "e"}, Right: cellView{Class: "e"}}
	if row.left >= 0 {
		v.Old, v.Left = h.lines[row.left].old, m.cell(h.lines[row.left], marks[row.left])
	}
	if row.right >= 0 {
		v.New, v.Right = h.lines[row.right].new, m.cell(h.lines[row.right], marks[row.right])
	}
	v.Notes = m.notesOn(v.Old, v.New)
	return v
}

// notesOn are the remarks on a row's line of the old side and of the new one.
func (m *rowMaker) notesOn(old, new int) []remark {
	var found []remark
	for _, at := range []place{{record.SideOld, old}, {record.SideNew, new}} {
		if at.line > 0 && len(m.notes[at]) > 0 {
			found = append(found, m.notes[at]...)
			m.shown[at] = true
		}
	}
	return found
}

// left are the remarks that have found no row: on the file as a whole, and, unless
// more rows are to come, on lines that the diff does not show.
func (m *rowMaker) left(more bool) []remark {
	var places []place
	for at := range m.notes {
		if !m.shown[at] && (at.line == 0 || !more) {
			places = append(places, at)
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return strings.Compare(string(a.side), string(b.side))
	})
	var found []remark
	for _, at := range places {
		for _, r := range m.notes[at] {
			r.Elsewhere = at.line > 0
			found = append(found, r)
		}
	}
	return found
}

// cell is one line. A carriage return is shown where not all lines have one.
func (m *rowMaker) cell(l diffLine, mark [2]int) cellView {
	v := cellView{Class: "x", Mark: " ", NoEOL: l.noEOL}
	at := place{record.SideNew, l.new}
	switch l.kind {
	case '+':
		v.Class, v.Mark = "a", "+"
	case '-':
		v.Class, v.Mark, at = "d", "−", place{record.SideOld, l.old}
	}
	line, carriage := strings.CutSuffix(l.text, "\r")
	v.Code = codeHTML(line, m.tokens[at], mark)
	if carriage && !m.crlf {
		v.Code += template.HTML(`<span class="iv">\x0d</span>`)
	}
	return v
}
