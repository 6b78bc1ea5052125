package agent

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// gone waits until the process whose id is in the file has ended, for a limited time.
func gone(t *testing.T, pidFile string) bool {
	t.Helper()
	pid := strings.TrimSpace(waitForFile(t, pidFile))
	for range 500 {
		if p, ok := readStat(pid); !ok || p.zombie {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// killAtEnd keeps a failing test from leaving its process running.
func killAtEnd(t *testing.T, pidFile string) {
	t.Cleanup(func() {
		data, _ := os.ReadFile(pidFile)
		if pid := atoi(strings.TrimSpace(string(data))); pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

// No process that a command started outlives its cancellation, wherever it went.
func TestRunLeavesNothingBehind(t *testing.T) {
	for _, kind := range []string{"child", "group", "session", "bare", "daemon"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			pidFile := filepath.Join(t.TempDir(), "pid")
			killAtEnd(t, pidFile)
			if r := cancelWhenReady(t, helper("descend", kind, pidFile)); !r.Cancelled {
				t.Errorf("%+v", r)
			}
			if !gone(t, pidFile) {
				t.Error("it still runs")
			}
		})
	}
}

// A child that ignores TERM is found after its parent died.
func TestRunKillsOrphanOfObedientParent(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	killAtEnd(t, pidFile)
	script := `"$1" setsid env -i PATH="$PATH" sh -c 'trap "" TERM; echo $$ > "$0.new"; mv "$0.new" "$0"; while :; do sleep 0.05; done' "$0" &
while [ ! -e "$0" ]; do sleep 0.02; done; echo ready; wait`
	c := helper("")
	c.Args, c.Grace = []string{"sh", "-c", script, pidFile, executablePath()}, 200*time.Millisecond
	cancelWhenReady(t, c)
	if !gone(t, pidFile) {
		t.Error("it still runs")
	}
}

// A process that left its group, session, parent and environment is found by its new parent, and ends with the call.
func TestAdoptedOrphanEnds(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	killAtEnd(t, pidFile)
	script := `("$1" setsid env -i PATH="$PATH" sh -c 'echo $$ > "$0.new"; mv "$0.new" "$0"; while :; do sleep 0.05; done' "$0" </dev/null >/dev/null 2>&1 &)
while [ ! -e "$0" ]; do sleep 0.02; done`
	r := mustRun(t, t.Context(), helper("adopt", "0s", script, pidFile))
	if string(r.Stdout) != "0 <nil>\n" {
		t.Errorf("%s %s", r.Stdout, r.Stderr)
	}
	if p, ok := readStat(strings.TrimSpace(waitForFile(t, pidFile))); ok && !p.zombie {
		t.Error("it still runs")
	}
}

// A command that exits by itself may leave a daemon, which is neither killed nor waited for.
func TestRunLeavesDaemonOfNormalEnd(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	killAtEnd(t, pidFile)
	script := `"$1" setsid sh -c 'echo $$ > "$0.new"; mv "$0.new" "$0"; i=0; while [ $i -lt 200 ]; do sleep 0.1; i=$((i+1)); done; echo > "$0.over"' "$0" &
while [ ! -e "$0" ]; do sleep 0.02; done`
	c := helper("")
	c.Args = []string{"sh", "-c", script, pidFile, executablePath()}
	r := mustRun(t, t.Context(), c)
	if r.ExitCode != 0 || r.Signal != "" {
		t.Errorf("%+v", r)
	}
	if fileExists(pidFile + ".over") {
		t.Error("the daemon was waited for")
	}
	if p, ok := readStat(strings.TrimSpace(waitForFile(t, pidFile))); !ok || p.zombie {
		t.Error("the daemon is gone")
	}
}

// Every process that an agent started ends with its call, even in another session, so that none
// goes on writing in the checkout.
func TestCallLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, deaf := range []string{"", `trap "" TERM; `} {
		pidFile := filepath.Join(t.TempDir(), "pid")
		killAtEnd(t, pidFile)
		script := `"$1" setsid sh -c '` + deaf +
			`echo $$ > "$0.new"; mv "$0.new" "$0"; while :; do sleep 0.05; done' "$0" >/dev/null 2>&1 &
while [ ! -e "$0" ]; do sleep 0.02; done; echo fine`
		spec := Spec{Name: "leaves", Command: []string{"sh", "-c", script, pidFile, executablePath()},
			Env: []string{helperVar}}
		answer, _, err := Call(t.Context(), spec,
			Ask{Role: Implementer, Dir: t.TempDir(), Base: []string{"PATH=" + os.Getenv("PATH"), helperVar + "=1"}},
			CallOptions{})
		if err != nil || answer.Text != "fine" {
			t.Fatalf("%+v, %v", answer, err)
		}
		if p, ok := readStat(strings.TrimSpace(waitForFile(t, pidFile))); ok && !p.zombie {
			t.Errorf("%q still runs", deaf)
		}
	}
}

// A process that this program starts in the background of an agent's call does not belong to the agent.
func TestStartDetachedIsNobodysFamily(t *testing.T) {
	t.Setenv(spawnVar, ":OUTER")
	log := filepath.Join(t.TempDir(), "log")
	for _, env := range [][]string{nil, os.Environ()} {
		if err := StartDetached("/bin/sh", []string{"-c", `echo "got <$` + spawnVar + `>"`}, t.TempDir(), env,
			log); err != nil {
			t.Fatal(err)
		}
	}
	for {
		data, _ := os.ReadFile(log)
		if bytes.Count(data, []byte("\n")) < 2 {
			time.Sleep(10 * time.Millisecond)
		} else if bytes.Contains(data, []byte("OUTER")) {
			t.Fatalf("%s", data)
		} else {
			return
		}
	}
}

// A command has a session of its own, so that it cannot reach our terminal.
func TestRunOwnSession(t *testing.T) {
	script := `read -r line < /proc/$$/stat; echo "$$ $line"`
	r := mustRun(t, t.Context(), Command{Args: []string{"sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}})
	fields := strings.Fields(string(r.Stdout)) // pid, pid, (sh), state, parent, group, session
	if len(fields) < 7 || fields[5] != fields[0] || fields[6] != fields[0] {
		t.Errorf("%q", r.Stdout)
	}
}

// Stopping one command does not affect other running commands.
func TestRunStopsOnlyItsOwn(t *testing.T) {
	t.Parallel()
	beside := exec.Command("sleep", "60")
	beside.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := beside.Start(); err != nil {
		t.Fatal(err)
	}
	defer beside.Wait()
	defer beside.Process.Kill()
	ticks := make(chan Result, 1)
	go func() {
		r, _ := Run(t.Context(), helper("tick", "10", "50"))
		ticks <- r
	}()
	cancelWhenReady(t, helper("sleep"))
	if r := <-ticks; r.ExitCode != 0 || bytes.Count(r.Stdout, []byte("tick")) != 10 {
		t.Errorf("the other command: %+v", r)
	}
	if err := beside.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the process beside: %v", err)
	}
}

// When we are killed, the agent does not continue unsupervised.
func TestRunEndsWithItsSupervisor(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	killAtEnd(t, pidFile)
	cmd := exec.Command(executablePath(), "supervise", pidFile)
	cmd.Env = append(os.Environ(), helperVar+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForFile(t, pidFile)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !gone(t, pidFile) {
		t.Error("it still runs")
	}
}

// A supervised git-runr keeps the marks of the processes above it; otherwise the outer one could
// not find a daemon below two of them.
func TestRunNestsMarks(t *testing.T) {
	t.Setenv(spawnVar, ":OUTER")
	r := mustRun(t, t.Context(), helper("env"))
	if !strings.Contains(string(r.Stdout), spawnVar+"=:OUTER:") {
		t.Errorf("environment %q", r.Stdout)
	}
}

func TestReadStat(t *testing.T) {
	p, ok := readStat("self")
	if ok {
		t.Errorf("a name is no process id: %+v", p)
	}
	cmd := exec.Command("/bin/sh", "-c", "exec sleep 60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	pid := cmd.Process.Pid
	p, ok = readStat(strconv.Itoa(pid))
	if !ok || p.pid != pid || p.parent != os.Getpid() || p.group != pid || p.session != pid || p.start == 0 || p.zombie {
		t.Errorf("%+v of %d", p, pid)
	}
}
