package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"git-runr/gitstore"
	"git-runr/loop/record"
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

// Undo takes back the newest operation on the working tree that the repository was
// opened in, or on that of a run: landing, revert, restore, what a resumed run took
// back, or the undo of one of them. run is "" or what names a run. It is
// gitstore.ErrNotFound when nothing is left to undo, and gitstore.ErrConflict, with
// nothing changed, when the branch went on since. Files that were changed since are
// among Done.Conflicts and are left alone.
func Undo(ctx context.Context, s *record.Store, run string) (Undone, error) {
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
		free, err := holdCheckout(s, tree)
		if err != nil {
			return Undone{}, err
		}
		defer free()
	}
	finished, err := settle(ctx, s, tree)
	if err != nil || len(finished) > 0 {
		return Undone{Finished: finished}, err
	}
	return undoNewest(ctx, s, tree, run)
}

// treeToUndo is the working tree that the repository was opened in, or the run's own
// one when only that has an operation of the run; nil in a bare repository.
func treeToUndo(ctx context.Context, s *record.Store, run string) (*gitstore.Worktree, error) {
	tree, err := s.Repo.Checkout()
	if errors.Is(err, gitstore.ErrBare) {
		tree, err = nil, nil
	}
	if err != nil || run == "" {
		return tree, err
	}
	here, err := newest(ctx, s.Repo, run)
	if err != nil || here != nil {
		return tree, err
	}
	own, err := s.Repo.OpenWorktree(ctx, TreeDir(s, run))
	if errors.Is(err, gitstore.ErrNotFound) {
		return tree, nil
	}
	return own, err
}

// newest is the newest operation of a worktree, or that on a run; nil for none.
func newest(ctx context.Context, repo *gitstore.Repo, run string) (*gitstore.Recorded, error) {
	list, err := repo.Operations(ctx)
	for i := range list {
		if run == "" || list[i].Run == run {
			return &list[i], err
		}
	}
	return nil, err
}

func undoNewest(ctx context.Context, s *record.Store, tree *gitstore.Worktree, run string) (Undone, error) {
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

func undoOne(ctx context.Context, s *record.Store, repo *gitstore.Repo, tree *gitstore.Worktree, op gitstore.Recorded) (done gitstore.Reverted, err error) {
	unlock, err := HoldRun(s, op.Run)
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
func nothingToUndo(ctx context.Context, s *record.Store, run string) error {
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

// runLock names the lock of whoever carries a run on.
func runLock(run string) string { return "run-" + run }

// HoldRun keeps others from carrying a run on until unlock is called; "" is no run. It is
// gitstore.ErrBusy while another process has it.
func HoldRun(s *record.Store, run string) (unlock func(), err error) {
	if run == "" {
		return func() {}, nil
	}
	unlock, free, err := s.Repo.TryLock(runLock(run))
	if err == nil && !free {
		err = fmt.Errorf("run %s is being carried out by another process: %w", run, gitstore.ErrBusy)
	}
	return unlock, err
}

// Settle ends what killed processes began in the working tree that the repository was
// opened in, and says what came of it. There is mostly nothing to do.
func Settle(ctx context.Context, s *record.Store) ([]gitstore.Reverted, error) {
	tree, err := s.Repo.Checkout()
	if errors.Is(err, gitstore.ErrBare) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return settle(ctx, s, tree)
}

func settle(ctx context.Context, s *record.Store, tree *gitstore.Worktree) ([]gitstore.Reverted, error) {
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

// recordLanding records that a run has landed, or has no longer: op is the operation
// that landed it or took it back. Where the run says so already there is nothing to do.
func recordLanding(ctx context.Context, s *record.Store, op gitstore.Recorded) error {
	if op.Kind != gitstore.OpLand || op.Run == "" {
		return nil
	}
	run, err := s.Run(ctx, op.Run)
	if errors.Is(err, gitstore.ErrNotFound) {
		return nil // its log is not in this clone any more
	}
	if err != nil {
		return err
	}
	landed, err := landedBy(ctx, s, op)
	if err != nil {
		return err
	}
	kind := record.EventRunUnlanded
	if !op.Back {
		kind, landed.Carried = record.EventRunLanded, s.Carried(ctx, run, landed)
	}
	if run.Allow(kind.Name) != nil {
		return nil
	}
	if run, err = recordRun(ctx, s, run, kind.New("cli", landed.TitleOf(), landed)); err != nil {
		return err
	}
	if op.Back {
		return bringBranchBack(ctx, s, run)
	}
	return afterLanding(ctx, s, run)
}

// landedBy is where an operation landed a run, or took its landing back.
func landedBy(ctx context.Context, s *record.Store, op gitstore.Recorded) (record.Landed, error) {
	onto, err := s.Repo.ReadSnapshot(ctx, op.Before)
	if err != nil {
		return record.Landed{}, err
	}
	at, err := s.Repo.ReadSnapshot(ctx, op.After)
	if err != nil {
		return record.Landed{}, err
	}
	if op.Back {
		onto, at = at, onto
	}
	landed := record.Landed{Commit: at.Head, Onto: onto.Head, Branch: strings.TrimPrefix(at.HeadRef, "refs/heads/")}
	events, err := s.RunEvents(ctx, op.Run)
	for _, e := range events {
		if before, readErr := record.EventRunLanded.Payload(e); e.Type == record.EventRunLanded.Name && readErr == nil && before.Commit == landed.Commit {
			landed.Squash = before.Squash
		}
	}
	return landed, err
}

// bringBranchBack gives a run the branch again that dropBranch took.
func bringBranchBack(ctx context.Context, s *record.Store, run record.Run) error {
	err := s.Repo.SwapRef(ctx, "refs/heads/"+run.Plan.Branch, run.Commit, "")
	if errors.Is(err, gitstore.ErrLostRace) {
		return nil // somebody has a branch of that name
	}
	return err
}

// Unfinished are the operations that killed processes began in the working tree that the
// repository was opened in, and that nobody has finished.
func Unfinished(ctx context.Context, s *record.Store) ([]gitstore.Operation, error) {
	tree, err := s.Repo.Checkout()
	if errors.Is(err, gitstore.ErrBare) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return tree.Unfinished(ctx)
}

// FinishedText says in one line what became of what a killed process had begun.
func FinishedText(done gitstore.Reverted) string {
	op, left := done.Operation, ""
	if len(done.Conflicts) > 0 {
		left = "; left alone, changed since: " + strings.Join(done.Conflicts, ", ")
		if op.Before != "" {
			left += "; what was there before it: git runr restore " + op.Before.Short() + " --to DIR"
		}
	}
	switch {
	case done.Left:
		return fmt.Sprintf("%s was cut short, and HEAD has moved since: all was left as it is; what was there before it: git runr restore %s --to DIR", op, op.Before.Short())
	case op.Name != "":
		return fmt.Sprintf("%s was cut short, and is finished now (%s takes it back)%s", op, strings.TrimSpace("git runr undo "+op.Run), left)
	case op.Kind == gitstore.OpLand && op.Back:
		op.Back = false
		return fmt.Sprintf("%s was cut short, and is taken back now%s", op, left)
	}
	return fmt.Sprintf("%s was cut short; nothing was left to do%s", op, left)
}
