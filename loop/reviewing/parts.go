package reviewing

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// Part is the part of a change that a reviewer is sent at once. Every added or deleted line is in one part, or counted
// as not sent.
type Part struct {
	Patch []byte   // unified; a file that is in several parts has its header in each
	Files []string // the files that it contains, wholly or partly
	Lines int      // number of added and deleted lines
	// Pieces are those of Files that do not fit into one part. They are cut between hunks; a hunk larger than a part is
	// cut between lines.
	Pieces []string
}

// filePatch is the "diff --git" section of one file in a patch.
type filePatch struct {
	path  string
	head  []byte // up to the first hunk
	hunks []hunk
	size  int // bytes
	lines int // added and deleted
}

// hunk is one hunk of a patch. Its lines include their line feeds; the marker "\ No newline at end of file" is a part
// of its line.
type hunk struct {
	old, new int    // the next line of either side, from 1
	section  string // the text after the second @@
	lines    [][]byte
}

// cutPatch splits a patch into files and hunks.
func cutPatch(patch []byte) ([]filePatch, error) {
	var files []filePatch
	for d, err := range unidiff.Files(string(patch)) {
		if err != nil {
			return nil, err
		}
		f := filePatch{path: d.Path(), head: []byte(d.Text), size: len(d.Text)}
		if len(d.Hunks) > 0 {
			f.head = []byte(d.Text[:strings.Index(d.Text, "\n@@ -")+1])
		}
		for _, read := range d.Hunks {
			h := newHunk(read)
			f.hunks, f.lines = append(f.hunks, h), f.lines+h.changed()
		}
		files = append(files, f)
	}
	return files, nil
}

func newHunk(d unidiff.Hunk) hunk {
	h := hunk{old: d.OldStart, new: d.NewStart, section: d.Section}
	if d.OldCount == 0 { // a side without lines names the line before
		h.old++
	}
	if d.NewCount == 0 {
		h.new++
	}
	for _, l := range d.Lines {
		line := string(l.Kind) + l.Text + "\n"
		if l.NoEOL {
			line += "\\ No newline at end of file\n"
		}
		h.lines = append(h.lines, []byte(line))
	}
	return h
}

func isChanged(line []byte) bool { return line[0] == '+' || line[0] == '-' }

func (h hunk) changed() int { return each.Count(h.lines, isChanged) }

// spans returns the number of lines on either side of the hunk.
func (h hunk) spans() (old, new int) {
	for _, line := range h.lines {
		if line[0] != '+' {
			old++
		}
		if line[0] != '-' {
			new++
		}
	}
	return old, new
}

// below returns an empty hunk that begins where h ends.
func (h hunk) below(section string) hunk {
	old, new := h.spans()
	return hunk{old: h.old + old, new: h.new + new, section: section}
}

func (h hunk) text() []byte {
	old, new := h.spans()
	at := func(first, count int) string {
		if count == 0 {
			first--
		}
		return fmt.Sprintf("%d,%d", first, count)
	}
	head := fmt.Sprintf("@@ -%s +%s @@%s\n", at(h.old, old), at(h.new, new), h.section)
	return slices.Concat([]byte(head), bytes.Join(h.lines, nil))
}

// hunkHead is an upper bound for the bytes of a hunk's header without its section.
const hunkHead = 64

// packer fills parts with files, in order.
type packer struct {
	limit  int // bytes of a part
	most   int // parts
	parts  []Part
	headed bool           // the newest part has the header of the current file
	full   bool           // no part has room left
	unseen map[string]int // by path: number of changed lines in no part
}

// pack distributes files over parts: whole files if they fit, else by hunks, else by lines. A line longer than a part
// is left out.
func pack(files []filePatch, limit, most int) *packer {
	p := &packer{limit: limit, most: most, parts: []Part{{}}, unseen: map[string]int{}}
	for _, f := range files {
		p.headed = false
		if f.size <= limit {
			p.put(f, f.size, f.hunks...)
			continue
		}
		p.next()
		for _, h := range f.hunks {
			for _, piece := range p.cut(f, h) {
				p.put(f, f.sizeWith(piece), piece)
			}
		}
	}
	return p
}

// sizeWith returns an upper bound for the bytes of the file's header and a hunk.
func (f filePatch) sizeWith(h hunk) int {
	size := len(f.head) + hunkHead + len(h.section)
	for _, line := range h.lines {
		size += len(line)
	}
	return size
}

// next begins a new part, unless the newest is empty.
func (p *packer) next() {
	switch newest := p.parts[len(p.parts)-1]; {
	case len(newest.Patch) == 0:
	case len(p.parts) == p.most:
		p.full = true
	default:
		p.parts, p.headed = append(p.parts, Part{}), false
	}
}

