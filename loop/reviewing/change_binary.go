package reviewing

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Limits of the search for text: source files are smaller, and a change rarely has that many binary files.
const (
	textSize  = 1 << 20
	textFiles = 500
	headBytes = 8000 // in which git looks for a NUL byte
)

// textsTakenForBinary returns the files of a change that are text in tree although git treats them as binary, with the
// reason. Otherwise one NUL byte would hide a script from every reviewer. A large text has no lines to show.
func textsTakenForBinary(ctx context.Context, s *store.Store, tree gitstore.ID,
	files []gitstore.FileStat) (map[string]string, error) {
	files = each.Where(files, func(f gitstore.FileStat) bool { return f.Binary })
	binary := each.Of(files[:min(len(files), textFiles)], func(f gitstore.FileStat) string { return f.Path })
	sizes, err := s.Repo.FileSizes(ctx, tree, binary)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, path := range binary {
		size, there := sizes[path]
		if size > int64(gitstore.PatchBounds.FileBytes) {
			head, err := s.Repo.BlobHead(ctx, tree, path, headBytes)
			if err != nil {
				return nil, err
			}
			if bytes.IndexByte(head, 0) < 0 {
				texts[path] = record.LeftTooLarge
			}
		}
		if !there || size > textSize {
			continue
		}
		data, err := s.Repo.Blob(ctx, tree, path)
		if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
			return nil, err
		}
		if readsAsText(data) {
			texts[path] = record.LeftText
		}
	}
	return texts, nil
}

// readsAsText reports whether the beginning of a binary file is UTF-16, a script, or UTF-8 without control characters
// when NUL bytes are removed.
func readsAsText(data []byte) bool {
	isMark := func(mark string) bool { return bytes.HasPrefix(data, []byte(mark)) }
	if slices.ContainsFunc([]string{"\xff\xfe", "\xfe\xff", "#!"}, isMark) {
		return true
	}
	data = data[:min(len(data), headBytes)]
	text := bytes.ReplaceAll(data, []byte{0}, nil)
	if len(text) == 0 || len(text)*2 < len(data) {
		return false // mostly NUL: the rest proves nothing
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 && len(text) >= utf8.UTFMax ||
			unicode.IsControl(r) && !unicode.IsSpace(r) && r != '\x1b' {
			return false
		}
		text = text[size:]
	}
	return true
}
