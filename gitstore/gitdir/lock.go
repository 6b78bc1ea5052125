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

// Lock takes a lock of this tool's own by name, and waits up to 30 s for another
// holder; then it is ErrBusy. The kernel gives the lock back when its holder dies.
// In a read-only repository the error wraps fs.ErrPermission or EROFS.
// The caller calls unlock once. The lock excludes other holders in this process too.
func (d *Dir) Lock(ctx context.Context, name string) (unlock func(), err error) {
	f, err := d.LockFile(ctx, name)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}

// TryLock is Lock without waiting: ok is false when somebody else holds the lock.
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

// DropLock removes the file of a lock that nobody will need again. The caller holds
// the lock, and what it guards must say so itself to whoever comes later: another
// process may hold a lock on the removed file.
func (d *Dir) DropLock(name string) {
	if path, err := d.LockPath(name); err == nil {
		os.Remove(path)
	}
}

// HoldLock is Lock for an operation that writes files through git: every git process
// of the context that it gives holds the lock too. So one that outlives a killed
// program keeps others out until it has ended.
func (d *Dir) HoldLock(ctx context.Context, name string) (held context.Context, unlock func(), err error) {
	if err := canInherit(); err != nil {
		return nil, nil, err
	}
	f, err := d.LockFile(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	return WithLock(ctx, f), func() {
		funlock(f) // also where something that git started lives on
		f.Close()
	}, nil
}

// CanInherit reports whether a child of ours that gets a lock's open file holds the lock.
func CanInherit() bool { return canInherit() == nil }

// LockFile is Lock for who writes into the lock's file.
func (d *Dir) LockFile(ctx context.Context, name string) (*os.File, error) {
	path, err := d.LockPath(name)
	if err != nil {
		return nil, err
	}
	var f *os.File
	err = WaitFor(ctx, lockWait, 50*time.Millisecond, func() (bool, error) {
		f, err = d.flock(path)
		return f != nil, err
	})
	if errors.Is(err, ErrWaited) {
		err = fmt.Errorf("%w: %s has held %s.lock for %s", ErrBusy, LockHolder(path), name, lockWait)
	}
	return f, err
}

// LockHolder names a process that has a file open, where the system tells.
func LockHolder(path string) string {
	open, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range open {
		if to, err := os.Readlink(fd); err != nil || to != path {
			continue
		}
		dir := filepath.Dir(filepath.Dir(fd))
		name, err := os.ReadFile(filepath.Join(dir, "comm"))
		if pid := filepath.Base(dir); err == nil && pid != strconv.Itoa(os.Getpid()) {
			return fmt.Sprintf("process %s (%q)", pid, strings.TrimSpace(string(name)))
		}
	}
	return "another process"
}

// LockPath is the file of a lock; an error for a name that leads out of the state directory.
func (d *Dir) LockPath(name string) (string, error) {
	if !filepath.IsLocal(name) || filepath.Clean(name) != name || name == "." {
		return "", fmt.Errorf("bad lock name %q", name)
	}
	return filepath.Join(d.StateDir(), filepath.FromSlash(name)+".lock"), nil
}

// flock gives the locked file, nil when another holds it. Closing it unlocks.
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
	if err == nil { // held, or locked but the state directory was deleted meanwhile
		return nil, nil
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
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
	_ = d.Share(path) // another user's file cannot be changed, and need not be
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

// ReadOnly says what a permission error means here.
func ReadOnly(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("the repository cannot be written: %w", err)
	}
	return err
}

// ErrWaited is that what WaitFor waited for did not come.
var ErrWaited = errors.New("waited in vain")

// WaitFor tries until it is done or fails, and then gives the error of that; after
// limit it is ErrWaited, and the context's cause when that ends first. The last try is
// after the end. The pause doubles up to longest, with jitter so that processes that
// wait for the same thing do not come back together.
func WaitFor(ctx context.Context, limit, longest time.Duration, try func() (done bool, err error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrWaited)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, longest) {
		over := context.Cause(ctx) // of which there is one more try
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
