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

// lockRef creates the ref's lock file and waits up to a second for another holder. The caller
// renames or removes the file, and then calls release once. All writers of this tool's own refs
// hold the lock "refs" too, so that a lock file that one of them finds cannot belong to another
// live writer.
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
	// The note in the file of the held lock says which ref lock file its holder has created: inode and path. A later
	// holder who finds it knows that the earlier one was killed, and removes the ref lock file.
	if info, err := lock.Stat(); err == nil {
		_, _ = held.WriteAt([]byte(Inode(info)+" "+lock.Name()), 0)
	}
	return lock, func() { _ = held.Truncate(0); held.Close() }, nil
}

// byGit is the note while git moves refs of this tool. That git holds the lock until it has ended.
const byGit = "git"

// gitMoves runs a git command that moves refs of this tool. If it is killed, it leaves lock files.
// They are no older than the note, so this process or the next holder of the lock can tell them.
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

// dropLeftLock removes the lock files that a killed holder or its git has left, so that nobody has
// to wait until they are stale. A file of the same name but another inode stays.
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
	if err == nil && Inode(info) == number && strings.HasPrefix(path, s.Path("refs")+"/") &&
		strings.HasSuffix(path, ".lock") {
		os.Remove(path)
	}
	_ = held.Truncate(0)
}

func (s *Store) createRefLock(ctx context.Context, name string) (*os.File, error) {
	file := s.Path(name) + ".lock"
	var f *os.File
	var first fs.FileInfo // the lock file at the first try
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

// createLock creates a lock file. It creates the directory again whenever gc or pack-refs, which
// remove empty directories, delete it meanwhile.
func (s *Store) createLock(file string) (f *os.File, err error) {
	for range gitdir.RenameTries {
		f, err = os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			_ = s.dir.Share(file) // if a group member cannot read the ref, git reports it
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

// takeStaleLock removes a lock file that a killed process has left, and creates it again. git
// never does, so one kill would block all later writers. It removes only locks of this tool's
// own refs, and only an old file that has not changed during the wait. The caller holds the
// lock "refs", as each of our writers does.
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

// DropStaleLocks removes and returns the lock files that a killed git has left below place, which
// holds refs of this tool. git never removes them, so one kill would block every later fetch.
// A ref's lock is held for milliseconds; a lock older than ten seconds belongs to nobody. No writer
// of this tool runs meanwhile, because DropStaleLocks holds the lock "refs".
func (s *Store) DropStaleLocks(ctx context.Context, place string) []string {
	if s.dir.Reftable {
		return nil
	}
	unlock, err := s.dir.Lock(ctx, "refs")
	if err != nil {
		return nil // its holder is at work
	}
	defer unlock()
	return s.dropLocks(place, func(lock fs.FileInfo) bool { return time.Since(lock.ModTime()) >= RefLockStale })
}

// dropLocks removes the lock files below place for which left is true. It returns their paths and ages.
func (s *Store) dropLocks(place string, left func(fs.FileInfo) bool) (dropped []string) {
	root := filepath.Join(s.dir.CommonDir, filepath.FromSlash(place))
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".lock") {
			return nil // an unreadable entry stays
		}
		info, err := entry.Info()
		if err != nil || !left(info) || os.Remove(path) != nil {
			return nil
		}
		below, _ := filepath.Rel(s.dir.CommonDir, path)
		dropped = append(dropped, fmt.Sprintf("%s (%s old)", filepath.ToSlash(below),
			time.Since(info.ModTime()).Round(time.Second)))
		return nil
	})
	return dropped
}
