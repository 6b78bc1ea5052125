package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
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

// TestRunKeys: a run that cannot be accepted offers to skip it alone.
func TestRunKeys(t *testing.T) {
	for _, c := range []struct {
		allowed shown.RunActs
		keys    string // of those that change the run
		answer  string
	}{
		{shown.RunActs{Stop: true, Intervene: true, Abort: true}, "A", ""},
		{shown.RunActs{Resume: true, Abort: true}, "rA", ""},
		{shown.RunActs{Skip: true, Intervene: true}, "ci", "skip it"},
		{shown.RunActs{Skip: true, Accept: true}, "c", "accept it as it is, or skip it"},
		{shown.RunActs{Land: true}, "l", ""},
	} {
		keys := runKeys(record.Run{ID: "20260102030405-abcdef"}, c.allowed)
		offered := ""
		for _, k := range keys {
			if strings.Contains("lrciA", k.names) {
				offered += k.names
			}
		}
		answer, _ := find(keys, "c")
		if offered != c.keys || answer.help != c.answer {
			t.Errorf("%+v: %s, %q", c.allowed, offered, answer.help)
		}
	}
}
