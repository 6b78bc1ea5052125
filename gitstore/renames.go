package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Limits of a search for renames, in which each deleted file may be compared with each added one.
const (
	renameTimeout = 10 * time.Second
	renamePairs   = "-l1000" // files on each side; above that only files that moved unchanged are found
	renameOutput  = 16 << 20 // bytes of git's answer
)

// Renames maps paths of commit or tree from to the paths of the same files in to, as git detects
// renames: at least half of the file is unchanged. A file that became two equally similar files has
// no new path. With rewritten, it also searches for the old content of files that still exist but
// are mostly rewritten, which requires reading every changed file. It returns ErrTooLarge if the
// search takes longer than 10 s.
func (r *Repo) Renames(ctx context.Context, from, to ID, rewritten bool) (map[string]string, error) {
	how := []string{"-C"} // also find copies, to notice two equally similar ones
	if rewritten {
		how = []string{"-M", "-B"}
	}
	args := []string{"diff-tree", "-r", renamePairs, "--diff-filter=RC", "--name-status", "-z", "--no-ext-diff",
		"--no-textconv"}
	args = append(append(args, how...), "--end-of-options", string(r.orEmptyTree(from)), string(r.orEmptyTree(to)))
	limited, cancel := context.WithTimeout(ctx, renameTimeout)
	defer cancel()
	out := &gitdir.LimitWriter{Left: renameOutput}
	_, err := r.dir.Call(limited, gitdir.Call{Args: args, Stdout: out, Env: r.noAttributes()})
	if out.Full || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = ErrTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("find renames between %s and %s: %w", from.Short(), to.Short(), err)
	}
	return parseRenames(out.Kept.Bytes(), rewritten)
}

// parseRenames parses `--name-status -z` of renames and copies: R or C and a score,
// NUL, the old path, NUL, the new path, NUL. It drops copies of a file that still exists, unless
// the file may be rewritten.
func parseRenames(listing []byte, rewritten bool) (map[string]string, error) {
	items := splitNUL(listing)
	renames, best, moved := map[string]string{}, map[string]int{}, map[string]bool{}
	for i := 0; i < len(items); i += 3 {
		score, err := strconv.Atoi(strings.TrimLeft(items[i], "RC"))
		if i+2 >= len(items) || err != nil {
			return nil, fmt.Errorf("find renames: git answered %q", items[i])
		}
		from, to := items[i+1], items[i+2]
		moved[from] = moved[from] || rewritten || items[i][0] == 'R'
		switch {
		case score > best[from]:
			renames[from], best[from] = to, score
		case score == best[from]:
			delete(renames, from)
		}
	}
	maps.DeleteFunc(renames, func(from, _ string) bool { return !moved[from] })
	return renames, nil
}

// File returns the entry of a commit or tree at a slash-separated path: a file, a symbolic
// link or a submodule. Anything else is ErrNotFound.
func (r *Repo) File(ctx context.Context, treeish ID, path string) (odb.TreeEntry, error) {
	tree, err := r.TreeOf(ctx, treeish)
	if err != nil {
		return odb.TreeEntry{}, err
	}
	entry, err := r.objects.FindPath(ctx, tree, path)
	if err == nil && entry.IsTree() {
		err = ErrNotFound
	}
	if err != nil {
		return odb.TreeEntry{}, fmt.Errorf("find %q in %s: %w", path, treeish.Short(), err)
	}
	return entry, nil
}

// RealPath returns a path as a commit or tree has it: one that was recorded as JSON may have lost bytes, see odb.Named.
func (r *Repo) RealPath(ctx context.Context, treeish ID, path string) string {
	if !strings.Contains(path, "\uFFFD") {
		return path
	}
	tree, err := r.TreeOf(ctx, treeish)
	if err != nil {
		return path
	}
	return r.objects.RealPath(ctx, tree, path)
}

// HasPath reports whether a commit or tree has a file or directory at a slash-separated
// path; "." is the tree itself.
func (r *Repo) HasPath(ctx context.Context, treeish ID, path string) (bool, error) {
	tree, err := r.TreeOf(ctx, treeish)
	if err != nil || path == "." {
		return err == nil, err
	}
	_, err = r.objects.FindPath(ctx, tree, path)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// TreeOf returns the tree of a commit, and the id of a tree unchanged. An object that is not here is ErrNotFound.
func (r *Repo) TreeOf(ctx context.Context, treeish ID) (ID, error) {
	return r.refs.TreeOf(ctx, r.orEmptyTree(treeish))
}

// ReadBlob reads a blob of at most 64 MiB by its id.
func (r *Repo) ReadBlob(ctx context.Context, id ID) ([]byte, error) {
	return r.objects.ReadKind(ctx, id, "blob")
}

// BlobHead returns the first n bytes of the file at path in a tree or commit, however large it is.
func (r *Repo) BlobHead(ctx context.Context, treeish ID, path string, n int64) ([]byte, error) {
	entry, err := r.File(ctx, treeish, path)
	if err != nil {
		return nil, err
	}
	out := &gitdir.LimitWriter{Left: n}
	if _, err = r.dir.Call(ctx, gitdir.Call{Args: []string{"cat-file", "blob", string(entry.ID)}, Stdout: out}); out.Full {
		err = nil // git was stopped
	}
	return out.Kept.Bytes(), err
}

// ReadObject reads a commit, tree, blob or tag of at most limit bytes: see odb.Store.ReadLimit.
func (r *Repo) ReadObject(ctx context.Context, id ID, limit int64) (kind string, data []byte, err error) {
	return r.objects.ReadLimit(ctx, id, limit)
}
