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

func endWithUs(*syscall.SysProcAttr) {}

func closeOnExec(int) {}

func signalName(s syscall.Signal) string { return s.String() }

type family struct{}

func newFamily(int, string, bool) *family { return nil }

func (*family) noted() noted { return noted{} }

func leftFamily(noted) *family { return nil }

func belongs(noted) bool { return false }

func (*family) signal(syscall.Signal) int { return 0 }

func (*family) signalGroup(syscall.Signal) int { return 0 }

// AdoptOrphans does nothing here.
func AdoptOrphans() {}
