package web

import (
	"bytes"
	"context"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/worddiff"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
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
	shown       map[shown.Line]bool // the notes that have a row
	old         []string            // lines of the old side, if they may differ in white space from the new ones
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

// before returns a line as the old side has it: git shows a common line as the new side has it.
func (m *rowMaker) before(l unidiff.Line) unidiff.Line {
	if l.Kind == ' ' && l.Old <= len(m.old) {
		l.Text, l.New = m.old[l.Old-1], 0
	}
	return l
}

// notesOn returns the remarks on a row's old and new line.
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

// left returns the remarks without a row: those on the whole file and, unless more rows follow, those on lines that
// the diff does not show.
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

// whole makes rows of count lines of a file, from line first on. numbers returns the numbers of a line on the old and
// the new side, 0 for none. lines is the number of lines of the file.
func (m *rowMaker) whole(name string, data []byte, first, count int,
	numbers func(n int) (old, new int)) (rows []rowView, lines int) {
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

// lineOf returns the side and number of a line: the new side's if it has both.
func lineOf(l unidiff.Line) shown.Line {
	if l.New == 0 {
		return shown.Line{Side: record.SideOld, Line: l.Old}
	}
	return shown.Line{Side: record.SideNew, Line: l.New}
}

// cell makes the cell of one line. It shows a carriage return unless all lines have one.
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
	Gap   *gapView // before the hunk, or nil
	Rest  string   // the function they are in
	Start int      // the first line
	Rows  []rowView
}

// rowView is one row. In the unified view Right is the line, of whichever side.
type rowView struct {
	Old, New    int // line numbers, 0 for none
	Left, Right cellView
	Notes       []*remark
	Blame       *blameView // nil if not requested or unknown
}

// cellView is one line of code. Class is a for added, d for removed, x for unchanged and e for an empty cell.
type cellView struct {
	Class, Mark string
	Code        template.HTML
	NoEOL       bool
}

// remarksAt maps the lines of a file to the remarks shown below them.
type remarksAt = map[shown.Line][]*remark

// blamed adds the authors of the lines on the new side to rows. It returns the reason if that failed; the diff is
// shown without them.
func (p *pages) blamed(ctx context.Context, c comparison, f changedFile, hunks []hunkView) (why string) {
	ranges := newLines(hunks)
	if len(ranges) == 0 {
		return ""
	}
	if c.at == "" {
		return "it is not committed"
	}
	found, err := p.repo.Blame(ctx, c.at, f.Path, ranges)
	if err != nil {
		return gitstore.BlameFailure(err)
	}
	for _, h := range hunks {
		var above *gitstore.Blame
		for i := range h.Rows {
			blame := found[h.Rows[i].New]
			if blame == nil || h.Rows[i].New == 0 {
				continue
			}
			h.Rows[i].Blame = &blameView{blame, blame.Commit == c.unnamed, blame == above}
			above = blame
		}
	}
	return ""
}

// blameView is the author of a line.
type blameView struct {
	*gitstore.Blame
	Uncommitted bool // in an uncommitted tree
	Again       bool // the same as for the line above
}

// blameIn is the page's table cell for the author of a line; Blame may be nil.
type blameIn struct {
	page
	Blame *blameView
}

// newLines returns the line numbers of the new side in rows, as ranges.
func newLines(hunks []hunkView) (ranges [][2]int) {
	for _, h := range hunks {
		for _, row := range h.Rows {
			switch n := row.New; {
			case n == 0:
			case len(ranges) > 0 && ranges[len(ranges)-1][1] == n-1:
				ranges[len(ranges)-1][1] = n
			default:
				ranges = append(ranges, [2]int{n, n})
			}
		}
	}
	return ranges
}

// maxShown is how much of one line is shown at once, in bytes. The rest of a longer line, which is usually generated,
// is behind a fold that needs no script.
const maxShown = 16 << 10

// codeHTML returns one line of source as HTML: tokens coloured, the byte ranges marks emphasised, and characters that
// are invisible or reorder text spelled out. The text is escaped; only fixed tags surround it. The folded rest has no
// colours, and its fold is open if a mark reaches into it.
func codeHTML(line string, toks []syntax.Token, marks [][2]int) template.HTML {
	var b strings.Builder
	shown := prose.Cut(line, maxShown)
	b.Grow(len(line) + 32*len(toks))
	writeLine(&b, shown, toks, marks)
	if rest := line[len(shown):]; rest != "" {
		open := ""
		var behind [][2]int
		for _, m := range marks {
			if m[1] > len(shown) {
				open = " open"
				behind = append(behind, [2]int{max(0, m[0]-len(shown)), m[1] - len(shown)})
			}
		}
		b.WriteString(`<details class="cut"` + open + `><summary>… ` + strconv.Itoa(len(rest)) + ` more bytes</summary>`)
		writeLine(&b, rest, nil, behind)
		b.WriteString("</details>")
	}
	return template.HTML(b.String())
}

// writeLine writes text with its tokens and marks.
func writeLine(b *strings.Builder, text string, toks []syntax.Token, marks [][2]int) {
	begin := 0
	for _, t := range append(toks[:len(toks):len(toks)], syntax.Token{End: len(text)}) {
		end := min(t.End, len(text))
		for begin < end {
			next, marked := worddiff.Piece(marks, begin, end)
			writePiece(b, text[begin:next], t.Kind, marked)
			begin = next
		}
	}
}

// writePiece writes text of one kind. Strings and comments are isolated, so that right-to-left letters in them do not
// reorder the text beside them.
func writePiece(b *strings.Builder, text string, kind syntax.Kind, marked bool) {
	if marked {
		b.WriteString("<mark>")
	}
	if kind != syntax.Plain {
		b.WriteString(`<span class="`)
		b.WriteByte(byte(kind))
		b.WriteString(`">`)
	}
	writeVisible(b, text)
	if kind != syntax.Plain {
		b.WriteString("</span>")
	}
	if marked {
		b.WriteString("</mark>")
	}
}

// writeVisible escapes text and marks what safetext spells out.
func writeVisible(b *strings.Builder, text string) {
	if isPlain(text) {
		template.HTMLEscape(b, []byte(text))
		return
	}
	before := ""
	for len(text) > 0 {
		_, size := utf8.DecodeRuneInString(text)
		char := text[:size]
		spelled := safetext.Text(before + char)
		if spelled == before+char {
			b.WriteString(template.HTMLEscapeString(char))
		} else {
			b.WriteString(`<span class="iv">` + template.HTMLEscapeString(safetext.Text(char)) + `</span>`)
		}
		before = ""
		if size > 1 && safetext.Text(char) == char {
			before = char // a selector behind it may be fine
		}
		text = text[size:]
	}
}

// isPlain reports whether text consists of visible ASCII and tabs.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return (c < ' ' || c > '~') && c != '\t' })
}

