package reply

import (
	"strings"

	"github.com/git-runr/git-runr/loop/internal/markdown"
)

type blockKind byte

const (
	blockLines   blockKind = iota // a paragraph
	blockHeading                  // also a line in bold alone, and an HTML summary
	blockItem                     // with its continuation lines
	blockRow                      // of a table
)

// block is a part of a review's text. For a row, text is its line.
type block struct {
	kind  blockKind
	level int // of a heading
	text  string
	more  []string // the lines after the first, until they are joined
}

// readBlocks splits the author's words into blocks. Verdict lines, rules, tags, code and quotations end a block and
// are dropped.
func readBlocks(md markdown.Text) []block {
	var blocks []block
	open := false // the next line may continue the last block
	for _, l := range md.Lines {
		b := readBlockLine(l)
		if open && b.kind == blockLines && b.text != "" {
			last := &blocks[len(blocks)-1]
			last.more = append(last.more, b.text)
			continue
		}
		open = b.text != "" && (b.kind == blockItem || b.kind == blockLines)
		if b.text != "" {
			blocks = append(blocks, b)
		}
	}
	for i, b := range blocks {
		blocks[i].text = joinLines(b.text, b.more)
	}
	return blocks
}

// joinLines joins the lines of a paragraph. It keeps a line break after a colon, which introduces what follows, after
// a title, and before a line with a label.
func joinLines(above string, more []string) string {
	var b strings.Builder
	b.WriteString(above)
	for _, line := range more {
		joint := " "
		if endsInColon(above) || isTitleOf(above, line) || isLabel(line) {
			joint = "\n"
		}
		b.WriteString(joint + line)
		above = line
	}
	return b.String()
}

// readBlockLine reads one line as a block of its own. The text is empty for a line that is dropped.
func readBlockLine(l markdown.Line) block {
	text := strings.TrimSpace(l.Text)
	if title, ok := summaryOf(text); ok {
		return block{kind: blockHeading, level: levelSummary, text: title}
	}
	if _, isVerdict := verdictLine(l); l.Kind != markdown.LineText || isVerdict || isTag(text) || isRule(text) ||
		strings.Trim(text, "=") == "" {
		return block{}
	}
	if level, title := (markdown.Line{Text: text}).HeadingOrBold(); level > 0 {
		return block{kind: blockHeading, level: level, text: title}
	}
	if strings.HasPrefix(text, "|") {
		return block{kind: blockRow, text: strings.TrimLeft(text, "|-: \t")}
	}
	_, item, listed := markdown.CutBullet(l.Text)
	_, sign := cutStatusMark(text)
	switch {
	case strings.HasPrefix(item, ">"):
		return block{}
	case listed, sign != noTick, isPlaced(text):
		return block{kind: blockItem, text: item}
	}
	return block{text: text}
}
