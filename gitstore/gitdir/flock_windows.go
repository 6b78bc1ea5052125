package gitdir

import (
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// flock locks an open file without waiting; locked is false when another holds it. The
// byte that is locked lies behind all content, which others may read and write.
func flock(f *os.File) (locked bool, err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: math.MaxInt32})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// funlock has nothing to do: closing the only handle unlocks.
func funlock(*os.File) {}

// canInherit says that a git process cannot hold our lock: a lock is of one process.
func canInherit() error {
	return fmt.Errorf("change files under a lock that git holds too: %w on Windows; use WSL", errors.ErrUnsupported)
}

// processGone is never sure here.
func processGone(int) bool { return false }
