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
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// changes lists what must be done to an index to make it match a working tree.
type changes struct {
	remove, add []string
	nested      []string // directories that are repositories of their own
	gaps        []string // paths that cannot be recorded
}

// stage makes an index match its working tree, as `git add -A` does. c gives the git directory, working tree and
// environment. stage returns what it could not record: files that cannot be read, and repositories without a commit
// (with a trailing slash). It never records the files that Furnish put into a worktree of this tool.
//
// It does not run `git add`, because that runs `git status` in nested repositories, whose
// configuration could name a program, and because it gives up at the first nested
// repository without a commit.
func (w *Worktree) stage(ctx context.Context, c gitdir.Call) (gaps []string, err error) {
	found, err := w.unstaged(ctx, c)
	if err != nil {
		return nil, err
	}
	return w.stageFound(ctx, c, found)
}

// stageFound stages the paths found; see stage.
func (w *Worktree) stageFound(ctx context.Context, c gitdir.Call, found []string) (gaps []string, err error) {
	var placed []string // somebody added them to the index nevertheless
	if len(w.placed) > 0 {
		placed, err = w.listed(c, append([]string{"ls-files", "-z", "--cached", "--"}, w.placed...)...)(ctx)
	}
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
	w.outwaitOldTimes(ctx, todo.add)
	unborn, err := w.stageNested(ctx, c, todo.nested)
	return append(todo.gaps, unborn...), err
}

// outwaitOldTimes waits for the next second if one of the paths was written in this one and has an older modification
// time. Git would not notice another edit with that time in the same second: it compares times in whole seconds, and
// reads only files whose modification time is as new as the index.
func (w *Worktree) outwaitOldTimes(ctx context.Context, paths []string) {
	for _, path := range paths {
		full := filepath.Join(w.Dir, path)
		info, err := os.Lstat(full)
		changed := time.Unix(0, inodeChanged(full))
		if err == nil && info.ModTime().Unix() < changed.Unix() && changed.Unix() >= time.Now().Unix() {
			nextSecond(ctx, changed)
			return
		}
	}
}

// listing returns a list of paths.
type listing func(context.Context) ([]string, error)

// unstaged lists tracked paths that differ from the index, untracked paths, and the paths of also.
// Each listing reads the whole working tree, so they run in parallel.
func (w *Worktree) unstaged(ctx context.Context, c gitdir.Call, also ...listing) ([]string, error) {
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

// listed returns a listing that runs a git command.
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

// sortChanges sorts paths by what is on disk now.
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

// addRecased adds files whose names differ from tracked ones only in case. With core.ignoreCase git does not list
// them. It takes only those from the second listing, because exclude patterns still have to ignore case.
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
		if w.sameFile(old, path) { // the file system ignores case too, so nothing lists the old name
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
	kindRepo                   // directory with its own repository
	kindClosed                 // something that should be recorded but cannot be
)

// kindOf returns the kind of a path. It does not follow symbolic links, not even in parents. The map
// caches which directories are real.
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
	f, err := safefile.Open(full)
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
		if errors.As(err, new(*GitError)) && !errors.Is(err, ErrBusy) {
			unborn = append(unborn, dir+"/")
			err = w.updateIndex(ctx, c, []string{dir}, "--force-remove")
		}
		if err != nil {
			return nil, err
		}
	}
	return unborn, nil
}

// splitNUL splits a list whose items end with NUL.
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
