package gitdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/git-runr/git-runr/gitstore/safefile"
)

// lockWait is how long Lock waits for another process.
const lockWait = 30 * time.Second

// Lock acquires a lock of this tool by name. It waits up to 30 s for another holder and then
// returns ErrBusy. The kernel releases the lock when its holder dies.
// In a read-only repository the error wraps fs.ErrPermission or EROFS.
// The caller calls unlock once. The lock excludes other holders in this process too.
func (d *Dir) Lock(ctx context.Context, name string) (unlock func(), err error) {
	f, err := d.LockFile(ctx, name)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}

// TryLock is Lock without waiting: ok is false if the lock is held.
func (d *Dir) TryLock(name string) (unlock func(), ok bool, err error) {
	path, err := d.LockPath(name)
	if err != nil {
		return nil, false, err
	}
	f, err := d.flock(path)
	if err != nil || f == nil {
		return nil, false, err
	}
	return func() { f.Close() }, true, nil
}

// DropLock removes the file of a lock that nobody will need again. The caller holds the lock.
// Another process may still get a lock on the removed file, so what the lock guards must itself
// show that it is done.
func (d *Dir) DropLock(name string) {
	if path, err := d.LockPath(name); err == nil {
		os.Remove(path)
	}
}

// HoldLock is Lock for an operation that writes files through git: every git process that runs
// with the returned context holds the lock too. So a git that outlives a killed program keeps
// others out until it has ended.
func (d *Dir) HoldLock(ctx context.Context, name string) (held context.Context, unlock func(), err error) {
	if err := canInherit(); err != nil {
		return nil, nil, err
	}
	f, err := d.LockFile(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return WithLock(ctx, f), func() {
		funlock(f) // even if a process that git started lives on
		f.Close()
	}, nil
}

// CanInherit reports whether a child process that inherits a lock's open file holds the lock.
func CanInherit() bool { return canInherit() == nil }

// LockFile is Lock for a caller that writes into the lock's file. Closing the file unlocks.
func (d *Dir) LockFile(ctx context.Context, name string) (*os.File, error) {
	path, err := d.LockPath(name)
	if err != nil {
		return nil, err
	}
	if err := d.turns.wait(ctx, name); err != nil {
		return nil, err
	}
	var f *os.File
	err = WaitFor(ctx, lockWait, longestPoll, func() (bool, error) {
		f, err = d.flock(path)
		return f != nil, err
	})
	if errors.Is(err, ErrWaited) {
		err = fmt.Errorf("%w: %s has held %s.lock for %s", ErrBusy, LockHolder(path), name, lockWait)
	}
	return f, err
}

// LockHolder describes a process that has a file open, or returns "another process".
func LockHolder(path string) string {
	open, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range open {
		if to, err := os.Readlink(fd); err != nil || to != path {
			continue
		}
		dir := filepath.Dir(filepath.Dir(fd))
		name, err := safefile.ReadFile(filepath.Join(dir, "comm"))
		if pid := filepath.Base(dir); err == nil && pid != strconv.Itoa(os.Getpid()) {
			return fmt.Sprintf("process %s (%q)", pid, strings.TrimSpace(string(name)))
		}
	}
	return "another process"
}

// LockPath returns the path of a lock's file. A name that leads out of the state directory is an error.
func (d *Dir) LockPath(name string) (string, error) {
	if !filepath.IsLocal(name) || filepath.Clean(name) != name || name == "." {
		return "", fmt.Errorf("bad lock name %q", name)
	}
	return filepath.Join(d.StateDir(), filepath.FromSlash(name)+".lock"), nil
}

// flock returns the locked file, or nil if another holds the lock. Closing the file unlocks.
func (d *Dir) flock(path string) (*os.File, error) {
	f, err := d.openLock(path)
	if err != nil {
		return nil, ReadOnly(err)
	}
	locked, err := flock(f)
	if locked && sameFile(f, path) {
		return f, nil
	}
	f.Close()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return nil, nil // held, or locked but the state directory was deleted meanwhile
}

func (d *Dir) openLock(path string) (*os.File, error) {
	f, err := safefile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if errors.Is(err, fs.ErrNotExist) {
		if err := d.MkdirShared(filepath.Dir(path)); err != nil {
			return nil, err
		}
		f, err = safefile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	}
	if err != nil {
		return nil, err
	}
	_ = d.Share(path) // chmod of another user's file fails, and is not needed
	return f, nil
}

func sameFile(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

// ReadOnly adds to a permission error that the repository cannot be written.
func ReadOnly(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("the repository cannot be written: %w", err)
	}
	return err
}

// ErrWaited reports that WaitFor reached its limit.
var ErrWaited = errors.New("waited too long")

// WaitFor calls try until it is done or fails, and returns its error. After limit it returns
// ErrWaited, or the context's cause if the context ends first; in both cases it tries once more
// before. The pause doubles up to longest. Jitter keeps processes that wait for the same thing
// from retrying together.
func WaitFor(ctx context.Context, limit, longest time.Duration, try func() (done bool, err error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrWaited)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, longest) {
		over := context.Cause(ctx) // if it is set, this is the last try
		if done, err := try(); done || err != nil {
			return err
		}
		if over != nil {
			return over
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}
