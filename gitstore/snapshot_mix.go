package gitstore

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// TreeWith returns the tree of onto, in which the paths chosen by take are as in
// the tree or commit from.
func (w *Worktree) TreeWith(ctx context.Context, onto, from ID, take func(path string) bool) (ID, error) {
	changes, err := w.repo.Changed(ctx, onto, from)
	if err != nil {
		return "", err
	}
	tree, err := w.repo.refs.TreeOf(ctx, onto)
	if err != nil {
		return "", err
	}
	return w.treeWith(ctx, tree, slices.DeleteFunc(changes, func(c Change) bool { return !take(c.Path) }))
}

// treeWith returns tree with the changes applied.
func (w *Worktree) treeWith(ctx context.Context, tree ID, changes []Change) (ID, error) {
	if len(changes) == 0 {
		return tree, nil
	}
	return w.treeOfIndex(ctx, indexFile{}, func(index string) error {
		if _, err := w.gitIndex(ctx, index, nil, "read-tree", "--end-of-options", string(tree)); err != nil {
			return fmt.Errorf("put a tree together: %w", err)
		}
		return w.enter(ctx, index, changes)
	})
}

// enter applies changes to an index file.
func (w *Worktree) enter(ctx context.Context, index string, changes []Change) error {
	paths, entries := changedPaths(changes), map[string]string{}
	for _, c := range changes {
		if c.NewMode != "" {
			entries[c.Path] = c.NewMode + " " + string(c.NewID)
		}
	}
	return w.setEntries(ctx, index, paths, entries)
}

// AsCommitted records a snapshot that equals snap except for certain paths. These are as in a
// commit, both in the files (with the filters of this repository) and in the index. So it is the
// working tree before somebody changed the paths, and Revert from it to snap takes the change
// back. The new snapshot is kept under ref.
func (w *Worktree) AsCommitted(ctx context.Context, snap Snapshot, commit ID, paths []string,
	ref, subject string) (Snapshot, error) {
	before, err := w.asCommitted(ctx, snap, commit, paths)
	if err == nil {
		err = w.writeSnapshot(ctx, &before, subject)
	}
	if err == nil {
		err = w.repo.refs.Keep(ctx, ref, before.ID)
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("record files as %s has them: %w", commit.Short(), err)
	}
	return before, nil
}

func (w *Worktree) asCommitted(ctx context.Context, snap Snapshot, commit ID, paths []string) (Snapshot, error) {
	wanted, err := w.entriesOf(ctx, commit, paths)
	if err != nil {
		return Snapshot{}, err
	}
	before := snap
	if before.Index, err = w.indexWith(ctx, snap, wanted); err != nil {
		return Snapshot{}, err
	}
	onDisk, err := w.filtered(ctx, wanted)
	if err != nil {
		return Snapshot{}, err
	}
	before.Tree, err = w.treeWith(ctx, snap.Tree, onDisk)
	return before, err
}

// Bring brings the work between two commits to a worktree of this tool. It moves branch and index
// to the last commit, and updates each file that is as in the first. A file that is as in neither
// is somebody's: it stays, and its path is returned in left. Bring may be repeated. before is the
// working tree without the work, kept under ref.
func (w *Worktree) Bring(ctx context.Context, branchRef string, from, to ID,
	ref, subject string) (before Snapshot, left []string, err error) {
	if !w.Own {
		return before, nil, fmt.Errorf("bring %s to %q: %w", to.Short(), w.Dir, errNotOwn)
	}
	done, err := w.bring(ctx, from, to)
	if err == nil {
		err = w.resetTo(ctx, branchRef, to, "")
	}
	var now Snapshot
	if err == nil {
		now, err = w.record(ctx, subject)
	}
	if err == nil {
		before, err = w.AsCommitted(ctx, now, from, slices.Concat(done.Restored, done.Skipped), ref, subject)
	}
	if err != nil {
		return before, nil, fmt.Errorf("bring %s to %q: %w", to.Short(), w.Dir, err)
	}
	return before, done.Conflicts, nil
}

