package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// RestoreSpec says which files of a snapshot to put back.
type RestoreSpec struct {
	From   Snapshot
	Paths  []string // files and directories, slash-separated; none is all of them
	Staged bool     // what was staged, not what the files held
	Op     Operation
}

// Restore puts files of a snapshot back into the working tree, as they were byte for
// byte; with Staged the entries of the index instead. What the snapshot has not stays,
// unless it is in the place of a file that comes back. What is overwritten is recorded
// first, so that Undo brings it back; what could not be recorded, such as an ignored
// file or a nested repository, is a conflict and is left alone. It is ErrNotFound when
// the snapshot has nothing at one of the paths.
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

// takeWanted makes files of base what they are in another snapshot.
func (w *Worktree) takeWanted(ctx context.Context, base *Snapshot, from Snapshot, wanted []Change) (err error) {
	paths := changedPaths(wanted)
	inTree := slices.DeleteFunc(slices.Clone(wanted), func(c Change) bool { _, kept := from.rest.files[c.Path]; return kept })
	if base.Tree, err = w.treeWith(ctx, base.Tree, inTree); err != nil {
		return err
	}
	base.perms = base.perms.with(from.perms, paths)
	base.rest, err = w.repo.restWith(base.rest, from.rest, paths)
	return err
}

// snapshotFiles are the files that are to be put back, each as a change from nothing.
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
	found := map[string]bool{}
	files = slices.DeleteFunc(files, func(c Change) bool {
		at := slices.IndexFunc(spec.Paths, func(p string) bool { return covers(p, c.Path) })
		if at >= 0 {
			found[spec.Paths[at]] = true
		}
		return at < 0
	})
	for _, p := range spec.Paths {
		if !found[p] && !slices.ContainsFunc(files, func(c Change) bool { return covers(p, c.Path) }) {
			return nil, fmt.Errorf("%q is not in snapshot %s: %w", p, spec.From.ID.Short(), ErrNotFound)
		}
	}
	return files, nil
}

// covers reports whether a path is dir or below it; "." is the top.
func covers(dir, name string) bool {
	dir = strings.TrimSuffix(dir, "/")
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// stagedTree is the tree of what was staged. It is ErrNotFound when there was no
// index, and ErrConflict when a merge was not finished in it.
func (r *Repo) stagedTree(ctx context.Context, snap Snapshot) (ID, error) {
	index, err := snap.index(ctx, r)
	if err == nil && index.data == nil {
		err = fmt.Errorf("snapshot %s has no index: %w", snap.ID.Short(), ErrNotFound)
	}
	if err != nil {
		return "", err
	}
	return r.worktreeAt(r.WorkTree, r.GitDir).treeOfIndex(ctx, index, nil)
}

// RestoreTo writes files of a snapshot below a directory, which is made when it is
// missing. A file that is there already with another content is a conflict, as is a
// nested repository: it is left alone.
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
	files := &workFiles{root: root, repo: r, lazy: true, perms: perms{known: spec.From.perms.known, other: spec.From.perms.other}}
	defer func() { err = errors.Join(err, files.Close()) }()
	for i, c := range wanted {
		wanted[i] = Change{Path: c.Path, OldMode: c.NewMode, OldID: c.NewID}
	}
	return done, files.restore(ctx, wanted, &done)
}

// FindSnapshot finds a snapshot by its ref, with or without what all their refs begin
// with, or by its id, of which any beginning that no other snapshot shares will do from
// four digits on. It is ErrNotFound when there is none, and when there is more than one.
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
	found := map[ID]bool{}
	if len(name) >= 4 && odb.IsHex(name) {
		for _, id := range refs {
			if strings.HasPrefix(string(id), name) {
				found[id] = true
			}
		}
	}
	if len(found) > 1 {
		return Snapshot{}, fmt.Errorf("%d snapshots begin with %q: %w", len(found), name, ErrNotFound)
	}
	for id := range found {
		return r.ReadSnapshot(ctx, id)
	}
	return Snapshot{}, fmt.Errorf("there is no snapshot %q: %w", name, ErrNotFound)
}
