package locate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

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
	if c.StartLine < 1 {
		return c, &record.InputError{Why: fmt.Sprintf("%q is not a range of lines", place[len(m[1])+1:])}
	}
	return anchorNamed(ctx, s, subject, c)
}

// withLines matches FILE:LINE and FILE:LINE-END.
var withLines = lazyre.Compile(`(?s)^(.+):([0-9]+)(?:-([0-9]+))?$`)

// anchorNamed binds a comment to its file, relative to the current directory or else to the top of the tree.
func anchorNamed(ctx context.Context, s *store.Store, subject record.Subject,
	c record.Comment) (placed record.Comment, err error) {
	for _, path := range []string{s.Repo.FromTop(c.File), filepath.ToSlash(filepath.Clean(c.File))} {
		c.File = path
		if placed, err = AnchorComment(ctx, s, subject, c); !errors.As(err, new(*record.NotFoundError)) {
			break
		}
	}
	return placed, err
}
