package gitstore

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// LeftLock is a lock file of git that is older than the time for which git holds one.
type LeftLock struct {
	Path   string
	Age    time.Duration
	Ours   bool   // an operation of this tool left it
	Holder string // such as ", which process 12 (\"git\") has open", or "" if unknown
}

// LeftLocks returns lock files that a killed git may have left: of the index, of HEAD, of
// packed refs and configuration, and of branches, notes and this tool's refs.
func (r *Repo) LeftLocks() (left []LeftLock) {
	look := func(path string) {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			return
		}
		if age := time.Since(info.ModTime()); age >= refdb.RefLockStale {
			holder := ""
			if who := gitdir.LockHolder(path); strings.HasPrefix(who, "process ") {
				holder = ", which " + who + " has open"
			}
			left = append(left, LeftLock{path, age.Round(time.Second), isMarked(path), holder})
		}
	}
	for _, name := range []string{"index.lock", "HEAD.lock"} {
		look(filepath.Join(r.GitDir, name))
	}
	for _, name := range []string{"packed-refs.lock", "config.lock"} {
		look(filepath.Join(r.CommonDir, name))
	}
	_ = filepath.WalkDir(filepath.Join(r.CommonDir, "refs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") {
			look(path)
		}
		return nil // unreadable directories are skipped
	})
	return left
}
