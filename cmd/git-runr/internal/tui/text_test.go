package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
)

func TestLinesToType(t *testing.T) {
	text := `Run 20260102030405-abcdef STOPPED: review_loop_detected
  Working tree: '/tmp/a tree'
  Suggested actions:
    1. Run: cd '/tmp/a tree' && sh -c 'npm test' 2>&1 | tee /tmp/test.log
    2. Resume: git runr resume abcdef
    3. Edit: x.txt:1  git runr is not called
    Or use intervention:
       git runr intervene abcdef --reason review_loop \
         --note "Ran test"
  git runr undo   takes it back
the git runr of words is none`
	var got []string
	for _, command := range linesToType(lines(text)) {
		if command != "" && !slices.Contains(got, command) {
			got = append(got, command)
		}
	}
	want := []string{
		"cd '/tmp/a tree' && sh -c 'npm test' 2>&1 | tee /tmp/test.log",
		"git runr resume abcdef",
		`git runr intervene abcdef --reason review_loop --note "Ran test"`,
		"git runr undo",
	}
	if !slices.Equal(got, want) {
		t.Errorf("lines to type:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Cursor movements and edits at any position stay within the text.
func TestFieldKeepsWithinItsText(t *testing.T) {
	f := &field{text: "one\ntwo words\n\nend"}
	for at := range len(f.text) + 1 {
		f.at = at
		for _, step := range []int{-1, 1} {
			g := &field{text: f.text, at: at}
			if g.upDown(step); g.at < 0 || g.at > len(g.text) {
				t.Errorf("from %d by %d: at %d of %d", at, step, g.at, len(g.text))
			}
		}
		g := &field{text: f.text, at: at}
		g.cut(g.wordBefore(), g.at)
		g.cut(g.lineStart(), g.at)
		g.cut(g.at, g.lineEnd())
		if _, x, y := g.view(10, 4); x < 0 || y < 0 || y > 3 {
			t.Errorf("cursor at %d, %d", x, y)
		}
	}
}

// TestRunKeys: resume is offered for a run that nobody works on, and not for one in progress.
func TestRunKeys(t *testing.T) {
	run := record.Run{ID: "20260102030405-abcdef", Status: record.RunRunning}
	for _, live := range []bool{true, false} {
		if _, offered := find(runKeys(run, live), "r"); offered == live {
			t.Errorf("live: %t, resume is offered: %t", live, offered)
		}
	}
}
