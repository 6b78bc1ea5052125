package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"git-runr/gitstore"
	"git-runr/loop/record"
)

// TreeDir is where a run's worktree is, while it has one.
func TreeDir(s *record.Store, run string) string {
	return filepath.Join(s.Repo.StateDir(), "worktrees", run)
}

// FilesDir is where a run keeps what is of this clone only: transcripts and the
// files of its diagnosis.
func FilesDir(s *record.Store, run string) string {
	return filepath.Join(s.Repo.StateDir(), "runs", run)
}

// openTree gives the run its working tree, and mends what a killed process left
// there; what it mends it says. The caller calls free in the end.
func (t *turn) openTree() (free func(), err error) {
	free = func() {}
	if t.run.Plan.InPlace {
		t.tree, free, err = lockCheckout(t.Store, t.run)
	} else {
		t.tree, err = t.openWorktree()
	}
	if err == nil {
		err = t.finishReverts(t.tree)
	}
	if err != nil {
		free()
		return nil, err
	}
	return free, nil
}

// finishReverts does the rest of what was killed in a working tree.
func (t *turn) finishReverts(tree *gitstore.Worktree) error {
	finished, err := settle(t.ctx, t.Store, tree)
	for _, done := range finished {
		t.Progress.Say(FinishedText(done))
	}
	return err
}

// lockCheckout is the user's checkout for a run in place, held so that no other run
// works there at the same time.
func lockCheckout(s *record.Store, run record.Run) (tree *gitstore.Worktree, free func(), err error) {
	free = func() {}
	tree, err = s.Repo.Checkout()
	if err != nil {
		return nil, free, err
	}
	if tree.ID() != run.Plan.Checkout {
		where := cmp.Or(run.Plan.Checkout, "the main working tree")
		return nil, free, &record.StateError{What: "run " + run.ID, Status: "at work in another checkout (" + where + ")", Cannot: "carried on from this one"}
	}
	if operation := s.Repo.Operation(); operation != "" {
		return nil, free, &gitstore.UnfinishedError{Operation: operation}
	}
	unlock, err := holdCheckout(s, tree)
	if err != nil {
		return nil, free, err
	}
	return tree, unlock, nil
}

// holdCheckout keeps runs from working in a checkout, until free is called.
func holdCheckout(s *record.Store, tree *gitstore.Worktree) (free func(), err error) {
	free, ok, err := s.Repo.TryLock("in-place-" + filepath.Base(tree.GitDir))
	if err == nil && !ok {
		err = fmt.Errorf("another run is at work in this checkout: %w", gitstore.ErrBusy)
	}
	return free, err
}

// openWorktree is the run's own worktree: that of an earlier turn, or a new one.
func (t *turn) openWorktree() (*gitstore.Worktree, error) {
	tree, err := t.findWorktree()
	if err != nil {
		return nil, err
	}
	cleared, err := tree.ClearLocks(t.ctx, "refs/heads/"+t.run.Plan.Branch)
	if len(cleared) > 0 {
		t.Progress.Say(fmt.Sprintf("a killed git had left %s in the run's working tree: removed", strings.Join(cleared, ", ")))
	}
	return tree, err
}

