package mcp

import (
	"context"
	"fmt"
	"math"
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
	var from int
	noCursor := refusef("Error: %s is not a cursor of this change: leave it out to start again.", line(in.Cursor, 100))
	if in.Cursor != "" {
		from, err = strconv.Atoi(strings.TrimPrefix(in.Cursor, "byte-"))
		if err != nil || from < 0 || from > math.MaxInt-maxPatch || len(in.Cursor) > 100 {
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
	room := maxAnswer - aroundPage - jsonSize(doc) - 2*jsonSize(in)
	spec.MaxBytes = int64(from + maxPatch)
	patch, truncated, err := c.Store.Repo.Diff(ctx, spec)
	switch {
	case err != nil:
		return doc, err
	case from > 0 && from >= len(patch) && truncated: // a line is longer than maxPatch
		return doc, gitstore.ErrTooLarge
	case from > 0 && from >= len(patch):
		return doc, noCursor
	}
	var next int
	if doc.Patch, next = patchPage(string(patch), from, room); next < len(patch) || truncated {
		doc.Next = fmt.Sprintf("byte-%d", next) // not a plain number, because clients turn that into a JSON number
		in.Cursor = doc.Next
		more := ""
		if truncated {
			more = " at least"
		}
		doc.More = fmt.Sprintf("[%d bytes%s left. To read on: review_diff %s]", len(patch)-next, more, jsonOf(in))
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

// maxPatch is how much of a patch is read behind the beginning of a page, in bytes.
const maxPatch = 32 << 20

// maxLong is how much of a line of a patch is shown where the line is met, in bytes.
const maxLong = 4000

// maxRead is how much of one line is on a page, in bytes.
const maxRead = 8 * maxAnswer

// leastRow is the least to which a line is cut: the shortest page has room for it.
const leastRow = 8

// leftOut begins the line that stands in for the rest of a long one. No line of a file begins so in a patch: they have
// "+", "-" or " " first.
const leftOut = `\ [`

// patchPage returns the lines of a patch from a byte on that fit into a number of tokens, as text and in a document,
// and the first byte of the next page. A line longer than maxLong is cut, unless the page begins within it: that is how
// to read the rest of the line. The first line is cut to fit.
func patchPage(patch string, from, room int) (page string, next int) {
	var shown strings.Builder
	most, within := maxLong, from > 0 && patch[from-1] != '\n'
	if within {
		most = maxRead
	}
	for row := range strings.Lines(patch[from:]) {
		text, end := cutRow(row, from, most, within)
		for sizeOf(text) > room {
			if shown.Len() > 0 {
				return shown.String(), from
			}
			if most = min(most, len(row)) * 7 / 8; most < leastRow {
				break
			}
			text, end = cutRow(row, from, most, within)
		}
		shown.WriteString(text)
		room -= sizeOf(text)
		if end < from+len(row) {
			return shown.String(), end
		}
		from, most, within = end, maxLong, false
	}
	return shown.String(), from
}

// cutRow returns at most most bytes of a line that begins at a byte of the patch, safe to show, and the byte behind
// them. Within a line the rest is left for the next page; any other line ends with what is left out of it.
func cutRow(row string, at, most int, within bool) (text string, end int) {
	part := prose.Cut(row, most)
	end = at + len(part)
	switch {
	case len(strings.TrimSuffix(row, "\n")) <= most:
		return safetext.Text(row), at + len(row)
	case within:
		return safetext.Text(part), end
	}
	return fmt.Sprintf("%s\n%s%d bytes more of this line are left out: the cursor byte-%d reads on in it]\n",
		safetext.Text(part), leftOut, len(row)-len(part), end), at + len(row)
}

// sizeOf returns how many tokens text needs on a page, as text and in a document.
func sizeOf(text string) int { return tokens(text) + jsonSize(text) }
