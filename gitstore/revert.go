package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/git-runr/git-runr/gitstore/each"
)

// Revert takes back the changes between two snapshots of this worktree, path by path, in files
// and index. It restores a path to its state in base only if the path is now as in end. So it
// never loses what somebody changed afterwards, but lists it as a conflict. It touches nothing
// else: not HEAD, except to undo a landing, and not the index of a worktree of this tool. It
// removes new files, and directories that become empty.
//
// A journal records the revert while it runs, so that FinishReverts can complete it after a kill.
func (w *Worktree) Revert(ctx context.Context, base, end Snapshot, options ...RevertOption) (done Reverted, err error) {
	defer wrap(&err, "revert")
	ctx, unlock, err := w.lockFiles(ctx)
	if err != nil {
		return done, err
	}
	defer unlock()
	job := revertJob{base: base, end: end, why: "files taken back"}
	for _, option := range options {
		option(&job)
	}
	if err := w.indexIsFree(ctx, job); err != nil {
		return done, err
	}
	ctx = context.WithoutCancel(ctx) // a git that is killed half-way leaves locks
	job.name = randomName()
	journal, err := w.beginJournal(ctx, job)
	if err != nil {
		return done, err
	}
	if done, err = w.revertRecorded(ctx, job); err != nil {
		return done, err
	}
	if err := w.repo.refs.SwapAny(ctx, journalPrefix+job.name, "", journal); err != nil {
		return done, fmt.Errorf("end journal: %w", err)
	}
	return done, nil
}

// revertRecorded does a job, or the rest of it, and records what it did.
func (w *Worktree) revertRecorded(ctx context.Context, job revertJob) (done Reverted, err error) {
	if done, err = w.revert(ctx, job); err == nil {
		err = w.recordRevert(ctx, job, &done)
	}
	return done, err
}

// lockFiles locks the files of the worktree for an operation, which must use the context held. It
// removes the index lock that a killed operation has left.
func (w *Worktree) lockFiles(ctx context.Context) (held context.Context, unlock func(), err error) {
	if held, unlock, err = w.repo.dir.HoldLock(ctx, w.filesLock()); err != nil {
		return ctx, nil, err
	}
	if err := w.dropLeftIndexLock(); err != nil {
		unlock()
		return ctx, nil, err
	}
	return held, unlock, nil
}

// revert does a job, or the rest of it.
func (w *Worktree) revert(ctx context.Context, job revertJob) (done Reverted, err error) {
	changed, err := w.repo.changedBetween(ctx, job.base, job.end)
	if err != nil {
		return done, err
	}
	changed = slices.DeleteFunc(changed, func(c Change) bool { return !job.covers(c.Path) })
	files, err := w.openFiles()
	if err != nil {
		return done, err
	}
	defer files.Close()
	files.perms, files.were = job.base.perms, job.end.perms
	if job.begun {
		if err := files.takeBegun(ctx, changed); err != nil {
			return done, err
		}
	}
	if done.Before, err = w.beforeRevert(ctx, job); err != nil {
		return done, err
	}
	if err := w.moveHead(ctx, job); err != nil {
		return done, err
	}
	if err := files.restore(ctx, changed, &done); err != nil {
		return done, err
	}
	if err := files.restorePerms(job, &done); err != nil {
		return done, err
	}
	if err := w.revertIndex(ctx, job, &done); err != nil {
		return done, err
	}
	slices.Sort(done.Conflicts)
	return done, w.afterRevert(ctx, job, &done)
}

// beforeRevert returns the snapshot from before the job began, even if another process began it.
func (w *Worktree) beforeRevert(ctx context.Context, job revertJob) (Snapshot, error) {
	ref := revertedPrefix + job.name + "-before"
	id, err := w.repo.Ref(ctx, ref)
	if err != nil {
		return Snapshot{}, err
	}
	if id != "" {
		return w.repo.ReadSnapshot(ctx, id)
	}
	return w.Snapshot(ctx, ref, job.why+" (before)", Since(job.base))
}

// afterRevert records the result of the job: the files of Before, with the restored ones in their old
// state. So the record contains nobody else's work.
func (w *Worktree) afterRevert(ctx context.Context, job revertJob, done *Reverted) error {
	restored, err := w.restoredSince(ctx, job, done)
	if err != nil {
		return err
	}
	after := Snapshot{Gaps: done.Before.Gaps, perms: done.Before.perms.with(job.base.perms, done.Restored)}
	if after.rest, err = w.repo.restWith(done.Before.rest, job.base.rest, done.Restored); err != nil {
		return err
	}
	restored = slices.DeleteFunc(restored, func(c Change) bool { return job.base.rest.files[c.Path].ID != "" })
	if after.Tree, err = w.treeWith(ctx, done.Before.Tree, restored); err != nil {
		return err
	}
	if err := w.recordIndex(ctx, &after); err != nil {
		return err
	}
	before := revertedPrefix + job.name + "-before"
	same := after.Tree == done.Before.Tree && after.Index == done.Before.Index && after.rest.name == done.Before.rest.name
	if same && len(changedPerms(after.perms, done.Before.perms)) == 0 && !job.movesHead() {
		done.After = done.Before
		return w.repo.refs.SwapAny(ctx, before, "", done.Before.ID)
	}
	if err := w.writeSnapshot(ctx, &after, job.why+" (after)"); err != nil {
		return err
	}
	done.After = after
	return w.repo.refs.Keep(ctx, revertedPrefix+job.name+"-after", after.ID)
}

