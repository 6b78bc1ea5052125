package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/refdb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// indexWait is how long an operation waits for a locked index.
const indexWait = 5 * time.Second

// indexFile is an index file with its time. The time matters: git treats an entry
// that is as new as the index as possibly changed.
type indexFile struct {
	data    []byte // nil if there is no index
	modTime time.Time
}

// files returns the number of entries; entries in the shared part of a split index do not count.
func (f indexFile) files() int {
	if len(f.data) < 12 {
		return 0
	}
	return int(binary.BigEndian.Uint32(f.data[8:]))
}

// writeTo writes a copy with the same time.
func (f indexFile) writeTo(path string, perm fs.FileMode) error {
	if err := os.WriteFile(path, f.data, perm); err != nil {
		return err
	}
	return os.Chtimes(path, f.modTime, f.modTime)
}

// readIndexFile reads content and time of the same file: git replaces an
// index by renaming, so the open file does not change.
func readIndexFile(path string) (indexFile, error) {
	f, err := safefile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return indexFile{}, nil
	}
	if err != nil {
		return indexFile{}, fmt.Errorf("read index: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return indexFile{}, fmt.Errorf("read index: %w", err)
	}
	buf := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := buf.ReadFrom(f); err != nil {
		return indexFile{}, fmt.Errorf("read index: %w", err)
	}
	return indexFile{data: buf.Bytes(), modTime: info.ModTime()}, nil
}

// wholeIndex returns the worktree's index in one file. It joins a split index, because
// git deletes the shared part when nobody uses it.
func (w *Worktree) wholeIndex(ctx context.Context) (indexFile, error) {
	index, err := readIndexFile(w.indexPath())
	if err != nil || index.data == nil {
		return index, err
	}
	shared, err := filepath.Glob(filepath.Join(gitdir.GlobQuote(w.GitDir), "sharedindex.*"))
	if err != nil || len(shared) == 0 {
		return index, err
	}
	path, done, err := w.scratchIndex(index)
	if err != nil {
		return indexFile{}, err
	}
	defer done()
	_, err = w.gitIndex(ctx, path, nil, "-c", "core.splitIndex=false", "update-index", "--no-split-index")
	if err != nil {
		return indexFile{}, fmt.Errorf("read split index: %w", err)
	}
	whole, err := readIndexFile(path)
	whole.modTime = index.modTime
	return whole, err
}

// scratchIndex copies an index to a file that git may change; done removes the file.
func (w *Worktree) scratchIndex(index indexFile) (path string, done func(), err error) {
	parent := filepath.Join(w.GitDir, "runr")
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return "", nil, fmt.Errorf("copy index: %w", err)
	}
	dir, err := os.MkdirTemp(parent, "index-")
	if err != nil {
		return "", nil, fmt.Errorf("copy index: %w", err)
	}
	done = func() { os.RemoveAll(dir) }
	path = filepath.Join(dir, "index")
	if index.data == nil {
		return path, done, nil
	}
	if err = index.writeTo(path, 0o600); err != nil {
		done()
		return "", nil, fmt.Errorf("copy index: %w", err)
	}
	return path, done, nil
}

// gitIndex runs git in the worktree with another index file.
func (w *Worktree) gitIndex(ctx context.Context, index string, stdin []byte, args ...string) ([]byte, error) {
	c := w.indexCall(index)
	c.Args, c.Stdin = args, bytes.NewReader(stdin)
	return w.repo.dir.Call(ctx, c)
}

func (w *Worktree) indexCall(index string) gitdir.Call {
	return gitdir.Call{Worktree: w.Dir, Env: []string{"GIT_INDEX_FILE=" + index}}
}

// leftIndexLock is the content of the index's lock file during an operation under lockFiles. A later
// holder of that lock who finds this content knows that the earlier operation was killed.
const leftIndexLock = "git-runr is at work; when none is running: git runr status\n"

// installIndex replaces the worktree's index if its content is still want; otherwise it returns
// ErrLostRace. If index has no data, it removes the file.
func (w *Worktree) installIndex(ctx context.Context, want []byte, index indexFile) error {
	return w.replaceIndex(ctx, func(now indexFile) (indexFile, error) {
		if !bytes.Equal(now.data, want) {
			return now, fmt.Errorf("it was changed: %w", ErrLostRace)
		}
		return index, nil
	})
}

// changeIndex lets git change a copy of the worktree's index, and installs the copy.
// On the index itself a killed git would leave a lock that looks like that of a live process.
func (w *Worktree) changeIndex(ctx context.Context, change func(index string) error) error {
	return w.replaceIndex(ctx, func(now indexFile) (indexFile, error) {
		path, done, err := w.scratchIndex(now)
		if err != nil {
			return now, err
		}
		defer done()
		if err := change(path); err != nil {
			return now, err
		}
		return readIndexFile(path)
	})
}

