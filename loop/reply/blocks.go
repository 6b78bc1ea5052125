package reply

import (
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/markdown"
)

type blockKind byte

const (
	blockLines   blockKind = iota // a paragraph
	blockHeading                  // also a line in bold alone, and an HTML summary
	blockItem                     // with its continuation lines
	blockRow                      // of a table
	blockQuoted                   // a quotation, code or a diff: not the author's words
)

// block is a part of a review's text. For a row, text is its line.
type block struct {
	kind  blockKind
	level int // of a heading
	text  string
	more  []string // the lines after the first, until they are joined
	head  bool     // a row that names the columns
}

// readBlocks splits an answer into blocks. Verdict lines, rules and tags end a block and are dropped.
func readBlocks(md markdown.Text) []block {
	var blocks []block
	open := false // the next line may continue the last block
	for _, l := range md.Lines {
		b := readBlockLine(l)
		if n := len(blocks) - 1; n >= 0 && blocks[n].kind == blockRow && isDashes(l.Text) {
			blocks[n].head = true
		}
		if open && b.goesOn(blocks[len(blocks)-1]) {
			last := &blocks[len(blocks)-1]
			last.more = append(last.more, b.text)
			continue
		}
		open = b.text != "" && b.kind != blockHeading && b.kind != blockRow
		if b.text != "" {
			blocks = append(blocks, b)
		}
	}
	for i, b := range blocks {
		if blocks[i].text = joinLines(b.text, b.more); b.kind == blockQuoted {
			blocks[i].text = strings.TrimSpace(b.text + "\n" + strings.Join(b.more, "\n"))
		}
	}
	return blocks
}

// beginsList reports whether the first of the author's blocks is an item.
func beginsList(blocks []block) bool {
	b, ok := each.First(blocks, func(b block) bool { return b.kind != blockQuoted })
	return ok && b.kind == blockItem
}

// goesOn reports whether a block of one line belongs to the block above it.
func (b block) goesOn(above block) bool {
	if b.kind == blockQuoted || above.kind == blockQuoted {
		return b.kind == above.kind
	}
	return b.kind == blockLines && b.text != ""
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
	if l.Quotes() {
		return block{kind: blockQuoted, text: strings.TrimLeft(text, "> \t")}
	}
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
		return block{kind: blockQuoted, text: strings.TrimLeft(item, "> \t")}
	case listed, sign != noTick, isPlaced(text):
		return block{kind: blockItem, text: item}
	}
	return block{text: text}
}
