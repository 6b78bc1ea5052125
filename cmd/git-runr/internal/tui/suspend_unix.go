//go:build unix

package tui

import (
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// backAfter is when the program goes on that was not stopped.
const backAfter = time.Second

// suspend stops the program, as ctrl-Z does. Where no shell could take it up again the kernel does
// not stop it, and nobody would tell it to go on: it does that itself. One that was stopped is
// told so when it goes on already.
func suspend() tea.Msg {
	time.AfterFunc(backAfter, func() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGCONT) })
	return tea.Suspend()
}
