package mcp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

// differing is the document of review_diff: a page of the patch.
type differing struct {
	ID      string              `json:"review_id"`
	From    gitstore.ID         `json:"from,omitempty"` // commit or tree; "" for the empty tree
	To      gitstore.ID         `json:"to"`
	Files   []gitstore.FileStat `json:"files"`                   // on the first page only, as many as fit
	Changed int                 `json:"files_changed,omitempty"` // number of all files, on the first page only
	Patch   string              `json:"patch"`
	More    string              `json:"more,omitempty"`
	Next    string              `json:"next_cursor,omitempty"`
}

func (s *Server) diff(ctx context.Context, c call, in diffArgs) (outcome, error) {
	doc, err := c.diff(ctx, in)
	if err != nil {
		return outcome{}, err
	}
	text := fmt.Sprintf("# The change of review %s\n\n%s", doc.ID, safetext.Fence(doc.Patch))
	if doc.More != "" {
		text += "\n" + doc.More
	}
	return outcome{text: text, doc: doc}, nil
}

// diff returns a page of the change under review; its cursor is an offset into the patch in bytes.
func (c call) diff(ctx context.Context, in diffArgs) (doc differing, err error) {
	var from int64
	noCursor := refusef("Error: %s is not a cursor of this change: leave it out to start again.", line(in.Cursor, 100))
	if in.Cursor != "" {
		if from, err = strconv.ParseInt(strings.TrimPrefix(in.Cursor, "byte-"), 10, 64); err != nil || from < 0 ||
			len(in.Cursor) > 100 {
			return doc, noCursor
		}
	}
	review, err := c.Store.Review(ctx, in.id())
	if err != nil {
		return doc, err
	}
	subject := review.Request.Subject
	spec := gitstore.DiffSpec{To: subject.Tree, Paths: subject.Paths}
	if spec.From, err = c.Store.ComparedWith(ctx, subject); err != nil {
		return doc, err
	}
	if in.File != "" {
		if spec.Paths, err = c.pathsOf(ctx, spec, in.File); err != nil {
			return doc, err
		}
	}
	doc = differing{ID: review.ID, From: spec.From, To: spec.To, Files: []gitstore.FileStat{}}
	if from == 0 {
		if err := c.listFiles(ctx, spec, &doc); err != nil {
			return doc, err
		}
		if in.File != "" && doc.Changed == 0 {
			return doc, refusef("Error: %s is not in the change of review %s.", line(in.File, 500), review.ID)
		}
	}
	in.ID = review.ID
	page := newPatchPage(from, maxAnswer-aroundPage-jsonSize(doc)-2*jsonSize(in))
	err = c.Store.Repo.WriteDiff(ctx, spec, page)
	truncated := page.left > maxRead
	if err != nil && !truncated { // if truncated, git was stopped, so its status means nothing
		return doc, err
	}
	if page.finish(); from > 0 && from >= page.at {
		return doc, noCursor
	}
	doc.Patch = page.text()
	if page.next > 0 {
		doc.Next = fmt.Sprintf("byte-%d", page.next) // not a plain number, because clients turn that into a JSON number
		in.Cursor = doc.Next
		more := ""
		if truncated {
			more = " at least"
		}
		doc.More = fmt.Sprintf("[%d bytes%s left. To read on: review_diff %s]", page.left, more, jsonOf(in))
	}
	return doc, nil
}

// listFiles puts the files of a change into doc, as many as leave room for the patch.
func (c call) listFiles(ctx context.Context, spec gitstore.DiffSpec, doc *differing) error {
	files, err := c.Store.Repo.DiffStat(ctx, spec)
	if err != nil {
		return err
	}
	doc.Changed, doc.Files = len(files), files[:min(len(files), maxItems)]
	for i, f := range doc.Files {
		doc.Files[i].Path, doc.Files[i].OldPath = fileName(f.Path), fileName(f.OldPath)
	}
	for jsonSize(doc.Files) > maxAnswer/3 && len(doc.Files) > 1 {
		doc.Files = doc.Files[:len(doc.Files)/2]
	}
	return nil
}

// pathsOf returns the paths of the file called name, as recorded or as shown: both paths of a renamed file.
func (c call) pathsOf(ctx context.Context, spec gitstore.DiffSpec, name string) ([]string, error) {
	files, err := c.Store.Repo.DiffStat(ctx, spec)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
		if f.OldPath != "" {
			names = append(names, f.OldPath)
		}
	}
	path, known := named(names, name)
	for _, f := range files {
		if known && f.OldPath != "" && (f.Path == path || f.OldPath == path) {
			return []string{f.OldPath, f.Path}, nil
		}
	}
	return []string{path}, nil
}

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
