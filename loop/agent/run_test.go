//go:build unix

package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mustRun runs c and fails the test if it could not be started.
func mustRun(t *testing.T, ctx context.Context, c Command) Result {
	t.Helper()
	r, err := Run(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// cancelWhenReady runs c, and cancels it at its first line of output.
func cancelWhenReady(t *testing.T, c Command) Result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.OnLine = func(string) { cancel() }
	return mustRun(t, ctx, c)
}

func TestRunResult(t *testing.T) {
	for _, status := range []int{0, 1, 127, 255} {
		r := mustRun(t, t.Context(), helper("say", "out", "err", strconv.Itoa(status)))
		if r.ExitCode != status || string(r.Stdout) != "out" || string(r.Stderr) != "err" {
			t.Errorf("status %d: got %d, %q, %q", status, r.ExitCode, r.Stdout, r.Stderr)
		}
		if r.Signal != "" || r.TimedOut || r.Idled || r.Cancelled || r.Dropped != 0 {
			t.Errorf("status %d: %+v", status, r)
		}
		if r.Started.IsZero() || r.Duration <= 0 || r.LastOutput.Before(r.Started.Add(-time.Second)) {
			t.Errorf("times: %v, %v, %v", r.Started, r.Duration, r.LastOutput)
		}
	}
}

func TestRunSilentHasNoLastOutput(t *testing.T) {
	if r := mustRun(t, t.Context(), helper("say", "", "", "0")); !r.LastOutput.IsZero() {
		t.Errorf("last output at %v", r.LastOutput)
	}
}

func TestRunDir(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := Command{Args: []string{"pwd"}, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")}}
	if r := mustRun(t, t.Context(), c); strings.TrimSpace(string(r.Stdout)) != dir {
		t.Errorf("ran in %q, want %q", r.Stdout, dir)
	}
}

func TestRunNotStarted(t *testing.T) {
	dir := t.TempDir()
	plainFile := filepath.Join(dir, "plain")
	if err := os.WriteFile(plainFile, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, tc := range []struct {
		args []string
		path string
		dir  string
		want error
	}{
		{args: nil, want: errNoProgram},
		{args: []string{""}, want: errNoProgram},
		{args: []string{"no-such-program"}, path: "/bin:/usr/bin", want: ErrNotFound},
		{args: []string{"sh"}, path: "", want: ErrNotFound},
		{args: []string{"/no/such/program"}, want: ErrNotFound},
		{args: []string{plainFile}, want: os.ErrPermission},
		{args: []string{dir}, want: os.ErrPermission},
		{args: []string{"./tool"}, want: exec.ErrDot},
		{args: []string{"sub/tool"}, want: exec.ErrDot},
		{args: []string{"."}, want: exec.ErrDot},
		{args: []string{"tool"}, path: ".", want: exec.ErrDot},
		{args: []string{"tool"}, path: "/bin::/usr/bin", want: exec.ErrDot},
		{args: []string{"sh"}, path: "/bin:/usr/bin", dir: filepath.Join(dir, "none"), want: os.ErrNotExist},
		{args: []string{"sh"}, path: "/bin:/usr/bin", dir: plainFile, want: syscall.ENOTDIR},
	} {
		_, err := Run(t.Context(), Command{Args: tc.args, Dir: tc.dir, Env: []string{"PATH=" + tc.path}})
		if !errors.Is(err, tc.want) {
			t.Errorf("%q on %q in %q: %v, want %v", tc.args, tc.path, tc.dir, err, tc.want)
		}
		if len(tc.args) > 0 && tc.args[0] != "" && !strings.Contains(fmt.Sprint(err), strconv.Quote(tc.args[0])) {
			t.Errorf("error does not name %q: %v", tc.args[0], err)
		}
	}
}

// A program in an absolute directory is found after a relative entry of PATH that has it too.
func TestRunSkipsRelativePathEntry(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile("sh", []byte("#!/bin/sh\necho planted\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := mustRun(t, t.Context(), Command{Args: []string{"sh", "-c", "echo real"}, Env: []string{"PATH=.::/bin:/usr/bin"}})
	if string(r.Stdout) != "real\n" {
		t.Errorf("got %q", r.Stdout)
	}
}

func TestRunStdin(t *testing.T) {
	prompt := strings.Repeat("a line of a long prompt\n", 400<<10/24)
	c := helper("cat")
	c.Stdin = strings.NewReader(prompt)
	r := mustRun(t, t.Context(), c)
	if string(r.Stdout) != prompt || string(r.Stderr) != strconv.Itoa(len(prompt)) {
		t.Errorf("%d bytes came back, %s arrived, %d were sent", len(r.Stdout), r.Stderr, len(prompt))
	}
}

// Without a prompt a program that reads all of its input does not block.
func TestRunNoStdin(t *testing.T) {
	if r := mustRun(t, t.Context(), helper("cat")); string(r.Stderr) != "0" {
		t.Errorf("read %q bytes", r.Stderr)
	}
}

func TestRunStdinNotRead(t *testing.T) {
	c := helper("say", "done", "", "0")
	c.Stdin = strings.NewReader(strings.Repeat("x", 1<<20))
	if r := mustRun(t, t.Context(), c); r.ExitCode != 0 || string(r.Stdout) != "done" {
		t.Errorf("%+v", r)
	}
}

func TestRunMerge(t *testing.T) {
	c := helper("alternate", "100")
	c.Merge = true
	var want strings.Builder
	for i := range 100 {
		fmt.Fprintln(&want, i)
	}
	if r := mustRun(t, t.Context(), c); string(r.Stdout) != want.String() || len(r.Stderr) != 0 {
		t.Errorf("got %q and %q", r.Stdout, r.Stderr)
	}
}

func TestRunTimeout(t *testing.T) {
	t.Parallel()
	c := helper("sleep")
	c.Timeout, c.Grace = 100*time.Millisecond, time.Minute // a busy machine is late with TERM
	r := mustRun(t, t.Context(), c)
	if !r.TimedOut || r.ExitCode != -1 || r.Signal != "SIGTERM" || r.Idled || r.Cancelled {
		t.Errorf("%+v", r)
	}
}

func TestRunIdle(t *testing.T) {
	t.Parallel()
	c := helper("sleep")
	c.Timeout, c.Idle = time.Minute, 100*time.Millisecond
	if r := mustRun(t, t.Context(), c); !r.Idled || r.TimedOut || r.ExitCode != -1 {
		t.Errorf("%+v", r)
	}
}

// Output resets the idle limit: the command takes longer than the limit in total.
func TestRunOutputIsNotIdle(t *testing.T) {
	t.Parallel()
	c := helper("tick", "32", "50")
	c.Idle = 1500 * time.Millisecond
	r := mustRun(t, t.Context(), c)
	if r.Idled || r.ExitCode != 0 || bytes.Count(r.Stdout, []byte("\n")) != 32 {
		t.Errorf("%+v", r)
	}
	if r.Duration <= c.Idle {
		t.Skip("it ended before the limit; nothing was tested")
	}
}

func TestRunCancel(t *testing.T) {
	t.Parallel()
	r := cancelWhenReady(t, helper("sleep"))
	if !r.Cancelled || r.ExitCode != -1 || r.TimedOut || string(r.Stdout) != "ready\n" {
		t.Errorf("%+v", r)
	}
}

func TestRunCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "ran")
	c := Command{Args: []string{"touch", file}, Env: []string{"PATH=" + os.Getenv("PATH")}}
	if r := mustRun(t, ctx, c); !r.Cancelled || r.ExitCode != -1 || fileExists(file) {
		t.Errorf("%+v", r)
	}
}

func TestRunKillsWhatIgnoresTerm(t *testing.T) {
	t.Parallel()
	if r := cancelWhenReady(t, helper("stubborn")); r.Signal != "SIGKILL" || r.ExitCode != -1 {
		t.Errorf("%+v", r)
	}
}

// An agent that exits 0 on TERM has not succeeded.
func TestRunPoliteEndIsNoSuccess(t *testing.T) {
	t.Parallel()
	c := helper("polite")
	c.Grace = time.Minute
	if r := cancelWhenReady(t, c); r.ExitCode != -1 || r.Signal != "" {
		t.Errorf("%+v", r)
	}
}

func TestRunSignal(t *testing.T) {
	for _, name := range []string{"KILL", "USR1", "TERM", "SEGV"} {
		c := Command{Args: []string{"sh", "-c", "kill -" + name + " $$"}, Env: []string{"PATH=" + os.Getenv("PATH")}}
		r := mustRun(t, t.Context(), c)
		if r.Signal != "SIG"+name || r.ExitCode != -1 || r.Cancelled || r.TimedOut {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if name := signalName(syscall.Signal(60)); name != "SIG60" {
		t.Errorf("a signal without a name is %q", name)
	}
}

func TestRunFloodStaysBounded(t *testing.T) {
	const size, kept = 100 << 20, 1 << 20
	script := `head -c "$0" /dev/zero & head -c "$0" /dev/zero >&2; wait`
	c := Command{Args: []string{"sh", "-c", script, strconv.Itoa(size)}, Env: []string{"PATH=" + os.Getenv("PATH")}}
	c.MaxOutput = kept
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := mustRun(t, t.Context(), c)
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
		t.Errorf("allocated %d bytes", grown)
	}
	gap := fmt.Sprintf("\n[%d bytes left out]\n", size-kept)
	for _, stream := range [][]byte{r.Stdout, r.Stderr} {
		if !strings.Contains(string(stream), gap) || len(stream) > kept+len(gap) {
			t.Errorf("%d bytes kept", len(stream))
		}
	}
	if r.Dropped != 2*(size-kept) {
		t.Errorf("dropped %d", r.Dropped)
	}
}

func TestRunTranscriptHasEveryByte(t *testing.T) {
	c := helper("flood", strconv.Itoa(1<<20))
	c.MaxOutput = 100
	var transcript bytes.Buffer
	c.Transcript = &transcript
	mustRun(t, t.Context(), c)
	if transcript.Len() != 2<<20 {
		t.Errorf("%d bytes", transcript.Len())
	}
}

// A full disk under the transcript does not end the command.
func TestRunTranscriptError(t *testing.T) {
	c := helper("say", "out", "", "0")
	c.Transcript = failingWriter{}
	if r := mustRun(t, t.Context(), c); r.ExitCode != 0 || string(r.Stdout) != "out" {
		t.Errorf("%+v", r)
	}
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestRunOnLine(t *testing.T) {
	for _, tc := range []struct{ out, want string }{
		{"one\ntwo\n", "two"},
		{"no end", "no end"},
		{"\x1b[31mred\x1b[0m \x1b]0;title\x07text\n\n\n", "red text"},
		{"10%\r50%\r100%\n", "100%"},
		{"a\tb\x00\u202ec\u200b\x7f\n", "a bc"},
		{"\xff\xfeok\n", "ok"},
	} {
		var last string
		c := helper("say", tc.out, "", "0")
		if strings.ContainsRune(tc.out, 0) {
			c = Command{Args: []string{"printf", `a\tb\000\342\200\256c\342\200\213\177\n`}, Env: c.Env}
		}
		c.OnLine = func(line string) { last = line }
		mustRun(t, t.Context(), c)
		if last != tc.want {
			t.Errorf("%q shown as %q, want %q", tc.out, last, tc.want)
		}
	}
}
