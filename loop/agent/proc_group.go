//go:build unix && !linux

package agent

import "syscall"

// endWithUs does nothing: only Linux can signal a child when its parent dies.
func endWithUs(*syscall.SysProcAttr) {}

// family is a command and its process group. A process that left the group is not found;
// only Linux can find it.
type family struct{ leader int }

func newFamily(leader int, _ string, _ bool) *family { return &family{leader: leader} }

func (f *family) noted() noted { return noted{PID: f.leader} }

// leftFamily returns nil: outside Linux nothing proves which processes are ours.
func leftFamily(noted) *family { return nil }

// belongs returns false, as leftFamily returns nil.
func belongs(noted) bool { return false }

// signal sends sig (0 for none) to the group. It returns 0 if the group is empty, else 1.
func (f *family) signal(sig syscall.Signal) int {
	if syscall.Kill(-f.leader, sig) == syscall.ESRCH {
		return 0
	}
	return 1
}

// signalGroup is signal, which reaches only the group.
func (f *family) signalGroup(sig syscall.Signal) int { return f.signal(sig) }

// AdoptOrphans does nothing outside Linux.
func AdoptOrphans() {}