// replaceIndex replaces the worktree's index with the result of change, under git's own lock.
// It returns a *LockedError if the lock is held.
func (w *Worktree) replaceIndex(ctx context.Context, change func(now indexFile) (indexFile, error)) error {
	unlock, err := w.lockIndex(ctx)
	if err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	defer unlock()
	now, err := readIndexFile(w.indexPath())
	if err != nil {
		return err
	}
	next, err := change(now)
	if err != nil || bytes.Equal(now.data, next.data) && now.modTime.Equal(next.modTime) {
		return err
	}
	if err := w.writeIndex(next); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// lockIndex acquires git's lock of the index. In an operation under lockFiles the lock file has our mark as soon as it
// exists, because an empty one, which a kill would leave, may be anybody's.
func (w *Worktree) lockIndex(ctx context.Context) (unlock func(), err error) {
	lock, mark := w.indexPath()+".lock", ""
	if gitdir.HeldLock(ctx) != nil {
		mark = leftIndexLock
	}
	if err := createWaiting(ctx, lock, mark, w.indexMode()); err != nil {
		return nil, err
	}
	return func() { os.Remove(lock) }, nil
}

// hasLeftIndexLock reports whether the lock file of the index has our mark.
func (w *Worktree) hasLeftIndexLock() bool { return isMarked(w.indexPath() + ".lock") }

func isMarked(lock string) bool {
	info, err := os.Lstat(lock)
	if err != nil || info.Size() != int64(len(leftIndexLock)) {
		return false
	}
	text, err := safefile.ReadFile(lock)
	return err == nil && string(text) == leftIndexLock
}

// dropLeftIndexLock removes the index lock that a killed operation has left. The caller holds lockFiles.
func (w *Worktree) dropLeftIndexLock() error {
	for _, path := range safefile.Left(w.indexPath() + ".lock") {
		os.Remove(path)
	}
	if !w.hasLeftIndexLock() {
		return nil
	}
	return gitdir.RemoveIfThere(w.indexPath() + ".lock")
}

// writeIndex replaces the index. The caller holds its lock.
func (w *Worktree) writeIndex(index indexFile) error {
	if index.data == nil {
		return gitdir.RemoveIfThere(w.indexPath())
	}
	temp := w.indexPath() + ".git-runr"
	if err := gitdir.RemoveIfThere(temp); err != nil { // left by a killed process
		return err
	}
	if err := safefile.Create(temp, index.data, w.indexMode()); err != nil {
		return err
	}
	_ = w.repo.dir.Share(temp)
	// before the rename makes it visible; git compares file times with this one
	err := os.Chtimes(temp, index.modTime, index.modTime)
	if err == nil {
		err = os.Rename(temp, w.indexPath())
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

func (w *Worktree) indexMode() fs.FileMode {
	info, err := os.Stat(w.indexPath())
	if err != nil {
		return 0o666
	}
	return info.Mode().Perm()
}

// createWaiting creates a lock file. It waits up to indexWait for another holder.
func createWaiting(ctx context.Context, path, text string, perm fs.FileMode) error {
	err := gitdir.WaitFor(ctx, indexWait, 20*time.Millisecond, func() (bool, error) {
		err := safefile.CreateWhole(path, []byte(text), perm)
		if errors.Is(err, fs.ErrExist) {
			return false, nil
		}
		return true, err
	})
	if errors.Is(err, gitdir.ErrWaited) {
		err = &LockedError{Path: path}
	}
	return err
}

// LockedError is an ErrBusy: a lock file of git exists, and its holder is unknown.
type LockedError struct{ Path string }

func (e *LockedError) Error() string {
	return fmt.Sprintf("%v: %q exists: another git process is at work, or was killed", ErrBusy, e.Path)
}

// Unwrap returns ErrBusy.
func (e *LockedError) Unwrap() error { return ErrBusy }

// indexEntries returns the entries of an index by path, as `git ls-files -s`
// prints them before the tab. Several stages are joined by newlines.
func (w *Worktree) indexEntries(ctx context.Context, index indexFile) (map[string]string, error) {
	out, err := w.indexLines(ctx, index)
	if err != nil {
		return nil, err
	}
	entries := map[string]string{}
	for _, item := range splitNUL(out) {
		entry, name, _ := strings.Cut(item, "\t")
		if before, ok := entries[name]; ok {
			entry = before + "\n" + entry
		}
		entries[name] = entry
	}
	return entries, nil
}

// IndexTree returns the tree of what is staged, without changing the index. It returns
// ErrUnmerged with the paths if there are unmerged ones.
func (w *Worktree) IndexTree(ctx context.Context) (ID, error) {
	return w.stagedTree(ctx, nil)
}

// HasIndex reports whether the worktree has an index. Without one git takes every file of HEAD for deleted.
func (w *Worktree) HasIndex() bool {
	_, err := os.Lstat(w.indexPath())
	return !errors.Is(err, fs.ErrNotExist)
}

// NormalTree returns the tree that `git add -A` would stage: tracked and untracked
// files, without ignored ones, with the configured filters. It does not change the
// index. It leaves out a nested repository without a commit.
func (w *Worktree) NormalTree(ctx context.Context) (ID, error) {
	return w.stagedTree(ctx, func(index string) error { return w.stageAll(ctx, index) })
}

// stagedTree returns the tree of a copy of the index that a commit would use, after change.
func (w *Worktree) stagedTree(ctx context.Context, change func(index string) error) (ID, error) {
	index, err := readIndexFile(cmp.Or(w.repo.IndexFile, w.indexPath())) // git's own commit uses another file
	if err != nil {
		return "", err
	}
	return w.treeOfIndex(ctx, index, change)
}

// treeOfIndex returns the tree of a copy of an index, after change if that is not nil.
func (w *Worktree) treeOfIndex(ctx context.Context, index indexFile, change func(path string) error) (ID, error) {
	path, done, err := w.scratchIndex(index)
	if err != nil {
		return "", err
	}
	defer done()
	if change != nil {
		if err := change(path); err != nil {
			return "", err
		}
	}
	return w.writeIndexTree(ctx, path)
}

// writeIndexTree writes the tree of an index file that belongs to this tool.
func (w *Worktree) writeIndexTree(ctx context.Context, index string) (ID, error) {
	out, err := w.gitIndex(ctx, index, nil, "write-tree")
	if err != nil {
		if unmerged := w.noUnmerged(ctx, index); unmerged != nil {
			return "", unmerged
		}
		return "", fmt.Errorf("write tree of index: %w", err)
	}
	return ID(strings.TrimSpace(string(out))), nil
}

// noUnmerged returns ErrUnmerged with the paths if an index file has unmerged ones.
func (w *Worktree) noUnmerged(ctx context.Context, index string) error {
	out, err := w.gitIndex(ctx, index, nil, "ls-files", "-u", "-z")
	if err != nil {
		return fmt.Errorf("list unmerged paths: %w", err)
	}
	var paths []string
	for _, entry := range splitNUL(out) {
		_, name, _ := strings.Cut(entry, "\t")
		paths = append(paths, name)
	}
	if len(paths) == 0 {
		return nil
	}
	return &PathsError{Err: ErrUnmerged, Paths: slices.Compact(paths)}
}

// stageAll stages all files in an index file, like `git add -A`. An unreadable path is an error. In a worktree of this
// tool it ignores the marks assume-unchanged and skip-worktree: only an agent sets them there.
func (w *Worktree) stageAll(ctx context.Context, index string) error {
	if w.Own {
		if err := w.unmark(ctx, index); err != nil {
			return err
		}
	}
	gaps, err := w.stage(ctx, w.indexCall(index))
	return noFileGap(gaps, err)
}

// unmark removes the marks assume-unchanged and skip-worktree in an index file.
func (w *Worktree) unmark(ctx context.Context, index string) error {
	entries, err := w.listed(w.indexCall(index), "ls-files", "-v", "-z")(ctx)
	if err != nil {
		return err
	}
	var marked []string
	for _, entry := range entries {
		if letter, path, _ := strings.Cut(entry, " "); letter == "S" || letter != strings.ToUpper(letter) {
			marked = append(marked, path)
		}
	}
	if err := w.updateIndex(ctx, w.indexCall(index), marked, "--no-assume-unchanged"); err != nil {
		return err
	}
	return w.updateIndex(ctx, w.indexCall(index), marked, "--no-skip-worktree")
}

// stagePaths stages only the given paths, as stageAll does.
func (w *Worktree) stagePaths(ctx context.Context, index string, paths []string) error {
	gaps, err := w.stageFound(ctx, w.indexCall(index), slices.Clone(paths))
	return noFileGap(gaps, err)
}

// inSubmodule reports whether one of the paths is below a submodule of commit.
func (w *Worktree) inSubmodule(ctx context.Context, commit ID, paths []string) (bool, error) {
	above := map[string]bool{}
	for _, name := range paths {
		for dir := path.Dir(name); dir != "." && !above[dir]; dir = path.Dir(dir) {
			above[dir] = true
		}
	}
	for dirs := range slices.Chunk(slices.Sorted(maps.Keys(above)), 1000) {
		args := append([]string{"ls-tree", "-z", "--full-tree", "--end-of-options", string(commit), "--"}, dirs...)
		out, err := w.git(ctx, args...)
		if err != nil {
			return false, fmt.Errorf("list submodules: %w", err)
		}
		isSubmodule := func(entry string) bool { return strings.HasPrefix(entry, ModeCommit) }
		if slices.ContainsFunc(splitNUL(out), isSubmodule) {
			return true, nil
		}
	}
	return false, nil
}

// noFileGap returns an error for the first gap that is neither a nested repository nor a name that git refuses.
func noFileGap(gaps []string, err error) error {
	if err != nil {
		return err
	}
	for _, gap := range gaps {
		if !strings.HasSuffix(gap, "/") && !unsafePath(gap) {
			return fmt.Errorf("stage %q: cannot be read", gap)
		}
	}
	return nil
}

// ClearLocks removes the lock files that a killed git process left in a worktree of this
// tool: of its index, its HEAD and its branch ("refs/heads/…"). The caller ensures that this
// tool runs no git process there. ClearLocks waits for a lock that is younger than ten
// seconds. It returns the names of the removed files.
func (w *Worktree) ClearLocks(ctx context.Context, branch string) ([]string, error) {
	if !w.Own {
		return nil, fmt.Errorf("clear locks of %q: %w", w.Dir, errNotOwn)
	}
	var cleared []string
	for _, path := range []string{w.indexPath(), filepath.Join(w.GitDir, "HEAD"), w.repo.refs.Path(branch)} {
		stale, err := waitStale(ctx, path+".lock")
		if err == nil && stale {
			err = gitdir.RemoveIfThere(path + ".lock")
			cleared = append(cleared, filepath.Base(path)+".lock")
		}
		if err != nil {
			return cleared, fmt.Errorf("clear locks of %q: %w", w.Dir, err)
		}
	}
	return cleared, nil
}

// waitStale waits until a lock file is gone, or is so old that nobody holds it.
func waitStale(ctx context.Context, path string) (stale bool, err error) {
	err = gitdir.WaitFor(ctx, refdb.RefLockStale, 50*time.Millisecond, func() (bool, error) {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		stale = err == nil && time.Since(info.ModTime()) > refdb.RefLockStale
		return stale, err
	})
	if errors.Is(err, gitdir.ErrWaited) {
		return true, nil
	}
	return stale, err
}

// sameIndex reports whether two indexes have the same entries, including flags. It ignores the
// cached file data, which git updates whenever somebody asks for the status.
func (w *Worktree) sameIndex(ctx context.Context, a, b indexFile) (bool, error) {
	if bytes.Equal(a.data, b.data) {
		return true, nil
	}
	of, err := w.indexLines(ctx, a, "-v")
	if err != nil {
		return false, err
	}
	with, err := w.indexLines(ctx, b, "-v")
	return bytes.Equal(of, with), err
}

// indexLines lists an index as `git ls-files -s` does, one entry for each path. With -v a letter for
// the flags precedes it; S is for an entry that a sparse checkout leaves out.
func (w *Worktree) indexLines(ctx context.Context, index indexFile, options ...string) ([]byte, error) {
	if index.data == nil {
		return nil, nil
	}
	path, done, err := w.scratchIndex(index)
	if err != nil {
		return nil, err
	}
	defer done()
	out, err := w.gitIndex(ctx, path, nil, append([]string{"ls-files", "-s", "-z"}, options...)...)
	if err != nil {
		return nil, fmt.Errorf("list index: %w", err)
	}
	return out, nil
}

// keepSparse marks the paths in an index file as left out of a sparse checkout if they are left out in the index
// wanted. A newly written entry has lost that mark, and its file would seem to be deleted.
func (w *Worktree) keepSparse(ctx context.Context, index string, wanted indexFile, paths []string) error {
	if !w.repo.Config.Bool("core.sparsecheckout") || len(paths) == 0 {
		return nil
	}
	lines, err := w.indexLines(ctx, wanted, "-v")
	if err != nil {
		return err
	}
	out := map[string]bool{}
	for _, line := range splitNUL(lines) {
		flags, path, _ := strings.Cut(line, "\t")
		out[path] = strings.HasPrefix(flags, "S") || strings.HasPrefix(flags, "s")
	}
	skip := each.Where(paths, func(path string) bool { return out[path] })
	return w.updateIndex(ctx, w.indexCall(index), skip, "--skip-worktree")
}

// setEntries sets the entries at paths in an index file to those in entries, in the form of
// indexEntries. A path without an entry is removed. Removals come before additions.
func (w *Worktree) setEntries(ctx context.Context, index string, paths []string, entries map[string]string) error {
	var remove, add strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&remove, "0 %s\t%s\x00", w.repo.objects.ZeroID(), path)
		if entry := entries[path]; entry != "" {
			add.WriteString(strings.ReplaceAll(entry, "\n", "\t"+path+"\x00") + "\t" + path + "\x00")
		}
	}
	if _, err := w.gitIndex(ctx, index, []byte(remove.String()+add.String()), "update-index", "-z",
		"--index-info"); err != nil {
		return fmt.Errorf("change an index: %w", err)
	}
	return nil
}
