//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package gitdir

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// flock cannot be had: a lock must be held by git processes too, which get the open file.
func flock(*os.File) (bool, error) {
	return false, fmt.Errorf("file locks that git processes hold too: %w on %s", errors.ErrUnsupported, runtime.GOOS)
}

func funlock(*os.File) {}

// processGone is never sure here.
func processGone(int) bool { return false }
