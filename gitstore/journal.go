package gitstore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore/odb"
)

const (
	journalPrefix  = "refs/runr-local/journal/"
	revertedPrefix = "refs/runr-local/snapshots/revert/"
)

// revertJob is a revert that was asked for.
type revertJob struct {
	name      string // of its journal and snapshots; it sorts by time
	base, end Snapshot
	only      map[string]bool // nil: every path
	why       string
	begun     bool // git was killed while it made end of base
}

// covers reports whether the job is about a path. One that is no text may be named as JSON has it.
func (j revertJob) covers(path string) bool {
	return j.only == nil || j.only[path] || !utf8.ValidString(path) && j.only[string([]rune(path))]
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
	id, err := w.repo.toolCommit(ctx, tree, job.why+w.journalEnd(), time.Now().UTC(), job.base.ID, job.end.ID)
	if err != nil {
		return "", err
	}
	return id, w.repo.refs.SwapAny(ctx, journalPrefix+job.name, id, "")
}

// journalEnd is how the message of each journal of this worktree ends.
func (w *Worktree) journalEnd() string { return "\n\n" + w.GitDir + "\n" + w.Dir + "\n" }

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
	if job.base, job.end, err = w.repo.readSnapshots(ctx, commit.Parents[0], commit.Parents[1]); err != nil {
		return job, false, err
	}
	only, err := w.repo.Blob(ctx, commit.Tree, onlyFile)
	if errors.Is(err, ErrNotFound) {
		return job, true, nil
	}
	OnlyPaths(splitNUL(only))(&job)
	return job, true, err
}

// operation is what a job is part of.
func (j revertJob) operation() Operation {
	op := parseOperation(j.why)
	if op.Kind == opLanding {
		op.Kind = OpLand
	}
	return op
}
