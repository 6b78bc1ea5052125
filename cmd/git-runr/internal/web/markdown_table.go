package web

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	mdtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Tables and bare links are parsed here, because goldmark's extensions compile patterns when
// the program starts, which would delay git's hooks.

// tables makes tables of the lines of a paragraph that form one.
type tables struct{}

// Transform is called for every paragraph. Text before the table stays in it.
func (tables) Transform(node *ast.Paragraph, reader mdtext.Reader, _ parser.Context) {
	source, lines := reader.Source(), node.Lines()
	for i := 0; i+1 < lines.Len(); i++ {
		header := rowCells(source, lines.At(i))
		below := lines.At(i + 1)
		alignments := alignmentsOf(string(below.Value(source)))
		if len(alignments) == 0 || len(header) != len(alignments) {
			continue
		}
		table := newTable(source, lines, i, alignments)
		node.Parent().InsertAfter(node.Parent(), node, table)
		lines.SetSliced(0, i)
		if i == 0 {
			node.Parent().RemoveChild(node.Parent(), node)
		}
		return
	}
}

// newTable makes a table of the lines from index at on: header, delimiters and rows.
func newTable(source []byte, lines *mdtext.Segments, at int, alignments []east.Alignment) *east.Table {
	table := east.NewTable()
	table.Alignments = alignments
	table.AppendChild(table, east.NewTableHeader(newRow(source, lines.At(at), alignments)))
	for i := at + 2; i < lines.Len(); i++ {
		table.AppendChild(table, newRow(source, lines.At(i), alignments))
	}
	return table
}

// newRow makes a row with a cell for each column; the last cell holds the rest of the line.
func newRow(source []byte, line mdtext.Segment, alignments []east.Alignment) *east.TableRow {
	row, cells := east.NewTableRow(alignments), rowCells(source, line)
	if last := len(alignments) - 1; len(cells) > len(alignments) {
		cells[last].Stop = cells[len(cells)-1].Stop
	}
	for i, alignment := range alignments {
		cell := east.NewTableCell()
		cell.Alignment = alignment
		if i < len(cells) {
			cell.Lines().Append(cells[i])
		}
		row.AppendChild(row, cell)
	}
	return row
}

// rowCells splits a line at its bars. A bar after a backslash is text.
func rowCells(source []byte, line mdtext.Segment) []mdtext.Segment {
	line = trimmed(source, line)
	text := line.Value(source)
	var cells []mdtext.Segment
	begin := 0
	add := func(end int) {
		cells = append(cells, trimmed(source, mdtext.NewSegment(line.Start+begin, line.Start+end)))
		begin = end + 1
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '|' && i == 0:
			begin = 1
		case text[i] == '|':
			add(i)
		}
	}
	if begin < len(text) {
		add(len(text))
	}
	return cells
}

func trimmed(source []byte, segment mdtext.Segment) mdtext.Segment {
	segment = segment.TrimLeftSpace(source)
	return segment.TrimRightSpace(source)
}

// alignmentsOf parses the line of dashes under a header; it returns nil for any other line.
func alignmentsOf(line string) []east.Alignment {
	line = strings.TrimSpace(line)
	if !strings.Contains(line, "|") || strings.Trim(line, "|:- \t") != "" {
		return nil
	}
	var found []east.Alignment
	for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|") {
		part = strings.TrimSpace(part)
		left, right := strings.HasPrefix(part, ":"), strings.HasSuffix(part, ":")
		if dashes := strings.Trim(part, ":"); dashes == "" || strings.Trim(dashes, "-") != "" {
			return nil
		}
		switch {
		case left && right:
			found = append(found, east.AlignCenter)
		case left:
			found = append(found, east.AlignLeft)
		case right:
			found = append(found, east.AlignRight)
		default:
			found = append(found, east.AlignNone)
		}
	}
	return found
}

func renderTable(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := map[ast.NodeKind]string{east.KindTable: "table", east.KindTableHeader: "tr", east.KindTableRow: "tr",
		east.KindTableCell: "td"}[node.Kind()]
	attribute, end := "", ""
	if cell, ok := node.(*east.TableCell); ok {
		if cell.Parent().Kind() == east.KindTableHeader {
			tag = "th"
		}
		if cell.Alignment != east.AlignNone { // the content policy forbids a style
			attribute = ` align="` + cell.Alignment.String() + `"`
		}
	} else {
		end = "\n"
	}
	written := "<" + tag + attribute + ">" + end
	if !entering {
		written = "</" + tag + ">\n"
	}
	_, err := w.WriteString(written)
	return ast.WalkContinue, err
}