// restoredSince returns the changes from Before to base of the paths that were restored, now or by a
// killed process. It sets Restored to these paths.
func (w *Worktree) restoredSince(ctx context.Context, job revertJob, done *Reverted) ([]Change, error) {
	back, err := w.repo.changedBetween(ctx, done.Before, job.base)
	if err != nil {
		return nil, err
	}
	asInBase := each.Set(slices.Concat(done.Restored, done.Skipped))
	back = slices.DeleteFunc(back, func(c Change) bool { return !asInBase[c.Path] })
	restored := each.Set(changedPaths(back))
	for _, path := range changedPerms(done.Before.perms, job.base.perms) {
		restored[path] = restored[path] || asInBase[path]
	}
	maps.DeleteFunc(restored, func(_ string, is bool) bool { return !is })
	done.Restored = slices.Sorted(maps.Keys(restored))
	done.Skipped = slices.DeleteFunc(done.Skipped, func(path string) bool { return restored[path] })
	return back, nil
}

// leavesIndex reports whether a job does not write the index. In a worktree of this tool only files
// count: whoever works there may stage anything, and ResetTo writes a new index.
func (w *Worktree) leavesIndex(job revertJob) bool { return w.Own || job.base.Index == job.end.Index }

// revertIndex restores the index of base: as a whole if the index is still that of end and the job
// covers every path, otherwise entry by entry.
func (w *Worktree) revertIndex(ctx context.Context, job revertJob, done *Reverted) error {
	if w.leavesIndex(job) {
		return nil
	}
	wanted, err := job.base.index(ctx, w.repo)
	if err != nil {
		return err
	}
	after, err := job.end.index(ctx, w.repo)
	if err != nil {
		return err
	}
	raw, err := readIndexFile(w.indexPath())
	if err != nil {
		return err
	}
	now, err := w.wholeIndex(ctx)
	if err != nil {
		return err
	}
	same, err := w.sameIndex(ctx, now, after)
	if err != nil {
		return err
	}
	if job.only == nil && same {
		err := w.installIndex(ctx, raw.data, wanted)
		if !errors.Is(err, ErrLostRace) {
			return err
		}
		if now, err = w.wholeIndex(ctx); err != nil {
			return err
		}
	}
	return w.revertEntries(ctx, job, [3]indexFile{wanted, after, now}, done)
}

// revertEntries restores the entries of the index that are still as in end. indexes are
// those of base, end and now.
func (w *Worktree) revertEntries(ctx context.Context, job revertJob, indexes [3]indexFile, done *Reverted) error {
	var lists [3]map[string]string
	for i, index := range indexes {
		var err error
		if lists[i], err = w.indexEntries(ctx, index); err != nil {
			return err
		}
	}
	base, end, now := lists[0], lists[1], lists[2]
	paths := map[string]bool{}
	for _, list := range []map[string]string{base, end} {
		for path := range list {
			paths[path] = base[path] != end[path] && job.covers(path)
		}
	}
	var differ, back []string
	for path, changed := range paths {
		switch {
		case !changed || now[path] == base[path]:
		case now[path] != end[path]:
			done.conflict(path)
		default:
			differ = append(differ, path)
			if base[path] != "" {
				back = append(back, path)
			}
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return w.changeIndex(ctx, func(index string) error {
		if err := w.setEntries(ctx, index, differ, base); err != nil {
			return err
		}
		return w.keepSparse(ctx, index, indexes[0], back)
	})
}

// recordRevert records a revert as an operation if it changed anything.
func (w *Worktree) recordRevert(ctx context.Context, job revertJob, done *Reverted) (err error) {
	done.Operation.Operation = parseOperation(job.why)
	if done.Before.ID != done.After.ID {
		done.Operation, err = w.repo.record(ctx, done.Operation.Operation, "", done.Before, done.After)
	}
	return err
}

// leave returns the result for a killed operation that is left as it is.
func (w *Worktree) leave(op Operation, job revertJob) Reverted {
	return Reverted{Left: true, Before: job.base, After: job.end,
		Operation: Recorded{Operation: op, Before: job.base.ID, After: job.end.ID}}
}

// indexIsFree waits, for a bounded time, until nobody holds the lock of the index, if the job will
// write the index. It is called before the first file is touched.
func (w *Worktree) indexIsFree(ctx context.Context, job revertJob) error {
	if w.leavesIndex(job) {
		return nil
	}
	unlock, err := w.lockIndex(ctx)
	if err == nil {
		unlock()
	}
	return err
}
