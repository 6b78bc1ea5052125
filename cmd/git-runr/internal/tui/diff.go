package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/worddiff"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/syntax"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// Limits of what is shown without a key.
const (
	maxPatch  = 32 << 20 // of one change, in bytes
	foldLines = 500      // files with more changed lines are folded
)

// diff is a change on the screen.
type diff struct {
	files  []unidiff.File
	cut    bool // only a part of the change is shown
	folded map[string]bool
	split  bool
	wrap   bool
	ascii  bool
	// context is the number of lines around changes; 0 means git's default.
	context int
}

// readDiff reads a change; cut reports that it is incomplete.
func readDiff(ctx context.Context, store *store.Store,
	spec gitstore.DiffSpec) (files []unidiff.File, cut bool, err error) {
	spec.MaxBytes = maxPatch
	patch, cut, err := store.Repo.Diff(ctx, spec)
	if err != nil {
		return nil, false, err
	}
	for f, err := range unidiff.Files(string(patch)) {
		if err != nil && !errors.Is(err, unidiff.ErrCutOff) {
			return nil, false, err
		}
		files = append(files, f)
	}
	return files, cut, nil
}

// put shows files; files that were folded or opened before stay so.
func (d *diff) put(files []unidiff.File, cut bool) {
	if d.folded == nil {
		d.folded = map[string]bool{}
	}
	for _, f := range files {
		if _, known := d.folded[f.Path()]; !known {
			added, deleted := counts(f)
			d.folded[f.Path()] = added+deleted > foldLines
		}
	}
	d.files, d.cut = files, cut
}

func counts(f unidiff.File) (added, deleted int) {
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			switch l.Kind {
			case '+':
				added++
			case '-':
				deleted++
			}
		}
	}
	return added, deleted
}

// remarks returns comments on a file of the diff, which is given by its index from 1.
type remarks interface {
	beside(file int) string
	// at returns the rows for a line of a side, or for the whole file if line is 0.
	at(file int, side record.Side, line, width int) []row
}

// rows returns the lines of the diff, each with the comments on it below.
func (d *diff) rows(width int, said remarks) []row {
	var rows []row
	for i := range d.files {
		rows = append(rows, d.fileRows(i, width, said)...)
	}
	if d.cut {
		rows = append(rows,
			row{text: styled(yellow, "The change is larger than what is shown here: git runr serve --open shows the rest.")})
	}
	return rows
}

func (d *diff) fileRows(at, width int, said remarks) []row {
	f := &d.files[at]
	name := f.Path()
	sign := [2]string{"▾ ", "▸ "}
	if d.ascii {
		sign = [2]string{"- ", "+ "}
	}
	mark := sign[0]
	if d.folded[name] {
		mark = sign[1]
	}
	added, deleted := counts(*f)
	what := ""
	switch {
	case f.Old == "":
		what = " new"
	case f.New == "":
		what = " deleted"
	case f.Old != f.New:
		what = " from " + f.Old
	}
	if f.Binary {
		what += " binary"
	}
	if said != nil {
		what += said.beside(at + 1)
	}
	head := styled(bold, mark+name) + styled(green, fmt.Sprintf("  +%d", added)) +
		styled(red, fmt.Sprintf(" -%d", deleted)) + styled(faint, what)
	rows := []row{{text: head, id: "file " + name, file: at + 1, head: true}}
	if d.folded[name] {
		return rows
	}
	if said != nil {
		rows = append(rows, said.at(at+1, "", 0, width)...)
	}
	most := 99
	for _, h := range f.Hunks {
		most = max(most, h.NewStart+h.NewCount, h.OldStart+h.OldCount)
	}
	digits := len(fmt.Sprint(most)) // of line numbers
	for h, hunk := range f.Hunks {
		title := fmt.Sprintf("@@ %d,%d @@ %s", hunk.NewStart, hunk.NewCount, hunk.Section)
		rows = append(rows, row{text: styled(cyan, title), id: fmt.Sprintf("hunk %s %d", name, h), file: at + 1, hunk: true})
		looks := shades(name, hunk)
		if d.split && width >= splitWidth {
			rows = append(rows, splitRows(at+1, hunk, looks, digits, width, said)...)
			continue
		}
		for i, l := range hunk.Lines {
			look := func() shade { return looks(i) }
			rows = append(rows, d.lineRows(at+1, l, look, digits, width)...)
			rows = append(rows, remarksOn(at+1, l, width, said)...)
		}
	}
	return rows
}

