package gitstore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/odb"
)

const (
	journalPrefix  = "refs/runr-local/journal/"
	revertedPrefix = "refs/runr-local/snapshots/revert/"
)

// revertJob is one requested revert, landing or undo.
type revertJob struct { // name of its journal and snapshots; it sorts by time
	name      string // of its journal and snapshots; it sorts by time
	base, end Snapshot
	only      map[string]bool // nil: every path
	why       string
	begun     bool // git was killed while it changed base into end
}

// covers reports whether the job includes a path. A path that is not UTF-8 may be named in its JSON form.
func (j revertJob) covers(path string) bool {
	return j.only == nil || j.only[path] || !utf8.ValidString(path) && j.only[string([]rune(path))]
}

// RevertOption changes how a revert works.
type RevertOption func(*revertJob)

// OnlyPaths restricts a revert to paths.
func OnlyPaths(paths []string) RevertOption {
	return func(j *revertJob) { j.only = each.Set(paths) }
}

// Because sets the reason of a revert, one line, which the snapshots around it record.
func Because(why string) RevertOption { return func(j *revertJob) { j.why = why } }

// onlyFile is the file of a journal with the paths of a revert, each ended by NUL. It is absent
// if the revert covers all paths.
const onlyFile = "only"

// beginJournal records a revert before it starts. The commit's parents are the two snapshots;
// its message has the reason and names the worktree.
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

// journalEnd returns the end of the message of every journal of this worktree.
func (w *Worktree) journalEnd() string { return "\n\n" + w.GitDir + "\n" + w.Dir + "\n" }

// readJournal reads the revert of a journal back. ours is false if it belongs to another worktree.
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

// operation returns the operation to which the job belongs.
func (j revertJob) operation() Operation {
	op := parseOperation(j.why)
	if op.Kind == opLanding {
		op.Kind = OpLand
	}
	return op
}
