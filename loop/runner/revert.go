package runner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/workspace"
)

// revert undoes an attempt: it restores exactly the files that the attempt changed. The attempt's commit is kept in
// this clone.
func (t *execution) revert(step Step) error {
	a, ok := each.First(t.run.Attempts, func(a record.Attempt) bool { return a.Number == step.Number })
	if !ok {
		return fmt.Errorf("revert attempt %d: %w", step.Number, gitstore.ErrNotFound)
	}
	t.Progress.Step("revert", fmt.Sprintf("attempt %d, %s", a.Number, prose.Count(len(a.Files), "file")))
	reverted, err := t.undo(a)
	if err != nil {
		return fmt.Errorf("revert attempt %d: %w", a.Number, err)
	}
	return t.record(record.EventAttemptReverted.New("runner",
		fmt.Sprintf("attempt %d, %s", a.Number, prose.Count(len(reverted.Restored), "file")), reverted))
}

// undo reverts an attempt's work everywhere. Each part can be repeated: if the process is killed, the next one does the
// rest.
func (t *execution) undo(a record.Attempt) (record.Reverted, error) {
	if a.Commit != "" {
		if err := t.Store.Repo.Pin(t.ctx, fmt.Sprintf("attempt %d of run %s", a.Number, t.run.ID), a.Commit); err != nil {
			return record.Reverted{}, err
		}
	}
	done, err := t.takeBack(t.tree, a, a.Before, a.After, "revert", "critical findings")
	reverted := record.Reverted{Attempt: a.Number, Restored: asBefore(done)}
	reverted.Conflicts, reverted.Left = t.inTheWay(a, done)
	if err != nil {
		return reverted, err
	}
	if err := t.undoGiven(a, &reverted); err != nil {
		return reverted, fmt.Errorf("in the checkout: %w", err)
	}
	return reverted, nil
}

// inTheWay splits the conflicts of a revert into files of the attempt, which block the revert, and files that changed
// beside it in the user's checkout, perhaps by another program.
func (t *execution) inTheWay(a record.Attempt, done gitstore.Reverted) (files, beside []string) {
	for _, path := range done.Conflicts {
		if t.run.Plan.InPlace && slices.Contains(a.Beside, path) {
			beside = append(beside, path)
		} else {
			files = append(files, path)
		}
	}
	return files, beside
}

// asBefore returns the paths that have their earlier content again, whichever process restored them.
func asBefore(done gitstore.Reverted) []string {
	return slices.Sorted(slices.Values(append(slices.Clone(done.Restored), done.Skipped...)))
}

// undoGiven reverts an executor's work in the checkout that it came from: only the files that the executor was reported
// to have modified.
func (t *execution) undoGiven(a record.Attempt, reverted *record.Reverted) error {
	given := t.run.Plan.Context
	if a.Mode != record.ModeGiven || t.run.Plan.InPlace || given.Before == "" {
		return nil
	}
	checkout, err := workspace.Checkout(t.Store)
	if err != nil {
		return err
	}
	if checkout == nil || checkout.ID() != t.run.Plan.Checkout {
		t.Progress.Say("the executor's files stay as they are in the checkout that the run was started from")
		return nil
	}
	if err := t.finishReverts(checkout); err != nil {
		return err
	}
	done, err := t.takeBack(checkout, a, given.Before, given.Snapshot, "revert", "critical findings")
	reverted.Checkout, reverted.Left = asBefore(done), done.Conflicts
	return err
}

// takeBack restores what changed in a working tree between two snapshots. In the user's checkout it restores the
// attempt's own files only, and names them. In the run's working tree it also restores branch, HEAD and index, whatever
// the agent staged or committed. Its snapshots are described as "KIND RUN: attempt N, why".
func (t *execution) takeBack(tree *gitstore.Worktree, a record.Attempt, before, after gitstore.ID,
	kind, why string) (gitstore.Reverted, error) {
	from, beforeErr := t.Store.Repo.ReadSnapshot(t.ctx, before)
	to, afterErr := t.Store.Repo.ReadSnapshot(t.ctx, after)
	if err := errors.Join(beforeErr, afterErr); err != nil {
		return gitstore.Reverted{}, err
	}
	options := []gitstore.RevertOption{gitstore.Because(fmt.Sprintf("%s %s: attempt %d, %s", kind, t.run.ID, a.Number,
		why))}
	if t.run.Plan.InPlace {
		options = append(options, gitstore.OnlyPaths(slices.Concat(a.Files, a.Beside)))
	}
	done, err := tree.Revert(t.ctx, from, to, options...)
	if err == nil && len(done.Restored)+len(done.Conflicts) > 0 {
		t.Progress.Say(fmt.Sprintf("attempt %d: %s", a.Number, t.revertText(done, tree.Own)))
	}
	if files, _ := t.inTheWay(a, done); err == nil && tree == t.tree && len(files) == 0 {
		err = t.resetBranch(a)
	}
	return done, err
}

