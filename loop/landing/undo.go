package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Undone is the result of an undo.
type Undone struct {
	Took gitstore.Recorded // the operation that was undone
	// Done says how; its Operation is the undo itself, which can be undone too.
	Done gitstore.Reverted
	// Earlier says that nothing had to be changed, and that there is an operation before it to undo.
	Earlier bool
	// Finished lists operations of killed processes that were finished. If there are any, nothing else was undone.
	Finished []gitstore.Reverted
}

// Added returns the files that the operation had added.
func (u Undone) Added(ctx context.Context, s *store.Store) map[string]bool {
	added := map[string]bool{}
	before, after, err := ends(ctx, s, u.Took)
	if err != nil {
		return added
	}
	changes, _ := s.Repo.Changed(ctx, before.Tree, after.Tree)
	for _, c := range changes {
		added[c.Path] = c.OldMode == ""
	}
	return added
}

// Moved returns where a branch moved, or "" if none did, and whether a remote still has what landed.
func (u Undone) Moved(ctx context.Context, s *store.Store) string {
	now, err := s.Repo.ReadSnapshot(ctx, u.Took.Before)
	if err != nil || u.Took.Kind != gitstore.OpLand {
		return ""
	}
	at := "without a commit"
	if now.Head != "" {
		at = "at " + now.Head.Short()
	}
	text := cmp.Or(strings.TrimPrefix(now.HeadRef, "refs/heads/"), "HEAD") + " is " + at + " again"
	if was, err := s.Repo.ReadSnapshot(ctx, u.Took.After); err == nil && was.Head != "" && !u.Took.Undoes {
		if pushed, err := s.Repo.OnRemote(ctx, was.Head); err == nil && pushed {
			text += "; a branch of a remote still has " + was.Head.Short()
		}
	}
	return text
}

// Undo reverses the newest operation on the working tree in which the repository was opened, or on a run's working
// tree: a landing, a revert, a restore, the revert of a resumed run, or the undo of one of these. run names a run or is
// "". Undo returns gitstore.ErrNotFound if there is nothing to undo, and gitstore.ErrConflict, with nothing changed, if
// the branch has new commits. It leaves files alone that were changed since; these are in Done.Conflicts.
func Undo(ctx context.Context, s *store.Store, run string) (Undone, error) {
	if run != "" {
		found, err := s.Run(ctx, run)
		if err != nil {
			return Undone{}, err
		}
		run = found.ID
	}
	tree, err := treeToUndo(ctx, s, run)
	if err != nil {
		return Undone{}, err
	}
	if tree != nil {
		free, err := workspace.HoldCheckout(s, tree)
		if err != nil {
			return Undone{}, err
		}
		defer free()
	}
	finished, err := SettleTree(ctx, s, tree)
	if err != nil || len(finished) > 0 {
		return Undone{Finished: finished}, err
	}
	return undoNewest(ctx, s, tree, run)
}

// treeToUndo returns the working tree in which the repository was opened, or the run's own one if only that has an
// operation of the run. It returns nil in a bare repository.
func treeToUndo(ctx context.Context, s *store.Store, run string) (*gitstore.Worktree, error) {
	tree, err := workspace.Checkout(s)
	if err != nil || run == "" {
		return tree, err
	}
	here, err := newest(ctx, s.Repo, run)
	if err != nil || here != nil {
		return tree, err
	}
	own, err := s.Repo.OpenWorktree(ctx, workspace.TreeDir(s, run))
	if errors.Is(err, gitstore.ErrNotFound) {
		return tree, nil
	}
	return own, err
}

func undoNewest(ctx context.Context, s *store.Store, tree *gitstore.Worktree, run string) (Undone, error) {
	repo := s.Repo
	if tree != nil {
		repo = tree.Repo()
	}
	op, err := newest(ctx, repo, run)
	if err != nil {
		return Undone{}, err
	}
	if op == nil {
		return Undone{}, nothingToUndo(ctx, s, run)
	}
	if op.Undoes && op.Run != "" { // it would land again
		run, err := s.Run(ctx, op.Run)
		if err != nil && !errors.Is(err, gitstore.ErrNotFound) {
			return Undone{}, err
		}
		if err == nil && run.Status == record.RunAborted {
			return Undone{}, &record.StateError{What: "run " + run.ID, Status: "aborted", Cannot: "landed again"}
		}
	}
	done, err := undoOne(ctx, s, repo, tree, *op)
	undone := Undone{Took: *op, Done: done}
	if err == nil && done.Operation.Name == "" && len(done.Conflicts) == 0 {
		err = gitstore.ErrNoChange // its files are as they were before it
	}
	if !errors.Is(err, gitstore.ErrNoChange) {
		return undone, err
	}
	// It never happened, or was undone by hand. Without its record the next undo takes the operation before it.
	if err = repo.DropOperation(ctx, *op); err != nil {
		return undone, err
	}
	earlier, err := newest(ctx, repo, run)
	undone.Earlier = earlier != nil
	return undone, errors.Join(err, recordLanding(ctx, s, op.TakenBack()))
}

