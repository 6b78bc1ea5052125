package gitstore

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sizesAsked is the largest number of paths in one question, because git gets them as arguments.
const sizesAsked = 500

// FileSizes returns the sizes in bytes of the files at the first 500 of paths in a tree or commit.
// It leaves out paths that are not files there.
func (r *Repo) FileSizes(ctx context.Context, tree ID, paths []string) (map[string]int64, error) {
	sizes := map[string]int64{}
	paths = slices.DeleteFunc(slices.Clone(paths[:min(len(paths), sizesAsked)]), func(path string) bool {
		return !filepath.IsLocal(path) || strings.Contains(path, "\x00") // git fails on these
	})
	if len(paths) == 0 {
		return sizes, nil
	}
	args := append([]string{"ls-tree", "-l", "-z", "--full-tree", "--end-of-options", string(tree), "--"}, paths...)
	out, err := r.dir.Git(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("read sizes in %s: %w", tree.Short(), err)
	}
	for _, line := range splitNUL(out) {
		about, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(about)
		if size, err := strconv.ParseInt(fields[len(fields)-1], 10, 64); err == nil {
			sizes[name] = size
		}
	}
	return sizes, nil
}
