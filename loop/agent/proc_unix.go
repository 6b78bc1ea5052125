//go:build unix

package agent

import (
	"cmp"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownSession puts a command into a session, and so a process group, of its own:
// signals reach the whole group, and no program can ask anything on our terminal.
func ownSession() (*syscall.SysProcAttr, error) { return &syscall.SysProcAttr{Setsid: true}, nil }

// sessionOf is the session of a process, 0 for our own.
func sessionOf(pid int) (int, error) { return unix.Getsid(pid) }

func closeOnExec(fd int) { unix.CloseOnExec(fd) }

// signalName is the usual name of a signal, SIGKILL, or SIG60 for one without.
func signalName(s syscall.Signal) string {
	return cmp.Or(unix.SignalName(s), fmt.Sprintf("SIG%d", int(s)))
}