func undoOne(ctx context.Context, s *store.Store, repo *gitstore.Repo, tree *gitstore.Worktree,
	op gitstore.Recorded) (done gitstore.Reverted, err error) {
	unlock, err := workspace.HoldRun(s, op.Run)
	if err != nil {
		return done, err
	}
	defer unlock()
	if op.Branch != "" {
		done.Operation, err = repo.UndoBranch(ctx, op)
	} else {
		done, err = tree.Undo(ctx, op)
	}
	if err != nil {
		return done, err
	}
	return done, recordLanding(ctx, s, done.Operation)
}

// nothingToUndo returns an error that says where else there may be something to undo.
func nothingToUndo(ctx context.Context, s *store.Store, run string) error {
	if run == "" {
		return gitstore.NotFoundf("there is nothing to undo in this working tree")
	}
	all, err := s.Repo.AllOperations(ctx)
	if err != nil {
		return err
	}
	for _, op := range all {
		if op.Run == run {
			return fmt.Errorf("run %s was landed or reverted in another worktree (%s): %w", run,
				strings.TrimSuffix(op.Name[:strings.LastIndex(op.Name, "/")], "/"), gitstore.ErrNotFound)
		}
	}
	return gitstore.NotFoundf("there is nothing to undo for run %s", run)
}

// Settle finishes operations that killed processes began in the working tree in which the repository was opened, and
// returns them. Usually there are none.
func Settle(ctx context.Context, s *store.Store) ([]gitstore.Reverted, error) {
	tree, err := workspace.Checkout(s)
	if err != nil {
		return nil, err
	}
	return SettleTree(ctx, s, tree)
}

// SettleTree is Settle for one working tree, which may be nil.
func SettleTree(ctx context.Context, s *store.Store, tree *gitstore.Worktree) ([]gitstore.Reverted, error) {
	if tree == nil {
		return nil, nil
	}
	finished, err := tree.FinishReverts(ctx)
	for _, done := range finished {
		if err == nil && done.Operation.Name != "" {
			err = recordLanding(ctx, s, done.Operation)
		}
	}
	return finished, err
}

// Unfinished returns the operations that killed processes began in the working tree in which the repository was opened,
// and that are not finished.
func Unfinished(ctx context.Context, s *store.Store) ([]gitstore.Operation, error) {
	tree, err := workspace.Checkout(s)
	if tree == nil || err != nil {
		return nil, err
	}
	return tree.Unfinished(ctx)
}

// FinishedText describes in one line how the operation of a killed process was finished.
func FinishedText(done gitstore.Reverted) string {
	op, left := done.Operation, ""
	if len(done.Conflicts) > 0 {
		left = "; left alone, changed since: " + strings.Join(done.Conflicts, ", ")
		if op.Before != "" {
			left += "; to get back what was there before: git runr undo --to " + op.Before.Short() + " --into DIR"
		}
	}
	switch {
	case done.Left:
		return fmt.Sprintf(
			"%s was interrupted, and HEAD has moved since: nothing was changed; to get back what was there before: git runr "+
				"undo --to %s --into DIR", op, op.Before.Short())
	case op.Name != "":
		return fmt.Sprintf("%s was interrupted, and is finished now (to undo it: %s)%s", op,
			strings.TrimSpace("git runr undo "+op.Run), left)
	case op.Kind == gitstore.OpLand && op.Undoes:
		op.Undoes = false
		return fmt.Sprintf("%s was interrupted, and is undone now%s", op, left)
	}
	return fmt.Sprintf("%s was interrupted; nothing was left to do%s", op, left)
}

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
