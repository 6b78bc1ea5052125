//go:build linux || darwin || freebsd

package gitdir

import (
	"io/fs"
	"path/filepath"
	"syscall"
)

// writable is W_OK and X_OK of access(2): something can be put there.
const writable = 2 | 1

// Unwritable is why this user can record nothing: a *fs.PathError with a directory of the repository
// that is written to and may not be; nil where there is none. Nothing is tried.
func (p *Place) Unwritable() error {
	objects := filepath.Join(p.CommonDir, "objects")
	dirs := []string{p.GitDir, p.CommonDir, objects}
	below, _ := filepath.Glob(filepath.Join(objects, "??")) // none, where the repository's own path is a pattern
	dirs = append(dirs, below...)
	for _, top := range []string{"refs", "reftable", "runr"} {
		_ = filepath.WalkDir(filepath.Join(p.CommonDir, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return nil
			}
			dirs = append(dirs, path)
			if filepath.Dir(path) == p.StateDir() { // below there is a directory a run
				return fs.SkipDir
			}
			return nil
		})
	}
	for _, dir := range dirs {
		if err := syscall.Access(dir, writable); err != nil {
			return &fs.PathError{Op: "write", Path: dir, Err: err}
		}
	}
	return nil
}

// Free is how many bytes this user can still put on the repository's disk; known is false where it does not say.
func (p *Place) Free() (bytes int64, known bool) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(p.CommonDir, &disk); err != nil || disk.Blocks == 0 {
		return 0, false
	}
	return int64(disk.Bavail) * int64(disk.Bsize), true
}
