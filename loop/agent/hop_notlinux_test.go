//go:build unix && !linux

package agent

// hop does nothing: only on Linux a process that left its group is found.
func hop(bool) {}

// endFirstThread does nothing: only Linux shows a process whose first thread has ended as a zombie.
func endFirstThread() {}
