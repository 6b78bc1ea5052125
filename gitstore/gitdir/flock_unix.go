//go:build unix

package gitdir

import (
	"errors"
	"os"
	"syscall"
)

// flock locks an open file without waiting; locked is false if another process holds it.
func flock(f *os.File) (locked bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	for errors.Is(err, syscall.EINTR) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// funlock releases the lock for all processes that have inherited the open file.
func funlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// canInherit returns nil: a child process that inherits the open file holds its lock.
func canInherit() error { return nil }

// processGone reports whether there is certainly no process with that id.
func processGone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
