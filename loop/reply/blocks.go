package reply

import (
	"strings"

	"git-runr/loop/internal/markdown"
)

type blockKind byte

const (
	blockGap     blockKind = iota // a rule, code, a quotation: it ends what a lead-in introduced
	blockHeading                  // also a line in bold alone
	blockItem                     // with the lines that are wrapped below it
	blockLines                    // a paragraph
	blockRow                      // of a table
)

// block is a piece of a review's text.
type block struct {
	kind   blockKind
	level  int      // of a heading
	indent int      // of an item or a paragraph
	text   string   // of a heading or an item
	lines  []string // of an item or a paragraph
	cells  []string // of a row
}

// blockReader splits a text into blocks.
type blockReader struct {
	blocks []block
	open   bool // the last block may go on in the next line
	inList bool // a list began and no paragraph ended it
	blank  bool // the line before was blank
	code   bool // within indented code
}

func readBlocks(md markdown.Text) []block {
	r := &blockReader{blank: true}
	for _, l := range md.Lines {
		r.line(l)
	}
	for i, b := range r.blocks {
		if b.kind == blockItem {
			r.blocks[i].text = strings.Join(b.lines, " ")
		}
	}
	return r.blocks
}

func (r *blockReader) add(b block) {
	r.blocks = append(r.blocks, b)
	r.open = b.kind == blockItem || b.kind == blockLines
	r.inList = b.kind == blockItem || r.inList && b.kind != blockHeading && (b.kind != blockLines || b.indent > 0)
}

func (r *blockReader) last() *block {
	if len(r.blocks) == 0 {
		return &block{}
	}
	return &r.blocks[len(r.blocks)-1]
}

func (r *blockReader) line(l markdown.Line) {
	if l.Blank() && l.Kind == markdown.LineText {
		r.open, r.blank = false, true
		return
	}
	blank := r.blank
	r.blank = false
	if l.Kind != markdown.LineText {
		r.add(block{kind: blockGap})
		return
	}
	indent := markdown.IndentOf(l.Text)
	if r.code = indent >= 4 && (r.code || blank && !r.inList); r.code {
		r.add(block{kind: blockGap})
		return
	}
	r.text(indent, l)
}

// text reads a line that is no code.
func (r *blockReader) text(indent int, l markdown.Line) {
	text := strings.TrimSpace(l.Text)
	if title, ok := summaryOf(text); ok {
		r.add(block{kind: blockHeading, level: levelSummary, text: title})
		return
	}
	if isTag(text) {
		r.open = false
		return
	}
	switch level, title := (markdown.Line{Text: text}).HeadingOrBold(); {
	case isVerdictLine(text), isRule(text), strings.Trim(text, "=") == "":
		r.add(block{kind: blockGap})
	case level > 0:
		r.add(block{kind: blockHeading, level: level, text: title})
	case strings.HasPrefix(text, "|"):
		r.row(text)
	default:
		r.words(indent, text)
	}
}

func isVerdictLine(text string) bool {
	_, ok := verdictLine(markdown.Line{Text: text})
	return ok
}

// row reads a row of a table. The line of dashes says that the row above it is the header.
func (r *blockReader) row(text string) {
	if isDashes(text) {
		if r.last().kind == blockRow {
			*r.last() = block{kind: blockGap}
		}
		return
	}
	r.add(block{kind: blockRow, cells: tableCells(text)})
}

// words reads an item, or a line that goes on with what is above it.
func (r *blockReader) words(indent int, text string) {
	above := r.last()
	_, item, listed := markdown.CutBullet(text)
	if !listed && (isStatusLine(text) || isPlaced(text)) {
		item, listed = text, true
	}
	switch {
	case listed && strings.HasPrefix(item, ">"):
		r.add(block{kind: blockGap})
	case listed:
		r.add(block{kind: blockItem, indent: indent, lines: []string{item}})
	case r.open && above.kind == blockItem && indent <= above.indent && breaksAfter(above.lines[len(above.lines)-1], text):
		r.add(block{kind: blockLines, lines: []string{text}})
	case r.open:
		above.lines = append(above.lines, text)
	default:
		if !r.inList {
			indent = 0
		}
		r.add(block{kind: blockLines, indent: indent, lines: []string{text}})
	}
}
