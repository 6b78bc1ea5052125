//go:build unix

package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

var updateScreens = flag.Bool("update-screens", false, "write what git runr tui shows into testdata/tui")

// tuiScreen is a terminal with git runr tui in it.
type tuiScreen struct {
	t    *testing.T
	term vt10x.Terminal
	pty  *os.File
	cmd  *exec.Cmd
	over chan struct{} // closed when nothing more comes
}

// tuiWorld is a repository with a change that waits for a person, and agents that fix what was found.
func tuiWorld(t *testing.T) *killWorld {
	w := &killWorld{newKillPlace(t), filepath.Join(t.TempDir(), "repo")}
	w.env = append(w.env, "GIT_RUNR_CLOCK=2026-01-02T03:04:05Z", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
		"TERM=screen-256color", "NO_COLOR=1", "LANG=C.UTF-8", "GIT_RUNR_ACTOR=Ada")
	agents := t.TempDir()
	w.write(w.repo, ".runr.toml", fmt.Sprintf(`
[loop]
implementer = "impl"
reviewer = "rev"
[agents.impl]
command = ["fake-agent", %q]
[agents.rev]
command = ["fake-agent", %q]
`, filepath.Join(agents, "impl"), filepath.Join(agents, "rev")))
	w.write(agents, "impl/last", "write greet.sh echo \"hello, $1, please\"\\n\nsay said\n")
	w.write(agents, "impl/said", "It is polite now.\n")
	w.write(agents, "rev/last", "say pass\n")
	w.write(agents, "rev/pass", "### Verdict: PASS\n")
	w.write(w.repo, "greet.sh", "echo hello\n")
	w.write(w.repo, "notes.txt", "one\ntwo\nthree\n")
	w.git(w.repo, "init", "-q")
	w.git(w.repo, "config", "runr.writer", "0123456789ab")
	w.git(w.repo, "add", ".")
	w.git(w.repo, "commit", "-qm", "first")
	w.write(w.repo, "greet.sh", "echo \"hello, $1\"\necho done\n")
	w.write(w.repo, "notes.txt", "one\n2\nthree\n")
	w.git(w.repo, "commit", "-qam", "Greet by name")
	w.runr(w.repo, "trust", "--yes")
	return w
}

// openScreen starts git runr tui.
func openScreen(w *killWorld, columns, rows int, args ...string) *tuiScreen {
	s := &tuiScreen{t: w.t, term: vt10x.New(vt10x.WithSize(columns, rows)), over: make(chan struct{})}
	s.cmd = exec.Command("git-runr", append([]string{"tui"}, args...)...)
	s.cmd.Dir, s.cmd.Env = w.repo, w.env
	var err error
	if s.pty, err = pty.StartWithSize(s.cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		defer close(s.over)
		buffer := make([]byte, 1<<16)
		for {
			n, err := s.pty.Read(buffer)
			s.term.Write(buffer[:n])
			if err != nil {
				return
			}
		}
	}()
	w.t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		s.pty.Close()
	})
	return s
}

// text is what is on the screen.
func (s *tuiScreen) text() string {
	var lines []string
	for line := range strings.Lines(s.term.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// wait waits until the screen shows all of these.
func (s *tuiScreen) wait(want ...string) {
	s.t.Helper()
	for range 1200 {
		text, missing := s.text(), false
		for _, part := range want {
			missing = missing || !strings.Contains(text, part)
		}
		if !missing {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	s.t.Fatalf("the screen never shows %q:\n%s", want, s.text())
}

// press types keys.
func (s *tuiScreen) press(keys string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// golden compares the screen, with the ids that are made anew each time left out.
func (s *tuiScreen) golden(w *killWorld, name string) {
	s.t.Helper()
	shown := func() string {
		text := s.text()
		for _, id := range w.ids() {
			text = strings.ReplaceAll(text, id, strings.Repeat("X", len(id)))
			text = strings.ReplaceAll(text, id[len(id)-6:], "XXXXXX")
		}
		return regexp.MustCompile(`\b[0-9a-f]{7}\b`).ReplaceAllString(text, "0000000")
	}
	file := filepath.Join("..", "..", "testdata", "tui", name+".txt")
	if *updateScreens {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			s.t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := os.WriteFile(file, []byte(shown()), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	text := shown()
	for try := 0; text != string(want) && try < 40; try++ { // it is drawn in a moment
		time.Sleep(100 * time.Millisecond)
		text = shown()
	}
	if text != string(want) {
		s.t.Errorf("%s: the screen is\n%s\nwant\n%s", name, text, want)
	}
}

// ids are those of all reviews and runs.
func (w *killWorld) ids() []string {
	out := w.runr(w.repo, "log")
	return regexp.MustCompile(`\d{14}-[a-z2-9]{6}`).FindAllString(out, -1)
}

// TestTUI goes the whole way: queue, review, comment, submit, claim, fix run, land.
func TestTUI(t *testing.T) {
	w := tuiWorld(t)
	s := openScreen(w, 80, 24)
	s.wait("Nothing waits")
	w.runr(w.repo, "review", "--reviewer", "human") // by somebody else: it appears by itself
	s.wait("inbox 1", "Greet by name")
	s.golden(w, "queue")

	s.press("\r")
	s.wait("c comment", `+echo "hello, $1"`)
	s.golden(w, "review")

	s.press("]\x1b[B\x1b[B\x1b[1;2B") // the first hunk, its first added line, and the next one as a range
	s.press("c")
	s.wait("Comment on greet.sh:1-2")
	s.press("The greeting is not polite.\n\nSay please.") // ^J is a new line, Enter hands in
	s.wait("Say please.")
	s.golden(w, "comment")
	s.press("\r")
	s.wait("Added to your draft", "by your draft")
	s.golden(w, "draft")

	s.press("r")
	s.wait("Hand in 1 comment")
	s.press("x")
	s.wait("What do you say on the whole?")
	s.press("Not polite yet.\r")
	s.wait("Submitted to", "t claim")
	s.press("t")
	s.wait("Claimed", "claimed by Ada")
	s.golden(w, "claimed")

	s.press("f")
	s.wait("git runr run --review", "y start it")
	s.press("y")
	s.wait("run_completed", "It is polite now.", "Verdict: PASS", "l land")
	s.golden(w, "run")
	s.press("v")
	s.wait("hello, $1, please")
	s.golden(w, "run_diff")
	s.press("q")
	s.wait("l land")
	s.press("l")
	s.wait("git runr land", "s squashed")
	s.press("y")
	s.wait("Landed", "run_landed")
	s.golden(w, "landed")
	if text, err := os.ReadFile(filepath.Join(w.repo, "greet.sh")); err != nil || !strings.Contains(string(text), "please") {
		t.Errorf("greet.sh is %q, %v", text, err)
	}

	s.press("q")
	s.wait("answered: fixed by", "R resolve")
	s.press("R")
	s.wait("What became of it?")
	s.press("landed\r")
	s.wait("Resolved")
	s.press("q")
	s.wait("Nothing waits")
	s.leave("q", 0)
}

// leave ends the program with keys; the terminal is as it was before.
func (s *tuiScreen) leave(keys string, status int) {
	s.t.Helper()
	s.press(keys)
	<-s.over
	s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != status {
		s.t.Errorf("git runr tui ended with %d, want %d", got, status)
	}
	if mode := s.term.Mode(); mode&vt10x.ModeAltScreen != 0 || !s.term.CursorVisible() {
		s.t.Errorf("the terminal is left in mode %b, cursor visible: %t", mode, s.term.CursorVisible())
	}
}
