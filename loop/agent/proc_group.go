//go:build unix && !linux

package agent

import "syscall"

// endWithUs has no means outside Linux.
func endWithUs(*syscall.SysProcAttr) {}

// family is a command and what is in its process group. A process that left the
// group is not found here; only Linux has the means to look for it.
type family struct{ leader int }

func newFamily(leader int, _ string, _ bool) *family { return &family{leader: leader} }

func (f *family) noted() noted { return noted{PID: f.leader} }

// leftFamily has nothing to tell the processes of others by.
func leftFamily(noted) *family { return nil }

// signal sends sig (0 for none) to the group and returns 0 when it is empty.
func (f *family) signal(sig syscall.Signal) int {
	if syscall.Kill(-f.leader, sig) == syscall.ESRCH {
		return 0
	}
	return 1
}

// signalGroup is signal: there is nothing else to reach.
func (f *family) signalGroup(sig syscall.Signal) int { return f.signal(sig) }

// AdoptOrphans has no means outside Linux.
func AdoptOrphans() {}
