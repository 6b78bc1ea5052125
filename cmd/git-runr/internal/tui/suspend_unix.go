//go:build unix

package tui

import (
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// backAfter is the delay after which a program that was not stopped continues.
const backAfter = time.Second

// suspend stops the program, as ctrl-Z does. If no shell could resume it, the kernel does not stop it and nobody sends
// SIGCONT, so the program sends that signal to itself. A program that was stopped gets the signal again after it has
// resumed, which does no harm.
func suspend() tea.Msg {
	time.AfterFunc(backAfter, func() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGCONT) })
	return tea.Suspend()
}
