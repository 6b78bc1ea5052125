//go:build unix

package proctest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

var updateScreens = flag.Bool("update-screens", false, "write what git runr tui shows into testdata/tui")

// tuiScreen is a terminal in which git runr tui runs.
type tuiScreen struct {
	t    *testing.T
	term vt10x.Terminal
	pty  *os.File
	cmd  *exec.Cmd
	over chan struct{} // closed when the output has ended
}

// tuiWorld returns a repository with a change that waits for a person, and agents that fix what was found.
func tuiWorld(t *testing.T) *killWorld {
	w := &killWorld{newKillPlace(t), filepath.Join(t.TempDir(), "repo")}
	w.env = append(w.env, "GIT_RUNR_CLOCK=2026-01-02T03:04:05Z", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
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

// openScreen starts git runr tui, or the command that args name.
func openScreen(w *killWorld, columns, rows int, args ...string) *tuiScreen {
	s := &tuiScreen{t: w.t, term: vt10x.New(vt10x.WithSize(columns, rows)), over: make(chan struct{})}
	if len(args) == 0 {
		args = []string{"tui"}
	}
	s.cmd = exec.Command("git-runr", args...)
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

// text returns what is on the screen.
func (s *tuiScreen) text() string {
	var lines []string
	for line := range strings.Lines(s.term.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// wait waits until the screen shows all of want.
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

// golden compares the screen with a file, without the ids that differ each time.
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
	file := filepath.Join("..", "..", "..", "..", "testdata", "tui", name+".txt")
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
	for try := 0; text != string(want) && try < 40; try++ { // the screen is drawn in a moment
		time.Sleep(100 * time.Millisecond)
		text = shown()
	}
	if text != string(want) {
		s.t.Errorf("%s: the screen is\n%s\nwant\n%s", name, text, want)
	}
}

// ids returns the ids of all reviews and runs.
func (w *killWorld) ids() []string {
	out := w.runr(w.repo, "log")
	return regexp.MustCompile(`\d{14}-[a-z2-9]{6}`).FindAllString(out, -1)
}

// TestTUI goes through all steps: queue, review, comment, submit, claim, fix run, land.
func TestTUI(t *testing.T) {
	w := tuiWorld(t)
	s := openScreen(w, 80, 24)
	s.wait("Nothing waits")
	s.press("\x1b")                                 // Esc never quits
	w.runr(w.repo, "review", "--reviewer", "human") // made by another process; the screen updates by itself
	s.wait("inbox 1", "Greet by name")
	s.golden(w, "queue")

	s.press("\r")
	s.wait("c comment", `+echo "hello, $1"`)
	s.golden(w, "review")

	s.press("J]jjkj\x1b[1;2B") // the first hunk, its first added line, and the next one as a range
	s.press("c")
	s.wait("Comment on greet.sh:1-2")
	s.press("The greeting is not polite.\n\nSay please.") // ^J is a new line, Enter submits
	s.wait("Say please.")
	s.golden(w, "comment")
	s.press("\r")
	s.wait("Added to your draft", "by your draft")
	s.golden(w, "draft")

	s.press("r")
	s.wait("Hand in 1 comment")
	s.press("x")
	s.wait("Comment on the whole change")
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
	if text, err := os.ReadFile(filepath.Join(w.repo, "greet.sh")); err != nil ||
		!strings.Contains(string(text), "please") {
		t.Errorf("greet.sh is %q, %v", text, err)
	}

	s.press("q")
	s.wait("answered: fixed by", "R resolve")
	s.press("R")
	s.wait("What was done?")
	s.press("landed\r")
	s.wait("Resolved")
	s.press("q")
	s.wait("Nothing waits")
	s.leave("q", 0)
}

// leave quits with keys and checks that the terminal is as before.
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

// Typed text survives the end of the program by any signal. The terminal is restored wherever the program can do so.
func TestTUIKilledWhileTyping(t *testing.T) {
	w := tuiWorld(t)
	w.runr(w.repo, "review", "--reviewer", "human")
	typed := "not polite"
	for _, end := range []struct {
		name   string
		by     func(*tuiScreen) error
		status int
		sane   bool
	}{
		{"^C", func(s *tuiScreen) error { s.press("\x03"); return nil }, 130, true},
		{"SIGTERM", func(s *tuiScreen) error { return s.cmd.Process.Signal(syscall.SIGTERM) }, 130, true},
		{"SIGHUP", func(s *tuiScreen) error { return s.cmd.Process.Signal(syscall.SIGHUP) }, 130, true},
		{"SIGKILL", func(s *tuiScreen) error {
			for range 100 { // the text is stored a moment after it is typed
				files, _ := filepath.Glob(filepath.Join(w.repo, ".git/runr/typed/*.json"))
				if text, _ := os.ReadFile(strings.Join(files, "")); strings.Contains(string(text), typed) {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			return s.cmd.Process.Kill()
		}, -1, false},
	} {
		s := openScreen(w, 80, 24)
		s.wait("Greet by name")
		s.press("\r")
		s.wait("c comment")
		s.press("]\x1b[Bc")
		s.wait("Comment on greet.sh:1")
		s.press(" again")
		typed += " again"
		if end.name == "^C" { // ^C is the first case, so nothing is stored before it
			s.press("\x15not polite again")
		}
		s.wait(typed)
		w.must(end.by(s))
		<-s.over
		s.cmd.Wait()
		if got := s.cmd.ProcessState.ExitCode(); got != end.status {
			t.Errorf("%s: git runr tui ended with %d, want %d", end.name, got, end.status)
		}
		if mode := s.term.Mode(); end.sane && (mode&vt10x.ModeAltScreen != 0 || !s.term.CursorVisible()) {
			t.Errorf("%s: the terminal is left in mode %b", end.name, mode)
		}
	}
	s := openScreen(w, 80, 24)
	s.wait("Greet by name")
	s.press("\r")
	s.wait("Not finished: comment on greet.sh:1: " + typed)
	if out := w.runr(w.repo, "inbox", "comment", "latest", "--list"); !strings.Contains(out, "has no comments") {
		t.Errorf("a comment that was not finished is in the draft: %s", out)
	}
	s.press("g\x1b[B\x1b[B\r") // its line, below the head
	s.wait("Comment on greet.sh:1", typed)
	s.press("\r")
	s.wait("Added to your draft")
	if out := w.runr(w.repo, "inbox", "comment", "latest", "--list"); !strings.Contains(out, typed) {
		t.Errorf("the comment is not in the draft: %s", out)
	}
	s.leave("qq", 0)
}

// TestTUIWithoutScreen: where no screen can be shown, one line says so and what to type instead.
func TestTUIWithoutScreen(t *testing.T) {
	w := tuiWorld(t)
	if out, err := w.try(w.repo, "tui"); err == nil || !strings.Contains(out, "needs a terminal") {
		t.Errorf("without a terminal: %v %s", err, out)
	}
	w.env = append(w.env, "TERM=dumb")
	s := openScreen(w, 80, 24)
	<-s.over
	s.cmd.Wait()
	if got := s.cmd.ProcessState.ExitCode(); got != 2 || !strings.Contains(s.text(), "git runr inbox") {
		t.Errorf("TERM=dumb: status %d\n%s", got, s.text())
	}
}

// TestTUISuspended: if no shell can resume the program, ctrl-Z does not leave a dead screen.
func TestTUISuspended(t *testing.T) {
	w := tuiWorld(t)
	s := openScreen(w, 80, 24)
	s.wait("Inbox")
	s.press("\x1a")
	s.press("?")
	s.wait("Keys of")
	s.leave("qq", 0)
}

// TestTUIWithoutEditor: if the editor is missing, an error is shown where the text is typed, and the text stays.
func TestTUIWithoutEditor(t *testing.T) {
	w := tuiWorld(t)
	w.env = append(w.env, "GIT_EDITOR=no-such-editor --wait")
	w.runr(w.repo, "review", "--reviewer", "human")
	s := openScreen(w, 80, 24)
	s.wait("Greet by name")
	s.press("\r")
	s.wait("c comment")
	s.press("c")
	s.wait("Comment on the whole")
	s.press("half a thought\x05")
	s.wait("Comment on the whole", "half a thought", `no-such-editor --wait" was not found`)
	s.golden(w, "no_editor")
	s.press(" and more")
	s.wait("half a thought and more", "enter saves")
	s.press("\x1b")
	s.wait("Saved: the same key")
	s.press("c")
	s.wait("half a thought and more", "You typed this before")
	s.press("\x1b")
	s.wait("Saved: the same key")
	s.leave("qq", 0)
}

// TestTUITypedIsTidied: text that was typed for a review is removed when the review has left the lists.
func TestTUITypedIsTidied(t *testing.T) {
	w := tuiWorld(t)
	w.runr(w.repo, "review", "--reviewer", "human")
	s := openScreen(w, 80, 24)
	s.wait("Greet by name")
	s.press("\r")
	s.wait("c comment")
	s.press("c")
	s.wait("Comment on the whole")
	s.press("half a thought")
	s.wait("half a thought")
	s.press("\x1b")
	s.wait("Saved: the same key")
	s.leave("qq", 0)
	kept := func() int {
		files, _ := filepath.Glob(filepath.Join(w.repo, ".git/runr/typed/*"))
		return len(files)
	}
	w.runr(w.repo, "gc")
	w.runr(w.repo, "inbox", "cancel", "latest")
	w.runr(w.repo, "gc")
	if kept() != 1 {
		t.Errorf("%d texts are kept of a review that was closed just now", kept())
	}
	w.env = append(w.env, "GIT_RUNR_CLOCK=2026-05-02T03:04:05Z")
	if out := w.runr(w.repo, "gc"); kept() != 0 || !strings.Contains(out, "1 text typed for them") {
		t.Errorf("%d texts are kept of a review that left the lists: %s", kept(), out)
	}
}

// TestTUINarrow: the screen works with 40 columns, and when its size changes.
func TestTUINarrow(t *testing.T) {
	w := tuiWorld(t)
	w.runr(w.repo, "review", "--reviewer", "human")
	w.runr(w.repo, "inbox", "comment", "latest", "greet.sh:1", "-m",
		"A name with \x1b[31m in it is shown, and a sentence that is longer than the screen is wide.")
	s := openScreen(w, 40, 20)
	s.wait("Greet")
	s.golden(w, "queue_40")
	s.press("\r")
	s.wait("c comment")
	s.golden(w, "review_40")
	s.press("?")
	s.wait("Keys of")
	s.golden(w, "help_40")
	s.press("q")
	w.must(pty.Setsize(s.pty, &pty.Winsize{Cols: 100, Rows: 30}))
	s.term.Resize(100, 30)
	w.must(s.cmd.Process.Signal(syscall.SIGWINCH))
	s.wait("y copy for agent")
	s.press("s")
	s.wait(`-echo hello`)
	s.golden(w, "review_split_100")
	s.leave("qq", 0)
}

// TestTUIDiagnosis shows why a run stopped, and copies and runs the suggested lines.
func TestTUIDiagnosis(t *testing.T) {
	w := tuiWorld(t)
	w.write(w.repo, "task.md", "# Be polite\n")
	agents := regexp.MustCompile(`"fake-agent", "(.*)/rev"`).
		FindStringSubmatch(read(t, filepath.Join(w.repo, ".runr.toml")))[1]
	w.write(agents, "rev/pass",
		"### Verdict: NEEDS_FIX\n\n### Findings\n\n- **Severity:** Warning\n  **File:** greet.sh:1\n"+
			"  **Issue:** It is not polite\n")
	w.try(w.repo, "run", "task.md", "--max-retries", "1")
	s := openScreen(w, 80, 24)
	s.wait("Be polite")
	s.press("\r")
	s.wait("d diagnosis", "c answer")
	s.press("d")
	s.wait("STOPPED", "git runr resume")
	s.press("\t\t\ty")
	s.wait("Copied: git runr resume")
	s.press("q")
	s.wait("c answer")
	s.press("r")
	s.wait("git runr resume", "y resume it")
	s.press("y") // the run continues in the background, and the screen stays usable
	s.wait("It goes on")
	for range 400 {
		if log := w.runr(w.repo, "log", "latest"); strings.Contains(log, "run_resumed") &&
			strings.Count(log, "stop: no_change") == 2 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.wait("c answer")
	s.press("c")
	s.wait("git runr resume", "s skip it")
	s.press("c")
	s.wait("completed", "l land")
	s.press(":")
	s.wait("git runr")
	s.press("--version\r")
	s.wait("Enter goes back")
	s.press("\r")
	s.wait("Done: git runr --version")
	s.leave("qq", 0)
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTUIForeignText: foreign text moves no cursor and sets no colour. With NO_COLOR our own colours are left out.
func TestTUIForeignText(t *testing.T) {
	w := tuiWorld(t)
	w.write(w.repo, "greet.sh", "echo \x1b[2J\x1b]0;owned\a\u202e\n")
	w.git(w.repo, "commit", "-qam", "A \x1b[2Jtitle")
	w.runr(w.repo, "review", "--reviewer", "human", "-m", "asked \x1b[5m\u202e so")
	for _, coloured := range []bool{false, true} {
		if coloured {
			w.env = slices.DeleteFunc(w.env, func(kv string) bool { return strings.HasPrefix(kv, "NO_COLOR=") })
		}
		s := openScreen(w, 80, 24)
		s.wait(`A \x1b[2Jtitle`)
		s.press("\r")
		s.wait(`open  A \x1b[2Jtitle`, `asked \x1b[5m\u{202e} so`, `+echo \x1b[2J\x1b]0;owned\x07\u{202e}`)
		if s.term.Title() != "" {
			t.Errorf("the title of the terminal is %q", s.term.Title())
		}
		seen := false
		for i := range 80 * 24 {
			seen = seen || s.term.Cell(i%80, i/80).FG < 16
		}
		if seen != coloured {
			t.Errorf("colours: %t, want %t", seen, coloured)
		}
		s.leave("qq", 0)
	}
}

// TestTUIFinding: a finding is answered, a run that cannot begin says why, more lines are shown, files are viewed and
// folded, and an action is undone.
func TestTUIFinding(t *testing.T) {
	w := tuiWorld(t)
	w.write(w.repo, "long.txt", strings.Repeat("as it was\n", 30))
	w.git(w.repo, "add", ".")
	w.git(w.repo, "commit", "-qm", "Long")
	w.write(w.repo, "long.txt", strings.Repeat("as it was\n", 14)+"changed\n"+strings.Repeat("as it was\n", 15))
	w.git(w.repo, "commit", "-qam", "Change one line")
	w.runr(w.repo, "review", "--reviewer", "human")
	w.runr(w.repo, "inbox", "comment", "latest", "long.txt:15", "-m", "why this one?")
	w.runr(w.repo, "inbox", "submit", "latest", "--request-changes")
	w.runr(w.repo, "trust", "--revoke")
	w.write(w.repo, "long.txt", "above\n"+read(t, filepath.Join(w.repo, "long.txt")))
	w.git(w.repo, "commit", "-qam", "Move it down")
	s := openScreen(w, 80, 40)
	s.wait("Change one line")
	s.press("\r")
	s.wait("a answer", "@@ 12,7 @@", "(now at long.txt:16)")
	s.press("+")
	s.wait("@@ 3,25 @@")
	s.press("-")
	s.wait("@@ 12,7 @@")

	s.press("f")
	s.wait("y start it")
	s.press("y")
	s.wait("git runr trust")
	s.press("q")
	s.wait("a answer")
	s.press("V")
	s.wait("▸ long.txt", "viewed")
	s.press("x")
	s.wait("▾ long.txt", "+changed")
	s.press("g")
	s.press("n") // to the remark below its line
	s.press("\r")
	s.wait("a answers it")
	s.press("a")
	s.wait("git runr inbox answer", "r refuted")
	s.press("r")
	s.wait("Why is it wrong?")
	s.press("it is meant so\r")
	s.wait("still open.", "answered: refuted it is meant so", "O reopen")
	s.press("/")
	s.wait("Show only lines with:")
	s.press("refuted\r")
	s.wait("Only lines with refuted")
	s.press("q")
	s.wait("+changed")
	s.press("y")
	s.wait("Copied:")
	s.leave("qq", 0)
}

// TestTUIRefused: actions of others are shown, and typed text stays if its submission is refused.
func TestTUIRefused(t *testing.T) {
	w := tuiWorld(t)
	w.runr(w.repo, "review", "--reviewer", "human")
	s := openScreen(w, 80, 24)
	s.wait("Greet by name")
	s.press("\r")
	s.wait("c comment")
	s.press("c")
	s.wait("Comment on the whole")
	w.runr(w.repo, "inbox", "cancel", "latest")
	s.wait("cancelled")
	s.press("too late\r")
	s.wait("Not finished: comment on the whole: too late")
	w.runr(w.repo, "inbox", "reopen", "latest")
	s.wait("c comment")
	s.press("gc")
	s.wait("too late")
	s.press("\r")
	s.wait("Added to your draft")
	s.leave("qq", 0)
}
