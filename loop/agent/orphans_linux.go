package agent

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	sweepLimit  = 100 * time.Millisecond // of a sweep while the command is still being stopped
	endingLimit = 15 * time.Second       // of a sweep when all that is left has been killed
	emptyScans  = 3                      // in a row: one scan can miss an orphan while another child ends
)

// startOf returns when a process started, in clock ticks since boot.
func startOf(pid int) uint64 {
	p, _ := readStat(strconv.Itoa(pid))
	return p.start
}

// endOrphans kills what the ended Alone commands left, and what that starts meanwhile, for at most limit, or for a
// shorter time once ctx is done. It reports whether nothing is left. While an Alone command runs, its end is waited
// for instead.
func endOrphans(ctx context.Context, limit time.Duration) bool {
	cleared := sweep(ctx, limit, 0)
	children.Lock()
	defer children.Unlock()
	children.left = !cleared || children.alone > 0
	return cleared
}

// sweep kills orphans until none is found or the time is over, and reports whether none is left. It does nothing if
// more Alone commands run than running. A process whose parent ends at once after a fork has a new id before a search
// of /proc is over; but it is always our child, and the list of these is short. After the last Alone command, the limit
// is endingLimit while the kernel is still ending what has been killed, which takes long on a busy machine.
func sweep(ctx context.Context, limit time.Duration, running int) bool {
	if !adopts.Load() {
		return true
	}
	killed := map[uint64]bool{}
	for began, empty := time.Now(), 0; empty < emptyScans; {
		found, fresh := killOrphans(running, killed)
		if found == 0 {
			empty++
			continue
		}
		empty = 0
		within := limit
		switch {
		case ctx.Err() != nil:
			within = min(limit, cancelGrace)
		case fresh == 0 && running == 0:
			within = max(limit, endingLimit)
			time.Sleep(time.Millisecond)
		}
		if time.Since(began) > within {
			return false
		}
	}
	return true
}

// killOrphans kills or reaps each orphan among our children. It returns how many there were, and how many of them it
// met for the first time; it adds these to killed.
func killOrphans(running int, killed map[uint64]bool) (found, fresh int) {
	for _, pid := range childIDs() {
		p, ok := endOrphan(pid, running)
		if !ok {
			continue
		}
		found++
		if id := p.start<<32 | uint64(pid); !killed[id] {
			killed[id] = true
			fresh++
		}
	}
	return found, fresh
}

// endOrphan kills or reaps our child with that id if it is what an Alone command left, and reports that. Only the
// holder of the lock reaps orphans, so the id cannot be reused meanwhile. A process whose first thread alone has ended
// looks like a zombie, and is killed too.
func endOrphan(pid, running int) (proc, bool) {
	children.Lock()
	defer children.Unlock()
	p, ok := readStat(strconv.Itoa(pid))
	if !ok || children.alone > running || p.start < children.since || !p.adopted() {
		return p, false
	}
	if !p.zombie && p.ofOthers() {
		return p, false
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	if p.zombie {
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
	return p, true
}

// reap removes our child with that id from the list of processes if it is an orphan that has ended.
func reap(pid int) {
	children.Lock()
	defer children.Unlock()
	if p, ok := readStat(strconv.Itoa(pid)); ok && p.zombie && p.adopted() {
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // no other code waits for it
	}
}

// orphan reports whether we became the process's parent because its own parent, started by us, ended.
func (p proc) orphan() bool {
	children.Lock()
	defer children.Unlock()
	return p.adopted()
}

// adopted is orphan for a holder of the lock of children. What is in the session of a running command belongs to that.
func (p proc) adopted() bool {
	return adopts.Load() && p.parent == os.Getpid() && p.session != Session() && !children.started[p.pid] &&
		!children.started[p.session]
}

// ofOthers reports whether a command that is not Alone, or a detached process, started the process.
func (p proc) ofOthers() bool {
	if len(children.others) == 0 && !children.detached {
		return false
	}
	env := p.environ()
	if children.detached && bytes.Contains(env, []byte(spawnVar+"=")) {
		return true
	}
	return slices.ContainsFunc(children.others, func(mark []byte) bool { return bytes.Contains(env, mark) })
}

// environ returns the environment. If that is empty, it stops the process before it reads once more, because a
// stopped process is not amid an exec.
func (p proc) environ() []byte {
	file := filepath.Join("/proc", strconv.Itoa(p.pid), "environ")
	env, err := os.ReadFile(file)
	if err != nil || len(env) > 0 || p.stopped {
		return env
	}
	_ = syscall.Kill(p.pid, syscall.SIGSTOP)
	for range 100 {
		if now, ok := readStat(strconv.Itoa(p.pid)); !ok || now.zombie || now.stopped {
			break
		}
		runtime.Gosched()
	}
	if env, _ = os.ReadFile(file); len(env) > 0 {
		_ = syscall.Kill(p.pid, syscall.SIGCONT)
	}
	return env
}

// childIDs returns the process ids of our children. The kernel gives orphans to the first thread of a process, which
// Go never ends.
func childIDs() []int {
	list, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children")
	if err != nil { // a kernel without that list
		return childrenByParent()
	}
	var ids []int
	for field := range strings.FieldsSeq(string(list)) {
		if id, err := strconv.Atoi(field); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// childrenByParent is childIDs by a search among all processes.
func childrenByParent() []int {
	var ids []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if p, ok := readStat(e.Name()); ok && p.parent == os.Getpid() {
			ids = append(ids, p.pid)
		}
	}
	return ids
}
