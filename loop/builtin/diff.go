package builtin

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrCombinedDiff is the error of ParseDiff for the diff of a merge against
// several parents: its lines have no single old side. Diff against one parent.
var ErrCombinedDiff = errors.New("combined diff")

// File is what a diff says of one file. A file whose type changed (a file that
// became a symbolic link) is two: one deleted, one new.
type File struct {
	Path    string // new path, or the old one of a deleted file; slash-separated, unquoted
	OldPath string // differs from Path after a rename or copy; empty for a new file
	New     bool
	Deleted bool
	Binary  bool
	Mode    string // "100644"; empty when the diff does not say
	OldMode string
	Size    int64 // bytes of the new content; -1 when the diff does not say
	OldSize int64 // bytes of the old content; -1 when the diff does not say

	Added   []Line // added lines, by line number
	Context []Line // unchanged lines that the diff shows, by line number
	Removed int    // number of removed lines

	// NoNewline is set when the last line lost its newline, or never had one in a new file.
	NoNewline bool
}

// Line is one line of the new content.
type Line struct {
	Number int    // from 1
	Text   string // without "\n" and "\r\n"
	CR     bool   // it ended in "\r\n"
}

// Symlink reports whether the new content is the target of a symbolic link.
func (f File) Symlink() bool { return f.Mode == "120000" }

// Submodule reports whether the entry is a commit of another repository.
func (f File) Submodule() bool { return f.Mode == "160000" || f.OldMode == "160000" }

// ParseDiff reads the output of git diff with the prefixes a/ and b/
// (--no-color --no-ext-diff --no-textconv --submodule=short), with or without
// --binary. What stands before the first "diff --git" is skipped; input that
// has no such line, is cut off or is a combined diff (ErrCombinedDiff) is an error.
func ParseDiff(patch []byte) ([]File, error) {
	p := &diffParser{rest: string(patch)}
	if err := p.preamble(); err != nil {
		return nil, err
	}
	var files []File
	for p.more() {
		f, err := p.file()
		if err != nil {
			return nil, fmt.Errorf("read diff, line %d: %w", p.number, err)
		}
		files = append(files, f)
	}
	return files, nil
}

type diffParser struct {
	rest   string
	number int // of the line that next returned last
}

func (p *diffParser) more() bool { return p.rest != "" }

func (p *diffParser) peek() string {
	line, _, _ := strings.Cut(p.rest, "\n")
	return line
}

func (p *diffParser) next() string {
	line, rest, _ := strings.Cut(p.rest, "\n")
	p.rest = rest
	p.number++
	return line
}

const gitHeader = "diff --git "

func (p *diffParser) preamble() error {
	blank := strings.TrimSpace(p.rest) == ""
	for p.more() && !strings.HasPrefix(p.rest, gitHeader) {
		if isCombined(p.next()) {
			return fmt.Errorf("read diff, line %d: %w", p.number, ErrCombinedDiff)
		}
	}
	if !p.more() && !blank {
		return errors.New(`read diff: no "diff --git" line in it`)
	}
	return nil
}

func isCombined(line string) bool {
	return strings.HasPrefix(line, "diff --cc ") || strings.HasPrefix(line, "diff --combined ")
}

func (p *diffParser) file() (File, error) {
	f := File{Size: -1, OldSize: -1}
	if isCombined(p.peek()) {
		return f, ErrCombinedDiff
	}
	line := p.next()
	names, ok := strings.CutPrefix(line, gitHeader)
	if !ok {
		return f, fmt.Errorf("%q begins no file", clip(line, 40))
	}
	h := fileHeader{file: &f}
	if err := p.header(&h); err != nil {
		return f, err
	}
	if err := h.settleNames(names); err != nil {
		return f, err
	}
	if err := p.body(&f); err != nil {
		return f, err
	}
	f.finish()
	return f, nil
}

