package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/landing"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// openTree opens the run's working tree and repairs what a killed process left there, reporting each repair. The caller
// must call free.
func (t *execution) openTree() (free func(), err error) {
	free = func() {}
	if t.run.Plan.InPlace {
		t.tree, free, err = workspace.LockCheckout(t.Store, t.run)
	} else if t.tree, err = t.findWorktree(); err == nil {
		err = t.clearLocks()
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

// finishReverts completes reverts that were killed in a working tree.
func (t *execution) finishReverts(tree *gitstore.Worktree) error {
	finished, err := landing.SettleTree(t.ctx, t.Store, tree)
	for _, done := range finished {
		t.Progress.Say(landing.FinishedText(done))
	}
	return err
}

// clearLocks removes the lock files that git or an agent, which have ended, left in the run's worktree.
func (t *execution) clearLocks() error {
	cleared, err := t.tree.ClearLocks(t.ctx, t.run.Plan.BranchRef())
	if len(cleared) > 0 {
		t.Progress.Say("left in the run's working tree by a process that has ended: " + strings.Join(cleared, ", ") +
			"; removed")
	}
	return err
}

// findWorktree opens the run's own worktree, or creates it.
func (t *execution) findWorktree() (*gitstore.Worktree, error) {
	repo, dir := t.Store.Repo, workspace.TreeDir(t.Store, t.run.ID)
	tree, err := openTree(t.ctx, t.Store, t.run)
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
	if tree, err = repo.AddWorktree(t.ctx, t.run.ID, t.run.Plan.Branch, t.run.Head()); err != nil {
		return nil, fmt.Errorf("make worktree: %w", err)
	}
	t.asMade = true
	return tree, nil
}

// openTree opens the worktree of a run. It restores HEAD if a killed git left it missing.
func openTree(ctx context.Context, s *store.Store, run record.Run) (*gitstore.Worktree, error) {
	tree, err := s.Repo.OpenWorktree(ctx, workspace.TreeDir(s, run.ID))
	if err != nil || !tree.Own {
		return tree, err
	}
	return tree, tree.MendHead(run.Plan.BranchRef())
}

// dropHalfMade removes a worktree whose files were never complete. No agent has worked in it; anything that somebody
// put there is kept.
func (t *execution) dropHalfMade(tree *gitstore.Worktree) error {
	said := "the run's working tree was only half made: it is made again"
	held, err := t.heldBy(tree)
	switch {
	case t.ctx.Err() != nil:
		return t.ctx.Err()
	case err != nil: // not even git can read it
		if err := t.setAside(tree.Dir); err != nil {
			return err
		}
	case held != "":
		said += "; what was in it: git runr undo --to " + held.Short() + " --into DIR"
	}
	if err := t.Store.Repo.RemoveWorktree(t.ctx, tree.Dir); err != nil {
		return err
	}
	t.Progress.Say(said)
	return nil
}

// heldBy returns a snapshot of what a half-made worktree holds beyond the run's commit, or "".
func (t *execution) heldBy(tree *gitstore.Worktree) (gitstore.ID, error) {
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

// setAside renames a directory that git no longer knows as a worktree, and reports that the run had a worktree.
func (t *execution) setAside(dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		aside := dir + "-" + t.Store.Now().UTC().Format("20060102150405")
		if err := os.Rename(dir, aside); err != nil {
			return err
		}
		t.Progress.Say("git had forgotten the run's working tree: it is made again; what was in it is in " + aside)
		return nil
	}
	had, err := t.Store.Repo.Ref(t.ctx, t.run.Plan.BranchRef())
	if err == nil && (had != "" || len(t.run.Attempts) > 0) {
		t.Progress.Say("the run's working tree was gone: it is made again")
		if last := t.run.LastAttempt(); last != nil && last.After != "" && last.Commit == "" {
			t.Progress.Say("what was in it when attempt " + strconv.Itoa(last.Number) + " ended: git runr undo --to " +
				last.After.Short() + " --into DIR")
		}
	}
	return err
}

// snapshot records the run's working tree around an attempt.
func (t *execution) snapshot(attempt int, name string, options ...gitstore.SnapshotOption) (gitstore.Snapshot, error) {
	return t.keep(t.tree, fmt.Sprintf("%d-%s", attempt, name),
		fmt.Sprintf("run %s, attempt %d: %s", t.run.ID, attempt, snapshotWhen[name]), options...)
}

// snapshotWhen describes, for each snapshot of an attempt, when it was taken.
var snapshotWhen = map[string]string{
	"before": "before it began", "after": "when it ended", "found": "as it was found when the attempt was taken up again",
	"intervention": "when a person intervened",
}

// keep records a working tree under the run's snapshots. It never overwrites one: an earlier snapshot for the same
// purpose has the name without a number.
func (t *execution) keep(tree *gitstore.Worktree, name, subject string,
	options ...gitstore.SnapshotOption) (gitstore.Snapshot, error) {
	ref, err := workspace.FreeRef(t.ctx, t.Store, t.run.ID, name)
	if err != nil {
		return gitstore.Snapshot{}, fmt.Errorf("record the working tree: %w", err)
	}
	snap, err := tree.Snapshot(t.ctx, ref, subject, options...)
	if err != nil {
		return snap, fmt.Errorf("record the working tree: %w", err)
	}
	return snap, nil
}

// gone reports whether the run's working tree was removed while somebody worked in it.
func (t *execution) gone() bool { return checking.Gone(t.tree.Dir) }

// Left is what the removed worktree of a finished run held beyond the run's commits.
type Left struct {
	Snapshot gitstore.ID // of what could be kept; "" if there was nothing
	Ignored  bool        // the snapshot has nothing but ignored files
	Gone     string      // what could not be kept, or ""
	Stays    string      // the worktree, if it stays because of the repositories in it
	Unknown  string      // the worktree, if it stays because git does not know it any more
}

// Lines says what is kept, with the command that restores it, and what is gone.
func (l Left) Lines(restore string) (lines []string) {
	kept := map[bool]string{true: "ignored files of its worktree are kept: ",
		false: "uncommitted work in its worktree is kept: "}[l.Ignored]
	for _, line := range []struct{ about, text string }{
		{string(l.Snapshot), kept + restore},
		{l.Stays, "its worktree stays, because nothing else has the repositories in it: " + l.Stays},
		{l.Unknown, "its worktree stays, because git has no record of it any more: " + l.Unknown},
		{l.Gone, "removed with its worktree and not kept: " + l.Gone},
	} {
		if line.about != "" {
			lines = append(lines, line.text)
		}
	}
	return lines
}

// removeTree removes the worktree of a finished run. It first keeps what is in no commit because it came too late for
// the run. If a person was sent to the worktree, because the run stopped or ends by hand, it keeps ignored files, too.
func removeTree(ctx context.Context, s *store.Store, run record.Run, byHand bool) (left Left, err error) {
	dir := workspace.TreeDir(s, run.ID)
	tree, err := openTree(ctx, s, run)
	if err == nil {
		left, err = keepLeft(ctx, s, run, tree, byHand || run.StoppedAlike() > 0)
	}
	if holdsRepository(run, dir) {
		left.Stays, left.Gone, err = dir, "", nil
	}
	if err == nil && left.Stays != "" {
		return left, nil
	}
	if errors.Is(err, gitstore.ErrNotFound) { // git has no record of it, and cannot tell what is in it
		if entries, readErr := os.ReadDir(dir); readErr == nil && len(entries) > 0 {
			return Left{Unknown: dir}, nil
		}
		err = nil
	}
	if err != nil {
		return left, fmt.Errorf("the worktree of run %s stays: %w", run.ID, err)
	}
	return left, s.Repo.RemoveWorktree(ctx, dir)
}

// holdsGit reports whether a gap is a repository that has its git directory in it. That of a submodule lies elsewhere.
func holdsGit(dir string, g gitstore.Gap) bool {
	info, err := os.Lstat(filepath.Join(dir, g.Path, ".git"))
	return g.Kind == gitstore.GapNested && err == nil && info.IsDir()
}

// holdsRepository reports whether a repository that an attempt made is still in the worktree.
func holdsRepository(run record.Run, dir string) bool {
	for _, a := range run.Attempts {
		for _, left := range a.NotCarried {
			if _, err := os.Lstat(filepath.Join(dir, left.Submodule, ".git")); len(left.Files) == 0 && err == nil {
				return true
			}
		}
	}
	return false
}

// keepLeft keeps what a worktree holds beyond the run's commits. The worktree has to stay if there is a repository in
// it, of which a snapshot has nothing.
func keepLeft(ctx context.Context, s *store.Store, run record.Run, tree *gitstore.Worktree,
	ignored bool) (Left, error) {
	committed := false
	files, err := tree.NormalTree(ctx)
	if err == nil { // else keep what can be read
		changes, err := s.Repo.Changed(ctx, run.Head(), files)
		repository := func(c gitstore.Change) bool { return c.OldMode == "" && c.NewMode == gitstore.ModeCommit }
		committed = err == nil && len(slices.DeleteFunc(changes, repository)) == 0
		if err != nil || committed && !ignored && tree.Untouched(ctx, run.Head()) {
			return Left{}, err
		}
	}
	var options []gitstore.SnapshotOption
	if ignored {
		options = append(options, gitstore.KeepIgnored())
	}
	snap, err := tree.Snapshot(ctx, "", "what was left in the working tree of run "+run.ID, options...)
	if err != nil && tree.Untouched(ctx, run.Head()) { // as on a full disk, where removing it frees space
		return Left{}, nil
	}
	left := Left{Ignored: committed}
	gaps := snap.NotKept()
	switch {
	case slices.ContainsFunc(gaps, func(g gitstore.Gap) bool { return holdsGit(tree.Dir, g) }):
		left.Stays = tree.Dir
	case ignored:
		left.Gone = gapsLine(gaps)
	}
	if err != nil || committed && snap.KeptIgnored() == 0 {
		return left, err
	}
	left.Snapshot = snap.ID
	ref, err := workspace.FreeRef(ctx, s, run.ID, "left") // a repeated removal must not hide the first one's snapshot
	if err != nil {
		return left, err
	}
	return left, s.Repo.Keep(ctx, ref, snap)
}
