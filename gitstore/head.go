package gitstore

import (
	"cmp"
	"context"
	"fmt"

	"github.com/git-runr/git-runr/gitstore/refdb"
)

// movesHead reports whether the job undoes or redoes a landing.
func (j revertJob) movesHead() bool {
	return parseOperation(j.why).Kind == OpLand && j.base.Head != j.end.Head
}

// mayMoveHead returns an error if HEAD is not where the snapshot from has it, or is in use.
func (w *Worktree) mayMoveHead(ctx context.Context, from Snapshot) error {
	if err := w.headIsFree(); err != nil {
		return err
	}
	head, branch, err := w.head(ctx)
	switch {
	case err != nil:
		return err
	case branch != from.HeadRef:
		return fmt.Errorf("HEAD is %s, not %s any more: %w", standing(branch), standing(from.HeadRef), ErrConflict)
	case head != from.Head:
		return movedOn(branch, head, from.Head)
	}
	return nil
}

// headIsFree returns an *UnfinishedError while a merge or the like needs HEAD to stay; a
// bisect does not.
func (w *Worktree) headIsFree() error {
	if e := w.repo.Unfinished(); e != nil && e.Operation != "bisect" {
		return e
	}
	return nil
}

// movedOn returns an ErrConflict: a branch, or a detached HEAD, is not where an operation left it.
func movedOn(ref string, at, left ID) error {
	if at == "" {
		return fmt.Errorf("there is no branch %s any more: %w", headName(ref), ErrConflict)
	}
	return fmt.Errorf("%s is at %s, not at %s any more: %w", headName(ref), at.Short(), refdb.OrNothing(ID(left.Short())),
		ErrConflict)
}

// isAt reports whether HEAD is where a snapshot has it.
func (w *Worktree) isAt(ctx context.Context, snap Snapshot) (bool, error) {
	head, branch, err := w.head(ctx)
	return head == snap.Head && branch == snap.HeadRef, err
}

// moveHead moves the branch that HEAD is on, or a detached HEAD, if the job requires it. A killed
// process may have done it already.
func (w *Worktree) moveHead(ctx context.Context, job revertJob) error {
	if !job.movesHead() {
		return nil
	}
	if there, err := w.isAt(ctx, job.base); err != nil || there {
		return err
	}
	if err := w.mayMoveHead(ctx, job.end); err != nil {
		return err
	}
	return w.repo.refs.Move(ctx, cmp.Or(job.end.HeadRef, "HEAD"), job.base.Head, job.end.Head, "runr: "+job.why)
}

// standing describes where HEAD is.
func standing(branch string) string {
	if branch == "" {
		return "detached"
	}
	return "on " + headName(branch)
}