func (t *turn) findWorktree() (*gitstore.Worktree, error) {
	repo, dir := t.Store.Repo, TreeDir(t.Store, t.run.ID)
	tree, err := repo.OpenWorktree(t.ctx, dir)
	switch {
	case err == nil && !tree.Half:
		return tree, nil
	case err == nil:
		err = t.dropHalfMade(tree)
	case errors.Is(err, gitstore.ErrNotFound):
		err = t.setAside(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("open worktree: %w", err)
	}
	if tree, err = repo.AddWorktree(t.ctx, dir, t.run.Plan.Branch, t.run.Head()); err != nil {
		return nil, fmt.Errorf("make worktree: %w", err)
	}
	return tree, nil
}

// dropHalfMade removes a worktree whose files were never all there. No agent has
// worked in it; but should somebody have put something there, it is kept.
func (t *turn) dropHalfMade(tree *gitstore.Worktree) error {
	said := "the run's working tree was only half made: it is made again"
	held, err := t.heldBy(tree)
	switch {
	case t.ctx.Err() != nil:
		return t.ctx.Err()
	case err != nil: // not even git can look at it
		if err := t.setAside(tree.Dir); err != nil {
			return err
		}
	case held != "":
		said += "; what was in it: git runr restore " + held.Short() + " --to DIR"
	}
	if err := t.Store.Repo.RemoveWorktree(t.ctx, tree.Dir); err != nil {
		return err
	}
	t.Progress.Say(said)
	return nil
}

// heldBy is a snapshot of what a half-made worktree holds beyond the run's commit;
// "" for nothing.
func (t *turn) heldBy(tree *gitstore.Worktree) (gitstore.ID, error) {
	snap, err := t.keep(tree, "half-made", "what the half-made working tree of run "+t.run.ID+" held")
	if err != nil {
		return "", err
	}
	changes, err := t.Store.Repo.Changed(t.ctx, t.run.Head(), snap.Tree)
	if err != nil || !slices.ContainsFunc(changes, func(c gitstore.Change) bool { return c.NewMode != "" }) {
		return "", err
	}
	return snap.ID, nil
}

// setAside makes room for a worktree that git no longer knows, and says that the run
// had one.
func (t *turn) setAside(dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		aside := dir + "-" + t.Store.Now().UTC().Format("20060102150405")
		if err := os.Rename(dir, aside); err != nil {
			return err
		}
		t.Progress.Say("git had forgotten the run's working tree: it is made again; what was in it is in " + aside)
		return nil
	}
	had, err := t.Store.Repo.Ref(t.ctx, "refs/heads/"+t.run.Plan.Branch)
	if err == nil && (had != "" || len(t.run.Attempts) > 0) {
		t.Progress.Say("the run's working tree was gone: it is made again")
	}
	return err
}

// snapshot records the run's working tree around an attempt.
func (t *turn) snapshot(attempt int, name string) (gitstore.Snapshot, error) {
	return t.keep(t.tree, fmt.Sprintf("%d-%s", attempt, name), fmt.Sprintf("run %s, attempt %d: %s", t.run.ID, attempt, snapshotWhen[name]))
}

// snapshotWhen says of each snapshot of an attempt when it was taken.
var snapshotWhen = map[string]string{
	"before": "before it began", "after": "when it ended", "found": "as it was found when the attempt was taken up again",
	"intervention": "when a person intervened",
}

// keep records a working tree under the run's snapshots. None is ever written over:
// what was recorded when the same thing was done before has the name without a number.
func (t *turn) keep(tree *gitstore.Worktree, name, subject string) (gitstore.Snapshot, error) {
	ref, err := freeRef(t.ctx, t.Store, t.run.ID, name)
	if err != nil {
		return gitstore.Snapshot{}, fmt.Errorf("record the working tree: %w", err)
	}
	snap, err := tree.Snapshot(t.ctx, ref, subject)
	if err != nil {
		return snap, fmt.Errorf("record the working tree: %w", err)
	}
	return snap, nil
}

// freeRef is the ref of a run's snapshot of that name, or the first with -2, -3 and so
// on that does not exist.
func freeRef(ctx context.Context, s *record.Store, run, name string) (string, error) {
	have, err := s.Repo.Refs(ctx, snapshotRefs(run))
	ref := snapshotRefs(run) + name
	free := ref
	for n := 2; have[free] != ""; n++ {
		free = fmt.Sprintf("%s-%d", ref, n)
	}
	return free, err
}

// gone reports whether the run's working tree was removed while somebody worked in it.
func (t *turn) gone() bool {
	info, err := os.Lstat(t.tree.Dir)
	return err != nil || !info.IsDir()
}
