package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// checkOut brings index and files from one commit to another, or changes nothing.
// undo takes it back.
func (w *Worktree) checkOut(ctx context.Context, from, to ID, changed []Change, started *Snapshot) (undo func(), err error) {
	if err := w.refreshIndex(ctx); err != nil {
		return nil, err
	}
	mine, dirty, err := w.inTheWay(ctx, from, changed, started)
	if err != nil {
		return nil, err
	}
	if len(dirty) > 0 {
		return nil, &PathsError{Err: ErrDirty, Paths: dirty}
	}
	before, err := readIndexFile(w.indexPath())
	if err != nil {
		return nil, err
	}
	old, err := w.withFiles(ctx, from, mine)
	if err != nil {
		return nil, w.giveBack(ctx, before, err)
	}
	if err := w.switchTrees(ctx, old, to); err != nil {
		return nil, w.giveBack(ctx, before, err)
	}
	return func() {
		ctx := context.WithoutCancel(ctx)
		if w.switchTrees(ctx, to, old) == nil { // what else can be done is what the caller reports
			_ = w.giveBack(ctx, before, nil)
		}
	}, nil
}

// switchTrees is git's two-tree merge: it refuses as a whole when a file is in the way.
func (w *Worktree) switchTrees(ctx context.Context, from, to ID) error {
	_, err := w.git(ctx, "read-tree", "-m", "-u", "--no-recurse-submodules", "--end-of-options", string(from), string(to))
	if err != nil {
		return fmt.Errorf("update files: %w", busy(err))
	}
	return nil
}

// giveBack restores an index that only we have written to since, and gives err.
func (w *Worktree) giveBack(ctx context.Context, before indexFile, err error) error {
	now, readErr := readIndexFile(w.indexPath())
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	if slices.Equal(now.data, before.data) {
		return err
	}
	return errors.Join(err, w.installIndex(ctx, now.data, before))
}

// withFiles stages files of the user's, and gives the tree of a commit with them in
// it, so that git takes them for committed. Without any it is the commit's tree.
func (w *Worktree) withFiles(ctx context.Context, commit ID, mine []string) (ID, error) {
	commit = w.repo.orEmptyTree(commit)
	if len(mine) == 0 {
		return commit, nil
	}
	if err := w.updateIndex(ctx, gitCall{worktree: w.Dir}, mine, "--add", "--remove", "--replace"); err != nil {
		return "", err
	}
	index, err := readIndexFile(w.indexPath())
	if err != nil {
		return "", err
	}
	entries, err := w.indexEntries(ctx, index)
	if err != nil {
		return "", err
	}
	path, done, err := w.scratchIndex(indexFile{})
	if err != nil {
		return "", err
	}
	defer done()
	if _, err := w.gitIndex(ctx, path, nil, "read-tree", string(commit)); err != nil {
		return "", err
	}
	var remove, add strings.Builder
	for _, name := range mine {
		fmt.Fprintf(&remove, "0 %s\t%s\x00", w.repo.zeroID(), name)
		if entry := entries[name]; entry != "" {
			fmt.Fprintf(&add, "%s\t%s\x00", entry, name)
		}
	}
	if _, err := w.gitIndex(ctx, path, []byte(remove.String()+add.String()), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	return w.writeIndexTree(ctx, path)
}

// inTheWay sorts the paths that are about to change and are not as in the commit:
// mine are as the work found or leaves them, dirty is everything else.
func (w *Worktree) inTheWay(ctx context.Context, commit ID, changed []Change, started *Snapshot) (mine, dirty []string, err error) {
	modified, err := w.modifiedPaths(ctx, commit)
	if err != nil {
		return nil, nil, err
	}
	files, err := w.openFiles()
	if err != nil {
		return nil, nil, err
	}
	defer files.Close()
	known, err := w.knownStates(ctx, commit, started)
	if err != nil {
		return nil, nil, err
	}
	leaving := map[string]bool{}
	for _, c := range changed {
		leaving[c.Path] = c.NewMode == ""
	}
	for _, c := range changed {
		obstacle := ""
		if modified[c.Path] {
			obstacle = c.Path
		} else if c.OldMode == "" {
			obstacle = w.untrackedAt(c.Path, leaving)
		}
		if obstacle == "" {
			continue
		}
		state, err := files.state(c.Path)
		wanted, recorded := known[c.Path]
		if err == nil && obstacle == c.Path && (recorded && state == wanted || state == fileState{c.NewMode, c.NewID}) {
			mine = append(mine, c.Path)
			continue
		}
		dirty = append(dirty, obstacle)
	}
	return mine, slices.Compact(dirty), nil
}

// knownStates gives the files of a snapshot that were not as in the commit.
func (w *Worktree) knownStates(ctx context.Context, commit ID, started *Snapshot) (map[string]fileState, error) {
	known := map[string]fileState{}
	if started == nil {
		return known, nil
	}
	changed, err := w.repo.Changed(ctx, w.repo.orEmptyTree(commit), started.Tree)
	for _, c := range changed {
		known[c.Path] = fileState{c.NewMode, c.NewID}
	}
	return known, err
}

// modifiedPaths lists what differs between commit, index and files, untracked files
// not counted. A path that is staged as it is in no commit is among them.
func (w *Worktree) modifiedPaths(ctx context.Context, commit ID) (map[string]bool, error) {
	modified := map[string]bool{}
	for _, args := range [][]string{
		{"diff-index", "--cached", "-z", "--name-only", "--no-renames", "--ignore-submodules=dirty", string(w.repo.orEmptyTree(commit)), "--"},
		{"diff-files", "-z", "--name-only", "--ignore-submodules=dirty"},
	} {
		out, err := w.git(ctx, args...)
		if err != nil {
			return nil, fmt.Errorf("list changes: %w", err)
		}
		for _, name := range splitNUL(out) {
			modified[name] = true
		}
	}
	return modified, nil
}

// untrackedAt is what stands where a new file is to come: the path itself, a file
// in place of one of its directories, or a file in a directory in its place; "" for
// nothing. Paths that leave are tracked, and make room.
func (w *Worktree) untrackedAt(name string, leaving map[string]bool) string {
	for parent := path.Dir(name); parent != "."; parent = path.Dir(parent) {
		info, err := os.Lstat(filepath.Join(w.Dir, parent))
		if err == nil && !info.IsDir() && !leaving[parent] {
			return parent
		}
	}
	info, err := os.Lstat(filepath.Join(w.Dir, name))
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		return name
	}
	obstacle := ""
	_ = filepath.WalkDir(filepath.Join(w.Dir, name), func(p string, entry fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(w.Dir, p)
		if err != nil || relErr != nil {
			obstacle = name // cannot be looked at, so it stays
			return fs.SkipAll
		}
		if entry.IsDir() || leaving[rel] {
			return nil
		}
		obstacle = rel
		return fs.SkipAll
	})
	return obstacle
}
