package app

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
	"github.com/git-runr/git-runr/gitstore/testrepo"
)

const (
	systemCall   = 0x80 // in the signal of a stop at a system call, by PTRACE_O_TRACESYSGOOD
	traceOptions = syscall.PTRACE_O_TRACESYSGOOD | syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACEFORK |
		syscall.PTRACE_O_TRACEVFORK | syscall.PTRACE_O_TRACEEXEC
)

// cost counts what a command and the processes that it starts request from the system.
type cost struct {
	starts int // programs that it starts: git, shells, itself
	syncs  int // of files and directories
	moved  int // files that were moved to their names: objects, refs, the cache
	opened int // files of the repository
	read   int // KiB of files and pipes
	bytes  int64
}

// within reports whether c is at most most and has exactly its syncs: with one sync less an event may be lost.
func (c cost) within(most cost) bool {
	return c.starts <= most.starts && c.syncs == most.syncs && c.moved <= most.moved && c.opened <= most.opened &&
		c.read <= most.read
}

// min returns the smaller of each count of c and d.
func (c cost) min(d cost) cost {
	return cost{min(c.starts, d.starts), min(c.syncs, d.syncs), min(c.moved, d.moved), min(c.opened, d.opened),
		min(c.read, d.read), 0}
}

// TestCosts: no command costs more than its figures here. A higher cost is a fault, such as a process, a sync or a
// read that is not needed. Whoever has a reason for a higher cost, or lowers one, changes the figure. Work that
// happens only every few times is not counted, because each command counts with its cheapest of several tries. The
// figures for files and bytes leave room, because the number of the cache's parts varies.
func TestCosts(t *testing.T) {
	dir, env := costRepo(t)
	run := func(args ...string) func() {
		return func() { scripttest.RunIn(t, dir, env, append([]string{"git-runr", "-q"}, args...)...) }
	}
	asked := run("review", "--reviewer", "human", "--no-serve")
	submitted := func() { asked(); run("inbox", "submit", "latest", "--request-changes")() }
	closed := func() { submitted(); run("inbox", "resolve", "latest", "--force")() }
	runr := func(args ...string) []string { return append([]string{"git-runr"}, args...) }
	submit, list := runr("inbox", "submit", "latest", "--request-changes"), runr("inbox", "list")
	scripttest.RunIn(t, dir, env, "git", "config", "runr.review.reviewer", "human")
	scripttest.RunIn(t, dir, env, "git-runr", "-q", "hooks", "install")
	hook := func(to string) func() {
		return func() { scripttest.RunIn(t, dir, env, "git", "config", "runr.hooks.postCommit", to) }
	}
	for _, door := range []struct {
		name   string
		before func()
		argv   []string
		most   cost // programs, syncs, moved files, opened files, KiB read
	}{
		{"review", closed, runr("review", "--reviewer", "human", "--no-serve"), cost{0, 4, 2, 37, 20, 0}},
		{"submit", func() { closed(); asked() }, submit, cost{0, 4, 7, 66, 40, 0}},
		{"submit that ends another", func() { submitted(); asked() }, submit, cost{0, 8, 9, 85, 60, 0}},
		{"approve", func() { closed(); asked() }, runr("inbox", "submit", "latest", "--approve"), cost{0, 8, 9, 83, 65, 0}},
		{"claim", submitted, runr("inbox", "claim", "latest"), cost{0, 4, 2, 29, 40, 0}},
		{"list", run("inbox", "list"), list, cost{0, 0, 0, 11, 38, 0}},
		{"get", run("inbox", "list"), runr("inbox", "get", "latest"), cost{0, 0, 0, 22, 40, 0}},
		{"log", run("inbox", "list"), runr("log", "--limit", "5"), cost{0, 0, 0, 19, 35, 0}},
		{"status", run("inbox", "list"), runr("status"), cost{1, 0, 0, 90, 80, 0}},
		{"cold list", func() { os.RemoveAll(filepath.Join(dir, ".git", "runr", "cache")) }, list, cost{0, 0, 1, 104, 100, 0}},
		{"hook, nothing to do", hook("off"), runr("hooks", "run", "post-commit"), cost{0, 0, 0, 7, 18, 0}},
		{"commit with the hook, nothing to do", hook("off"), []string{"git", "commit", "-q", "--allow-empty", "-m", "x"},
			cost{3, 0, 2, 63, 42, 0}},
		{"commit with the hook, for a person", hook("review"), []string{"git", "commit", "-q", "--allow-empty", "-m", "x"},
			cost{3, 4, 4, 87, 70, 0}},
	} {
		least := cost{1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 0}
		for range 3 {
			door.before()
			least = least.min(traced(t, dir, env, door.argv...))
		}
		if !least.within(door.most) {
			t.Errorf("%s costs %+v, at most %+v", door.name, least, door.most)
		}
	}
}

