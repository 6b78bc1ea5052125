package gitstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-runr/gitstore/odb"
)

const (
	journalPrefix  = "refs/runr-local/journal/"
	revertedPrefix = "refs/runr-local/snapshots/revert/"
)

// Reverted is what a revert did. Before and After are the snapshots around it, kept
// under refs/runr-local/snapshots/revert/: Revert(Before, After) undoes it, and touches
// nothing that somebody else changed meanwhile. Where nothing was left to do they are
// one and the same, and are kept nowhere.
type Reverted struct {
	Restored  []string // now as in base
	Skipped   []string // were as in base already
	Conflicts []string // changed by somebody else since end, or not restorable: left alone
	Before    Snapshot
	After     Snapshot
	Operation Recorded // what it was part of, and as what it can be taken back
	Left      bool     // of a killed one: HEAD was moved meanwhile, so nothing was done
}

// RevertOption says more about a revert.
type RevertOption func(*revertJob)

// OnlyPaths leaves alone what is not among paths, whatever changed there.
func OnlyPaths(paths []string) RevertOption {
	return func(j *revertJob) {
		j.only = map[string]bool{}
		for _, path := range paths {
			j.only[path] = true
		}
	}
}

// Because is what the snapshots around the revert say of it: one line.
func Because(why string) RevertOption { return func(j *revertJob) { j.why = why } }

// revertJob is a revert that was asked for.
type revertJob struct {
	name      string // of its journal and snapshots; it sorts by time
	base, end Snapshot
	only      map[string]bool // nil: every path
	why       string
	begun     bool // git was killed while it made end of base
}

// covers reports whether the job is about a path.
func (j revertJob) covers(path string) bool { return j.only == nil || j.only[path] }

// Revert takes back what changed between two snapshots of this worktree, path by
// path, files and index. A path is restored to what it is in base only when it is
// now as it is in end; so what somebody did to it afterwards is never lost, but
// listed as a conflict. Nothing else is touched, HEAD neither. New files are
// removed, and the directories that this leaves empty.
//
// A journal is kept while it runs: what a killed process left undone, FinishReverts
// does.
func (w *Worktree) Revert(ctx context.Context, base, end Snapshot, options ...RevertOption) (Reverted, error) {
	ctx, unlock, err := w.lockFiles(ctx)
	if err != nil {
		return Reverted{}, fmt.Errorf("revert: %w", err)
	}
	defer unlock()
	job := revertJob{base: base, end: end, why: "files taken back"}
	for _, option := range options {
		option(&job)
	}
	if err := w.indexIsFree(ctx, job); err != nil {
		return Reverted{}, fmt.Errorf("revert: %w", err)
	}
	ctx = context.WithoutCancel(ctx) // a git that is killed half-way leaves locks
	if job.name, err = randomName(); err != nil {
		return Reverted{}, fmt.Errorf("revert: %w", err)
	}
	journal, err := w.beginJournal(ctx, job)
	if err != nil {
		return Reverted{}, fmt.Errorf("revert: %w", err)
	}
	done, err := w.revert(ctx, job)
	if err == nil {
		err = w.recordRevert(ctx, job, &done)
	}
	if err != nil {
		return done, fmt.Errorf("revert: %w", err)
	}
	if err := w.repo.refs.SwapAny(ctx, journalPrefix+job.name, "", journal); err != nil {
		return done, fmt.Errorf("revert: end journal: %w", err)
	}
	return done, nil
}

// filesLock keeps two operations on the files of one worktree apart.
func (w *Worktree) filesLock() string { return "revert-" + filepath.Base(w.GitDir) }

// lockFiles locks the files of the worktree for an operation, which goes on with the
// context held, and drops the lock of the index that a killed one has left.
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

// randomName sorts by time: several may be made in a second.
func randomName() (string, error) {
	var random [3]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	return strings.Replace(time.Now().UTC().Format("20060102150405.000000"), ".", "", 1) + "-" + hex.EncodeToString(random[:]), nil
}

// onlyFile is the file of a journal that holds the paths of a revert, each ended by
// NUL; it is absent where the revert is about all of them.
const onlyFile = "only"

// beginJournal records which revert is about to be done. Its parents are the two
// snapshots, its message says why and names the worktree.
func (w *Worktree) beginJournal(ctx context.Context, job revertJob) (ID, error) {
	var entries []odb.TreeEntry
	if job.only != nil {
		blob, err := w.repo.objects.Write(ctx, "blob", joinNUL(slices.Sorted(maps.Keys(job.only))))
		if err != nil {
			return "", err
		}
		entries = append(entries, odb.TreeEntry{Mode: ModeFile, Name: onlyFile, ID: blob})
	}
	tree, err := w.repo.objects.WriteTree(ctx, entries)
	if err != nil {
		return "", err
	}
	now := time.Now().UTC()
	id, err := w.repo.objects.WriteCommit(ctx, Commit{
		Tree: tree, Parents: []ID{job.base.ID, job.end.ID}, Message: job.why + w.journalEnd(),
		Author: toolIdentity, Committer: toolIdentity, AuthorWhen: now, CommitterWhen: now,
	})
	if err != nil {
		return "", err
	}
	return id, w.repo.refs.SwapAny(ctx, journalPrefix+job.name, id, "")
}

// journalEnd is how the message of each journal of this worktree ends.
func (w *Worktree) journalEnd() string { return "\n\n" + w.GitDir + "\n" + w.Dir + "\n" }

