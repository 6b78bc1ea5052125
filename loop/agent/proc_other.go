//go:build !unix

package agent

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
)

// ownSession fails: an agent whose child processes cannot be found is not started.
func ownSession() (*syscall.SysProcAttr, error) {
	return nil, fmt.Errorf("stop it with all that it starts: %w on %s; use WSL", errors.ErrUnsupported, runtime.GOOS)
}

func sessionOf(int) (int, error) { return 0, errors.ErrUnsupported }

// The functions below are never reached.

func closeOnExec(int) {}

func signalName(s syscall.Signal) string { return s.String() }

func (*family) signal(syscall.Signal) int { return 0 }