// splitWidth is the minimum width of the screen for two sides.
const splitWidth = 78

func remarksOn(index int, l unidiff.Line, width int, said remarks) []row {
	if said == nil {
		return nil
	}
	var rows []row
	if l.New > 0 {
		rows = said.at(index, record.SideNew, l.New, width)
	}
	if l.Old > 0 && l.Kind == '-' {
		rows = append(rows, said.at(index, record.SideOld, l.Old, width)...)
	}
	return rows
}

var kindColour = map[byte]string{'+': green, '-': red}

// front returns the start of a line: its number and its sign.
func front(l unidiff.Line, number, digits int) string {
	return styled(faint, fmt.Sprintf("%*d ", digits, number)) + styled(kindColour[l.Kind], string(rune(l.Kind)))
}

// lineRows returns the rows of a line of the diff: its number, sign and text. A wrapped line has several rows.
func (d *diff) lineRows(index int, l unidiff.Line, look func() shade, digits, width int) []row {
	made := row{file: index, old: l.Old, new: l.New}
	number := l.New
	if l.Kind == '-' {
		number = l.Old
	}
	if !d.wrap {
		made.draw = func() string { return front(l, number, digits) + code(l, look()) }
		return []row{made}
	}
	text := prose.Cut(l.Text, maxCode)
	if l.NoEOL {
		text += " (no line feed at the end)"
	}
	var rows []row
	for i, part := range hardWrapped(text, width-digits-2) {
		before := strings.Repeat(" ", digits+2)
		if i == 0 {
			before = front(l, number, digits)
		}
		made.text = before + styled(kindColour[l.Kind], part)
		rows = append(rows, made)
	}
	return rows
}

func hardWrapped(text string, width int) []string {
	return strings.Split(ansi.Hardwrap(strings.ReplaceAll(strings.ReplaceAll(text, "\t", "    "), "\x1b", `\x1b`),
		max(width, 8), true), "\n")
}

// splitRows shows removed lines beside the lines that replaced them.
func splitRows(index int, h unidiff.Hunk, looks func(int) shade, digits, width int, said remarks) []row {
	half := (width - 1) / 2
	side := func(line, number int) string {
		if line < 0 {
			return strings.Repeat(" ", half)
		}
		l := h.Lines[line]
		return padded(ansi.Truncate(front(l, number, digits)+code(l, looks(line)), half, ""), half)
	}
	var rows []row
	for _, pair := range worddiff.Rows(h) {
		made := row{file: index}
		if pair.Left >= 0 {
			made.old = h.Lines[pair.Left].Old
		}
		if pair.Right >= 0 {
			made.new = h.Lines[pair.Right].New
		}
		made.draw = func() string { return side(pair.Left, made.old) + " " + side(pair.Right, made.new) }
		rows = append(rows, made)
		if pair.Left >= 0 && pair.Left != pair.Right {
			rows = append(rows, remarksOn(index, h.Lines[pair.Left], width, said)...)
		}
		if pair.Right >= 0 {
			rows = append(rows, remarksOn(index, h.Lines[pair.Right], width, said)...)
		}
	}
	return rows
}

