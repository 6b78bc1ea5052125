package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/safetext"
)

// gutter is the number of columns before each row: the cursor and a blank.
const gutter = 2

// row is one line of a page.
type row struct {
	text  string        // safe, with attributes; cut at the edge of the screen
	draw  func() string // makes the text when the row is visible; may be nil
	id    string        // identifies the item, to keep the cursor on it; "" for a line of the diff or without an item
	cmd   string        // the command to type in this row
	open  string        // the review or run that Enter opens
	file  int           // index of its file, from 1; 0 for none
	hunk  bool          // the first line of a hunk
	old   int           // line numbers on both sides; 0 for none
	new   int
	about string // the finding or comment to which it belongs
	draft bool   // the comment is in the reader's draft
	head  bool   // the first line of a file or a remark
}

// line returns the text, with attributes.
func (r row) line() string {
	if r.draw != nil {
		return r.draw()
	}
	return r.text
}

// plain returns the text without attributes.
func (r row) plain() string { return ansi.Strip(r.line()) }

// same reports whether both rows show the same item.
func (r row) same(other row) bool {
	if r.id != "" || other.id != "" {
		return r.id == other.id
	}
	return r.old+r.new > 0 && r.file == other.file && r.old == other.old && r.new == other.new
}

// Attributes by meaning. Bubble Tea omits colours if the terminal or the user wants none; a sign or a word always says
// the same.
const (
	off     = "\x1b[m"
	bold    = "\x1b[1m"
	faint   = "\x1b[2m"
	reverse = "\x1b[7m"
	red     = "\x1b[31m"
	green   = "\x1b[32m"
	yellow  = "\x1b[33m"
	magenta = "\x1b[35m"
	cyan    = "\x1b[36m"
)

// styled returns untrusted text on one line, with attributes around it.
func styled(attributes, text string) string {
	text = safetext.Line(strings.ReplaceAll(text, "\t", "    "))
	if attributes == "" || text == "" {
		return text
	}
	return attributes + text + off
}

// wrapped returns untrusted text in lines of at most width columns.
func wrapped(text string, width int) []string {
	text = strings.ReplaceAll(safetext.Text(strings.TrimSpace(text)), "\t", "    ")
	return strings.Split(ansi.Wrap(text, max(width, 8), ""), "\n")
}

// move moves the cursor by the given number of rows, and scrolls the screen.
func (p *page) move(by, height int) {
	p.cur = max(0, min(p.cur+by, len(p.rows)-1))
	p.top = max(0, min(p.top, p.cur, len(p.rows)-height))
	if height > 0 && p.cur >= p.top+height {
		p.top = p.cur - height + 1
	}
}

// jump moves the cursor to the next row in a direction that satisfies fits, and shows it near the top of the screen.
func (p *page) jump(step int, height int, fits func(row) bool) {
	for i := p.cur + step; i >= 0 && i < len(p.rows); i += step {
		if fits(p.rows[i]) {
			p.mark = -1
			p.cur = i
			if i < p.top || i >= p.top+height-2 {
				p.top = max(0, i-height/4)
			}
			return
		}
	}
}

// body returns the number of visible rows of a page.
func (m *model) body() int { return max(1, m.height-2-m.footHeight()) }

func (m *model) footHeight() int {
	if m.field == nil || m.field.line {
		return 1
	}
	return min(len(m.field.lines(m.width))+1, max(3, m.height/2))
}

// View implements tea.Model.
func (m *model) View() tea.View {
	if m.width < 4 || m.height < 4 {
		return tea.View{AltScreen: true}
	}
	p := m.page()
	lines := []string{m.header(p)}
	lines = append(lines, m.bodyLines(p)...)
	for len(lines) < 1+m.body() {
		lines = append(lines, "")
	}
	lines = lines[:1+m.body()]
	foot, cursor := m.footer(p)
	if cursor != nil {
		cursor.Y += len(lines)
	}
	lines = append(lines, foot...)
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], m.width, m.dots())
	}
	view := tea.NewView(strings.Join(lines, "\n"))
	view.AltScreen, view.Cursor = true, cursor
	return view
}