// put adds hunks of f, of size bytes with the header of f, to the newest part or to a new one.
func (p *packer) put(f filePatch, size int, hunks ...hunk) {
	if p.headed {
		size -= len(f.head)
	}
	if size > p.limit-len(p.parts[len(p.parts)-1].Patch) {
		p.next()
	}
	changed := 0
	for _, h := range hunks {
		changed += h.changed()
	}
	if p.full {
		p.unseen[f.path] += changed
		return
	}
	part := &p.parts[len(p.parts)-1]
	if !p.headed {
		part.Patch, p.headed = append(part.Patch, f.head...), true
	}
	if n := len(part.Files); n == 0 || part.Files[n-1] != f.path {
		part.Files = append(part.Files, f.path)
	}
	for _, h := range hunks {
		part.Patch = append(part.Patch, h.text()...)
	}
	part.Lines += changed
}

// cut cuts a hunk of f into pieces that fit into a part, without lines that fit into none.
func (p *packer) cut(f filePatch, h hunk) (pieces []hunk) {
	piece := hunk{old: h.old, new: h.new, section: h.section}
	size := f.sizeWith(piece)
	end := func(section string) {
		if len(piece.lines) > 0 {
			pieces = append(pieces, piece)
		}
		piece = piece.below(section)
		size = f.sizeWith(piece)
	}
	for _, line := range h.lines {
		if len(line) > max(p.limit-f.sizeWith(hunk{section: h.section})-hunkHead, hunkHead) {
			end(h.section)
			piece.lines = [][]byte{line}
			p.unseen[f.path] += piece.changed()
			piece = piece.below(fmt.Sprintf(" below a line of %d bytes, not shown", len(line)))
			size = f.sizeWith(piece)
			continue
		}
		if size+len(line) > p.limit {
			end(h.section)
		}
		piece.lines, size = append(piece.lines, line), size+len(line)
	}
	end(h.section)
	return pieces
}

// split divides the change into parts of at most limits.MaxBytes, and updates the census to match them.
func (c *Change) split(patch []byte, limits role.Limits) error {
	limit := int(min(limits.MaxBytes, math.MaxInt32))
	if limit <= 0 || len(patch) <= limit {
		c.Parts = []Part{{Patch: patch, Files: c.Files, Lines: c.Census.SentLines}}
		return nil
	}
	files, err := cutPatch(patch)
	if err != nil {
		return err
	}
	packed := pack(files, limit, max(limits.MaxParts, 1))
	if packed.full { // small files first: more files are seen
		slices.SortStableFunc(files, func(a, b filePatch) int { return cmp.Compare(a.size, b.size) })
		packed = pack(files, limit, max(limits.MaxParts, 1))
	}
	settleCensus(&c.Census, files, packed)
	c.Files = slices.DeleteFunc(c.Files, c.Census.Hides)
	shown := each.Set(c.Files)
	for _, part := range packed.parts {
		part.Files = slices.DeleteFunc(part.Files, func(f string) bool { return !shown[f] })
		if len(part.Patch) > 0 || len(c.Parts) == 0 {
			c.Parts = append(c.Parts, part)
		}
	}
	if len(c.Parts) > 1 {
		c.Census.Parts, c.Census.Cut = len(c.Parts), c.markPieces()
	}
	return nil
}

// markPieces records in each part the files that other parts contain too, and returns all of these.
func (c *Change) markPieces() (cut []string) {
	parts := map[string]int{}
	for _, part := range c.Parts {
		for _, f := range part.Files {
			parts[f]++
		}
	}
	several := func(f string) bool { return parts[f] > 1 }
	for i := range c.Parts {
		c.Parts[i].Pieces = each.Where(c.Parts[i].Files, several)
	}
	return each.Where(c.Files, several)
}

// settleCensus updates the census to what was packed.
func settleCensus(c *record.Census, files []filePatch, packed *packer) {
	lines := map[string]int{}
	c.Lines -= c.SentLines
	c.SentLines = 0
	for _, f := range files {
		c.Lines += f.lines
		lines[f.path] += f.lines
	}
	for _, part := range packed.parts {
		c.SentLines += part.Lines
	}
	for _, path := range slices.Sorted(maps.Keys(packed.unseen)) {
		left := record.LeftOut{Path: path, Why: record.LeftTooLarge}
		if unseen := packed.unseen[path]; unseen < lines[path] {
			left.Lines = unseen
		} else {
			c.SentFiles--
		}
		c.LeftOut = append(c.LeftOut, left)
	}
}
