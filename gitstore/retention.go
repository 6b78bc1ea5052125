package gitstore

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// OldOperations returns the refs of operations that were recorded before then and are not among
// the newest keep of this clone, and by the same rule the refs of snapshots around landings and
// reverts. Without these refs the operations cannot be undone. It leaves out what a killed process
// still needs.
func (r *Repo) OldOperations(ctx context.Context, then time.Time, keep int) ([]string, error) {
	begun, err := r.Refs(ctx, journalPrefix)
	if err != nil {
		return nil, fmt.Errorf("list operations: %w", err)
	}
	old := []string{}
	for _, prefix := range []string{undoPrefix, landedPrefix, revertedPrefix} {
		refs, err := r.Refs(ctx, prefix)
		if err != nil {
			return nil, fmt.Errorf("list operations: %w", err)
		}
		groups := map[string]*refGroup{}
		for ref, id := range refs {
			name := strings.TrimSuffix(strings.TrimSuffix(ref, "-before"), "-after")
			if begun[journalPrefix+strings.TrimPrefix(name, prefix)] != "" {
				continue
			}
			if groups[name] == nil {
				groups[name] = &refGroup{}
			}
			groups[name].refs = append(groups[name].refs, ref)
			commit, _ := r.ReadCommit(ctx, id) // one that cannot be read has no time
			if commit.CommitterWhen.After(groups[name].when) {
				groups[name].when = commit.CommitterWhen
			}
		}
		old = append(old, oldest(slices.Collect(maps.Values(groups)), then, keep)...)
	}
	slices.Sort(old)
	return old, nil
}

// refGroup is a group of refs that are kept or dropped together.
type refGroup struct {
	refs []string
	when time.Time // time of the newest ref
}

// oldest returns the refs of the groups from before then that are not among the newest keep, and of
// unreadable groups: these restore nothing, and they make git's own gc fail.
func oldest(groups []*refGroup, then time.Time, keep int) []string {
	slices.SortFunc(groups, func(a, b *refGroup) int { return b.when.Compare(a.when) })
	var refs []string
	for i, g := range groups {
		if (i >= keep || g.when.IsZero()) && g.when.Before(then) {
			refs = append(refs, g.refs...)
		}
	}
	return refs
}

// DropKept removes kept ignored files that no snapshot needs any more. It spares files of the last hour, which may
// belong to a snapshot in progress. It removes nothing if a snapshot cannot be read.
func (r *Repo) DropKept(ctx context.Context) error {
	files, err := filepath.Glob(filepath.Join(gitdir.GlobQuote(r.StateDir()), keptDir, "*", "*"))
	if err != nil || len(files) == 0 {
		return err
	}
	needed, err := r.keptBySnapshots(ctx)
	if err != nil {
		return nil
	}
	for _, file := range files {
		info, err := os.Lstat(file)
		id := ID(filepath.Base(filepath.Dir(file)) + filepath.Base(file))
		if err != nil || needed[id] || time.Since(info.ModTime()) < time.Hour {
			continue
		}
		if err := gitdir.RemoveIfThere(file); err != nil {
			return fmt.Errorf("drop kept files: %w", err)
		}
	}
	return nil
}

// KeptBytes returns how many bytes the ignored files take that snapshots keep.
func (r *Repo) KeptBytes() (total int64) {
	files, _ := filepath.Glob(filepath.Join(gitdir.GlobQuote(r.StateDir()), keptDir, "*", "*"))
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil {
			total += info.Size()
		}
	}
	return total
}

// keptBySnapshots returns the kept files that snapshots need: snapshots with a ref, and those before and after an
// operation or in a journal.
func (r *Repo) keptBySnapshots(ctx context.Context) (map[ID]bool, error) {
	needed := map[ID]bool{}
	for _, prefix := range []string{snapshotPrefix, undoPrefix, journalPrefix} {
		refs, err := r.Refs(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for _, id := range refs {
			snapshots := []ID{id}
			if prefix != snapshotPrefix {
				commit, err := r.ReadCommit(ctx, id)
				if err != nil {
					return nil, err
				}
				snapshots = commit.Parents
			}
			for _, id := range snapshots {
				snap, err := r.ReadSnapshot(ctx, id)
				if err != nil {
					return nil, err
				}
				needed[ID(snap.rest.name)] = true
				for _, file := range snap.rest.files {
					needed[file.ID] = true
				}
			}
		}
	}
	return needed, nil
}
