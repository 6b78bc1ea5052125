package screen

import (
	"io"
	"iter"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

// fit writes a line wrapped to a terminal of the given width, without breaking words. Continuation lines are indented
// below what they belong to. A word wider than the terminal stays whole, and a command can be pasted as shown.
func fit(b *strings.Builder, line string, columns int) {
	line = strings.ReplaceAll(line, "\t", "    ") // a tab has no fixed width
	body := strings.TrimSuffix(line, "\n")
	if prose.Columns(body) <= columns {
		b.WriteString(line)
		return
	}
	hang, split, join := hanging(body, columns), spaced, ""
	if isCommand(body) {
		split, join = arguments, ` \`
	}
	used, empty := 0, true // columns used, and whether they are only spaces
	for gap, word := range split(body) {
		for i, piece := range prose.Pieces(word) {
			if i > 0 {
				gap = ""
			}
			wide := prose.Columns(piece)
			if !empty && used+len(gap)+wide > columns-len(join) {
				b.WriteString(join + "\n" + strings.Repeat(" ", hang))
				gap, used = "", hang
			}
			b.WriteString(gap + piece)
			used, empty = used+len(gap)+wide, false
		}
	}
	b.WriteString(line[len(body):])
}

// quoteIndent is the indentation of quoted text.
const quoteIndent = 4

// hanging returns the indentation for continuation lines: that of the line's last column, set off by two spaces or a
// list mark, that leaves half of the terminal; else a little more than the line's, or the same for a block.
func hanging(body string, columns int) int {
	used, hang := 0, 0
	for gap, word := range spaced(body) {
		used += len(gap)
		switch {
		case used > columns/2:
			return min(hang, columns/2)
		case used == len(gap) && used < quoteIndent:
			hang = used + 2
		case used == len(gap), len(gap) > 1, isMark(body[:strings.Index(body, word)]):
			hang = used
		}
		used += prose.Columns(word)
	}
	return hang
}

// isMark reports whether the text before the first word of a line is the mark of a list or a quotation.
func isMark(before string) bool {
	mark := strings.TrimSpace(before)
	return mark == "-" || mark == "*" || mark == ">" || mark != "" && strings.Trim(mark, "0123456789") == "."
}

// spaced returns the words of a text, each with the spaces before it.
func spaced(text string) iter.Seq2[string, string] {
	return split(text, func(string) bool { return true })
}

// arguments returns the words of a command line; a space in quotes does not end a word.
func arguments(line string) iter.Seq2[string, string] {
	return split(line, func(word string) bool {
		return strings.Count(word, `"`)%2 == 0 && strings.Count(word, "'")%2 == 0
	})
}

// split returns words, each with the spaces before it. A word ends at a space if whole reports true.
func split(text string, whole func(word string) bool) iter.Seq2[string, string] {
	return func(yield func(gap, word string) bool) {
		for text != "" {
			word := strings.TrimLeft(text, " ")
			gap := text[:len(text)-len(word)]
			end := strings.IndexByte(word, ' ')
			for end >= 0 && !whole(word[:end]) {
				next := strings.IndexByte(word[end+1:], ' ')
				if next < 0 {
					end = -1
					break
				}
				end += 1 + next
			}
			if end < 0 {
				end = len(word)
			}
			if !yield(gap, word[:end]) {
				return
			}
			text = word[end:]
		}
	}
}

// isCommand reports whether a line consists of a command to type.
func isCommand(body string) bool {
	line := strings.TrimSpace(body)
	return strings.HasPrefix(line, "git ") && strings.HasPrefix(body, "  ") && !strings.Contains(line, "   ") &&
		!strings.HasSuffix(line, `\`)
}

// Cell is one column of a row: texts separated by spaces.
type Cell []Text

// Cells returns one cell for each text.
func Cells(texts ...Text) []Cell {
	return each.Of(texts, func(t Text) Cell { return Cell{t} })
}

func (c Cell) columns() int {
	used := max(len(c)-1, 0)
	for _, t := range c {
		used += prose.Columns(t.Text)
	}
	return used
}

// leastLast is the minimum width of a table's last column.
const leastLast = 12

// Table writes rows with the same number of cells. Each column is as wide as its widest cell; empty columns are
// omitted. The last column is cut at the terminal's width; columns 0 cuts nothing.
func Table(w io.Writer, columns int, rows [][]Cell) {
	var widths []int
	for _, row := range rows {
		for j := range row {
			for t := range row[j] {
				row[j][t].Text = safetext.Line(row[j][t].Text)
			}
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], row[j].columns())
		}
	}
	for _, row := range rows {
		used, gap := 0, 0
		for j, cell := range row {
			last := j == len(row)-1
			if widths[j] == 0 || last && cell.columns() == 0 {
				continue
			}
			if last && columns > 0 && len(cell) > 0 {
				cell[0].Text = prose.CutColumns(cell[0].Text, max(leastLast, columns-used-gap))
			}
			if cell.columns() > 0 {
				safetext.Fprintf(w, "%s", strings.Repeat(" ", gap))
				used, gap = used+gap, 0
			}
			for t, text := range cell {
				if t > 0 {
					io.WriteString(w, " ")
				}
				safetext.Fprintf(w, "%s", text)
			}
			used, gap = used+cell.columns(), gap+widths[j]-cell.columns()+2
		}
		io.WriteString(w, "\n")
	}
}
