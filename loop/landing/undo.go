package landing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// Undone is what an undo did.
type Undone struct {
	Took gitstore.Recorded // the operation that was taken back
	// Done says how; its Operation is the undo itself, which can be taken back too.
	Done gitstore.Reverted
	// Finished is what killed processes had begun and what came of it. When there is
	// any, nothing else was taken back.
	Finished []gitstore.Reverted
}

// Added are the files that were there after the operation and not before it.
func (u Undone) Added(ctx context.Context, s *store.Store) map[string]bool {
	added := map[string]bool{}
	before, err := s.Repo.ReadSnapshot(ctx, u.Took.Before)
	if err != nil {
		return added
	}
	after, err := s.Repo.ReadSnapshot(ctx, u.Took.After)
	if err != nil {
		return added
	}
	changes, _ := s.Repo.Changed(ctx, before.Tree, after.Tree)
	for _, c := range changes {
		added[c.Path] = c.OldMode == ""
	}
	return added
}

// Moved says where a branch went, "" when none did.
func (u Undone) Moved(ctx context.Context, s *store.Store) string {
	now, err := s.Repo.ReadSnapshot(ctx, u.Took.Before)
	if err != nil || u.Took.Kind != gitstore.OpLand {
		return ""
	}
	at := "without a commit"
	if now.Head != "" {
		at = "at " + now.Head.Short()
	}
	return cmp.Or(strings.TrimPrefix(now.HeadRef, "refs/heads/"), "HEAD") + " is " + at + " again"
}

// Undo takes back the newest operation on the working tree that the repository was
// opened in, or on that of a run: landing, revert, restore, what a resumed run took
// back, or the undo of one of them. run is "" or what names a run. It is
// gitstore.ErrNotFound when nothing is left to undo, and gitstore.ErrConflict, with
// nothing changed, when the branch went on since. Files that were changed since are
// among Done.Conflicts and are left alone.
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

// treeToUndo is the working tree that the repository was opened in, or the run's own
// one when only that has an operation of the run; nil in a bare repository.
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
	done, err := undoOne(ctx, s, repo, tree, *op)
	if errors.Is(err, gitstore.ErrNoChange) { // it never happened, or was taken back by hand
		if err = repo.DropOperation(ctx, *op); err == nil {
			err = recordLanding(ctx, s, op.TakenBack())
		}
	}
	return Undone{Took: *op, Done: done}, err
}

func undoOne(ctx context.Context, s *store.Store, repo *gitstore.Repo, tree *gitstore.Worktree, op gitstore.Recorded) (done gitstore.Reverted, err error) {
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

// nothingToUndo says where there may be something.
func nothingToUndo(ctx context.Context, s *store.Store, run string) error {
	if run == "" {
		return fmt.Errorf("nothing is recorded that could be undone in this working tree: %w", gitstore.ErrNotFound)
	}
	all, err := s.Repo.AllOperations(ctx)
	if err != nil {
		return err
	}
	for _, op := range all {
		if op.Run == run {
			return fmt.Errorf("what was done for run %s was done in another worktree (%s): %w", run, strings.TrimSuffix(op.Name[:strings.LastIndex(op.Name, "/")], "/"), gitstore.ErrNotFound)
		}
	}
	return fmt.Errorf("nothing is recorded that could be undone for run %s: %w", run, gitstore.ErrNotFound)
}