// revertText describes what a revert restored and what it left alone, and how to undo it.
func (t *execution) revertText(done gitstore.Reverted, own bool) string {
	var parts []string
	if n := len(done.Restored); n > 0 && own {
		parts = append(parts, fmt.Sprintf("reverted: %s: %s (to get them back: git runr undo --to %s --into DIR)",
			prose.Count(n, "file"), prose.Names(done.Restored), done.Before.ID.Short()))
	} else if n > 0 {
		parts = append(parts, fmt.Sprintf("reverted: %s (to undo that: git runr undo %s)", prose.Names(done.Restored),
			t.run.ID))
	}
	if len(done.Conflicts) > 0 {
		parts = append(parts, "left alone, changed since: "+prose.Names(done.Conflicts))
	}
	return cmp.Or(strings.Join(parts, "; "), "nothing was left to do")
}

// resetBranch removes a reverted attempt from the run's branch.
func (t *execution) resetBranch(a record.Attempt) error {
	branch := t.run.Plan.BranchRef()
	switch {
	case !t.run.Plan.InPlace:
		return t.tree.ResetTo(t.ctx, branch, a.From, a.Commit)
	case a.Commit != "":
		return t.Store.Repo.MoveBranch(t.ctx, branch, a.From, a.Commit)
	}
	return nil
}

// LeftError reports that an attempt in place cannot be retried: files differ from what they were before it, and nobody
// can tell whether the attempt or a person changed them. They were left alone.
type LeftError struct {
	Run     string
	Attempt int
	Before  gitstore.ID // snapshot of the checkout from before the attempt
	Paths   []string
	Killed  bool // the attempt never ended; else the files changed after it
	Unseen  bool // see record.Attempt
}

func (e *LeftError) Error() string {
	why := fmt.Sprintf("attempt %d was killed, and these files differ from what they were before it", e.Attempt)
	if e.Unseen {
		why = fmt.Sprintf("nobody looked at what attempt %d changed, and these files differ from what they were before it",
			e.Attempt)
	} else if !e.Killed {
		why = fmt.Sprintf("attempt %d failed, and these files of it changed since", e.Attempt)
	}
	return why + ": " + strings.Join(e.Paths, ", ") + "; they were left alone"
}

func (e *LeftError) Is(target error) bool { return target == gitstore.ErrConflict }

// takeUp prepares the retry of an attempt. If the first try ended, its changes are known and are reverted. What a
// killed try left cannot be told from a person's later changes: in the run's own working tree all of it stays, in the
// user's checkout takeUp returns a LeftError.
func (t *execution) takeUp() error {
	a := t.run.LastAttempt()
	if a == nil || a.Before == "" || a.Mode == record.ModeGiven {
		return nil
	}
	if a.After == "" {
		return t.takeUpKilled(*a)
	}
	if err := t.findChanged(*a); err != nil || t.Keep {
		return err
	}
	done, err := t.takeBack(t.tree, *a, a.Before, a.After, "resume", "which is made again")
	if files, _ := t.inTheWay(*a, done); err == nil && t.run.Plan.InPlace && len(files) > 0 {
		return &LeftError{Run: t.run.ID, Attempt: a.Number, Before: a.Before, Paths: files}
	}
	if err != nil {
		return fmt.Errorf("take up attempt %d: %w", a.Number, err)
	}
	return nil
}

// findChanged finds which files of the run's own working tree changed since a failed attempt ended. They go into the
// commit of the next one, which names them.
func (t *execution) findChanged(a record.Attempt) error {
	if t.run.Plan.InPlace || t.asMade {
		return nil
	}
	left, now, err := t.compareNow(a, a.After)
	if err != nil {
		return err
	}
	if t.changed, err = t.changedOnDisk(left.Tree, now.Tree); len(t.changed) > 0 {
		t.Progress.Say("changed since the attempt ended: " + strings.Join(t.changed, ", "))
	}
	return err
}

// compareNow reads a snapshot of an attempt, and takes one of the working tree as it is now.
func (t *execution) compareNow(a record.Attempt, then gitstore.ID) (was, now gitstore.Snapshot, err error) {
	if was, err = t.Store.Repo.ReadSnapshot(t.ctx, then); err != nil {
		return was, now, fmt.Errorf("take up attempt %d: %w", a.Number, err)
	}
	now, err = t.snapshot(a.Number, "found", gitstore.Since(was))
	return was, now, err
}

func (t *execution) takeUpKilled(a record.Attempt) error {
	before, now, err := t.compareNow(a, a.Before)
	if err != nil {
		return err
	}
	paths, err := t.changedOnDisk(before.Tree, now.Tree)
	if err == nil && t.run.Plan.InPlace {
		found := record.Attempt{Files: paths}
		err = t.beside(&found, before, now)
		paths = slices.Concat(paths, found.Beside, found.NotKept)
	}
	if err != nil || len(paths) == 0 {
		return err
	}
	if t.run.Plan.InPlace && !t.Keep {
		return &LeftError{Run: t.run.ID, Attempt: a.Number, Before: a.Before, Paths: paths, Killed: true, Unseen: a.Unseen()}
	}
	why := fmt.Sprintf("attempt %d did not end", a.Number)
	if a.Unseen() {
		why = fmt.Sprintf("nobody looked at what attempt %d changed", a.Number)
	}
	t.Progress.Say(fmt.Sprintf("%s; what changed since it began stays as it is: %s", why, strings.Join(paths, ", ")))
	return nil
}
