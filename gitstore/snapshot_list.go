package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// snapshotPrefix is below where snapshots that are kept have their refs.
const snapshotPrefix = "refs/runr-local/snapshots/"

// SnapshotInfo is a snapshot in a list.
type SnapshotInfo struct {
	ID    ID
	Name  string    // its ref below refs/runr-local/snapshots/
	When  time.Time // in whole seconds
	Why   string    // the subject that it was taken with
	Head  ID        // what HEAD was at, "" before the first commit
	Files int       // that differ from that commit; -1 when objects are missing or damaged
	Bytes int64     // of those files
	Err   error     // why it cannot be read, nil for a sound one
}

// Snapshots are those that this clone keeps, newest first. Files and Bytes count
// content as it lies on disk, so in a repository with filters or converted line ends
// also what those change.
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

// snapshotInfo reads a snapshot for a list; one that is damaged has the empty tree.
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

// measure counts what each snapshot has that its commit has not: one process finds
// the files of all, and one their sizes.
func (r *Repo) measure(ctx context.Context, list []SnapshotInfo, trees []ID) error {
	var pairs strings.Builder
	for i := range list {
		head, err := r.refs.TreeOf(ctx, r.orEmptyTree(list[i].Head))
		if err != nil {
			head = r.objects.EmptyTreeID() // the commit is not in this clone
		}
		fmt.Fprintf(&pairs, "%s %s\n", head, trees[i])
	}
	if len(list) == 0 {
		return nil
	}
	out, err := r.dir.GitIn(ctx, []byte(pairs.String()), "diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff")
	if err != nil {
		return err
	}
	blobs, err := parsePairs(out, len(list))
	if err != nil {
		return err
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

// parsePairs reads what diff-tree says of n pairs of trees: a line of the two, then
// the changes, each as two items that end with NUL. Of each pair it gives the new
// blobs, "" for a file that is gone.
func parsePairs(out []byte, n int) ([][]ID, error) {
	blobs := make([][]ID, 0, n)
	for len(out) > 0 {
		if out[0] != ':' { // a new pair; git ends the line of trees with a line feed, also under -z
			_, rest, ok := bytes.Cut(out, []byte("\n"))
			if !ok {
				return nil, fmt.Errorf("git answered %q", out)
			}
			blobs, out = append(blobs, nil), rest
			continue
		}
		head, rest, _ := bytes.Cut(out, []byte{0})
		_, rest, ok := bytes.Cut(rest, []byte{0})
		fields := strings.Fields(string(head))
		if !ok || len(fields) != 5 || len(blobs) == 0 {
			return nil, fmt.Errorf("git answered %q", head)
		}
		id := ID(present(fields[3]))
		if fields[1] == ModeCommit {
			id = ""
		}
		last := len(blobs) - 1
		blobs[last], out = append(blobs[last], id), rest
	}
	if len(blobs) != n {
		return nil, fmt.Errorf("git answered for %d of %d pairs", len(blobs), n)
	}
	return blobs, nil
}

// blobSizes asks for the sizes of blobs in bytes; "" has none, nor has one that is missing.
func (r *Repo) blobSizes(ctx context.Context, ids []ID) (map[ID]int64, error) {
	sizes := map[ID]int64{}
	var list strings.Builder
	for _, id := range ids {
		if _, ok := sizes[id]; !ok && id != "" {
			sizes[id] = 0
			list.WriteString(string(id) + "\n")
		}
	}
	if list.Len() == 0 {
		return sizes, nil
	}
	out, err := r.dir.GitIn(ctx, []byte(list.String()), "cat-file", "--batch-check=%(objectname) %(objectsize)")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		id, size, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		sizes[ID(id)], _ = strconv.ParseInt(size, 10, 64) // "missing" is 0
	}
	return sizes, nil
}