// gapView is a gap of Count unchanged lines between hunks, beginning at lines Old and New. First means that nothing is
// shown before it, Last that nothing is shown after it.
type gapView struct {
	Old, New, Count int
	First, Last     bool
}

// gapStep is how many lines of a gap one click shows.
const gapStep = 20

// Step returns gapStep if the gap is longer than that, else 0.
func (g gapView) Step() int {
	if g.Count <= gapStep {
		return 0
	}
	return gapStep
}

// gapIn is a gap with what its row needs from the file. All is the address of the whole file, Lines the address of a
// part of the gap; either may be "".
type gapIn struct {
	gapView
	Rest       string // the function that contains the lines after the gap
	Columns    int
	All, Lines string
}

// gapsOf returns the gaps before each hunk and the gap to the end of the file. whole is the text of the file, or nil
// if it is unknown.
func gapsOf(hunks []unidiff.Hunk, whole []byte) []gapView {
	gaps := make([]gapView, len(hunks)+1)
	oldAt, newAt := 1, 1
	for i, h := range hunks {
		oldStart, newStart := h.OldStart, h.NewStart
		if h.OldCount == 0 { // git gives the line before
			oldStart++
		}
		if h.NewCount == 0 {
			newStart++
		}
		gaps[i] = gapView{Old: oldAt, New: newAt, Count: newStart - newAt, First: i == 0}
		oldAt, newAt = oldStart+h.OldCount, newStart+h.NewCount
	}
	lines := bytes.Count(whole, []byte("\n"))
	if len(whole) > 0 && whole[len(whole)-1] != '\n' {
		lines++
	}
	gaps[len(hunks)] = gapView{Old: oldAt, New: newAt, Count: max(0, lines-newAt+1), Last: true}
	return gaps
}

// gapLines serves a part of a gap, which a script inserts into the page.
func (p *pages) gapLines(w http.ResponseWriter, r *http.Request, one oneFile) error {
	f, c, o := one.file, one.comparison, one.options
	if f.Status == "D" {
		return &record.NotFoundError{What: "file", ID: f.Path}
	}
	var at [3]int
	for i, name := range []string{"old", "new", "count"} {
		n, err := strconv.Atoi(r.FormValue(name))
		if err != nil || n < 1 {
			return badRequest("%s %q is not a number of lines", name, r.FormValue(name))
		}
		at[i] = n
	}
	sizes, err := p.repo.FileSizes(r.Context(), c.to, []string{f.Path})
	if err != nil {
		return err
	}
	if sizes[f.Path] > maxPatch {
		return gitstore.ErrTooLarge
	}
	whole, err := p.repo.Blob(r.Context(), c.to, f.Path)
	if err != nil {
		return err
	}
	maker := rowMaker{split: o.split, notes: o.remarks[f.Index], shown: map[shown.Line]bool{}}
	rows, _ := maker.whole(f.Path, whole, at[1], min(at[2], rowsShown), func(n int) (old, new int) {
		return at[0] + n - at[1], n
	})
	v := fileView{Split: o.split, Hunks: []hunkView{{Rows: rows}}, Blamed: r.FormValue("blame") != ""}
	if v.Blamed {
		_ = p.blamed(r.Context(), c, f, v.Hunks) // the lines above say why not
	}
	return p.show(w, http.StatusOK, "rows", diffView{one.page, v})
}
