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
)

// Land brings the work from Base to Result to what is checked out: by fast-forward
// where that is possible, else its commits one by one, or one commit with Squash,
// merged with what happened on the branch since. No hook runs. Index and files are
// updated as a merge does it, and nothing is changed at all when the work conflicts
// with the branch (ErrConflict), would overwrite something uncommitted (ErrDirty),
// removes most of its files (ErrDeletions), or paths are unmerged (ErrUnmerged); all are
// a *PathsError. Nor is it during a merge: *UnfinishedError. A file that is as
// Started recorded it, or as the work leaves it, is not in the way: the work began
// from it. A killed landing is taken back by FinishReverts, or recorded when the
// branch had moved.
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

// landedPrefix is below where snapshots from before and after landings are kept.
const landedPrefix = "refs/runr-local/snapshots/land/"

// landing is one that is going on.
type landing struct {
	*Worktree
	spec     LandSpec
	branch   string   // that HEAD is on, "" when it is detached
	old, new ID       // what it is at, and is to be at
	changed  []Change // between the two
	mine     []string // paths that are not as in old, and may be overwritten
}

// makeWay is ErrDirty when something uncommitted would be overwritten, and ErrUnmerged
// while git would refuse to touch the index.
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

// carryOut brings files, index and branch to the new commit, or changes nothing. A
// journal is kept meanwhile: see finishLanding.
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
			return op, errors.Join(err, backErr) // the journal stays, for the next start
		}
		if len(back.Conflicts) > 0 {
			err = errors.Join(err, fmt.Errorf("changed meanwhile and left alone: %w", &PathsError{Err: ErrConflict, Paths: back.Conflicts}))
		}
	} else if op, err = l.recordLanding(ctx, job); err != nil {
		return op, err
	}
	return op, errors.Join(err, l.repo.refs.SwapAny(ctx, journalPrefix+job.name, "", journal))
}

// begin records how the working tree is, and how it is to be.
func (l *landing) begin(ctx context.Context) (job revertJob, err error) {
	op := l.spec.Op
	op.Kind = opLanding
	job.why = op.String()
	if job.name, err = randomName(); err != nil {
		return job, err
	}
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

// splitModules sorts out the submodules that come, go or move: a landing changes them
// in the index alone.
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

// moveAll is git's two-tree merge, which refuses as a whole when a file is in the
// way, and then the move of the branch.
func (l *landing) moveAll(ctx context.Context) error {
	err := l.changeIndex(ctx, func(index string) error {
		from, err := l.withFiles(ctx, index, l.old, l.mine)
		if err == nil {
			_, err = l.gitIndex(ctx, index, nil, "read-tree", "-m", "-u", "--no-recurse-submodules", "--end-of-options", string(from), string(l.new))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("update files: %w", err)
	}
	return l.repo.refs.Move(ctx, cmp.Or(l.branch, "HEAD"), l.new, l.old, landReason(l.spec))
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

// asLanded is the snapshot of how a landing was to be, with the index as git made it
// where that says the same of all paths.
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

// takeBack takes back a landing whose branch has not moved. What the index has for
// its paths is the landing's, half-way or whole.
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

// withFiles stages files of the user's in an index file, and gives the tree of a commit with them in
// it, so that git takes them for committed. Without any it is the commit's tree.
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

// asChanges are the paths as the entries of an index have them; one that is not there, or
// is unmerged, is to go.
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

// inTheWay sorts the paths that are about to change and are not as in the commit:
// mine are as the work found or leaves them, dirty is everything else.
func (w *Worktree) inTheWay(ctx context.Context, commit ID, changed []Change, started *Snapshot) (mine, dirty []string, err error) {
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

// knownStates gives the files of a snapshot that were not as in the commit.
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

// modifiedPaths lists what differs between commit, index and files, untracked files
// not counted. A path that is staged as it is in no commit is among them.
func (w *Worktree) modifiedPaths(ctx context.Context, commit ID) (map[string]bool, error) {
	modified := map[string]bool{}
	for _, args := range [][]string{
		{"diff-index", "--cached", "-z", "--name-only", "--no-renames", "--ignore-submodules=dirty", string(w.repo.orEmptyTree(commit)), "--"},
		{"diff-files", "-z", "--name-only", "--ignore-submodules=dirty"},
	} {
		out, err := w.git(ctx, args...)
		if err != nil {
			return nil, fmt.Errorf("list changes: %w", err)
		}
		for _, name := range splitNUL(out) {
			modified[name] = true
		}
	}
	return modified, nil
}

// untrackedAt is what stands where a new file is to come: the path itself, a file
// in place of one of its directories, or a file in a directory in its place; "" for
// nothing. Paths that leave are tracked, and make room.
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
			obstacle = name // cannot be looked at, so it stays
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
