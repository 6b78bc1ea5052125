package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// Land brings the work from Base to Result to the checked out branch: by fast-forward if
// possible, otherwise commit by commit, or as one commit with Squash, merged with the branch's
// new commits. It runs no hook. It updates index and files as a merge does. It changes nothing
// and returns a *PathsError if the work conflicts with the branch (ErrConflict), would overwrite
// something uncommitted (ErrDirty) or removes most of its files (ErrDeletions), or if paths are
// unmerged (ErrUnmerged). During a merge it returns an *UnfinishedError. A modified file is not
// in the way if it is as Started recorded it, because the work started from it, or as the work
// leaves it. After a kill, FinishReverts takes the landing back, or records it if the branch had
// moved.
func (w *Worktree) Land(ctx context.Context, spec LandSpec) (landed Landed, err error) {
	defer wrap(&err, "land %s", spec.Result.Short())
	if err := w.headIsFree(); err != nil {
		return Landed{}, err
	}
	ctx, unlock, err := w.lockFiles(ctx)
	if err != nil {
		return Landed{}, err
	}
	defer unlock()
	l := landing{Worktree: w, spec: spec}
	if l.old, l.branch, err = w.head(ctx); err != nil {
		return Landed{}, err
	}
	landed, changed, err := w.repo.planLanding(ctx, l.old, spec)
	if err != nil || landed.Commit == l.old {
		return landed, err
	}
	l.new, l.changed = landed.Commit, changed
	if err := l.makeWay(ctx); err != nil {
		return Landed{}, err
	}
	landed.Operation, err = l.carryOut(ctx)
	return landed, err
}

// landedPrefix is the prefix of the refs of snapshots from before and after landings.
const landedPrefix = "refs/runr-local/snapshots/land/"

// landing is a landing in progress.
type landing struct {
	*Worktree
	spec     LandSpec
	branch   string   // the branch that HEAD is on, "" if it is detached
	old, new ID       // where HEAD is, and where it moves to
	changed  []Change // from old to new
	mine     []string // paths that differ from old and may be overwritten
}

// makeWay returns ErrDirty if something uncommitted would be overwritten, and ErrUnmerged
// if the index has unmerged paths. It sets mine.
func (l *landing) makeWay(ctx context.Context) error {
	if err := l.refreshIndex(ctx); err != nil {
		return err
	}
	if err := l.noUnmerged(ctx, l.indexPath()); err != nil {
		return err
	}
	mine, dirty, err := l.inTheWay(ctx, l.old, l.changed, l.spec.Started)
	if err == nil && len(dirty) > 0 {
		err = &PathsError{Err: ErrDirty, Paths: dirty}
	}
	l.mine = mine
	return err
}

// carryOut moves files, index and branch to the new commit, or changes nothing. A
// journal records the landing meanwhile: see finishLanding.
func (l *landing) carryOut(ctx context.Context) (op Recorded, err error) {
	job, err := l.begin(ctx)
	if err != nil {
		return op, err
	}
	ctx = context.WithoutCancel(ctx) // a git that is killed half-way leaves locks
	journal, err := l.beginJournal(ctx, job)
	if err != nil {
		return op, err
	}
	if err = l.moveAll(ctx); err != nil {
		back, backErr := l.takeBack(ctx, job)
		if backErr != nil {
			return op, errors.Join(err, backErr) // the journal stays for FinishReverts
		}
		if len(back.Conflicts) > 0 {
			err = errors.Join(err, fmt.Errorf("changed meanwhile and left alone: %w",
				&PathsError{Err: ErrConflict, Paths: back.Conflicts}))
		}
	} else if op, err = l.recordLanding(ctx, job); err != nil {
		return op, err
	}
	return op, errors.Join(err, l.repo.refs.SwapAny(ctx, journalPrefix+job.name, "", journal))
}

