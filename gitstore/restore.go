package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// RestoreSpec says which files of a snapshot to restore.
type RestoreSpec struct {
	From   Snapshot
	Paths  []string // files and directories, slash-separated; empty: all
	Staged bool     // restore what was staged instead of the files
	Op     Operation
}

// Restore restores files of a snapshot in the working tree, byte for byte, or with Staged the
// entries of the index. Files that the snapshot does not have stay, unless they are in the place of
// a restored file. Restore first records what it overwrites, so that Undo brings it back. What it
// cannot record, such as an ignored file or a nested repository, is a conflict and is left alone.
// It returns ErrNotFound if the snapshot has nothing at one of the paths.
func (w *Worktree) Restore(ctx context.Context, spec RestoreSpec) (done Reverted, err error) {
	defer wrap(&err, "restore")
	wanted, err := w.repo.snapshotFiles(ctx, spec)
	if err != nil {
		return Reverted{}, err
	}
	now, err := w.Snapshot(ctx, "", spec.Op.String()+" (before)", Since(spec.From))
	if err != nil {
		return Reverted{}, err
	}
	base := now
	if spec.Staged {
		base.Index, err = w.indexWith(ctx, now, wanted)
	} else {
		err = w.takeWanted(ctx, &base, spec.From, wanted)
	}
	if err == nil {
		err = w.writeSnapshot(ctx, &base, spec.Op.String()+" (wanted)")
	}
	if err != nil {
		return Reverted{}, err
	}
	return w.Revert(ctx, base, now, Because(spec.Op.String()))
}

// takeWanted replaces files of base by those of another snapshot.
func (w *Worktree) takeWanted(ctx context.Context, base *Snapshot, from Snapshot, wanted []Change) (err error) {
	paths := changedPaths(wanted)
	inTree := each.Where(wanted, func(c Change) bool { return from.rest.files[c.Path].ID == "" })
	if base.Tree, err = w.treeWith(ctx, base.Tree, inTree); err != nil {
		return err
	}
	base.perms = base.perms.with(from.perms, paths)
	base.rest, err = w.repo.restWith(base.rest, from.rest, paths)
	return err
}

// snapshotFiles returns the files to restore, each as an added file.
func (r *Repo) snapshotFiles(ctx context.Context, spec RestoreSpec) ([]Change, error) {
	tree := spec.From.Tree
	if spec.Staged {
		var err error
		if tree, err = r.stagedTree(ctx, spec.From); err != nil {
			return nil, err
		}
	}
	files, err := r.Changed(ctx, r.objects.EmptyTreeID(), tree)
	if err != nil {
		return files, err
	}
	if !spec.Staged {
		for name, file := range spec.From.rest.files {
			files = append(files, Change{Path: name, NewMode: file.Mode, NewID: file.ID})
		}
	}
	if len(spec.Paths) == 0 {
		return files, nil
	}
	files = slices.DeleteFunc(files, func(c Change) bool {
		return !slices.ContainsFunc(spec.Paths, func(p string) bool { return covers(p, c.Path) })
	})
	for _, p := range spec.Paths {
		if !slices.ContainsFunc(files, func(c Change) bool { return covers(p, c.Path) }) {
			return nil, NotFoundf("%q is not in snapshot %s", p, spec.From.ID.Short())
		}
	}
	return files, nil
}

// covers reports whether a path is dir or below it. "." is the top.
func covers(dir, name string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// stagedTree returns the tree of what was staged. It returns ErrNotFound if there was no
// index, and ErrUnmerged if the index had unmerged paths.
func (r *Repo) stagedTree(ctx context.Context, snap Snapshot) (ID, error) {
	index, err := snap.index(ctx, r)
	if err == nil && index.data == nil {
		err = NotFoundf("snapshot %s has no index", snap.ID.Short())
	}
	if err != nil {
		return "", err
	}
	return r.worktreeAt(r.WorkTree, r.GitDir).treeOfIndex(ctx, index, nil)
}

// RestoreTo writes files of a snapshot below a directory, which it creates if needed. A file
// that exists with another content is a conflict and is left alone, as is a nested
// repository.
func (r *Repo) RestoreTo(ctx context.Context, dir string, spec RestoreSpec) (done Reverted, err error) {
	defer wrap(&err, "restore")
	wanted, err := r.snapshotFiles(ctx, spec)
	if err != nil {
		return done, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return done, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return done, err
	}
	files := &workFiles{root: root, repo: r, lazy: true,
		perms: perms{known: spec.From.perms.known, other: spec.From.perms.other}}
	defer func() { err = errors.Join(err, files.Close()) }()
	for i, c := range wanted {
		wanted[i] = Change{Path: c.Path, OldMode: c.NewMode, OldID: c.NewID}
	}
	return done, files.restore(ctx, wanted, &done)
}

// FindSnapshot finds a snapshot by its ref, with or without the common prefix of all snapshot
// refs, or by its id or a unique prefix of the id of at least four digits. It returns ErrNotFound
// if there is none or more than one.
func (r *Repo) FindSnapshot(ctx context.Context, name string) (Snapshot, error) {
	refs, err := r.Refs(ctx, snapshotPrefix)
	if err != nil {
		return Snapshot{}, fmt.Errorf("find snapshot: %w", err)
	}
	if id := refs[snapshotPrefix+strings.TrimPrefix(name, snapshotPrefix)]; id != "" {
		return r.ReadSnapshot(ctx, id)
	}
	if r.objects.ValidID(ID(name)) {
		return r.ReadSnapshot(ctx, ID(name))
	}
	found := slices.Compact(slices.Sorted(maps.Values(refs)))
	found = slices.DeleteFunc(found, func(id ID) bool { return !strings.HasPrefix(string(id), name) })
	switch {
	case len(name) < 4 || !odb.IsHex(name) || len(found) == 0:
		return Snapshot{}, NotFoundf("there is no snapshot %q", name)
	case len(found) > 1:
		return Snapshot{}, NotFoundf("%d snapshots begin with %q", len(found), name)
	}
	return r.ReadSnapshot(ctx, found[0])
}
