package gitstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// snapshotPrefix is the prefix of the refs of kept snapshots.
const snapshotPrefix = "refs/runr-local/snapshots/"

// SnapshotInfo is one snapshot in a list.
type SnapshotInfo struct {
	ID    ID
	Name  string    // its ref below refs/runr-local/snapshots/
	When  time.Time // in whole seconds
	Why   string    // the subject with which it was taken
	Head  ID        // the commit of HEAD, "" before the first commit
	Files int       // number of files that differ from Head; -1 if objects are missing or damaged
	Bytes int64     // size of those files
	Err   error     // why it cannot be read, or nil
}

// Snapshots lists the snapshots that this clone keeps, newest first. Files and Bytes compare the
// content on disk. In a repository with filters or converted line ends they include what
// those change.
func (r *Repo) Snapshots(ctx context.Context) ([]SnapshotInfo, error) {
	refs, err := r.Refs(ctx, snapshotPrefix)
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	list := make([]SnapshotInfo, 0, len(refs))
	trees := make([]ID, 0, len(refs))
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		info, tree := r.snapshotInfo(ctx, refs[ref])
		info.Name = strings.TrimPrefix(ref, snapshotPrefix)
		list, trees = append(list, info), append(trees, tree)
	}
	err = r.measure(ctx, list, trees)
	for i := range list {
		if err != nil || list[i].Err != nil {
			list[i].Files, list[i].Bytes = -1, 0
		}
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("list snapshots: %w", ctx.Err())
	}
	slices.SortStableFunc(list, func(a, b SnapshotInfo) int {
		return cmp.Or(b.When.Compare(a.When), cmp.Compare(b.Name, a.Name))
	})
	return list, nil
}

// SnapshotRoom returns how many bytes of git's objects only snapshots need, or -1 if that is unknown.
func (r *Repo) SnapshotRoom(ctx context.Context) int64 {
	out, err := r.dir.Git(ctx, "rev-list", "--objects", "--disk-usage", "--glob="+snapshotPrefix+"*", "--not",
		"--branches", "--tags", "--remotes")
	size, badSize := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if cmp.Or(err, badSize) != nil {
		return -1
	}
	return size
}

// snapshotInfo reads a snapshot for a list. A damaged snapshot gets the empty tree.
func (r *Repo) snapshotInfo(ctx context.Context, id ID) (info SnapshotInfo, tree ID) {
	info = SnapshotInfo{ID: id}
	var commit Commit
	if commit, info.Err = r.ReadCommit(ctx, id); info.Err != nil {
		return info, r.objects.EmptyTreeID()
	}
	info.When = commit.CommitterWhen.UTC()
	info.Why, _, _ = strings.Cut(commit.Message, "\n")
	var snap Snapshot
	if snap, info.Err = r.ReadSnapshot(ctx, id); info.Err != nil {
		return info, r.objects.EmptyTreeID()
	}
	info.Head = snap.Head
	return info, snap.Tree
}

// measure counts the files of each snapshot that differ from its commit, and their bytes. One git
// process finds all sizes.
func (r *Repo) measure(ctx context.Context, list []SnapshotInfo, trees []ID) error {
	blobs := make([][]ID, len(list))
	for i := range list {
		changes, err := r.Changed(ctx, r.headHere(ctx, list[i].Head), trees[i])
		if err != nil {
			return err
		}
		for _, c := range changes {
			if c.NewMode == ModeCommit {
				c.NewID = ""
			}
			blobs[i] = append(blobs[i], c.NewID)
		}
	}
	sizes, err := r.blobSizes(ctx, slices.Concat(blobs...))
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Files = len(blobs[i])
		for _, id := range blobs[i] {
			list[i].Bytes += sizes[id]
		}
	}
	return nil
}

// headHere returns the tree of a snapshot's commit, or the empty tree if that commit
// is not in this clone.
func (r *Repo) headHere(ctx context.Context, head ID) ID {
	tree, err := r.refs.TreeOf(ctx, r.orEmptyTree(head))
	if err != nil {
		return r.objects.EmptyTreeID()
	}
	return tree
}

// blobSizes returns the sizes of blobs in bytes. A missing blob has size 0; ids that are "" are ignored.
func (r *Repo) blobSizes(ctx context.Context, ids []ID) (map[ID]int64, error) {
	sizes := map[ID]int64{}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	list := strings.TrimPrefix(odb.IDLines(ids), "\n") // without ""
	if list == "" {
		return sizes, nil
	}
	out, err := r.dir.GitIn(ctx, []byte(list), "cat-file", "--batch-check=%(objectname) %(objectsize)")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		id, size, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		sizes[ID(id)], _ = strconv.ParseInt(size, 10, 64) // "missing" gives 0
	}
	return sizes, nil
}