// FinishReverts does what a killed Revert of this worktree left undone. Call it
// before anything else is done to the worktree. There is mostly nothing to do.
func (w *Worktree) FinishReverts(ctx context.Context) ([]Reverted, error) {
	journals, err := w.repo.Refs(ctx, journalPrefix)
	if err != nil || len(journals) == 0 {
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

// Unfinished are the operations that FinishReverts would end; none while somebody is at
// work on the files.
func (w *Worktree) Unfinished(ctx context.Context) (list []Operation, err error) {
	journals, err := w.repo.Refs(ctx, journalPrefix)
	if err != nil || len(journals) == 0 {
		return nil, err
	}
	unlock, free, err := w.repo.TryLock(w.filesLock())
	if err != nil || !free {
		return nil, nil // who cannot lock cannot end them either
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
	return list, nil
}

// finishRevert does one journal; it is not ours when it is another worktree's, or
// when its revert was alive and has ended.
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

// readJournal reads the revert of a journal back; ours is false for another worktree's.
func (w *Worktree) readJournal(ctx context.Context, name string, journal ID) (job revertJob, ours bool, err error) {
	commit, err := w.repo.ReadCommit(ctx, journal)
	if err != nil {
		return job, false, err
	}
	why, ours := strings.CutSuffix(commit.Message, w.journalEnd())
	if !ours || len(commit.Parents) != 2 {
		return job, false, nil
	}
	job = revertJob{name: name, why: why}
	if job.base, err = w.repo.ReadSnapshot(ctx, commit.Parents[0]); err != nil {
		return job, false, err
	}
	if job.end, err = w.repo.ReadSnapshot(ctx, commit.Parents[1]); err != nil {
		return job, false, err
	}
	only, err := w.repo.Blob(ctx, commit.Tree, onlyFile)
	if errors.Is(err, ErrNotFound) {
		return job, true, nil
	}
	OnlyPaths(splitNUL(only))(&job)
	return job, true, err
}

// revert does a job, or the rest of one.
func (w *Worktree) revert(ctx context.Context, job revertJob) (done Reverted, err error) {
	changed, err := w.repo.Changed(ctx, job.base.Tree, job.end.Tree)
	if err != nil {
		return done, err
	}
	changed = slices.DeleteFunc(changed, func(c Change) bool { return !job.covers(c.Path) })
	files, err := w.openFiles()
	if err != nil {
		return done, err
	}
	defer files.Close()
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
	if err := w.revertIndex(ctx, job, &done); err != nil {
		return done, err
	}
	slices.Sort(done.Conflicts)
	return done, w.afterRevert(ctx, job, &done)
}

// beforeRevert is the snapshot from before the job was begun, by whichever process.
func (w *Worktree) beforeRevert(ctx context.Context, job revertJob) (Snapshot, error) {
	ref := revertedPrefix + job.name + "-before"
	id, err := w.repo.Ref(ctx, ref)
	if err != nil {
		return Snapshot{}, err
	}
	if id != "" {
		return w.repo.ReadSnapshot(ctx, id)
	}
	return w.Snapshot(ctx, ref, job.why+" (before)")
}

// afterRevert records what the job came to: the files of Before with those in their
// old state that it restored. So it speaks of nobody else's work.
func (w *Worktree) afterRevert(ctx context.Context, job revertJob, done *Reverted) error {
	restored, err := w.restoredSince(ctx, job, done)
	if err != nil {
		return err
	}
	after := Snapshot{Gaps: done.Before.Gaps}
	if after.Tree, err = w.treeWith(ctx, done.Before.Tree, restored); err != nil {
		return err
	}
	index, err := w.wholeIndex(ctx)
	if err != nil {
		return err
	}
	if after.indexTime = index.modTime; index.data != nil {
		if after.Index, err = w.repo.objects.Write(ctx, "blob", index.data); err != nil {
			return err
		}
	}
	if after.Head, after.HeadRef, err = w.head(ctx); err != nil {
		return err
	}
	before := revertedPrefix + job.name + "-before"
	if after.Tree == done.Before.Tree && after.Index == done.Before.Index && !job.movesHead() {
		done.After = done.Before
		return w.repo.refs.SwapAny(ctx, before, "", done.Before.ID)
	}
	if err := w.writeSnapshot(ctx, &after, job.why+" (after)"); err != nil {
		return err
	}
	done.After = after
	return w.repo.refs.Keep(ctx, revertedPrefix+job.name+"-after", after.ID)
}

// restoredSince are the changes that take a path from what it was in Before to what
// it is in base: what was restored now, and what a killed process had restored. They
// are what Restored names in the end.
func (w *Worktree) restoredSince(ctx context.Context, job revertJob, done *Reverted) ([]Change, error) {
	back, err := w.repo.Changed(ctx, done.Before.Tree, job.base.Tree)
	if err != nil {
		return nil, err
	}
	asInBase, restored := map[string]bool{}, map[string]bool{}
	for _, path := range slices.Concat(done.Restored, done.Skipped) {
		asInBase[path] = true
	}
	back = slices.DeleteFunc(back, func(c Change) bool { return !asInBase[c.Path] })
	for _, c := range back {
		restored[c.Path] = true
	}
	done.Restored = slices.Sorted(maps.Keys(restored))
	done.Skipped = slices.DeleteFunc(done.Skipped, func(path string) bool { return restored[path] })
	return back, nil
}

// revertIndex makes the index what it was in base: as a whole when it is still that
// of end and the job is about every path, else entry by entry.
func (w *Worktree) revertIndex(ctx context.Context, job revertJob, done *Reverted) error {
	if job.base.Index == job.end.Index {
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

// revertEntries restores those entries of the index that are as in end: indexes are
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

func (d *Reverted) conflict(path string) {
	if !slices.Contains(d.Conflicts, path) {
		d.Conflicts = append(d.Conflicts, path)
	}
}
