package refdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

const (
	refLockWait  = time.Second      // git's own default is 100 ms
	RefLockStale = 10 * time.Second // a ref's lock is held for milliseconds
)

// lockRef creates the ref's lock file, waiting for git up to a second. The caller
// renames or removes it, and then calls release once. All writers of this tool's own
// refs go through one more lock, so that a lock file that one of them finds cannot
// belong to another that lives.
func (s *Store) lockRef(ctx context.Context, name string) (lock *os.File, release func(), err error) {
	if !ownRef(name) {
		lock, err = s.createRefLock(ctx, name)
		return lock, func() {}, err
	}
	held, err := s.dir.LockFile(ctx, "refs")
	if err != nil {
		return nil, nil, err
	}
	s.dropLeftLock(held)
	if lock, err = s.createRefLock(ctx, name); err != nil {
		held.Close()
		return nil, nil, err
	}
	noteLock(held, lock)
	return lock, func() { _ = held.Truncate(0); held.Close() }, nil
}

// noteLock writes into the file of the lock that is held which lock file its holder
// has made: inode and path. Who finds that there takes the lock of a holder that was
// killed.
func noteLock(held, lock *os.File) {
	if info, err := lock.Stat(); err == nil {
		_, _ = held.WriteAt([]byte(inode(info)+" "+lock.Name()), 0)
	}
}

// byGit is noted where git moves refs of our own, which holds the lock until it has ended.
const byGit = "git"

// gitMoves runs a git that moves refs of this tool's own. One that is killed leaves lock files,
// and so it and whoever takes the lock after it know them: they are no older than the note.
func (s *Store) gitMoves(ctx context.Context, c gitdir.Call) error {
	held, err := s.dir.LockFile(ctx, "refs")
	if err != nil {
		return err
	}
	defer held.Close()
	s.dropLeftLock(held)
	if gitdir.CanInherit() {
		_, _ = held.WriteAt([]byte(byGit), 0)
		ctx = gitdir.WithLock(ctx, held)
	}
	_, err = s.dir.Call(ctx, c)
	if errors.Is(err, gitdir.ErrKilled) || ctx.Err() != nil {
		s.dropLeftLock(held)
	}
	_ = held.Truncate(0)
	return err
}

// dropLeftLock removes the lock file that a killed holder has left, if it is still the
// same one, or those of its git: nobody has to wait until it is old.
func (s *Store) dropLeftLock(held *os.File) {
	note, err := io.ReadAll(io.NewSectionReader(held, 0, maxRefLine))
	if err != nil || len(note) == 0 {
		return
	}
	if info, err := held.Stat(); err == nil && string(note) == byGit {
		for _, place := range []string{"refs/runr", "refs/runr-local"} {
			s.dropLocks(place, func(lock fs.FileInfo) bool { return !lock.ModTime().Before(info.ModTime()) })
		}
	}
	number, path, _ := strings.Cut(string(note), " ")
	info, err := os.Lstat(path)
	if err == nil && inode(info) == number && strings.HasPrefix(path, s.Path("refs")+"/") && strings.HasSuffix(path, ".lock") {
		os.Remove(path)
	}
	_ = held.Truncate(0)
}

func (s *Store) createRefLock(ctx context.Context, name string) (*os.File, error) {
	file := s.Path(name) + ".lock"
	var f *os.File
	var first fs.FileInfo // the lock file as it was found
	err := gitdir.WaitFor(ctx, refLockWait, 20*time.Millisecond, func() (done bool, err error) {
		if f, err = s.createLock(file); !errors.Is(err, fs.ErrExist) {
			return true, err
		}
		if info, err := os.Lstat(file); err == nil && first == nil {
			first = info
		}
		return false, nil
	})
	if errors.Is(err, gitdir.ErrWaited) {
		return s.takeStaleLock(name, file, first)
	}
	return f, err
}

// createLock makes the directory of a lock file as often as gc or pack-refs, which
// remove empty ones, take it away.
func (s *Store) createLock(file string) (f *os.File, err error) {
	for range gitdir.RenameTries {
		f, err = os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			_ = s.dir.Share(file) // a ref that a group member cannot read is git's to report
			return f, nil
		}
		if errors.Is(err, fs.ErrNotExist) {
			if err = s.dir.MkdirShared(filepath.Dir(file)); err == nil || errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		if errors.Is(err, syscall.ENOTDIR) {
			err = fmt.Errorf("%w: a ref is where its directory has to be: %w", gitdir.ErrConflict, err)
		}
		return nil, err
	}
	return nil, err
}

// takeStaleLock removes a lock that a killed process has left, and takes it. git
// never does, so that one kill would stop all later writers. Only locks of this
// tool's own refs are removed: old ones that were the same file all the time that
// we waited, under the lock that each of our writers holds.
func (s *Store) takeStaleLock(name, file string, first fs.FileInfo) (*os.File, error) {
	now, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s.createLock(file)
	}
	if err != nil {
		return nil, err
	}
	age := time.Since(now.ModTime()).Round(time.Millisecond)
	same := first != nil && os.SameFile(first, now) && first.ModTime().Equal(now.ModTime())
	if !ownRef(name) || !same || age < RefLockStale {
		return nil, fmt.Errorf("%w: %s has been there for %s", gitdir.ErrBusy, file, age)
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := s.createLock(file)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%w: %w", gitdir.ErrBusy, err)
	}
	return f, err
}

// DropStaleLocks removes the lock files below a place of this tool's own refs that a
// killed git has left there, and tells them. git never does, so that one kill would
// stop every later fetch. A ref's lock is held for milliseconds; one that is older
// than ten seconds is nobody's, and no writer of ours is at work meanwhile.
func (s *Store) DropStaleLocks(ctx context.Context, place string) []string {
	if s.dir.Reftable {
		return nil
	}
	unlock, err := s.dir.Lock(ctx, "refs")
	if err != nil {
		return nil // whoever holds it is at work
	}
	defer unlock()
	return s.dropLocks(place, func(lock fs.FileInfo) bool { return time.Since(lock.ModTime()) >= RefLockStale })
}

// dropLocks removes the lock files below a place that are left, and tells them.
func (s *Store) dropLocks(place string, left func(fs.FileInfo) bool) (dropped []string) {
	root := filepath.Join(s.dir.CommonDir, filepath.FromSlash(place))
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".lock") {
			return nil // what cannot be read stays
		}
		info, err := entry.Info()
		if err != nil || !left(info) || os.Remove(path) != nil {
			return nil
		}
		below, _ := filepath.Rel(s.dir.CommonDir, path)
		dropped = append(dropped, fmt.Sprintf("%s (%s old)", filepath.ToSlash(below), time.Since(info.ModTime()).Round(time.Second)))
		return nil
	})
	return dropped
}
