//go:build linux || darwin || freebsd

package gitdir

import (
	"io/fs"
	"path/filepath"
	"syscall"
)

// writable is W_OK and X_OK of access(2): files can be created in the directory.
const writable = 2 | 1

// Unwritable returns why this user cannot record anything: a *fs.PathError for a directory of the repository
// that must be writable and is not, or nil. It only checks permissions.
func (p *Place) Unwritable() error {
	objects := filepath.Join(p.CommonDir, "objects")
	dirs := []string{p.GitDir, p.CommonDir, objects}
	below, _ := filepath.Glob(filepath.Join(objects, "??")) // finds none if the repository's own path is a pattern
	dirs = append(dirs, below...)
	for _, top := range []string{"refs", "reftable", "runr"} {
		_ = filepath.WalkDir(filepath.Join(p.CommonDir, top), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() {
				return nil
			}
			dirs = append(dirs, path)
			if filepath.Dir(path) == p.StateDir() { // further down there is a directory for each run
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

// Free returns how many bytes this user can still write to the repository's disk; known is false if it is unknown.
func (p *Place) Free() (bytes int64, known bool) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(p.CommonDir, &disk); err != nil || disk.Blocks == 0 {
		return 0, false
	}
	return int64(disk.Bavail) * int64(disk.Bsize), true
}
