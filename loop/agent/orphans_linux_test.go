package agent

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// hopFor is how long a process that changes its id goes on.
const hopFor = 4 * time.Second

// hop forks again and again, where each parent ends at once, until hopFor is over; with sessions each process begins
// a session. After a fork only one thread is left, so it calls nothing of Go's runtime.
//
//go:nosplit
//go:norace
func hop(sessions bool) {
	var at syscall.Timespec
	end := int64(0)
	for {
		_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&at)), 0)
		if end == 0 {
			end = int64(at.Sec) + int64(hopFor/time.Second)
		}
		pid, _, no := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		if pid != 0 || no != 0 || int64(at.Sec) >= end {
			_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
		if sessions {
			_, _, _ = syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
		}
	}
}

// hops is a script that leaves hopping processes which hold the fifo $0 open and have nothing of its environment.
const hops = `for i in 1 2 3; do
	env -i ` + helperVar + `=1 "$1" setsid "$1" hop WAY "$0.$i" </dev/null >"$0" 2>&1 &
	while [ ! -e "$0.$i" ]; do sleep 0.02; done
done
sleep 0.1`

// held returns a file that says whether processes hold the fifo open, and the fifo's name.
func held(t *testing.T) (func() bool, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return func() bool {
		_ = f.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		_, err := io.Copy(io.Discard, f)
		return err != nil
	}, name
}

// A process whose id always changes, because it forks and ends again and again, ends with the call.
func TestHoppingProcessEnds(t *testing.T) {
	for _, way := range []string{"group", "session"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			runs, fifo := held(t)
			script := strings.ReplaceAll(hops, "WAY", way)
			r := mustRun(t, t.Context(), helper("adopt", "30s", script, fifo))
			if string(r.Stdout) != "0 <nil>\n" {
				t.Errorf("%s %s", r.Stdout, r.Stderr)
			}
			if runs() {
				t.Error("it still runs")
			}
			if r.Duration > hopFor {
				t.Errorf("it was waited for: %v", r.Duration)
			}
		})
	}
}

// endFirstThread ends the first thread of this process, and returns on another one. The state of the process is that
// of a zombie from then on.
func endFirstThread() {
	for first := false; !first; {
		answer := make(chan bool)
		go func() {
			runtime.LockOSThread() // without an end: the thread stays ours
			first := syscall.Gettid() == os.Getpid()
			answer <- first
			if first {
				_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
			}
			select {}
		}()
		first = <-answer
	}
	for p, ok := readStat(strconv.Itoa(os.Getpid())); ok && !p.zombie; p, ok = readStat(strconv.Itoa(os.Getpid())) {
		time.Sleep(time.Millisecond)
	}
}

// A process whose first thread has ended, so that it looks like a zombie, ends with the call.
func TestHeadlessProcessEnds(t *testing.T) {
	t.Parallel()
	runs, fifo := held(t)
	script := `(env -i ` + helperVar + `=1 "$1" headless "$0.on" </dev/null >"$0" 2>&1 &)
while [ ! -e "$0.on" ]; do sleep 0.02; done`
	r := mustRun(t, t.Context(), helper("adopt", "30s", script, fifo))
	if string(r.Stdout) != "0 <nil>\n" {
		t.Errorf("%s %s", r.Stdout, r.Stderr)
	}
	if runs() {
		t.Error("it still runs")
	}
}

// forges is a script that leaves a process in a session of its own, which has the mark of no command and holds the
// fifo $0 open.
const forges = `(env -i PATH="$PATH" ` + helperVar + `=1 ` + spawnVar + `=:FORGED "$1" setsid sh -c '
	echo > "$0.on"; exec sleep 5' "$0" </dev/null >"$0" 2>&1 &)
while [ ! -e "$0.on" ]; do sleep 0.02; done`

// A mark that no command was given protects nothing.
func TestForgedMarkEnds(t *testing.T) {
	t.Parallel()
	runs, fifo := held(t)
	r := mustRun(t, t.Context(), helper("adopt", "30s", forges, fifo))
	if string(r.Stdout) != "0 <nil>\n" {
		t.Errorf("%s %s", r.Stdout, r.Stderr)
	}
	if runs() {
		t.Error("it still runs")
	}
}

// A call whose processes do not end in time says so.
func TestWhatDoesNotEndIsSaid(t *testing.T) {
	t.Parallel()
	_, fifo := held(t)
	r := mustRun(t, t.Context(), helper("adopt", "-1s", forges, fifo))
	if !strings.Contains(string(r.Stdout), errUnstoppable.Error()) || !strings.Contains(string(r.Stdout), "ps -ef") {
		t.Errorf("%s %s", r.Stdout, r.Stderr)
	}
}

// The daemon of a command that is not Alone goes on when an Alone command has ended.
func TestSweepSparesDaemons(t *testing.T) {
	t.Parallel()
	runs, fifo := held(t)
	script := `("$1" setsid sh -c 'echo > "$0.on"; exec sleep 5' "$0" </dev/null >"$0" 2>&1 &)
while [ ! -e "$0.on" ]; do sleep 0.02; done`
	r := mustRun(t, t.Context(), helper("beside", script, fifo))
	if string(r.Stdout) != "<nil> <nil>\n" {
		t.Errorf("%s %s", r.Stdout, r.Stderr)
	}
	if !runs() {
		t.Error("it is gone")
	}
}
