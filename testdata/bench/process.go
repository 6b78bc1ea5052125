package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// stop ends a process that this program started.
func stop(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended
	_ = cmd.Wait()                         // its error says only that it was interrupted
}

// cpuTime returns the CPU time that a process has used so far, from /proc.
func cpuTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	var user, system int64
	if fields := strings.Fields(rest); len(fields) > 12 {
		fmt.Sscan(fields[11], &user)
		fmt.Sscan(fields[12], &system)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// settled waits until a process has used no CPU for three seconds. A shorter time is not enough: on a busy machine a
// process may only be waiting for its turn.
func settled(pid int) {
	last := cpuTime(pid)
	for still := 0; still < 3; still++ {
		time.Sleep(time.Second)
		if now := cpuTime(pid); now != last {
			last, still = now, -1
		}
	}
}

// peak returns the maximum memory of a process so far, in MB, from /proc.
func peak(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // 0 when it is gone
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kb float64
	fmt.Sscan(rest, &kb)
	return kb / 1024
}
