package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// sameIndex reports whether two indexes say the same of each path, flags included. What
// git noted of the files themselves, to be faster, does not count: it writes that
// whenever somebody asks for a status.
func (w *Worktree) sameIndex(ctx context.Context, a, b indexFile) (bool, error) {
	if bytes.Equal(a.data, b.data) {
		return true, nil
	}
	of, err := w.indexLines(ctx, a, "-v")
	if err != nil {
		return false, err
	}
	with, err := w.indexLines(ctx, b, "-v")
	return bytes.Equal(of, with), err
}

// indexLines lists an index as `git ls-files -s` does: for each path its entry. With
// -v there is a letter for its flags before that, S for one that is left out of a sparse
// checkout.
func (w *Worktree) indexLines(ctx context.Context, index indexFile, options ...string) ([]byte, error) {
	if index.data == nil {
		return nil, nil
	}
	path, done, err := w.scratchIndex(index)
	if err != nil {
		return nil, err
	}
	defer done()
	out, err := w.gitIndex(ctx, path, nil, append([]string{"ls-files", "-s", "-z"}, options...)...)
	if err != nil {
		return nil, fmt.Errorf("list index: %w", err)
	}
	return out, nil
}

// keepSparse leaves in the index file those of paths out of a sparse checkout that are left out in the
// index wanted: an entry that was written anew has lost that, and its file would seem
// to be deleted.
func (w *Worktree) keepSparse(ctx context.Context, index string, wanted indexFile, paths []string) error {
	if !w.repo.Config.Bool("core.sparsecheckout") || len(paths) == 0 {
		return nil
	}
	lines, err := w.indexLines(ctx, wanted, "-v")
	if err != nil {
		return err
	}
	out := map[string]bool{}
	for _, line := range splitNUL(lines) {
		flags, path, _ := strings.Cut(line, "\t")
		out[path] = strings.HasPrefix(flags, "S") || strings.HasPrefix(flags, "s")
	}
	var skip []string
	for _, path := range paths {
		if out[path] {
			skip = append(skip, path)
		}
	}
	return w.updateIndex(ctx, w.indexCall(index), skip, "--skip-worktree")
}
