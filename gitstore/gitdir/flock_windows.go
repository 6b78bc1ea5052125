package gitdir

import (
	"errors"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// flock locks an open file without waiting; locked is false if another process holds it. It
// locks a byte after all content, so that others can read and write the content.
func flock(f *os.File) (locked bool, err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: math.MaxInt32})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// funlock does nothing: closing the only handle unlocks.
func funlock(*os.File) {}

// canInherit returns an error: on Windows a lock belongs to one process, so git cannot hold ours.
func canInherit() error {
	return fmt.Errorf("change files under a lock that git holds too: %w on Windows; use WSL", errors.ErrUnsupported)
}

// processGone returns false: it cannot be certain here.
func processGone(int) bool { return false }
