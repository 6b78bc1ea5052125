package gitstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// Changed lists the paths that differ between two trees or commits, in the order of
// `git diff-tree -r`: without renames, and with directories replaced by what they hold.
// If paths are given, it lists only what is one of them or below one; "" and "." are the top.
// It reads the trees itself and starts no process.
func (r *Repo) Changed(ctx context.Context, a, b ID, paths ...string) ([]Change, error) {
	d := treeDiff{ctx: ctx, repo: r}
	from, err := d.treeOf(a)
	to := from
	if err == nil {
		to, err = d.treeOf(b)
	}
	if err == nil {
		err = d.compare("", from, to)
	}
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", a.Short(), b.Short(), err)
	}
	if len(paths) == 0 {
		return d.changes, nil
	}
	return each.Where(d.changes, func(c Change) bool {
		return slices.ContainsFunc(paths, func(p string) bool {
			return covers(cmp.Or(strings.TrimSuffix(p, "/"), "."), c.Path)
		})
	}), nil
}

// ChangedOnDisk is Changed for trees that record files as they are on disk. Like git, it ignores the mode of a file
// if core.fileMode is false.
func (r *Repo) ChangedOnDisk(ctx context.Context, a, b ID) ([]Change, error) {
	changes, err := r.Changed(ctx, a, b)
	if r.Config.Get("core.filemode") == "" || r.Config.Bool("core.filemode") {
		return changes, err
	}
	return slices.DeleteFunc(changes, func(c Change) bool {
		return c.OldID == c.NewID && c.OldMode != ModeSymlink && c.NewMode != ModeSymlink
	}), err
}

// treeDiff collects the differences of two trees.
type treeDiff struct {
	ctx     context.Context
	repo    *Repo
	changes []Change
}

// treeOf returns the tree of a tree or commit. Git knows the empty tree even where no
// object of it exists.
func (d *treeDiff) treeOf(id ID) (ID, error) {
	if id == d.repo.objects.EmptyTreeID() {
		return id, nil
	}
	return d.repo.refs.TreeOf(d.ctx, id)
}

// read returns the entries of a tree. The id "" means a directory that one side lacks.
func (d *treeDiff) read(tree ID) ([]odb.TreeEntry, error) {
	if tree == "" || tree == d.repo.objects.EmptyTreeID() {
		return nil, nil
	}
	return d.repo.objects.ReadTree(d.ctx, tree)
}

// compare appends the differences below two directories with the path dir, which is "" or ends in a
// slash. Both are in git's order, so that one pass pairs their entries.
func (d *treeDiff) compare(dir string, from, to ID) error {
	if from == to {
		return d.ctx.Err()
	}
	old, err := d.read(from)
	if err != nil {
		return err
	}
	now, err := d.read(to)
	if err != nil {
		return err
	}
	for len(old) > 0 || len(now) > 0 {
		var was, is odb.TreeEntry
		order := 0
		switch {
		case len(now) == 0:
			order = -1
		case len(old) == 0:
			order = 1
		default:
			order = odb.CompareEntries(old[0], now[0])
		}
		if order <= 0 {
			was, old = old[0], old[1:]
		}
		if order >= 0 {
			is, now = now[0], now[1:]
		}
		if err := d.entry(dir, was, is); err != nil {
			return err
		}
	}
	return nil
}

// entry appends the differences of two entries with the same name. The zero entry means that one
// side lacks the name. A file and a directory of one name are never paired, because git's order
// separates them.
func (d *treeDiff) entry(dir string, was, is odb.TreeEntry) error {
	path := dir + cmp.Or(was.Name, is.Name)
	if was.IsTree() || is.IsTree() {
		return d.compare(path+"/", was.ID, is.ID)
	}
	c := Change{Path: path, OldMode: blobMode(was.Mode), NewMode: blobMode(is.Mode), OldID: was.ID, NewID: is.ID}
	switch {
	case c.OldMode == c.NewMode && c.OldID == c.NewID:
		return nil
	case c.OldMode == "":
		c.Status = "A"
	case c.NewMode == "":
		c.Status = "D"
	case c.OldMode[:2] != c.NewMode[:2]:
		c.Status = "T"
	default:
		c.Status = "M"
	}
	d.changes = append(d.changes, c)
	return nil
}

// blobMode returns the mode that git shows for an entry that is not a directory. Old programs
// wrote other permissions, such as 100664. "" stays "".
func blobMode(mode string) string {
	bits, err := strconv.ParseUint(mode, 8, 32)
	switch {
	case err != nil || mode == ModeSymlink || mode == ModeCommit:
		return mode
	case bits>>12 != 0o10:
		return ModeCommit
	case bits&0o100 != 0:
		return ModeExecutable
	}
	return ModeFile
}

// raw returns the change as `git diff-tree --raw` prints it before its path.
func (c Change) raw(zero ID) string {
	return fmt.Sprintf(":%s %s %s %s %s", cmp.Or(c.OldMode, "000000"), cmp.Or(c.NewMode, "000000"), cmp.Or(c.OldID, zero),
		cmp.Or(c.NewID, zero), c.Status)
}