// bring updates the files for Bring.
func (w *Worktree) bring(ctx context.Context, from, to ID) (done Reverted, err error) {
	changes, err := w.repo.Changed(ctx, from, to)
	if err != nil {
		return done, err
	}
	now, err := w.record(ctx, "before work is brought")
	if err != nil {
		return done, err
	}
	paths := changedPaths(changes)
	was, err := w.asCommitted(ctx, now, from, paths)
	if err != nil {
		return done, err
	}
	is, err := w.asCommitted(ctx, now, to, paths)
	if err != nil {
		return done, err
	}
	if err := w.sweep(ctx, was, is); err != nil {
		return done, err
	}
	if changes, err = w.repo.Changed(ctx, is.Tree, was.Tree); err != nil {
		return done, err
	}
	files, err := w.openFiles()
	if err != nil {
		return done, err
	}
	defer files.Close()
	return done, files.restore(ctx, changes, &done)
}

// entriesOf returns the entries of a commit at paths. A path that the commit does not have becomes a deletion.
func (w *Worktree) entriesOf(ctx context.Context, commit ID, paths []string) ([]Change, error) {
	has, err := w.repo.Changed(ctx, w.repo.objects.EmptyTreeID(), commit)
	if err != nil {
		return nil, err
	}
	wanted := map[string]Change{}
	for _, path := range paths {
		wanted[path] = Change{Path: path}
	}
	for _, c := range has {
		if _, ok := wanted[c.Path]; ok {
			wanted[c.Path] = c
		}
	}
	maps.DeleteFunc(wanted, func(_ string, c Change) bool { return c.NewMode == ModeCommit })
	return slices.Collect(maps.Values(wanted)), nil
}

// indexWith returns the index of a snapshot with entries applied, as a blob. If the index has these
// entries already, it returns the same blob.
func (w *Worktree) indexWith(ctx context.Context, snap Snapshot, entries []Change) (ID, error) {
	index, err := snap.index(ctx, w.repo)
	if err != nil {
		return "", err
	}
	have, err := w.indexEntries(ctx, index)
	if err != nil {
		return "", err
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(c Change) bool {
		entry := ""
		if c.NewMode != "" {
			entry = fmt.Sprintf("%s %s 0", c.NewMode, c.NewID)
		}
		return have[c.Path] == entry
	})
	if len(entries) == 0 {
		return snap.Index, nil
	}
	path, done, err := w.scratchIndex(index)
	if err != nil {
		return "", err
	}
	defer done()
	if err := w.enter(ctx, path, entries); err != nil {
		return "", err
	}
	data, err := safefile.ReadFile(path)
	if err != nil {
		return "", err
	}
	return w.repo.objects.Write(ctx, "blob", data)
}

// filtered replaces the content of entries by what a checkout would write for them.
func (w *Worktree) filtered(ctx context.Context, entries []Change) ([]Change, error) {
	path, done, err := w.scratchIndex(indexFile{})
	if err != nil {
		return nil, err
	}
	defer done()
	if err := w.enter(ctx, path, entries); err != nil {
		return nil, err
	}
	dir := filepath.Join(filepath.Dir(path), "files")
	if _, err := w.gitIndex(ctx, path, nil, "checkout-index", "--all", "--prefix="+dir+"/"); err != nil {
		return nil, fmt.Errorf("check out files: %w", err)
	}
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	onDisk := slices.Clone(entries)
	files := &workFiles{root: root, repo: w.repo}
	for i, c := range onDisk {
		if c.NewMode != ModeFile && c.NewMode != ModeExecutable {
			continue
		}
		if state, err := files.state("files/" + c.Path); err == nil && state.ID == c.NewID {
			continue // no filter applies, so the file need not be read into memory
		}
		data, err := root.ReadFile("files/" + c.Path)
		if err != nil {
			return nil, fmt.Errorf("check out %q: %w", c.Path, err)
		}
		if onDisk[i].NewID, err = w.repo.objects.Write(ctx, "blob", data); err != nil {
			return nil, err
		}
	}
	return onDisk, nil
}
