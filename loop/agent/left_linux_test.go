package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The remains of a killed supervisor are found by its record: processes that ignore TERM, and
// processes that lost their parent, group or environment.
func TestStopNoted(t *testing.T) {
	for name, script := range map[string]string{
		"deaf":    `trap "" TERM; echo $$ >"$0.new"; mv "$0.new" "$0"; while :; do sleep 0.05; done`,
		"child":   `sh -c 'echo $$ >"$0.new"; mv "$0.new" "$0"; exec sleep 60' "$0"; echo`,
		"bare":    `env -i PATH="$PATH" sh -c 'echo $$ >"$0.new"; mv "$0.new" "$0"; exec sleep 60' "$0"; echo`,
		"session": `"$1" setsid sh -c 'echo $$ >"$0.new"; mv "$0.new" "$0"; exec sleep 60' "$0"; echo`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pidFile, notes := filepath.Join(dir, "pid"), filepath.Join(dir, "notes")
			killAtEnd(t, pidFile)
			cmd := exec.Command(executablePath(), "supervise-noted", notes, script, pidFile)
			cmd.Env = append(os.Environ(), helperVar+"=1")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitForFile(t, pidFile)
			for range 1000 { // the supervisor notes the process id once the command runs
				if len(notEnded(notes)) == 1 && notEnded(notes)[0].PID > 0 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			StopNoted(notes)
			if !gone(t, pidFile) {
				t.Error("it still runs")
			}
			if n := StopNoted(notes); n != 0 {
				t.Errorf("%d are stopped once more", n)
			}
		})
	}
}

// A reused process id, a record of another boot and a cut-off record stop nothing; nor does the
// record of an ended command, whose daemon was left on purpose.
func TestStopNotedStopsNobodyElse(t *testing.T) {
	other := exec.Command("sleep", "60")
	other.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	other.Env = []string{spawnVar + "=:" + strings.Repeat("M", minMark)}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer other.Process.Kill()
	pid := other.Process.Pid
	start := newFamily(pid, "", false).since
	mark, none := strings.Repeat("M", minMark), strings.Repeat("N", minMark)
	for name, n := range map[string]noted{
		"another start": {Mark: none, PID: pid, Start: start + 1, Boot: bootID()},
		"another boot":  {Mark: mark, PID: pid, Start: start, Boot: "another"},
		"ended":         {Mark: mark, PID: pid, Start: start, Boot: bootID(), Ended: true},
		"no mark":       {PID: pid, Start: start, Boot: bootID()},
		"init":          {Mark: none, PID: 1, Boot: bootID()},
		"everybody":     {Mark: none, PID: -1, Boot: bootID()},
		"group of all":  {Mark: none, PID: 0, Boot: bootID()},
	} {
		line, err := json.Marshal(n)
		file := filepath.Join(t.TempDir(), "notes")
		if err == nil {
			err = os.WriteFile(file, append(line, "\n{\"mark\":\"cut"...), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if stopped := StopNoted(file); stopped != 0 {
			t.Errorf("%s: %d stopped", name, stopped)
		}
	}
	if p, ok := readStat(strconv.Itoa(pid)); !ok || p.zombie {
		t.Error("it is gone")
	}
}

// A process that belongs to the remains does not stop itself.
func TestStopNotedFromWithin(t *testing.T) {
	mark := strings.Repeat("W", minMark)
	t.Setenv(spawnVar, ":"+mark)
	if f := leftFamily(noted{Mark: mark, Boot: bootID()}); f != nil {
		t.Errorf("%+v", f)
	}
}

func TestNotedIsOverWithTheCommand(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "notes")
	mustRun(t, Noted(context.Background(), notes),
		Command{Args: []string{"sh", "-c", "exit 0"}, Env: []string{"PATH=" + os.Getenv("PATH")}})
	data, err := os.ReadFile(notes)
	if err != nil || bytes.Count(data, []byte("\n")) != 3 || !bytes.HasSuffix(data, []byte("\"ended\":true}\n")) {
		t.Errorf("%s, %v", data, err)
	}
}
