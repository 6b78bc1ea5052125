package agent

import (
	"os/exec"
	"sync"
)

// children holds the running processes that this package started, and what tells the orphans of agents from others.
var children = struct {
	sync.Mutex
	started  map[int]bool
	alone    int      // how many of them are Alone
	since    uint64   // start time of the first Alone command: what it and those beside it left is not older
	left     bool     // some of that may still run: since stays
	others   [][]byte // marks of commands that are not Alone: their daemons may go on
	detached bool     // StartDetached was called: its processes hand out marks of their own
}{started: map[int]bool{}}

// spawn starts a command and registers it in children before another goroutine can look. The mark is "" for a
// process that goes on without us.
func spawn(cmd *exec.Cmd, mark string, alone bool) error {
	children.Lock()
	defer children.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	children.started[cmd.Process.Pid] = true
	switch {
	case mark == "":
		children.detached = true
	case !alone:
		children.others = append(children.others, []byte(mark))
	default:
		if children.alone == 0 && !children.left {
			children.since = startOf(cmd.Process.Pid)
		}
		children.alone++
	}
	return nil
}

// forget removes an ended command from children: its process id may be reused.
func forget(cmd *exec.Cmd, alone bool) {
	children.Lock()
	defer children.Unlock()
	delete(children.started, cmd.Process.Pid)
	if alone {
		children.alone--
		children.left = true // until endOrphans has found nothing
	}
}

// onlyOne reports whether exactly one Alone command is running. With several, an orphan cannot be
// attributed to one of them, so the last one stops all orphans.
func onlyOne() bool {
	children.Lock()
	defer children.Unlock()
	return children.alone == 1
}