// begin records the working tree as it is, and as it will be.
func (l *landing) begin(ctx context.Context) (job revertJob, err error) {
	op := l.spec.Op
	op.Kind = opLanding
	job.why, job.name = op.String(), randomName()
	if job.base, err = l.Snapshot(ctx, landedPrefix+job.name+"-before", l.spec.Op.String()+" (before)"); err != nil {
		return job, err
	}
	files, modules := splitModules(l.changed)
	if job.end, err = l.asCommitted(ctx, job.base, l.new, changedPaths(files)); err != nil {
		return job, err
	}
	if job.end.Index, err = l.indexWith(ctx, job.end, modules); err != nil {
		return job, err
	}
	job.end.Head, job.end.HeadRef = l.new, l.branch
	return job, l.writeSnapshot(ctx, &job.end, l.spec.Op.String()+" (after)")
}

// splitModules separates submodules that are added, removed or moved: a landing changes them
// only in the index.
func splitModules(changed []Change) (files, modules []Change) {
	for _, c := range changed {
		if c.NewMode == ModeCommit || c.OldMode == ModeCommit && c.NewMode == "" {
			modules = append(modules, c)
		} else {
			files = append(files, c)
		}
	}
	return files, modules
}

// moveAll runs git's two-tree merge, which refuses everything if a file is in the way, and
// then moves the branch.
func (l *landing) moveAll(ctx context.Context) error {
	err := l.changeIndex(ctx, func(index string) error {
		from, err := l.withFiles(ctx, index, l.old, l.mine)
		if err == nil {
			_, err = l.gitIndex(ctx, index, nil, "read-tree", "-m", "-u", "--no-recurse-submodules", "--end-of-options",
				string(from), string(l.new))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("update files: %w", err)
	}
	return l.repo.refs.Move(ctx, cmp.Or(l.branch, "HEAD"), l.new, l.old, "runr: land "+l.spec.Result.Short())
}

// recordLanding records a landing whose branch has moved.
func (w *Worktree) recordLanding(ctx context.Context, job revertJob) (Recorded, error) {
	end, err := w.asLanded(ctx, job)
	if err == nil {
		err = w.repo.refs.Keep(ctx, landedPrefix+job.name+"-after", end.ID)
	}
	if err != nil {
		return Recorded{}, err
	}
	return w.repo.record(ctx, job.operation(), "", job.base, end)
}

// asLanded returns the snapshot after a landing. It contains the index that git wrote, if that
// has the same entries as the planned one.
func (w *Worktree) asLanded(ctx context.Context, job revertJob) (Snapshot, error) {
	end := job.end
	wanted, err := end.index(ctx, w.repo)
	if err != nil {
		return end, err
	}
	now, err := w.wholeIndex(ctx)
	if err != nil {
		return end, err
	}
	var entries [2]map[string]string
	for i, index := range []indexFile{wanted, now} {
		if entries[i], err = w.indexEntries(ctx, index); err != nil {
			return end, err
		}
	}
	if !maps.Equal(entries[0], entries[1]) {
		return end, nil
	}
	if end.Index, err = w.repo.objects.Write(ctx, "blob", now.data); err != nil {
		return end, err
	}
	end.indexTime = now.modTime
	return end, w.writeSnapshot(ctx, &end, job.operation().String()+" (after)")
}

// takeBack takes back a landing whose branch has not moved. For the paths of the landing, the index
// has what the landing wrote, complete or not.
func (w *Worktree) takeBack(ctx context.Context, job revertJob) (done Reverted, err error) {
	changed, err := w.repo.Changed(ctx, job.base.Tree, job.end.Tree)
	if err != nil {
		return done, err
	}
	index, err := w.wholeIndex(ctx)
	if err != nil {
		return done, err
	}
	now, err := w.indexEntries(ctx, index)
	if err != nil {
		return done, err
	}
	if job.end.Index, err = w.indexWith(ctx, job.base, asChanges(changedPaths(changed), now)); err != nil {
		return done, err
	}
	job.begun = true
	return w.revert(ctx, job)
}

// withFiles stages the user's files in an index file and returns the tree of commit with them,
// so that git treats them as committed. Without files it returns the commit.
func (w *Worktree) withFiles(ctx context.Context, index string, commit ID, mine []string) (ID, error) {
	commit = w.repo.orEmptyTree(commit)
	if len(mine) == 0 {
		return commit, nil
	}
	if err := w.updateIndex(ctx, w.indexCall(index), mine, "--add", "--remove", "--replace"); err != nil {
		return "", err
	}
	staged, err := readIndexFile(index)
	if err != nil {
		return "", err
	}
	entries, err := w.indexEntries(ctx, staged)
	if err != nil {
		return "", err
	}
	return w.treeWith(ctx, commit, asChanges(mine, entries))
}

// asChanges returns the entries of an index for paths as changes. A path that is missing or
// unmerged becomes a deletion.
func asChanges(paths []string, entries map[string]string) []Change {
	changes := make([]Change, len(paths))
	for i, path := range paths {
		changes[i].Path = path
		if fields := strings.Fields(entries[path]); len(fields) == 3 {
			changes[i].NewMode, changes[i].NewID = fields[0], ID(fields[1])
		}
	}
	return changes
}

// inTheWay sorts the paths that are about to change and that differ from the commit. mine are those
// that are as the work found them or as it leaves them; dirty are the others.
func (w *Worktree) inTheWay(ctx context.Context, commit ID, changed []Change,
	started *Snapshot) (mine, dirty []string, err error) {
	modified, err := w.modifiedPaths(ctx, commit)
	if err != nil {
		return nil, nil, err
	}
	files, err := w.openFiles()
	if err != nil {
		return nil, nil, err
	}
	defer files.Close()
	known, err := w.knownStates(ctx, commit, started)
	if err != nil {
		return nil, nil, err
	}
	leaving := map[string]bool{}
	for _, c := range changed {
		leaving[c.Path] = c.NewMode == ""
	}
	for _, c := range changed {
		obstacle := ""
		if modified[c.Path] {
			obstacle = c.Path
		} else if c.OldMode == "" {
			obstacle = w.untrackedAt(c.Path, leaving)
		}
		if obstacle == "" {
			continue
		}
		state, err := files.state(c.Path)
		wanted, recorded := known[c.Path]
		if err == nil && obstacle == c.Path && (recorded && state == wanted || state == fileState{c.NewMode, c.NewID}) {
			mine = append(mine, c.Path)
			continue
		}
		dirty = append(dirty, obstacle)
	}
	return mine, slices.Compact(dirty), nil
}

// knownStates returns the files of a snapshot that differ from the commit.
func (w *Worktree) knownStates(ctx context.Context, commit ID, started *Snapshot) (map[string]fileState, error) {
	known := map[string]fileState{}
	if started == nil {
		return known, nil
	}
	changed, err := w.repo.Changed(ctx, w.repo.orEmptyTree(commit), started.Tree)
	for _, c := range changed {
		known[c.Path] = fileState{c.NewMode, c.NewID}
	}
	return known, err
}

// modifiedPaths lists the paths that differ between commit, index and files, without untracked
// files. It includes staged paths.
func (w *Worktree) modifiedPaths(ctx context.Context, commit ID) (map[string]bool, error) {
	var modified []string
	for _, args := range [][]string{
		{"diff-index", "--cached", "-z", "--name-only", "--no-renames", "--ignore-submodules=dirty",
			string(w.repo.orEmptyTree(commit)), "--"},
		{"diff-files", "-z", "--name-only", "--ignore-submodules=dirty"},
	} {
		listed, err := w.listed(gitdir.Call{Worktree: w.Dir}, args...)(ctx)
		if err != nil {
			return nil, err
		}
		modified = append(modified, listed...)
	}
	return each.Set(modified), nil
}

// untrackedAt returns what occupies the path of a new file: the path itself, a file in place of one
// of its directories, or a file in a directory in its place; or "". Paths in leaving are tracked
// and make room.
func (w *Worktree) untrackedAt(name string, leaving map[string]bool) string {
	for parent := path.Dir(name); parent != "."; parent = path.Dir(parent) {
		info, err := os.Lstat(filepath.Join(w.Dir, parent))
		if err == nil && !info.IsDir() && !leaving[parent] {
			return parent
		}
	}
	info, err := os.Lstat(filepath.Join(w.Dir, name))
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		return name
	}
	obstacle := ""
	_ = filepath.WalkDir(filepath.Join(w.Dir, name), func(p string, entry fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(w.Dir, p)
		if err != nil || relErr != nil {
			obstacle = name // it cannot be examined, so it stays
			return fs.SkipAll
		}
		if entry.IsDir() || leaving[rel] {
			return nil
		}
		obstacle = rel
		return fs.SkipAll
	})
	return obstacle
}
