// Package unidiff parses patches as git writes them: files, hunks and numbered lines. All packages use it for that.
//
// Two libraries were tried. bluekeyes/go-gitdiff v0.9.0 rejects a whole patch for one empty file whose name ends in a
// backslash; it skips combined diffs and text between hunks, and reads "---" and "+++" in such a text as another file.
// sourcegraph/go-diff v0.9.0 drops a trailing blank of a name.
package unidiff

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

var (
	// ErrCombined is the error for a merge compared with several parents: its lines have no single old side. Compare
	// with one parent instead.
	ErrCombined = errors.New("combined diff")
	// ErrCutOff is the error for a patch that ends in the middle of a file.
	ErrCutOff = errors.New("the diff is cut off")
)

// File is the part of a patch about one file. A file that became a symbolic link appears twice: deleted and created.
type File struct {
	Old, New         string // names, slash-separated, unquoted; "" on a side without the file
	OldMode, NewMode string // "100644"; "" if the patch does not say
	OldID, NewID     string // blobs, from the index line; "" without one
	OldSize, NewSize int64  // size of the content in a binary patch, in bytes; -1 if unknown
	Binary           bool
	Cut              bool // its lines were left out: see gitstore.Repo.DiffWithin
	Hunks            []Hunk
	Text             string // the part of the patch
	Row              int    // index of its first line in the patch
}

// Path returns the new name, or the old one of a deleted file.
func (f File) Path() string { return cmp.Or(f.New, f.Old) }

// Hunk is a run of changed lines with their context. A side without lines starts at the line before.
type Hunk struct {
	OldStart, OldCount, NewStart, NewCount int
	Section                                string // the text after the ranges: usually the function
	Lines                                  []Line
	Row                                    int
}

// Line is one line of a hunk.
type Line struct {
	Kind     byte   // ' ', '+' or '-'
	NoEOL    bool   // the file ends here without a line feed, as the next row of the patch says
	Old, New int    // its numbers, from 1; 0 on a side without it
	Text     string // without its line feed
	Row      int
}

// Block counts the removed lines that begin at index i and the added lines that follow them.
func (h Hunk) Block(i int) (removed, added int) {
	for i+removed < len(h.Lines) && h.Lines[i+removed].Kind == '-' {
		removed++
	}
	for i+removed+added < len(h.Lines) && h.Lines[i+removed+added].Kind == '+' {
		added++
	}
	return removed, added
}

const gitHeader = "diff --git "

// Files parses the output of git diff with the prefixes a/ and b/ (--no-color --no-ext-diff --no-textconv
// --submodule=short), with or without --binary. It skips everything before the first "diff --git". The last pair has
// the error, if any; with ErrCutOff the file holds what could be read.
func Files(patch string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		p := &parser{rest: patch}
		err := p.preamble()
		for err == nil && p.rest != "" {
			var f File
			f, err = p.file()
			if err == nil && !yield(f, nil) {
				return
			}
			if err != nil {
				yield(f, fmt.Errorf("read diff, line %d: %w", p.row, err))
				return
			}
		}
		if err != nil {
			yield(File{}, fmt.Errorf("read diff: %w", err))
		}
	}
}

type parser struct {
	rest string
	row  int // index of the next line
}

func (p *parser) peek() string {
	line, _, _ := strings.Cut(p.rest, "\n")
	return line
}

func (p *parser) next() string {
	line, rest, _ := strings.Cut(p.rest, "\n")
	p.rest = rest
	p.row++
	return line
}

func (p *parser) preamble() error {
	blank := strings.TrimSpace(p.rest) == ""
	for p.rest != "" && !strings.HasPrefix(p.rest, gitHeader) {
		if isCombined(p.next()) {
			return ErrCombined
		}
	}
	if p.rest == "" && !blank {
		return errors.New(`no "diff --git" line in it`)
	}
	return nil
}

func isCombined(line string) bool {
	return strings.HasPrefix(line, "diff --cc ") || strings.HasPrefix(line, "diff --combined ")
}

