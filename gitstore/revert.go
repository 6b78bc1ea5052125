package gitstore

import (
	"bytes"
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
)

const (
	journalPrefix  = "refs/runr-local/journal/"
	revertedPrefix = "refs/runr-local/snapshots/revert/"
)

// Reverted is what a revert did. Before and After are the snapshots around it, kept
// under refs/runr-local/snapshots/revert/: Revert(Before, After) undoes it.
type Reverted struct {
	Restored  []string // now as in base
	Skipped   []string // were as in base already
	Conflicts []string // changed by somebody else since end, or not restorable: left alone
	Before    Snapshot
	After     Snapshot
}

// Revert takes back what changed between two snapshots of this worktree, path by
// path, files and index. A path is restored to what it is in base only when it is
// now as it is in end; so what somebody did to it afterwards is never lost, but
// listed as a conflict. Nothing else is touched, HEAD neither. New files are
// removed, and the directories that this leaves empty.
//
// A journal is kept while it runs: what a killed process left undone, FinishReverts
// does (design 2.4).
func (w *Worktree) Revert(ctx context.Context, base, end Snapshot) (Reverted, error) {
	unlock, err := w.lockFiles(ctx)
	if err != nil {
		return Reverted{}, fmt.Errorf("revert: %w", err)
	}
	defer unlock()
	name, err := randomName()
	if err != nil {
		return Reverted{}, fmt.Errorf("revert: %w", err)
	}
	journal, err := w.beginJournal(ctx, name, base, end)
	if err != nil {
		return Reverted{}, fmt.Errorf("revert: %w", err)
	}
	done, err := w.revert(ctx, name, base, end)
	if err != nil {
		return done, fmt.Errorf("revert: %w", err)
	}
	if err := w.repo.swapRef(ctx, journalPrefix+name, "", journal); err != nil {
		return done, fmt.Errorf("revert: end journal: %w", err)
	}
	return done, nil
}

// lockFiles keeps two reverts of one worktree apart.
func (w *Worktree) lockFiles(ctx context.Context) (unlock func(), err error) {
	return w.repo.lock(ctx, "revert-"+filepath.Base(w.GitDir))
}

// randomName sorts by time.
func randomName() (string, error) {
	var random [3]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	return time.Now().UTC().Format("20060102150405") + "-" + hex.EncodeToString(random[:]), nil
}

// beginJournal records which revert is about to be done. Its parents are the two
// snapshots, its message names the worktree.
func (w *Worktree) beginJournal(ctx context.Context, name string, base, end Snapshot) (ID, error) {
	tree, err := w.repo.EmptyTree(ctx)
	if err != nil {
		return "", err
	}
	now := time.Now().UTC()
	id, err := w.repo.writeCommit(ctx, Commit{
		Tree: tree, Parents: []ID{base.ID, end.ID}, Message: "revert in progress\n\n" + w.GitDir + "\n" + w.Dir,
		Author: toolIdentity, Committer: toolIdentity, AuthorWhen: now, CommitterWhen: now,
	})
	if err != nil {
		return "", err
	}
	return id, w.repo.swapRef(ctx, journalPrefix+name, id, "")
}

