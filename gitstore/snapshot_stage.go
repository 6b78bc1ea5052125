package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// changes is what has to be done to an index to make it match a working tree.
type changes struct {
	remove, add []string
	nested      []string // directories that are repositories themselves
	gaps        []string // what cannot be recorded
}

// stage makes an index match its working tree, as `git add -A` does: c says which
// (git directory, working tree, environment). Those that are apart are left out. The paths that also lists are
// recorded even when they are ignored. What could not be recorded is returned: files that cannot
// be read, and repositories without a commit (with a slash at the end).
// What was put into a worktree of the tool's own is recorded in no case: see Furnish.
//
// It is not `git add`, because that runs `git status` in nested repositories, whose
// configuration could name a program, and because it gives up at the first nested
// repository without a commit.
func (w *Worktree) stage(ctx context.Context, c gitdir.Call, apart func(path string) bool, also ...listing) (gaps []string, err error) {
	found, err := w.unstaged(ctx, c, also)
	if err != nil {
		return nil, err
	}
	if apart != nil {
		found = slices.DeleteFunc(found, apart)
	}
	placed, err := w.trackedPlaced(ctx, c)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, w.isPlaced)
	slices.Sort(found)
	todo := w.sortChanges(slices.Compact(found))
	todo.remove = append(todo.remove, placed...)
	if err := w.addRecased(ctx, c, &todo); err != nil {
		return nil, err
	}
	if err := w.updateIndex(ctx, c, todo.remove, "--force-remove"); err != nil {
		return nil, err
	}
	if err := w.updateIndex(ctx, c, todo.add, "--add", "--remove", "--replace"); err != nil {
		return nil, err
	}
	unborn, err := w.stageNested(ctx, c, todo.nested)
	return append(todo.gaps, unborn...), err
}

// listing gives paths.
type listing func(context.Context) ([]string, error)

// unstaged lists tracked paths that differ from the index, untracked ones, and what also
// lists. Each looks at the whole working tree, so they run side by side.
func (w *Worktree) unstaged(ctx context.Context, c gitdir.Call, also []listing) ([]string, error) {
	listings := append([]listing{
		w.listed(c, "diff-files", "-z", "--name-only", "--ignore-submodules=dirty"),
		w.listed(c, "ls-files", "-z", "--others", "--exclude-standard"),
	}, also...)
	paths, errs := make([][]string, len(listings)), make([]error, len(listings))
	var all sync.WaitGroup
	for i, list := range listings {
		all.Go(func() { paths[i], errs[i] = list(ctx) })
	}
	all.Wait()
	return slices.Concat(paths...), cmp.Or(errs...)
}

// listed is what a command of git lists.
func (w *Worktree) listed(c gitdir.Call, args ...string) listing {
	return func(ctx context.Context) ([]string, error) {
		c.Args = args
		out, err := w.repo.dir.Call(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("list changes: %w", err)
		}
		return splitNUL(out), nil
	}
}

// sortChanges looks at each path as it is on disk now.
func (w *Worktree) sortChanges(paths []string) changes {
	var todo changes
	parents := map[string]bool{}
	for _, path := range paths {
		name := strings.TrimSuffix(path, "/")
		switch w.kindOf(name, parents) {
		case kindFile:
			todo.add = append(todo.add, name)
		case kindRepo:
			todo.nested = append(todo.nested, name)
		case kindClosed:
			todo.gaps = append(todo.gaps, name)
		default:
			todo.remove = append(todo.remove, name)
		}
	}
	return todo
}