func (p *parser) file() (File, error) {
	h := header{File: File{OldSize: -1, NewSize: -1, Row: p.row}}
	whole := p.rest
	if isCombined(p.peek()) {
		return h.File, ErrCombined
	}
	line := p.next()
	names, ok := strings.CutPrefix(line, gitHeader)
	if !ok {
		return h.File, fmt.Errorf("%.40q begins no file", line)
	}
	err := p.header(&h)
	if err == nil {
		if err = h.settleNames(names); err != nil && p.rest == "" {
			err = ErrCutOff // before the lines with both names
		}
	}
	if err == nil {
		err = p.body(&h.File)
		h.Cut = len(h.Hunks) == 0 && !h.Binary && h.oldName+h.newName != ""
	}
	h.Text = whole[:len(whole)-len(p.rest)]
	return h.File, err
}

func (p *parser) header(h *header) error {
	for p.rest != "" {
		known, err := h.line(p.peek())
		if !known || err != nil {
			return err
		}
		p.next()
	}
	return nil
}

func (p *parser) body(f *File) error {
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
	below := 1 // the lowest new line at which the next hunk may start
	for strings.HasPrefix(p.rest, "@@ -") {
		h, err := p.hunk(below)
		f.Hunks = append(f.Hunks, h)
		if err != nil {
			return err
		}
		below = h.NewStart + h.NewCount
	}
	for strings.HasPrefix(p.rest, "\n") {
		p.next()
	}
	return nil
}

// binaryPatch skips the encoded halves, new content first, and reads the sizes of those that are not deltas.
func (p *parser) binaryPatch(f *File) {
	for _, size := range []*int64{&f.NewSize, &f.OldSize} {
		kind, n, _ := strings.Cut(p.peek(), " ")
		if kind != "literal" && kind != "delta" {
			return
		}
		if v, err := strconv.ParseUint(n, 10, 63); err == nil && kind == "literal" {
			*size = int64(v)
		}
		for p.rest != "" && p.next() != "" {
		}
	}
}

func (p *parser) hunk(below int) (Hunk, error) {
	h, err := parseHunkHeader(p.peek())
	if err != nil {
		return h, err
	}
	if h.NewCount > 0 && h.NewStart < below {
		return h, fmt.Errorf("hunk %.40q goes back", p.peek())
	}
	h.Row = p.row
	p.next()
	old, new := h.OldStart, h.NewStart // numbers of the next line
	oldEnd, newEnd := old+h.OldCount, new+h.NewCount
	for old < oldEnd || new < newEnd || strings.HasPrefix(p.rest, `\`) {
		if p.rest == "" {
			return h, ErrCutOff
		}
		l := Line{Kind: ' ', Old: old, New: new, Row: p.row}
		if line := p.next(); line != "" {
			l.Kind, l.Text = line[0], line[1:]
		}
		switch l.Kind {
		case ' ':
			old, new = old+1, new+1
		case '+':
			l.Old, new = 0, new+1
		case '-':
			l.New, old = 0, old+1
		case '\\':
			if n := len(h.Lines); n > 0 {
				h.Lines[n-1].NoEOL = true
			}
			continue
		default:
			return h, errors.New("a line that belongs to no hunk")
		}
		if old > oldEnd || new > newEnd {
			return h, errors.New("more lines than the hunk announces")
		}
		h.Lines = append(h.Lines, l)
	}
	return h, nil
}

// parseHunkHeader parses "@@ -old[,count] +new[,count] @@ section".
func parseHunkHeader(line string) (h Hunk, err error) {
	ranges, section, ok := strings.Cut(strings.TrimPrefix(line, "@@ -"), " @@")
	before, after, ok2 := strings.Cut(ranges, " +")
	var ok3, ok4 bool
	h.OldStart, h.OldCount, ok3 = parseRange(before)
	h.NewStart, h.NewCount, ok4 = parseRange(after)
	if h.Section = section; !ok || !ok2 || !ok3 || !ok4 {
		return h, fmt.Errorf("hunk header %.40q", line)
	}
	return h, nil
}

func parseRange(s string) (start, count int, ok bool) {
	first, second, two := strings.Cut(s, ",")
	if !two {
		second = "1"
	}
	v, err := strconv.ParseUint(first, 10, 31)
	n, err2 := strconv.ParseUint(second, 10, 31)
	return int(v), int(n), err == nil && err2 == nil && (n == 0 || v > 0)
}
