package agent

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/git-runr/git-runr/gitstore/each"
)

// endWithUs has the kernel send SIGTERM to the command when we are killed.
func endWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

// family is a command and every process that it started. Members are found in /proc by
// parent, group, session and a mark in the environment, because agents put their tools
// into groups and sessions of their own, and daemons lose their parent. A process that
// lost all four before it was seen is found by its new parent: this process, after
// AdoptOrphans.
type family struct {
	leader int
	mark   []byte
	since  uint64         // start time of the leader in clock ticks: no member is older
	known  map[int]uint64 // start times of members by process id
	alone  bool           // unattributed orphans belong to it
}

// adopts is set after AdoptOrphans succeeded.
var adopts atomic.Bool

// AdoptOrphans makes this process the parent of its descendants' orphans, so that a daemon that cleared its
// environment ends with the agent's call. Only for programs whose other children stay in their own session:
// a child in another session that loop/agent did not start counts as an agent's orphan.
func AdoptOrphans() { adopts.Store(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil) }

func newFamily(leader int, mark string, alone bool) *family {
	p, _ := readStat(strconv.Itoa(leader))
	return &family{leader: leader, mark: []byte(mark), since: p.start, known: map[int]uint64{leader: p.start},
		alone: alone}
}

// noted returns the record by which StopNoted finds the family when we are gone.
func (f *family) noted() noted {
	return noted{Mark: string(f.mark), PID: f.leader, Start: f.since, Boot: bootID(), By: os.Getpid()}
}

// belongs reports whether this process, or one above it, is of the command n: by its leader's group or session, by
// the mark in an environment, or as an orphan that the process adopted which started the command.
func belongs(n noted) bool {
	by, _ := readStat(strconv.Itoa(n.By))
	p, ok := readStat(strconv.Itoa(os.Getpid()))
	for ok && p.pid > 1 && p.pid != n.By && n.Boot == bootID() {
		of := p.pid == n.PID || p.group == n.PID || p.session == n.PID
		if of || p.parent == n.By && p.session != by.session ||
			bytes.Contains(environOf(strconv.Itoa(p.pid)), []byte(n.Mark)) {
			return true
		}
		p, ok = readStat(strconv.Itoa(p.parent))
	}
	return false
}

// leftFamily returns the family that a dead process recorded; nil if none of it can be alive,
// or if we belong to it ourselves. The leader's process id counts only while the same process
// has it, or if a process in its group or session has the mark or still runs in the directory
// where the leader was started.
func leftFamily(n noted) *family {
	if n.Boot != "" && n.Boot != bootID() || strings.Contains(os.Getenv(spawnVar), n.Mark) {
		return nil
	}
	f := &family{leader: n.PID, mark: []byte(n.Mark), since: n.Start, known: map[int]uint64{}}
	if n.PID <= 1 {
		f.leader = -1 // it was not recorded: find members by the mark alone
		return f
	}
	leader, alive := readStat(strconv.Itoa(n.PID))
	same := alive && leader.start == n.Start
	for _, p := range f.candidates() {
		same = same || !alive && (p.group == n.PID || p.session == n.PID) && (p.marked || p.in(n.Dir))
	}
	if same {
		f.known[n.PID] = n.Start
	}
	return f
}

// bootID identifies the boot from which clock ticks are counted.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
}

// signal sends sig (0 for none) to every living member, to the leader's group at once, and
// returns how many there were.
func (f *family) signal(sig syscall.Signal) int {
	if sig == syscall.SIGKILL && f.alone { // the search below is too slow for what forks and ends again and again
		sweep(context.Background(), sweepLimit, 1)
	}
	members := f.members()
	grouped := false
	for _, p := range members {
		if p.group == f.leader {
			grouped = true
			continue
		}
		_ = syscall.Kill(p.pid, sig)
	}
	if grouped {
		_ = syscall.Kill(-f.leader, sig)
	}
	return len(members)
}

// signalGroup is signal for the remains of the leader's group, whose number is not reused while
// a member exists. Zombies are not counted.
func (f *family) signalGroup(sig syscall.Signal) int {
	if syscall.Kill(-f.leader, 0) == syscall.ESRCH {
		return 0
	}
	left := each.Count(f.candidates(), func(p proc) bool { return p.group == f.leader })
	if left > 0 {
		_ = syscall.Kill(-f.leader, sig)
	}
	return left
}

// members searches for the family and remembers what it finds, so that a child is still
// found after its parent died.
func (f *family) members() []proc {
	var found, rest []proc
	for _, p := range f.candidates() {
		if start, ok := f.known[p.pid]; ok && start != p.start && start != 0 {
			delete(f.known, p.pid) // the id was reused by another process
		}
		rest = append(rest, p)
	}
	for again := true; again; {
		again = false
		var others []proc
		for _, p := range rest {
			if !f.owns(p) {
				others = append(others, p)
				continue
			}
			f.known[p.pid] = p.start
			found, again = append(found, p), true
		}
		rest = others
	}
	return found
}

func (f *family) owns(p proc) bool {
	for _, id := range []int{p.pid, p.parent, p.group, p.session} {
		if _, ok := f.known[id]; ok {
			return true
		}
	}
	return p.marked || f.alone && !p.elsewhere && p.orphan() && onlyOne()
}

// candidates returns the living processes that are not older than the leader.
func (f *family) candidates() []proc {
	var procs []proc
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		p, ok := readStat(e.Name())
		if ok && p.zombie && p.parent == os.Getpid() {
			reap(p.pid)
		}
		if !ok || p.zombie || p.start < f.since || p.pid == os.Getpid() {
			continue
		}
		env := environOf(e.Name())
		p.marked = bytes.Contains(env, f.mark)
		p.elsewhere = !p.marked && bytes.Contains(env, []byte(spawnVar+"="))
		procs = append(procs, p)
	}
	return procs
}

// environOf returns the environment of the process with that id. It retries, because the
// environment is empty for a moment during an exec.
func environOf(pid string) (env []byte) {
	for range 3 {
		var err error
		if env, err = os.ReadFile(filepath.Join("/proc", pid, "environ")); err != nil || len(env) > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return env
}

// proc is one process as described by /proc/PID.
type proc struct {
	pid, parent, group, session int
	start                       uint64 // clock ticks since boot
	zombie, stopped             bool   // it has ended; SIGSTOP has reached it
	marked, elsewhere           bool   // it has our mark; it has only other commands' marks
}

// in reports whether the process is in dir or below it.
func (p proc) in(dir string) bool {
	at, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(p.pid), "cwd"))
	if err != nil || dir == "" {
		return false
	}
	below, err := filepath.Rel(dir, strings.TrimSuffix(at, " (deleted)"))
	return err == nil && filepath.IsLocal(below)
}

// readStat reads /proc/PID/stat; ok is false if pid is not a number or the process is gone.
// The program's name may contain anything, so fields are counted from the last ")".
func readStat(pid string) (p proc, ok bool) {
	id, err := strconv.Atoi(pid)
	if err != nil {
		return p, false
	}
	data, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return p, false
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 20 {
		return p, false
	}
	p.pid, p.zombie, p.stopped = id, fields[0] == "Z" || fields[0] == "X", fields[0] == "T"
	p.parent, _ = strconv.Atoi(fields[1])
	p.group, _ = strconv.Atoi(fields[2])
	p.session, _ = strconv.Atoi(fields[3])
	p.start, _ = strconv.ParseUint(fields[19], 10, 64)
	return p, true
}
