package locate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

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
	var first error
	for _, file := range []string{place, cutLines(place)} {
		c.File, c.StartLine, c.EndLine = file, 0, 0
		if file != place {
			if c.StartLine, c.EndLine, _ = lineRange(place[len(file)+1:]); c.StartLine < 1 {
				return c, &record.InputError{Why: fmt.Sprintf("%q is not a range of lines", place[len(file)+1:])}
			}
		}
		for _, path := range []string{s.Repo.FromTop(file), filepath.ToSlash(filepath.Clean(file))} {
			c.File = path
			placed, err := AnchorComment(ctx, s, subject, c)
			if err == nil || !errors.As(err, new(*record.NotFoundError)) {
				return placed, err
			}
			first = err
		}
	}
	return c, first
}

// cutLines removes the lines from a place: "FILE" from "FILE:3-7".
func cutLines(place string) string {
	colon := strings.LastIndexByte(place, ':')
	if colon <= 0 {
		return place
	}
	if _, _, ok := lineRange(place[colon+1:]); !ok {
		return place
	}
	return place[:colon]
}

// lineRange parses "3" and "3-7".
func lineRange(text string) (start, end int, ok bool) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	start, err := strconv.Atoi(from)
	end, endErr := strconv.Atoi(to)
	digits := strings.Trim(from+to, "0123456789") == ""
	return start, end, digits && err == nil && endErr == nil
}
