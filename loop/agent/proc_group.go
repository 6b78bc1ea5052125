//go:build unix && !linux

package agent

import "syscall"

// signal sends sig (0 for none) to the group. It returns 0 if the group is empty, else 1.
func (f *family) signal(sig syscall.Signal) int {
	if syscall.Kill(-f.leader, sig) == syscall.ESRCH {
		return 0
	}
	return 1
}
