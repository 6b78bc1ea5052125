package mcp

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

// patchPage receives a patch and keeps the lines from a byte on that fit into a number of
// tokens, as text and in a document. A line longer than maxLong is cut, unless the page begins
// within it: that is how to read the rest of the line.
type patchPage struct {
	from, at int64 // the first byte of the page, and the next byte to read
	room     int   // tokens
	within   bool  // the page begins within a line
	row      []byte
	begun    int64 // offset of the row
	shown    strings.Builder
	next     int64 // first byte of the next page; 0 if none so far
	left     int64 // bytes seen from there on
}

// maxLong is how much of a line of a patch is shown where the line is met, in bytes.
const maxLong = 4000

// maxRead is how much of one line is on a page, and how many bytes after a page are counted.
const maxRead = 8 * maxAnswer

// leftOut begins the line that stands in for the rest of a long one. No line of a file begins so in a patch: they have
// "+", "-" or " " first.
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

// take adds a line, or a part of one.
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

// endRow puts a line on the page if it fits; the first line is cut to fit.
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

// leastRow is the least to which a line is cut: the shortest page has room for it.
const leastRow = 8

// cut returns at most most bytes of the line that was read, safe to show, and the offset in the patch after them.
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
	return fmt.Sprintf("%s\n%s%d bytes more of this line are left out: the cursor byte-%d reads on in it]\n",
		safetext.Text(part), leftOut, p.at-end, end), p.at
}

// sizeOf returns how many tokens text needs on a page, as text and in a document.
func sizeOf(text string) int { return tokens(text) + jsonSize(text) }
