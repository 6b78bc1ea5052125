// Package locate binds comments to the files under review (Anchor) and finds their lines in another version (Place):
// after commits, renames, an amend or a rebase. Package anchor finds lines in a text.
package locate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/anchor"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// maxSelected is the maximum size in bytes of the lines quoted with a comment.
const maxSelected = 32 << 10

// AnchorComment binds a comment on a file to the subject of a review: the commit, the file's blob and the text of its
// lines. Without a start it is on the whole file, without a file on the whole change, and without an end on one line. A
// text that the comment already quotes must match these lines. It returns a *record.NotFoundError if the file is not in
// that version, and a *record.InputError if the lines are not in the file.
func AnchorComment(ctx context.Context, s *store.Store, subject record.Subject,
	c record.Comment) (record.Comment, error) {
	if c.File == "" {
		c.StartLine, c.EndLine, c.SelectedText, c.Side = 0, 0, "", ""
		c.Commit = subject.Tree
		return c, nil
	}
	c.File, c.Commit = path.Clean(c.File), subject.Tree
	var err error
	if subject.Base, err = s.ComparedWith(ctx, subject); err != nil {
		return c, fmt.Errorf("place comment: %w", err)
	}
	switch c.Side {
	case record.SideOld:
		c.Commit = subject.Base
	case "", record.SideNew:
		c.Side = record.SideNew
	default:
		return c, &record.InputError{Why: fmt.Sprintf("unknown side %q: use new or old", c.Side)}
	}
	text, err := anchoredText(ctx, s, subject, &c)
	if noSuchFile(err) {
		return c, &record.NotFoundError{What: "file", ID: c.File, Where: "in " + c.Commit.Short()}
	}
	if err != nil {
		return c, fmt.Errorf("place comment: %w", err)
	}
	c.Blob = blobID(s.Repo.SHA256(), text)
	return c, quote(&c, text)
}

// quote fills in the lines of c from the text of the whole file.
func quote(c *record.Comment, text []byte) error {
	c.EndLine = cmp.Or(c.EndLine, c.StartLine)
	if c.StartLine == 0 && c.EndLine == 0 {
		c.SelectedText = ""
		return nil
	}
	lines := anchor.SplitLines(string(text))
	there, ok := anchor.Selected(lines, c.StartLine, c.EndLine)
	switch {
	case bytes.IndexByte(text, 0) >= 0:
		return &record.InputError{Why: fmt.Sprintf("%q is binary: comment on the file, without lines", c.File)}
	case c.StartLine < 1 || c.EndLine < c.StartLine:
		return &record.InputError{Why: fmt.Sprintf("%d-%d is not a range of lines", c.StartLine, c.EndLine)}
	case !ok:
		return &record.InputError{Why: fmt.Sprintf("%q has %s, no line %d", c.File, prose.Count(len(lines), "line"),
			c.EndLine)}
	}
	if c.SelectedText != "" && !sameLines(c.SelectedText, there) {
		return &record.InputError{Why: fmt.Sprintf("%s differs from the selected text", c.Place())}
	}
	c.SelectedText = prose.Cut(strings.ToValidUTF8(there, "\uFFFD"), maxSelected)
	return nil
}

// sameLines reports whether a selected text is that of the lines there. It ignores line ends and what a selection cuts
// off at its ends.
func sameLines(selected, there string) bool {
	plain := func(s string) string { return strings.ReplaceAll(strings.TrimRight(s, " \t\r\n"), "\r\n", "\n") }
	selected, there = plain(selected), plain(there)
	return selected == there || strings.TrimSpace(selected) != "" &&
		strings.Contains(there, strings.TrimSpace(selected)) &&
		strings.Count(selected, "\n") == strings.Count(there, "\n")
}

// blobID returns git's object id for a file's content.
func blobID(sha256Repo bool, content []byte) gitstore.ID {
	object := append(fmt.Appendf(nil, "blob %d\x00", len(content)), content...)
	if sha256Repo {
		sum := sha256.Sum256(object)
		return gitstore.ID(hex.EncodeToString(sum[:]))
	}
	sum := sha1.Sum(object)
	return gitstore.ID(hex.EncodeToString(sum[:]))
}

// AnchorTyped binds a comment to a place as typed by a user: FILE, FILE:LINE, FILE:LINE-END or nothing. A path is
// relative to the current directory, or else to the top of the tree. A place that is the name of an existing file is
// that file, even if it looks like FILE:LINE.
func AnchorTyped(ctx context.Context, s *store.Store, subject record.Subject, c record.Comment,
	place string) (record.Comment, error) {
	if place == "" {
		return AnchorComment(ctx, s, subject, c)
	}
	c.File, c.StartLine, c.EndLine = place, 0, 0
	placed, err := anchorNamed(ctx, s, subject, c)
	m := withLines().FindStringSubmatch(place)
	if m == nil || !errors.As(err, new(*record.NotFoundError)) {
		return placed, err
	}
	c.File, c.StartLine, c.EndLine = m[1], markdown.Number(m[2]), markdown.Number(cmp.Or(m[3], m[2]))
	if c.StartLine < 1 || c.EndLine < c.StartLine {
		return c, &record.InputError{Why: fmt.Sprintf("%q is not a range of lines", place[len(m[1])+1:])}
	}
	return anchorNamed(ctx, s, subject, c)
}

// withLines matches FILE:LINE and FILE:LINE-END.
var withLines = lazyre.Compile(`(?s)^(.+):([0-9]+)(?:-([0-9]+))?$`)

// anchorNamed binds a comment to its file, relative to the current directory or else to the top of the tree.
func anchorNamed(ctx context.Context, s *store.Store, subject record.Subject,
	c record.Comment) (placed record.Comment, err error) {
	for _, file := range []string{s.Repo.FromTop(c.File), filepath.ToSlash(filepath.Clean(c.File))} {
		c.File = file
		if placed, err = AnchorComment(ctx, s, subject, c); !errors.As(err, new(*record.NotFoundError)) {
			break
		}
	}
	return placed, err
}
