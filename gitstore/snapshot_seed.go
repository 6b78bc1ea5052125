package gitstore

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// seedShadow fills the shadow's index from the index that git wrote for a new worktree of this tool, so that the first
// snapshot reads no file. Both indexes record the same blob and inode data for a file, unless git converted the file at
// checkout: see converted. If it fails, the first snapshot reads every file.
func (w *Worktree) seedShadow(ctx context.Context) {
	conf := w.repo.Config
	if conf.Bool("core.autocrlf") || strings.EqualFold(conf.Get("core.eol"), "crlf") || runtime.GOOS == "windows" {
		return // git may have converted every line end
	}
	unlock, err := w.repo.Lock(ctx, shadowLock(w.GitDir))
	if err != nil {
		return
	}
	defer unlock()
	if w.trySeed(ctx) != nil {
		_ = os.RemoveAll(w.shadowDir())
	}
}

func (w *Worktree) trySeed(ctx context.Context) error {
	index, err := w.wholeIndex(ctx)
	if err != nil || index.data == nil {
		return err
	}
	if err := w.prepareShadow(); err != nil {
		return err
	}
	files, submodules, err := w.checkedOut(ctx)
	if err != nil {
		return err
	}
	if err := index.writeTo(filepath.Join(w.shadowDir(), "index"), 0o666); err != nil {
		return err
	}
	converted, err := w.converted(ctx, files)
	if err != nil {
		return err
	}
	if err := w.updateIndex(ctx, w.shadowCall(), append(submodules, converted...), "--force-remove"); err != nil {
		return err
	}
	if err := w.updateIndex(ctx, w.shadowCall(), converted, "--add"); err != nil {
		return err
	}
	w.made = w.permsAsMade(files, submodules)
	return nil
}

// manyFiles is the number of files from which waiting for the next second costs less than reading the files that were
// checked out in the last one.
var manyFiles = 10_000

// settleIndex gives the index of a new worktree with many files the present time, after the second in which git wrote
// it. Git reads each file that is as new as its index, in whole seconds. So from then on it reads only files that
// changed: every later change has another time. It sets w.asMade, unless two paths of the commit may be the same file.
func (w *Worktree) settleIndex(ctx context.Context) error {
	index, err := readIndexFile(w.indexPath())
	if err != nil || index.files() < manyFiles {
		return err
	}
	nextSecond(ctx, index.modTime)
	if err := os.WriteFile(w.indexPath(), index.data, 0o666); err != nil { // the clock of its file system counts
		return err
	}
	renewed, err := os.Stat(w.indexPath())
	conf := w.repo.Config
	if err != nil || renewed.ModTime().Unix() <= index.modTime.Unix() || conf.Bool("core.ignorecase") ||
		conf.Bool("core.precomposeunicode") {
		return err
	}
	head, err := w.repo.Head(ctx)
	if err != nil {
		return err
	}
	w.asMade, err = w.repo.TreeOf(ctx, head)
	return err
}

// TreeAsMade returns what NormalTree would if nobody has written to the worktree since AddWorktree returned it. In a
// worktree with many files it looks at no file.
func (w *Worktree) TreeAsMade(ctx context.Context) (ID, error) {
	if w.asMade != "" {
		return w.asMade, nil
	}
	return w.NormalTree(ctx)
}

// nextSecond waits until the second that contains a time is over.
func nextSecond(ctx context.Context, of time.Time) {
	timer := time.NewTimer(min(time.Second, time.Until(of.Truncate(time.Second).Add(time.Second+20*time.Millisecond))))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// checkedOut returns the paths of files in the index, and of submodules, whose directories are empty.
func (w *Worktree) checkedOut(ctx context.Context) (files, submodules []string, err error) {
	entries, err := w.git(ctx, "ls-files", "-s", "-z")
	for _, entry := range splitNUL(entries) {
		info, path, _ := strings.Cut(entry, "\t")
		if strings.HasPrefix(info, ModeCommit) {
			submodules = append(submodules, path)
		} else {
			files = append(files, path)
		}
	}
	return files, submodules, err
}

// converted returns the files whose bytes may differ from their blobs, because an attribute makes git convert them.
// Only attributes in the index count: git had no others when it checked out the files.
func (w *Worktree) converted(ctx context.Context, files []string) (paths []string, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	args := []string{"check-attr", "--cached", "--all", "--stdin", "-z"}
	out, err := w.gitIndex(ctx, w.indexPath(), joinNUL(files), args...)
	for attribute := range slices.Chunk(splitNUL(out), 3) { // path, name, value
		if len(attribute) == 3 && converts(attribute[1], attribute[2]) {
			paths = append(paths, attribute[0])
		}
	}
	return slices.Compact(paths), err
}

// converts reports whether an attribute makes git write other bytes than those of the blob.
func converts(attribute, value string) bool {
	switch attribute {
	case "filter", "ident", "working-tree-encoding":
		return value != "unset"
	case "eol":
		return value == "crlf"
	}
	return false
}

// permsAsMade returns the permissions of files that git has just checked out. One file shows those of all. They are
// unknown if two paths may be the same file.
func (w *Worktree) permsAsMade(files, submodules []string) perms {
	if conf := w.repo.Config; conf.Bool("core.ignorecase") || conf.Bool("core.precomposeunicode") {
		return perms{}
	}
	for _, name := range files {
		info, err := os.Lstat(filepath.Join(w.Dir, name))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		file := info.Mode().Perm() &^ 0o111
		program := file | file>>2&0o111
		made := perms{known: true, most: [3]fs.FileMode{file, program, program}, other: map[string]fs.FileMode{}}
		for _, dir := range submodules {
			made.other[dir+"/"] = program | fs.ModeDir // it is empty
		}
		return made
	}
	return perms{}
}
