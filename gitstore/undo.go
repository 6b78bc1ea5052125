package gitstore

import (
	"context"
	"errors"
	"fmt"
)

// Undo undoes an operation on this worktree, file by file like Revert: a path that has changed
// since is a conflict and is left alone. If the operation moved a branch, Undo first moves it
// back. It returns ErrConflict and changes nothing if the branch is no longer where the operation
// put it, or if HEAD is elsewhere. It returns ErrNoChange if the branch is where it was before.
// The undo is itself an operation and can be undone.
func (w *Worktree) Undo(ctx context.Context, op Recorded) (Reverted, error) {
	base, end, err := w.repo.readSnapshots(ctx, op.Before, op.After)
	if err != nil {
		return Reverted{}, fmt.Errorf("undo: %w", err)
	}
	job := revertJob{base: base, end: end, why: op.opposite().String()}
	if job.movesHead() {
		there, err := w.isAt(ctx, base)
		if err == nil && there {
			err = fmt.Errorf("%s is where it was before: %w", headName(base.HeadRef), ErrNoChange)
		}
		if err == nil {
			err = w.mayMoveHead(ctx, end)
		}
		if err != nil {
			return Reverted{}, fmt.Errorf("undo: %w", err)
		}
	}
	return w.Revert(ctx, base, end, Because(job.why))
}

// readSnapshots reads the snapshots before and after an operation.
func (r *Repo) readSnapshots(ctx context.Context, base, end ID) (before, after Snapshot, err error) {
	if before, err = r.ReadSnapshot(ctx, base); err == nil {
		after, err = r.ReadSnapshot(ctx, end)
	}
	return before, after, err
}

// branchSnapshot writes a snapshot of a branch at a commit: its files and its name.
func (r *Repo) branchSnapshot(ctx context.Context, ref string, at ID, subject string) (Snapshot, error) {
	tree, err := r.treeOrEmpty(ctx, at)
	if err != nil {
		return Snapshot{}, err
	}
	snap := Snapshot{Tree: tree, Head: at, HeadRef: ref}
	return snap, r.worktreeAt(r.WorkTree, r.GitDir).writeSnapshot(ctx, &snap, subject)
}

// moveRecorded moves a branch that is not checked out anywhere, and records the move so that it can
// be undone. It records first: if the process is killed before the move, only a record of the present
// position is left.
func (r *Repo) moveRecorded(ctx context.Context, op Operation, ref string, to, from ID) (Recorded, error) {
	ctx, unlock, err := r.dir.HoldLock(ctx, r.worktreeAt(r.WorkTree, r.GitDir).filesLock())
	if err != nil {
		return Recorded{}, err
	}
	defer unlock()
	if err := r.refs.NotSymbolic(ctx, ref); err != nil { // moving it would make it a branch of its own
		return Recorded{}, err
	}
	if at, err := r.Ref(ctx, ref); err != nil || at != from { // otherwise record might return another operation's record
		return Recorded{}, errors.Join(err, fmt.Errorf("%s is at %s: %w", headName(ref), at.Short(), ErrLostRace))
	}
	before, err := r.branchSnapshot(ctx, ref, from, op.String()+" (before)")
	if err != nil {
		return Recorded{}, err
	}
	after, err := r.branchSnapshot(ctx, ref, to, op.String()+" (after)")
	if err != nil {
		return Recorded{}, err
	}
	done, err := r.record(ctx, op, ref, before, after)
	if err != nil {
		return Recorded{}, err
	}
	if err := r.refs.Move(ctx, ref, to, from, "runr: "+op.String()); err != nil {
		return Recorded{}, errors.Join(err, r.DropOperation(context.WithoutCancel(ctx), done))
	}
	return done, nil
}

// UndoBranch is Undo for an operation that only moved a branch. It returns ErrNoChange if
// the branch is where it was before.
func (r *Repo) UndoBranch(ctx context.Context, op Recorded) (Recorded, error) {
	before, after, err := r.readSnapshots(ctx, op.Before, op.After)
	if err != nil {
		return Recorded{}, fmt.Errorf("undo: %w", err)
	}
	at, err := r.Ref(ctx, op.Branch)
	switch {
	case err != nil:
	case at == before.Head:
		err = fmt.Errorf("%s is where it was before: %w", headName(op.Branch), ErrNoChange)
	case at != after.Head:
		err = movedOn(op.Branch, at, after.Head)
	default:
		err = r.notCheckedOut(ctx, op.Branch)
	}
	if err != nil {
		return Recorded{}, fmt.Errorf("undo: %w", err)
	}
	return r.moveRecorded(ctx, op.opposite(), op.Branch, before.Head, after.Head)
}