func (m *model) dots() string {
	if m.ASCII {
		return "~"
	}
	return "…"
}

func (m *model) header(p *page) string {
	title := ansi.Truncate(" "+safetext.Line(p.title), m.width-1, m.dots())
	return reverse + title + strings.Repeat(" ", max(0, m.width-ansi.StringWidth(title))) + off
}

func (m *model) bodyLines(p *page) []string {
	switch {
	case p.err != nil:
		return wrapped(p.err.Error(), m.width)
	case !p.loaded:
		return []string{styled(faint, "Reading …")}
	case len(p.rows) == 0 && p.filter != "":
		return []string{styled(faint, "Nothing says "+p.filter+".")}
	}
	var lines []string
	from, to := p.cur, p.cur
	if p.mark >= 0 {
		from, to = min(p.mark, p.cur), max(p.mark, p.cur)
	}
	for i := p.top; i < len(p.rows) && len(lines) < m.body(); i++ {
		text := p.rows[i].line()
		if p.left > 0 {
			text = ansi.TruncateLeft(text, p.left, "")
		}
		mark := "  "
		switch {
		case i == p.cur:
			mark = bold + ">" + off + " "
		case i >= from && i <= to:
			mark = bold + "|" + off + " "
		}
		lines = append(lines, mark+text)
	}
	return lines
}

// footer returns the question, the field, the last message, or the keys. cursor is the position for typing, counted
// from the footer's first line.
func (m *model) footer(p *page) (lines []string, cursor *tea.Cursor) {
	status := m.flash
	switch {
	case m.bad:
		status = styled(red, status)
	case status == "" && p.filter != "":
		status = styled(faint, "Only lines with "+p.filter+"; q shows all")
	default:
		status = styled("", status)
	}
	switch {
	case m.field != nil && m.field.line:
		shown, at := m.field.lineView(m.width)
		return []string{status, shown}, tea.NewCursor(at, 1)
	case m.field != nil:
		shown, x, y := m.field.view(m.width, m.footHeight())
		if status != "" {
			shown[len(shown)-1] = status
		}
		return append([]string{styled(bold, m.field.prompt)}, shown...), tea.NewCursor(x, y+1)
	case m.ask != nil:
		labels := each.Of(m.ask.choices, func(c key) string { return c.label })
		return []string{styled(bold, m.ask.text), strings.Join(append(labels, "esc no"), "   ")}, nil
	}
	labels := "? help   q back"
	for _, k := range slices.Backward(p.keys) {
		if k.label != "" {
			labels = k.label + "   " + labels
		}
	}
	for ansi.StringWidth(labels) > m.width && strings.Count(labels, "   ") > 1 {
		parts := strings.Split(labels, "   ")
		labels = strings.Join(append(parts[:len(parts)-3], parts[len(parts)-2:]...), "   ")
	}
	return []string{status, styled(faint, labels)}, nil
}

// helpPage shows all keys of a page.
func (m *model) helpPage(of *page) *page {
	return &page{
		title: "Keys of: " + of.title,
		load:  nothing,
		build: func(width int) []row {
			var rows []row
			for _, k := range append(slices.Clone(of.keys), everywhere()...) {
				names := padded(strings.ReplaceAll(k.names, "␣", "space"), 13)
				for i, part := range wrapped(k.help, width-14) {
					if i > 0 {
						names = padded("", 13)
					}
					rows = append(rows, row{text: bold + names + off + " " + part})
				}
			}
			return append(rows, row{},
				row{text: styled(faint, "While you type: ctrl+j is a new line, ctrl+e your editor, esc keeps it for later.")})
		},
	}
}

// padded appends blanks to text, up to width columns.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}
