package landing

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Snapshots returns the snapshots that this clone keeps, newest first. If run is not "", it returns only those taken
// for that run.
func Snapshots(ctx context.Context, s *store.Store, run string) ([]gitstore.SnapshotInfo, error) {
	all, err := s.Repo.Snapshots(ctx)
	if err != nil || run == "" {
		return all, err
	}
	found, err := s.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(snap gitstore.SnapshotInfo) bool {
		given := found.Plan.Context != nil && snap.ID == found.Plan.Context.Snapshot
		return !given && !strings.HasPrefix(snap.Name, found.ID+"/") && !strings.Contains(snap.Why, found.ID)
	}), nil
}

// FindSnapshot finds a snapshot by its id or ref, as gitstore does, or by RUN/NAME: the snapshot of the run with that
// name, or, if NAME is the number of an attempt, the state that the attempt left.
func FindSnapshot(ctx context.Context, s *store.Store, name string) (gitstore.Snapshot, error) {
	snap, err := s.Repo.FindSnapshot(ctx, name)
	typed, rest, ok := strings.Cut(name, "/")
	if !errors.Is(err, gitstore.ErrNotFound) || !ok {
		return snap, err
	}
	run, runErr := s.Run(ctx, typed)
	if runErr != nil {
		return snap, err
	}
	list, listErr := Snapshots(ctx, s, run.ID)
	if listErr != nil {
		return snap, listErr
	}
	for _, info := range list {
		below, of := strings.CutPrefix(info.Name, run.ID+"/")
		if of && (below == rest || strings.HasPrefix(below, rest+"-") && !strings.HasPrefix(below, rest+"-before")) {
			return s.Repo.ReadSnapshot(ctx, info.ID)
		}
	}
	return snap, gitstore.NotFoundf("run %s has no snapshot %q", run.ID, rest)
}

// Restored is the result of a restore. Finished is as in Undone.
type Restored struct {
	gitstore.Reverted
	From     gitstore.Snapshot
	Finished []gitstore.Reverted
}

// Restore restores files of the named snapshot in the working tree in which the repository was opened. See
// gitstore.Worktree.Restore.
func Restore(ctx context.Context, s *store.Store, name string, paths []string, staged bool) (done Restored, err error) {
	tree, err := s.Repo.Checkout()
	if err != nil {
		return done, err
	}
	free, err := workspace.HoldCheckout(s, tree)
	if err != nil {
		return done, err
	}
	defer free()
	if done.From, err = FindSnapshot(ctx, s, name); err != nil {
		return done, err
	}
	if done.Finished, err = SettleTree(ctx, s, tree); err != nil {
		return done, err
	}
	op := gitstore.Operation{Kind: gitstore.OpRestore, What: "of snapshot " + done.From.ID.Short()}
	done.Reverted, err = tree.Restore(ctx, gitstore.RestoreSpec{From: done.From, Paths: paths, Staged: staged, Op: op})
	return done, err
}

// RestoreTo writes files of a snapshot below a directory. See gitstore.Repo.RestoreTo.
func RestoreTo(ctx context.Context, s *store.Store, dir, name string, paths []string,
	staged bool) (done Restored, err error) {
	if done.From, err = FindSnapshot(ctx, s, name); err != nil {
		return done, err
	}
	done.Reverted, err = s.Repo.RestoreTo(ctx, dir, gitstore.RestoreSpec{From: done.From, Paths: paths, Staged: staged})
	return done, err
}
