package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Attributes returns the values that .gitattributes give to names, for each of paths: "set",
// "unset", or the value as written. Unspecified attributes are left out. The files come from
// treeish; the paths need not be in it. If the tree has no .gitattributes on the way to any of
// the paths, the result is nil and no git process is started.
func (r *Repo) Attributes(ctx context.Context, treeish ID, paths []string,
	names ...string) (map[string]map[string]string, error) {
	index, err := r.attributeFiles(ctx, treeish, paths)
	if err != nil || len(index) == 0 {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "git-runr-attributes-")
	if err != nil {
		return nil, fmt.Errorf("read attributes: %w", err)
	}
	defer os.RemoveAll(dir)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if _, err := r.dir.Call(ctx, gitdir.Call{Args: []string{"update-index", "-z", "--index-info"},
		Stdin: bytes.NewReader(index), Env: env}); err != nil {
		return nil, fmt.Errorf("read attributes: %w", err)
	}
	args := append([]string{"check-attr", "--cached", "--stdin", "-z"}, names...)
	out, err := r.dir.Call(ctx, gitdir.Call{Args: args, Stdin: bytes.NewReader(joinNUL(paths)), Env: env})
	if err != nil {
		return nil, fmt.Errorf("read attributes: %w", err)
	}
	items := splitNUL(out)
	values := map[string]map[string]string{}
	for i := 0; i+2 < len(items); i += 3 {
		file, name, value := items[i], items[i+1], items[i+2]
		if value == "unspecified" {
			continue
		}
		if values[file] == nil {
			values[file] = map[string]string{}
		}
		values[file][name] = value
	}
	return values, nil
}

// attributeFiles returns the .gitattributes in the directories of paths, in the format of
// update-index --index-info -z.
func (r *Repo) attributeFiles(ctx context.Context, treeish ID, paths []string) ([]byte, error) {
	var index bytes.Buffer
	looked := map[string]bool{}
	for _, p := range paths {
		for dir := path.Dir(p); !looked[dir]; dir = path.Dir(dir) {
			looked[dir] = true
			name := path.Join(dir, ".gitattributes")
			entry, err := r.File(ctx, treeish, name)
			if errors.Is(err, ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read attributes: %w", err)
			}
			if mode := entry.Mode; regularMode(mode) {
				fmt.Fprintf(&index, "%s %s 0\t%s\x00", mode, entry.ID, name)
			}
		}
	}
	return index.Bytes(), nil
}
