package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// shownProgress is a display whose time and ticks the test controls.
type shownProgress struct {
	*Display
	out bytes.Buffer
	at  time.Time
}

// newShown returns a display without the ticking goroutine; the test calls tick itself.
func newShown(terminal, quiet bool, width int) *shownProgress {
	s := &shownProgress{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	s.Display = &Display{
		out: &s.out, terminal: terminal, quiet: quiet, width: func() int { return width },
		now: func() time.Time { return s.at }, stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	close(s.stopped)
	return s
}

func (s *shownProgress) after(d time.Duration) { s.at = s.at.Add(d); s.tick() }

func (s *shownProgress) wants(t *testing.T, want string) {
	t.Helper()
	if got := s.out.String(); got != want {
		t.Errorf("shown %q\nwant  %q", got, want)
	}
	s.out.Reset()
}

func TestProgressInALog(t *testing.T) {
	s := newShown(false, false, 10)
	s.Step("implement", "codex, attempt 1")
	s.wants(t, "implement: codex, attempt 1\n")
	s.Line("reading\nwriting main.go\n\n")
	s.after(59 * time.Second)
	s.wants(t, "")
	s.after(time.Second)
	s.wants(t, "implement: codex, attempt 1, 1m0s: writing main.go\n")
	s.after(30 * time.Second)
	s.wants(t, "")
	s.after(30 * time.Second)
	s.wants(t, "implement: codex, attempt 1, 2m0s: writing main.go\n")
	s.Step("check", "")
	s.wants(t, "check\n")
	s.Done("check test: passed")
	s.after(time.Hour)
	s.wants(t, "check test: passed\n")
}

func TestProgressOnATerminal(t *testing.T) {
	s := newShown(true, false, 80)
	s.Step("review", "claude")
	s.wants(t, "review: claude, 0s")
	s.Line("looking")
	s.after(65*time.Second + 300*time.Millisecond)
	s.wants(t, "\r\x1b[Kreview: claude, 1m5s: looking")
	s.Step("check", "test")
	s.wants(t, "\r\x1b[Kcheck: test, 0s")
	s.Done("check test: passed")
	s.wants(t, "\r\x1b[Kcheck test: passed\n")
	s.after(time.Minute)
	s.wants(t, "")
	s.Step("work", "")
	s.Done("")
	s.wants(t, "work, 0s\r\x1b[K")
}

func TestProgressIsCutToTheWidth(t *testing.T) {
	s := newShown(true, false, 20)
	s.Step("review", "claude")
	s.out.Reset()
	s.Line("漢字漢字漢字")
	s.tick()
	s.wants(t, "\r\x1b[Kreview: claude, 0s…")
}

func TestProgressWithoutAWidthIsCutAt80(t *testing.T) {
	s := newShown(true, false, 0)
	s.Step(strings.Repeat("x", 200), "")
	s.wants(t, strings.Repeat("x", 78)+"…")
}

func TestProgressShowsNoForeignControl(t *testing.T) {
	s := newShown(true, false, 80)
	s.Step("a\x1b[2J", "b\nc")
	s.Line("one\n\x1b]0;title\a two\u202e")
	s.out.Reset()
	s.tick()
	s.wants(t, "\r\x1b[K"+`a\x1b[2J: b c, 0s: \x1b]0;title\x07 two\u{202e}`)
	s.Done("x\ny\x1b")
	s.wants(t, "\r\x1b[K"+`x y\x1b`+"\n")
}

func TestProgressBlankOutputKeepsTheLastLine(t *testing.T) {
	s := newShown(true, false, 80)
	s.Step("a", "")
	s.Line("kept")
	s.Line("\n  \n")
	s.out.Reset()
	s.tick()
	s.wants(t, "\r\x1b[Ka, 0s: kept")
}

func TestProgressClosed(t *testing.T) {
	s := newShown(true, false, 80)
	s.Step("a", "")
	s.Close()
	s.wants(t, "a, 0s\r\x1b[K")
	s.Close()
	s.Step("b", "")
	s.Done("c")
	s.after(time.Hour)
	s.wants(t, "")
}

func TestProgressQuiet(t *testing.T) {
	s := newShown(false, true, 80)
	s.Step("a", "")
	s.Done("b")
	s.after(time.Hour)
	s.wants(t, "")
}

func TestProgressFromManyGoroutines(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, false, func() int { return 80 }, false, false, time.Now)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				p.Step("step", "x")
				p.Line("output")
				p.tick()
				p.Done("done")
			}
		})
	}
	wg.Wait()
	p.Close()
	for line := range strings.Lines(out.String()) {
		if line != "step: x\n" && line != "done\n" {
			t.Fatalf("torn line %q", line)
		}
	}
	if n := strings.Count(out.String(), "\n"); n != 800 {
		t.Errorf("%d lines, want 800", n)
	}
}
