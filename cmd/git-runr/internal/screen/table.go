package screen

import (
	"io"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

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