// TestCostOfEndingReviews: a submission that ends many reviews of its change opens no more files for each of them than
// openedToEnd.
func TestCostOfEndingReviews(t *testing.T) {
	dir, env := costRepo(t)
	run := func(args ...string) { scripttest.RunIn(t, dir, env, args...) }
	ending := func(n int) int {
		run("git", "config", "runr.inbox.autoResolve", "never")
		for i := range n {
			run("git-runr", "-q", "review", "--reviewer", "human", "--no-serve")
			run("git-runr", "-q", "inbox", "submit", "latest", "--request-changes", "-m", fmt.Sprint("no ", i))
		}
		run("git", "config", "--unset", "runr.inbox.autoResolve")
		run("git-runr", "-q", "review", "--reviewer", "human", "--no-serve")
		return traced(t, dir, env, "git-runr", "inbox", "submit", "latest", "--request-changes").opened
	}
	few, many := ending(5), ending(20)
	if each := (many - few) / 15; each > openedToEnd {
		t.Errorf("%d files are opened to end 5 reviews, %d to end 20: %d for each, at most %d", few, many, each, openedToEnd)
	}
}

// openedToEnd is the number of files that may be opened to end one more review: its events, the log at each decision,
// and the files that are written.
const openedToEnd = 20

// costRepo returns a repository with some reviews, in which every directory of objects exists already. Its directory of
// packs is an hour old: a new one is listed again whenever an object is not found, until its time stamp proves that
// nothing was added, and the count would depend on how fast the test runs.
func costRepo(t *testing.T) (dir string, env []string) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	config := filepath.Join(home, "config")
	if err := os.WriteFile(config, []byte("[user]\n\tname = Ada\n\temail = ada@example.com\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+config)
	scripttest.RunIn(t, dir, env, "git", "init", "-q")
	for i := range 3 {
		testrepo.WriteFile(t, dir, "file", strings.Repeat("line\n", i+1))
		scripttest.RunIn(t, dir, env, "git", "add", "file")
		scripttest.RunIn(t, dir, env, "git", "commit", "-qm", "next")
	}
	for i := range 256 {
		if err := os.MkdirAll(filepath.Join(dir, ".git", "objects", fmt.Sprintf("%02x", i)), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, ".git", "objects", "pack"), old, old); err != nil {
		t.Fatal(err)
	}
	return dir, env
}

// traced runs a command and counts the system calls of it and of the processes that it starts, with ptrace.
func traced(t *testing.T, dir string, env []string, argv ...string) (c cost) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, env, &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("processes cannot be traced here: %v", err)
	}
	first := cmd.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(first, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	if err := syscall.PtraceSetOptions(first, traceOptions); err != nil {
		t.Fatal(err)
	}
	within := map[int]bool{} // threads that are inside a system call
	for pid, signal := first, 0; ; {
		_ = syscall.PtraceSyscall(pid, signal) // the thread may have been killed
		var err error
		if pid, err = syscall.Wait4(-1, &status, syscall.WNOTHREAD|syscall.WALL, nil); err != nil {
			_ = cmd.Process.Release()
			c.read, c.bytes = int(c.bytes>>10), 0
			return c
		}
		signal = 0
		switch {
		case !status.Stopped():
			if pid == first && status.ExitStatus() != 0 {
				t.Errorf("%q ends with %d", argv, status.ExitStatus())
			}
		case status.StopSignal() == syscall.SIGTRAP|systemCall:
			within[pid] = !within[pid]
			c.count(pid, dir, within[pid])
		case status.StopSignal() == syscall.SIGTRAP:
			if status.TrapCause() == syscall.PTRACE_EVENT_EXEC {
				c.starts++
			}
		case status.StopSignal() != syscall.SIGSTOP:
			signal = int(status.StopSignal())
		}
	}
}

// count counts a system call at its begin, and the bytes that a read returned at its end.
func (c *cost) count(pid int, dir string, begins bool) {
	var regs syscall.PtraceRegs
	if syscall.PtraceGetRegs(pid, &regs) != nil {
		return
	}
	if !begins {
		if n := int64(regs.Rax); n > 0 && (regs.Orig_rax == syscall.SYS_READ || regs.Orig_rax == syscall.SYS_PREAD64) {
			c.bytes += n
		}
		return
	}
	switch regs.Orig_rax {
	case syscall.SYS_FSYNC, syscall.SYS_FDATASYNC:
		c.syncs++
	case syscall.SYS_RENAME, syscall.SYS_RENAMEAT, syscall.SYS_LINK, syscall.SYS_LINKAT:
		c.moved++
	case syscall.SYS_OPENAT:
		if name := textAt(pid, uintptr(regs.Rsi)); strings.HasPrefix(name, dir) || !filepath.IsAbs(name) {
			c.opened++
		}
	}
}

// textAt returns the string at an address of a process, at most 256 bytes.
func textAt(pid int, at uintptr) string {
	var text [256]byte
	n, _ := syscall.PtracePeekData(pid, at, text[:])
	return string(text[:max(slices.Index(text[:n], 0), 0)])
}