// addRecased adds the files whose names differ from tracked ones in case alone: where core.ignoreCase is true git does
// not list them. Excludes go on ignoring case, so no other path is taken from the listing.
func (w *Worktree) addRecased(ctx context.Context, c gitdir.Call, todo *changes) error {
	if !w.repo.Config.Bool("core.ignorecase") {
		return nil
	}
	others, err := w.listed(c, "-c", "core.ignoreCase=false", "ls-files", "-z", "--others", "--exclude-standard")(ctx)
	if err != nil || len(others) == 0 {
		return err
	}
	tracked, err := w.listed(c, "ls-files", "-z", "--cached")(ctx)
	folded := map[string]string{}
	for _, path := range tracked {
		folded[strings.ToLower(path)] = path
	}
	parents := map[string]bool{}
	for _, path := range others {
		old, ok := folded[strings.ToLower(path)]
		if !ok || w.kindOf(path, parents) != kindFile || slices.Contains(todo.add, path) {
			continue
		}
		todo.add = append(todo.add, path)
		if w.sameFile(old, path) { // the file system ignores case as well, so that nothing lists the old name
			todo.remove = append(todo.remove, old)
			todo.add = slices.DeleteFunc(todo.add, func(name string) bool { return name == old })
		}
	}
	return err
}

func (w *Worktree) sameFile(a, b string) bool {
	is, err := os.Lstat(filepath.Join(w.Dir, a))
	if err != nil {
		return false
	}
	other, err := os.Lstat(filepath.Join(w.Dir, b))
	return err == nil && os.SameFile(is, other)
}

type fileKind int

const (
	kindNone   fileKind = iota // nothing that git records
	kindFile                   // regular file or symbolic link
	kindRepo                   // directory with a repository of its own
	kindClosed                 // something that should be recorded and cannot be
)

// kindOf does not follow symbolic links, not in the parents either. parents
// remembers which are real directories.
func (w *Worktree) kindOf(path string, parents map[string]bool) fileKind {
	if unsafePath(path) {
		return kindClosed
	}
	if !w.realParent(filepath.Dir(path), parents) {
		return kindNone
	}
	full := filepath.Join(w.Dir, path)
	info, err := os.Lstat(full)
	switch {
	case err != nil:
		return kindNone
	case info.Mode()&os.ModeSymlink != 0:
		return kindFile
	case info.IsDir():
		if _, err := os.Lstat(filepath.Join(full, ".git")); err == nil {
			return kindRepo
		}
		return kindNone
	case !info.Mode().IsRegular():
		return kindNone
	}
	f, err := os.Open(full)
	if err != nil {
		return kindClosed
	}
	f.Close()
	return kindFile
}

func (w *Worktree) realParent(dir string, known map[string]bool) bool {
	if dir == "." {
		return true
	}
	if real, ok := known[dir]; ok {
		return real
	}
	info, err := os.Lstat(filepath.Join(w.Dir, dir))
	known[dir] = err == nil && info.IsDir() && w.realParent(filepath.Dir(dir), known)
	return known[dir]
}

// updateIndex runs git update-index on paths.
func (w *Worktree) updateIndex(ctx context.Context, c gitdir.Call, paths []string, options ...string) error {
	if len(paths) == 0 {
		return nil
	}
	c.Args = append(append([]string{"update-index"}, options...), "-z", "--stdin")
	c.Stdin = bytes.NewReader(joinNUL(paths))
	if _, err := w.repo.dir.Call(ctx, c); err != nil {
		return fmt.Errorf("stage files: %w", err)
	}
	return nil
}

// stageNested records the commit of each nested repository.
func (w *Worktree) stageNested(ctx context.Context, c gitdir.Call, dirs []string) (unborn []string, err error) {
	for _, dir := range dirs {
		err := w.updateIndex(ctx, c, []string{dir}, "--add", "--replace")
		var exit *GitError
		if errors.As(err, &exit) && !errors.Is(err, ErrBusy) {
			unborn = append(unborn, dir+"/")
			err = w.updateIndex(ctx, c, []string{dir}, "--force-remove")
		}
		if err != nil {
			return nil, err
		}
	}
	return unborn, nil
}

// splitNUL splits a listing whose items end with NUL.
func splitNUL(out []byte) []string {
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

func joinNUL(items []string) []byte {
	return []byte(strings.Join(items, "\x00") + "\x00")
}
