//go:build unix

package agent

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// waitForFile returns the file's content once it has some, or fails the test.
func waitForFile(t *testing.T, path string) string {
	t.Helper()
	for range 1000 {
		if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
			return string(data)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s was not written", filepath.Base(path))
	return ""
}

// waiting is a script that prints where it runs, waits for the file go for a limited time, and
// writes to the file end whether it came.
const waiting = `echo "$$ $PWD $NAME"; echo trouble >&2; cat
i=0; while [ ! -e go ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done
if [ -e go ]; then echo went >end; else echo gave up >end; fi`

// TestDetachHelper is not a test: it is the process that starts a detached process.
func TestDetachHelper(t *testing.T) {
	dir := os.Getenv("DETACH_TEST_DIR")
	if dir == "" {
		t.Skip("runs as a child of TestStartDetachedHoldsNothing")
	}
	if err := StartDetached("/bin/sh", []string{"-c", waiting}, dir, nil, filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
}

// Readers of our output, and of a descriptor that our parent left open, get end of file while
// the detached process still runs.
func TestStartDetachedHoldsNothing(t *testing.T) {
	dir := t.TempDir()
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	leakRead, leakWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestDetachHelper$")
	cmd.Env = append(os.Environ(), "DETACH_TEST_DIR="+dir)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = outWrite, outWrite, []*os.File{leakWrite}
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	outWrite.Close()
	leakWrite.Close()
	for _, pipe := range []*os.File{outRead, leakRead} {
		if _, err := io.Copy(io.Discard, pipe); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := waitForFile(t, filepath.Join(dir, "end")); got != "went\n" {
		t.Errorf("the detached process had ended before its starter's pipes: %q", got)
	}
}

func TestStartDetachedSessionDirAndLog(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "logs", "work.log")
	if err := StartDetached("/bin/sh", []string{"-c", waiting}, dir, []string{"NAME=a b", "PATH=" + os.Getenv("PATH")},
		log); err != nil {
		t.Fatal(err)
	}
	waitForFile(t, log)
	pid, _, _ := strings.Cut(waitForFile(t, log), " ")
	id, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatal(err)
	}
	if session, err := sessionOf(id); err != nil || session != id {
		t.Errorf("process %d is in session %d, %v", id, session, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waitForFile(t, filepath.Join(dir, "end"))
	if got, want := waitForFile(t, log), pid+" "+dir+" a b\ntrouble\n"; got != want {
		t.Errorf("log %q, want %q", got, want)
	}
	for end := time.Now().Add(10 * time.Second); syscall.Kill(id, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d has ended and is not reaped", id)
		}
	}
}

func TestStartDetachedRotatesLog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "work.log")
	old := strings.Repeat("x", maxDetachLog)
	for _, text := range []string{old[1:], old} {
		if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := StartDetached("/bin/echo", []string{"new"}, "", nil, log); err != nil {
			t.Fatal(err)
		}
		_, err := os.Stat(log + ".1")
		if rotated := err == nil; rotated != (len(text) == maxDetachLog) {
			t.Errorf("%d bytes: rotated %v", len(text), rotated)
		}
	}
	if got := waitForFile(t, log); got != "new\n" {
		t.Errorf("new log %q", got)
	}
	if kept, err := os.ReadFile(log + ".1"); err != nil || !strings.HasPrefix(string(kept), "xxx") {
		t.Errorf("old log: %v", err)
	}
}

func TestStartDetachedMissingProgram(t *testing.T) {
	dir := t.TempDir()
	if err := StartDetached(filepath.Join(dir, "none"), nil, dir, nil, filepath.Join(dir, "log")); err == nil {
		t.Error("no error")
	}
}
