//go:build unix

package gitdir

import (
	"errors"
	"os"
	"syscall"
)

// flock locks an open file without waiting; locked is false when another holds it.
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

// funlock gives the lock back for all processes that have the open file.
func funlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// canInherit is nil where a child of ours that gets the open file holds its lock.
func canInherit() error { return nil }

// processGone reports whether there is surely no process of that id.
func processGone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
