//go:build unix

package agent

import (
	"cmp"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownSession starts a command in a session, and so a process group, of its own: signals
// reach the whole group, and no program can prompt on our terminal.
func ownSession() (*syscall.SysProcAttr, error) { return &syscall.SysProcAttr{Setsid: true}, nil }

// sessionOf returns the session of a process; pid 0 is our own.
func sessionOf(pid int) (int, error) { return unix.Getsid(pid) }

func closeOnExec(fd int) { unix.CloseOnExec(fd) }

// signalName returns the usual name of a signal, such as SIGKILL, else SIG and its number.
func signalName(s syscall.Signal) string {
	return cmp.Or(unix.SignalName(s), fmt.Sprintf("SIG%d", int(s)))
}