// diffKeys returns the keys of pages with a diff.
func diffKeys(d *diff) []key {
	isHunk := func(r row) bool { return r.hunk }
	toggle := func(what *bool) func(*model, *page) tea.Cmd {
		return func(m *model, p *page) tea.Cmd {
			*what = !*what
			m.fill(p)
			return nil
		}
	}
	around := func(lines func(now int) int) func(*model, *page) tea.Cmd {
		return func(m *model, p *page) tea.Cmd {
			d.context = lines(d.context)
			return m.reload(p)
		}
	}
	return []key{
		{"+", "", "more context lines", around(func(now int) int { return min(4*max(now, 3), 1<<20) })},
		{"-", "", "fewer context lines", around(func(now int) int { return now / 4 / 3 * 3 })},
		{"J", "", "next file", jump(1, isFile)},
		{"K", "", "previous file", jump(-1, isFile)},
		{"]", "", "next hunk", jump(1, isHunk)},
		{"[", "", "previous hunk", jump(-1, isHunk)},
		{"x", "", "fold the file, or open it", func(m *model, p *page) tea.Cmd {
			if f := d.file(p); f != nil {
				d.fold(m, p, f.Path(), !d.folded[f.Path()])
			}
			return nil
		}},
		{"X", "", "fold all files, or open all", func(m *model, p *page) tea.Cmd {
			fold := slices.ContainsFunc(d.files, func(f unidiff.File) bool { return !d.folded[f.Path()] })
			for name := range d.folded {
				d.folded[name] = fold
			}
			m.fill(p)
			return nil
		}},
		{"s", "", "both sides beside each other, or not", toggle(&d.split)},
		{"z", "", "wrap long lines, or cut them", toggle(&d.wrap)},
	}
}

func isFile(r row) bool { return r.head && r.file > 0 && r.about == "" }

// file returns the file at the cursor, or the first below it, or nil.
func (d *diff) file(p *page) *unidiff.File {
	for _, r := range p.rows[min(p.cur, len(p.rows)):] {
		if r.file > 0 {
			return &d.files[r.file-1]
		}
	}
	return nil
}

// fold folds or opens a file, with the cursor on its name.
func (d *diff) fold(m *model, p *page, name string, folded bool) {
	d.folded[name] = folded
	for i, r := range p.rows {
		if r.id == "file "+name {
			p.cur = i
		}
	}
	m.fill(p)
}

// maxCode is the maximum length in bytes of a shown line of code.
const maxCode = 1 << 14

// shade says how to colour a line of a hunk: its tokens, and the byte ranges that differ from the line that it
// replaced.
type shade struct {
	tokens []syntax.Token
	marks  [][2]int
}

// shades returns the colours of a hunk's lines, by index. They are computed when the first line is drawn. A hunk may
// begin inside a comment, which shades cannot know.
func shades(name string, h unidiff.Hunk) func(line int) shade {
	all := sync.OnceValue(func() []shade {
		language, marks := syntax.Coloured(name), worddiff.Marks(h)
		before, after := syntax.NewScanner(language), syntax.NewScanner(language)
		before.Parts, after.Parts = true, true
		made := make([]shade, len(h.Lines))
		for i, l := range h.Lines {
			text := prose.Cut(l.Text, maxCode)
			if l.Kind != '+' {
				made[i].tokens = slices.Clone(before.Line(text))
			}
			if l.Kind != '-' {
				made[i].tokens = slices.Clone(after.Line(text))
			}
			made[i].marks = marks[i]
		}
		return made
	})
	return func(line int) shade { return all()[line] }
}

// code returns a line for display. An added or removed line keeps its colour, whatever it contains.
func code(l unidiff.Line, s shade) string {
	text := prose.Cut(l.Text, maxCode)
	var b strings.Builder
	from, at, with := 0, 0, kindColour[l.Kind]
	for _, t := range append(slices.Clip(s.tokens), syntax.Token{End: len(text)}) {
		for end := min(t.End, len(text)); at < end; {
			next, marked := worddiff.Piece(s.marks, at, end)
			attributes := kindColour[l.Kind] + kindStyle(t.Kind, l.Kind == ' ')
			if marked {
				attributes += reverse
			}
			if attributes != with {
				b.WriteString(styled(with, text[from:at]))
				from, with = at, attributes
			}
			at = next
		}
	}
	b.WriteString(styled(with, text[from:]))
	if l.NoEOL {
		b.WriteString(styled(faint, " (no line feed at the end)"))
	}
	return b.String()
}

// kindStyle styles words, strings and comments: with colours only if the line has no colour for its change.
func kindStyle(kind syntax.Kind, colours bool) string {
	switch {
	case kind == syntax.Comment:
		return faint
	case kind == syntax.Keyword && !colours, kind == syntax.Heading:
		return bold
	case !colours:
		return ""
	case kind == syntax.Keyword:
		return magenta
	case kind == syntax.String:
		return yellow
	case kind == syntax.Number || kind == syntax.Builtin || kind == syntax.Key:
		return cyan
	}
	return ""
}
