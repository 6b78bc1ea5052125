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
	if len(files) >= manyFiles {
		nextSecond(ctx, index.modTime)
	}
	if err := w.writeSeed(index); err != nil {
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
const manyFiles = 10_000

// nextSecond waits until the second that contains a time is over.
func nextSecond(ctx context.Context, of time.Time) {
	timer := time.NewTimer(min(time.Second, time.Until(of.Truncate(time.Second).Add(time.Second+20*time.Millisecond))))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// writeSeed writes the shadow's index. Git compares the content of each file that is as new as its index, in whole
// seconds. So if a second has passed since git wrote the index, both indexes get the present time: no file has changed
// since, and every later change has another time. Otherwise the copy gets the time of the index.
func (w *Worktree) writeSeed(index indexFile) error {
	path := filepath.Join(w.shadowDir(), "index")
	if err := os.WriteFile(path, index.data, 0o666); err != nil {
		return err
	}
	info, err := os.Stat(path) // by the clock of the file system
	if err != nil {
		return err
	}
	if now := info.ModTime(); now.Unix() > index.modTime.Unix() {
		return os.Chtimes(w.indexPath(), now, now)
	}
	return os.Chtimes(path, index.modTime, index.modTime)
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