func (p *diffParser) header(h *fileHeader) error {
	for p.more() {
		known, err := h.line(p.peek())
		if !known {
			return nil
		}
		p.next()
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *diffParser) body(f *File) error {
	line := p.peek()
	switch {
	case strings.HasPrefix(line, "Binary files ") && strings.HasSuffix(line, " differ"):
		f.Binary = true
		p.next()
	case line == "GIT binary patch":
		f.Binary = true
		p.next()
		p.binaryPatch(f)
	}
	h := hunks{file: f, nextNew: 1}
	for strings.HasPrefix(p.peek(), "@@ -") {
		if err := p.hunk(&h); err != nil {
			return err
		}
	}
	for p.more() && p.peek() == "" {
		p.next()
	}
	return nil
}

// binaryPatch passes over the encoded halves, new content first, and takes the
// sizes from those that are whole and not deltas.
func (p *diffParser) binaryPatch(f *File) {
	for _, size := range []*int64{&f.Size, &f.OldSize} {
		kind, n, _ := strings.Cut(p.peek(), " ")
		if kind != "literal" && kind != "delta" {
			return
		}
		if v, err := strconv.ParseInt(n, 10, 64); err == nil && kind == "literal" && v >= 0 {
			*size = v
		}
		for p.more() && p.next() != "" {
		}
	}
}

// hunks carries what must hold from one hunk to the next.
type hunks struct {
	file     *File
	nextNew  int  // lowest line number that the next hunk may start at
	last     byte // kind of the line before
	oldNoEOL bool
	newNoEOL bool
}

func (p *diffParser) hunk(h *hunks) error {
	head := p.next()
	oldLeft, newLine, newLeft, err := parseHunkHeader(head)
	if err != nil {
		return err
	}
	if newLeft > 0 && newLine < h.nextNew {
		return fmt.Errorf("hunk %q goes back", clip(head, 40))
	}
	for oldLeft > 0 || newLeft > 0 || strings.HasPrefix(p.peek(), `\ `) {
		if !p.more() {
			return errors.New("the diff is cut off")
		}
		old, added := h.line(p.next(), newLine)
		if old+added < 0 {
			return errors.New("a line that belongs to no hunk")
		}
		oldLeft, newLeft, newLine = oldLeft-old, newLeft-added, newLine+added
		if oldLeft < 0 || newLeft < 0 {
			return errors.New("more lines than the hunk announces")
		}
	}
	h.nextNew = newLine
	h.file.NoNewline = h.newNoEOL && !h.oldNoEOL
	return nil
}

// line files one line of a hunk and says how many old and new lines it is; -1, 0 when it is none.
func (h *hunks) line(line string, number int) (old, added int) {
	kind, text := byte(' '), ""
	if line != "" {
		kind, text = line[0], line[1:]
	}
	switch kind {
	case '+':
		h.file.Added = append(h.file.Added, newLine(number, text))
		old, added = 0, 1
	case '-':
		h.file.Removed++
		old, added = 1, 0
	case ' ':
		h.file.Context = append(h.file.Context, newLine(number, text))
		old, added = 1, 1
	case '\\':
		h.oldNoEOL = h.oldNoEOL || h.last != '+'
		h.newNoEOL = h.newNoEOL || h.last != '-'
		return 0, 0
	default:
		return -1, 0
	}
	h.last = kind
	return old, added
}

func newLine(number int, text string) Line {
	cut, cr := strings.CutSuffix(text, "\r")
	return Line{Number: number, Text: cut, CR: cr}
}

// parseHunkHeader reads "@@ -old[,count] +new[,count] @@".
func parseHunkHeader(line string) (oldCount, newStart, newCount int, err error) {
	bad := fmt.Errorf("hunk header %q", clip(line, 40))
	ranges, _, ok := strings.Cut(strings.TrimPrefix(line, "@@ -"), " @@")
	oldRange, newRange, ok2 := strings.Cut(ranges, " +")
	if !ok || !ok2 {
		return 0, 0, 0, bad
	}
	_, oldCount, ok = parseRange(oldRange)
	newStart, newCount, ok2 = parseRange(newRange)
	if !ok || !ok2 {
		return 0, 0, 0, bad
	}
	return oldCount, newStart, newCount, nil
}

func parseRange(s string) (start, count int, ok bool) {
	first, second, two := strings.Cut(s, ",")
	v, err := strconv.ParseUint(first, 10, 31)
	if err != nil {
		return 0, 0, false
	}
	n := uint64(1)
	if two {
		n, err = strconv.ParseUint(second, 10, 31)
	}
	if err != nil || (n > 0 && v == 0) {
		return 0, 0, false
	}
	return int(v), int(n), true
}

// finish works out what follows from the lines.
func (f *File) finish() {
	if f.Submodule() {
		f.Added, f.Context, f.NoNewline = nil, nil, false
	}
	if f.Deleted {
		f.Size = 0
	}
	if f.New {
		f.OldSize = 0
	}
	if f.New && !f.Binary && f.Size < 0 {
		f.Size = f.textSize()
	}
}

func (f *File) textSize() int64 {
	var n int64
	for _, l := range f.Added {
		n += int64(len(l.Text)) + 1
		if l.CR {
			n++
		}
	}
	if f.NoNewline {
		n--
	}
	return n
}
