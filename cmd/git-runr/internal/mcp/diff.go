package mcp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
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
		doc.Files[i].Path, doc.Files[i].OldPath = shownName(f.Path), shownName(f.OldPath)
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
