package gitstore

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// changedBetween returns the changes from one snapshot to another of files in their trees or kept beside them. It
// leaves out a new file at a path in a gap of base: it may not be new.
func (r *Repo) changedBetween(ctx context.Context, base, end Snapshot) ([]Change, error) {
	inTrees, err := r.Changed(ctx, base.Tree, end.Tree)
	if err != nil {
		return nil, err
	}
	at := map[string]Change{}
	for _, c := range inTrees {
		at[c.Path] = c
	}
	for name, was := range base.rest.files {
		c := at[name]
		c.Path, c.OldMode, c.OldID = name, was.Mode, was.ID
		at[name] = c
	}
	for name, is := range end.rest.files {
		c := at[name]
		c.Path, c.NewMode, c.NewID = name, is.Mode, is.ID
		at[name] = c
	}
	changed := make([]Change, 0, len(at))
	for _, name := range slices.Sorted(maps.Keys(at)) {
		c := at[name]
		same := c.OldMode == c.NewMode && c.OldID == c.NewID
		if !same && (c.OldMode != "" || !base.rest.inGap(name)) {
			changed = append(changed, c)
		}
	}
	return changed, nil
}

// restWith returns the rest onto with the given paths as in from.
func (r *Repo) restWith(onto, from rest, paths []string) (_ rest, err error) {
	if onto.name == "" {
		return onto, nil
	}
	onto.files = withPaths(onto.files, from.files, paths)
	onto.name, err = r.writeRest(onto)
	return onto, err
}

// with returns the permissions p with those of the given paths as in from.
func (p perms) with(from perms, paths []string) perms {
	if !p.known || !from.known {
		return p
	}
	p.other = withPaths(p.other, from.other, paths)
	return p
}

// withPaths returns a copy of onto with the given paths as in from.
func withPaths[V any](onto, from map[string]V, paths []string) map[string]V {
	onto = maps.Clone(onto)
	for _, name := range paths {
		if value, ok := from[name]; ok {
			onto[name] = value
		} else {
			delete(onto, name)
		}
	}
	return onto
}

// restorePerms restores the permissions of base for files and directories that still have those of end, and creates
// removed empty directories again.
func (f *workFiles) restorePerms(job revertJob, done *Reverted) error {
	for _, name := range changedPerms(f.perms, f.were) {
		if !job.covers(name) || slices.Contains(done.Conflicts, name) {
			continue
		}
		err := f.restorePerm(name)
		switch {
		case errors.Is(err, errChanged), errors.Is(err, errInTheWay), errors.Is(err, fs.ErrPermission):
			done.conflict(name)
		case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist):
			return err
		case err == nil && !slices.Contains(done.Restored, name):
			done.Restored = append(done.Restored, name)
		}
	}
	return nil
}

// restorePerm restores the permissions at one path. fs.ErrExist means that it has them already.
func (f *workFiles) restorePerm(name string) error {
	clean, isDir := strings.CutSuffix(name, "/")
	dir, base, err := f.parent(clean, false)
	if err != nil {
		return err
	}
	defer dir.Close()
	info, err := dir.Lstat(base)
	if _, had := f.perms.other[name]; errors.Is(err, fs.ErrNotExist) && isDir && had {
		return f.mkdir(dir, base, clean)
	}
	if err != nil {
		return err
	}
	if info.IsDir() != isDir || !isDir && !info.Mode().IsRegular() {
		return fs.ErrNotExist // something else is there; restore has handled it
	}
	mode := permMode(name, info.Mode())
	switch info.Mode().Perm() {
	case f.perms.of(name, mode):
		return fs.ErrExist
	case f.were.of(name, mode):
		return dir.Chmod(base, f.perms.of(name, mode))
	}
	return errChanged
}
