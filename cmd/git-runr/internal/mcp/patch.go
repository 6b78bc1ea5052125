package mcp

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

// patchPage takes a patch and keeps of it, from a byte on, the lines that fit into a number of
// tokens, as text and in a document. A line that is longer than maxLong is cut, unless the page
// begins within it: so is the rest of it read.
type patchPage struct {
	from, at int64 // the first byte of the page, and the one that comes next
	room     int   // tokens
	within   bool  // the page begins within a line
	row      []byte
	begun    int64 // where the row begins
	shown    strings.Builder
	next     int64 // the first byte of the page behind this; 0 where there is none so far
	left     int64 // bytes from there on that were seen
}

// maxLong is how much of a line of a patch is shown where the line is met, in bytes.
const maxLong = 4000

// maxRead is how much of one line is on a page, and how many bytes behind a page are counted.
const maxRead = 8 * maxAnswer

// leftOut begins the line that stands for the rest of a long one: no line of a file can, they have
// "+", "-" or " " before them.
const leftOut = `\ [`

func newPatchPage(from int64, room int) *patchPage {
	return &patchPage{from: from, begun: from, room: room}
}

func (p *patchPage) text() string { return p.shown.String() }

// Write refuses more when it would tell nothing that is said.
func (p *patchPage) Write(patch []byte) (int, error) {
	for part := range bytes.Lines(patch) {
		p.take(part)
		if p.left > maxRead {
			return 0, io.ErrShortWrite
		}
	}
	return len(patch), nil
}

// finish ends the patch.
func (p *patchPage) finish() {
	if p.at > p.begun && p.next == 0 {
		p.endRow()
	}
}

// take takes a line, or a part of one.
func (p *patchPage) take(part []byte) {
	ended := part[len(part)-1] == '\n'
	if skip := p.from - p.at; skip > 0 {
		skip = min(skip, int64(len(part)))
		p.within = part[skip-1] != '\n'
		p.at, part = p.at+skip, part[skip:]
	}
	p.at += int64(len(part))
	if p.next > 0 {
		p.left += int64(len(part))
		return
	}
	p.row = append(p.row, part[:min(len(part), maxRead+1-len(p.row))]...)
	if ended && len(part) > 0 {
		p.endRow()
	}
}

// endRow puts a line on the page, if it fits; the first one as far as it does.
func (p *patchPage) endRow() {
	most := maxLong
	if p.within {
		most = maxRead
	}
	text, end := p.cut(most)
	for sizeOf(text) > p.room {
		if p.shown.Len() > 0 {
			p.next, p.left = p.begun, p.at-p.begun
			return
		}
		if most = min(most, len(p.row)) * 7 / 8; most < leastRow {
			break
		}
		text, end = p.cut(most)
	}
	p.shown.WriteString(text)
	p.room -= sizeOf(text)
	if end < p.at {
		p.next, p.left = end, p.at-end
	}
	p.row, p.begun, p.within = p.row[:0], p.at, false
}

// leastRow is as little as a line is cut to: the shortest page has room for it.
const leastRow = 8

// cut is the line that was read, safe to show, of which at most most bytes are shown, and the byte
// of the patch that follows.
func (p *patchPage) cut(most int) (text string, end int64) {
	long := p.at - p.begun
	part := prose.Cut(string(p.row), most)
	if rest := bytes.TrimSuffix(p.row, []byte("\n")); long <= int64(len(p.row)) && len(rest) <= most {
		return safetext.Text(string(p.row)), p.at
	}
	end = p.begun + int64(len(part))
	if p.within {
		return safetext.Text(part), end
	}
	return fmt.Sprintf("%s\n%s%d bytes more of this line are left out: the cursor byte-%d reads on in it]\n", safetext.Text(part), leftOut, p.at-end, end), p.at
}

// sizeOf is how many tokens text has on a page, as text and in a document.
func sizeOf(text string) int { return tokens(text) + jsonSize(text) }