// FinishReverts does what a killed Revert of this worktree left undone. Call it
// before anything else is done to the worktree. There is mostly nothing to do.
func (w *Worktree) FinishReverts(ctx context.Context) ([]Reverted, error) {
	journals, err := w.repo.Refs(ctx, journalPrefix)
	if err != nil || len(journals) == 0 {
		return nil, err
	}
	unlock, err := w.lockFiles(ctx)
	if err != nil {
		return nil, fmt.Errorf("finish revert: %w", err)
	}
	defer unlock()
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

// finishRevert does one journal; it is not ours when it is another worktree's, or
// when its revert was alive and has ended.
func (w *Worktree) finishRevert(ctx context.Context, name string) (done Reverted, ours bool, err error) {
	journal, err := w.repo.Ref(ctx, journalPrefix+name)
	if err != nil || journal == "" {
		return Reverted{}, false, err
	}
	commit, err := w.repo.ReadCommit(ctx, journal)
	if err != nil {
		return Reverted{}, false, err
	}
	if !strings.HasSuffix(commit.Message, "\n\n"+w.GitDir+"\n"+w.Dir+"\n") || len(commit.Parents) != 2 {
		return Reverted{}, false, nil
	}
	base, err := w.repo.ReadSnapshot(ctx, commit.Parents[0])
	if err != nil {
		return Reverted{}, false, err
	}
	end, err := w.repo.ReadSnapshot(ctx, commit.Parents[1])
	if err != nil {
		return Reverted{}, false, err
	}
	if err := w.sweep(ctx, base, end); err != nil {
		return Reverted{}, false, err
	}
	if done, err = w.revert(ctx, name+"-again", base, end); err != nil {
		return done, false, err
	}
	return done, true, w.repo.swapRef(ctx, journalPrefix+name, "", journal)
}

func (w *Worktree) revert(ctx context.Context, name string, base, end Snapshot) (Reverted, error) {
	changed, err := w.repo.Changed(ctx, base.Tree, end.Tree)
	if err != nil {
		return Reverted{}, err
	}
	files, err := w.openFiles()
	if err != nil {
		return Reverted{}, err
	}
	defer files.Close()
	done := Reverted{}
	if done.Before, err = w.Snapshot(ctx, revertedPrefix+name+"-before", "before a revert"); err != nil {
		return done, err
	}
	if err := files.restore(ctx, changed, &done); err != nil {
		return done, err
	}
	if err := w.revertIndex(ctx, base, end, &done); err != nil {
		return done, err
	}
	slices.Sort(done.Restored)
	slices.Sort(done.Conflicts)
	done.After, err = w.Snapshot(ctx, revertedPrefix+name+"-after", "after a revert")
	return done, err
}

// revertIndex makes the index what it was in base: as a whole when it is still that
// of end, else entry by entry.
func (w *Worktree) revertIndex(ctx context.Context, base, end Snapshot, done *Reverted) error {
	if base.Index == end.Index {
		return nil
	}
	wanted, err := base.index(ctx, w.repo)
	if err != nil {
		return err
	}
	after, err := end.index(ctx, w.repo)
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
	if bytes.Equal(now.data, after.data) {
		err := w.installIndex(ctx, raw.data, wanted)
		if !errors.Is(err, ErrLostRace) {
			return err
		}
		if now, err = w.wholeIndex(ctx); err != nil {
			return err
		}
	}
	return w.revertEntries(ctx, [3]indexFile{wanted, after, now}, done)
}

// revertEntries restores those entries of the index that are as in end: indexes are
// those of base, end and now.
func (w *Worktree) revertEntries(ctx context.Context, indexes [3]indexFile, done *Reverted) error {
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
			paths[path] = base[path] != end[path]
		}
	}
	var remove, add strings.Builder
	for path, changed := range paths {
		switch {
		case !changed || now[path] == base[path]:
		case now[path] != end[path]:
			done.conflict(path)
		default:
			fmt.Fprintf(&remove, "0 %s\t%s\x00", w.repo.zeroID(), path)
			if base[path] != "" {
				add.WriteString(strings.ReplaceAll(base[path], "\n", "\t"+path+"\x00") + "\t" + path + "\x00")
			}
		}
	}
	if remove.Len() == 0 {
		return nil
	}
	_, err := w.gitIndex(ctx, w.indexPath(), []byte(remove.String()+add.String()), "update-index", "-z", "--index-info")
	return busy(err)
}

func (d *Reverted) conflict(path string) {
	if !slices.Contains(d.Conflicts, path) {
		d.Conflicts = append(d.Conflicts, path)
	}
}
