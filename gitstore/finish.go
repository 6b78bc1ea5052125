package gitstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// FinishReverts completes or takes back what a killed Revert or landing of this worktree left undone.
// It removes the index lock that one left. Call it before any other change of the worktree. Usually there is nothing to
// do.
func (w *Worktree) FinishReverts(ctx context.Context) ([]Reverted, error) {
	journals, err := w.repo.Refs(ctx, journalPrefix)
	if err != nil || len(journals) == 0 && !w.hasLeftIndexLock() {
		return nil, err
	}
	ctx, unlock, err := w.lockFiles(ctx)
	if err != nil {
		return nil, fmt.Errorf("finish revert: %w", err)
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx)
	var finished []Reverted
	for _, ref := range slices.Sorted(maps.Keys(journals)) {
		done, ours, err := w.finishRevert(ctx, strings.TrimPrefix(ref, journalPrefix))
		if err != nil {
			return finished, fmt.Errorf("finish revert: %w", err)
		}
		if ours {
			finished = append(finished, done)
		}
	}
	return finished, nil
}

// Unfinished returns the operations that FinishReverts would end. It returns none while another
// process works on the files. If there are none, it removes the index lock that a killed process left.
func (w *Worktree) Unfinished(ctx context.Context) (list []Operation, err error) {
	journals, err := w.repo.Refs(ctx, journalPrefix)
	if err != nil || len(journals) == 0 && !w.hasLeftIndexLock() {
		return nil, err
	}
	unlock, free, err := w.repo.TryLock(w.filesLock())
	if err != nil || !free {
		return nil, nil // a caller that cannot lock cannot end them either
	}
	defer unlock()
	for _, ref := range slices.Sorted(maps.Keys(journals)) {
		job, ours, err := w.readJournal(ctx, strings.TrimPrefix(ref, journalPrefix), journals[ref])
		if err != nil {
			return nil, fmt.Errorf("read journal: %w", err)
		}
		if ours {
			list = append(list, job.operation())
		}
	}
	if len(list) == 0 {
		_ = w.dropLeftIndexLock() // who cannot write here is not hindered by it
	}
	return list, nil
}

// finishRevert completes one journal. ours is false if it belongs to another worktree, or
// if its process was alive and has ended by now.
func (w *Worktree) finishRevert(ctx context.Context, name string) (done Reverted, ours bool, err error) {
	journal, err := w.repo.Ref(ctx, journalPrefix+name)
	if err != nil || journal == "" {
		return Reverted{}, false, err
	}
	job, ours, err := w.readJournal(ctx, name, journal)
	if err != nil || !ours {
		return Reverted{}, false, err
	}
	if err := w.indexIsFree(ctx, job); err != nil {
		return Reverted{}, false, err
	}
	if err := w.sweep(ctx, job.base, job.end); err != nil {
		return Reverted{}, false, err
	}
	if done, err = w.finishJob(ctx, job); err != nil {
		return done, false, err
	}
	return done, true, w.repo.refs.SwapAny(ctx, journalPrefix+name, "", journal)
}

// finishJob completes what a killed process began.
func (w *Worktree) finishJob(ctx context.Context, job revertJob) (done Reverted, err error) {
	op := parseOperation(job.why)
	if op.Kind == opLanding {
		return w.finishLanding(ctx, job)
	}
	if job.movesHead() {
		begun, err := w.isAt(ctx, job.base)
		if err != nil {
			return done, err
		}
		still, err := w.isAt(ctx, job.end)
		if err != nil || !begun && !still {
			return w.leave(op, job), err
		}
	}
	return w.revertRecorded(ctx, job)
}

// finishLanding ends a killed landing: it records the landing if its branch had moved, and
// otherwise takes it back. If HEAD is elsewhere by now, it leaves everything as it is.
func (w *Worktree) finishLanding(ctx context.Context, job revertJob) (done Reverted, err error) {
	op := job.operation()
	landed, err := w.hasLanded(ctx, job)
	if err != nil {
		return done, err
	}
	if landed {
		done = Reverted{Before: job.base, After: job.end, Operation: Recorded{Operation: op}}
		done.Operation, err = w.recordLanding(ctx, job)
		return done, err
	}
	if there, err := w.isAt(ctx, job.base); err != nil || !there {
		return w.leave(op, job), err
	}
	done, err = w.takeBack(ctx, job)
	op.Undoes = true
	done.Operation = Recorded{Operation: op, Before: job.base.ID, After: job.end.ID}
	return done, err
}

// hasLanded reports whether the branch of a landing contains its commit.
func (w *Worktree) hasLanded(ctx context.Context, job revertJob) (bool, error) {
	if job.end.HeadRef == "" {
		return w.isAt(ctx, job.end)
	}
	tip, err := w.repo.Ref(ctx, job.end.HeadRef)
	if err != nil || tip == "" {
		return false, err
	}
	return w.repo.IsAncestor(ctx, job.end.Head, tip)
}
