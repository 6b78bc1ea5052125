package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// LockName names the lock of whoever carries a run on.
func LockName(run string) string { return "run-" + run }

// HoldRun keeps others from carrying a run on until unlock is called; "" is no run. It is
// gitstore.ErrBusy while another process has it.
func HoldRun(s *store.Store, run string) (unlock func(), err error) {
	if run == "" {
		return func() {}, nil
	}
	unlock, free, err := s.Repo.TryLock(LockName(run))
	if err == nil && !free {
		err = fmt.Errorf("run %s is being carried out by another process: %w", run, gitstore.ErrBusy)
	}
	return unlock, err
}

// Live reports whether a process is carrying run out on this machine now.
func Live(s *store.Store, run string) bool { return Held(s, LockName(run)) }

// Status returns the status of a run now. A run of this clone that is recorded as running died if no process carries it
// out. Whether a run of another clone did is not known here.
func Status(s *store.Store, run record.RunSummary) record.RunStatus {
	if run.Status == record.RunRunning && s.Repo.Owns(run.Writer) && !Live(s, run.ID) {
		return record.RunDied // git runr resume continues it
	}
	return run.Status
}

// Held reports whether a process has a lock. In a repository that cannot be written to, none has.
func Held(s *store.Store, name string) bool {
	unlock, free, err := s.Repo.TryLock(name)
	if err == nil && free {
		unlock()
	}
	return err == nil && !free
}

// HoldCheckout keeps runs, landings and undo from working in a checkout, until free is called.
func HoldCheckout(s *store.Store, tree *gitstore.Worktree) (free func(), err error) {
	free, ok, err := s.Repo.TryLock("in-place-" + filepath.Base(tree.GitDir))
	if err == nil && !ok {
		err = fmt.Errorf("%w: another command of git-runr is at work in this checkout; try again when it has ended",
			gitstore.ErrBusy)
	}
	return free, err
}

// LockCheckout is the user's checkout for a run in place, held so that no other run
// works there at the same time.
func LockCheckout(s *store.Store, run record.Run) (tree *gitstore.Worktree, free func(), err error) {
	free = func() {}
	tree, err = s.Repo.Checkout()
	if err != nil {
		return nil, free, err
	}
	if tree.ID() != run.Plan.Checkout {
		where := cmp.Or(run.Plan.Checkout, "the main working tree")
		return nil, free, &record.StateError{What: "run " + run.ID, Status: "at work in another checkout (" + where + ")",
			Cannot: "carried on from this one"}
	}
	if e := s.Repo.Unfinished(); e != nil {
		return nil, free, e
	}
	unlock, err := HoldCheckout(s, tree)
	if err != nil {
		return nil, free, err
	}
	return tree, unlock, nil
}

// Checkout is the working tree that the repository was opened in; nil in a bare one.
func Checkout(s *store.Store) (*gitstore.Worktree, error) {
	tree, err := s.Repo.Checkout()
	if errors.Is(err, gitstore.ErrBare) {
		return nil, nil
	}
	return tree, err
}
