package tui

import (
	"slices"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/git-runr/git-runr/loop/unidiff"
)

// TestCode: words, strings, comments and the changed part of a line are highlighted. Foreign text sets no attribute,
// and no character is lost.
func TestCode(t *testing.T) {
	h := unidiff.Hunk{Lines: []unidiff.Line{
		{Kind: ' ', Old: 1, New: 1, Text: "\tif x { // why"},
		{Kind: '-', Old: 2, Text: "return count + \"a\""},
		{Kind: '+', New: 2, Text: "return total + \"a\"", NoEOL: true},
		{Kind: '+', New: 3, Text: "x\x1b[2J\u202e := `open"},
		{Kind: '+', New: 4, Text: "still open` + y"},
	}}
	looks := shades("a.go", h)
	for i, want := range []string{
		"    " + magenta + "if" + off + " x { " + faint + "// why" + off,
		red + bold + "return" + off + red + " " + off + red + reverse + "count" + off + red + ` + "a"` + off,
		green + bold + "return" + off + green + " " + off + green + reverse + "total" + off + green + ` + "a"` + off + faint +
			" (no line feed at the end)" + off,
		green + `x\x1b[2J\u{202e} := ` + "`open" + off,
		green + "still open` + y" + off,
	} {
		if got := code(h.Lines[i], looks(i)); got != want {
			t.Errorf("line %d is %q, want %q", i, got, want)
		}
	}
	for i, l := range h.Lines {
		if got, want := ansi.Strip(code(l, shade{})), ansi.Strip(code(l, looks(i))); got != want {
			t.Errorf("%q is shown as %q", want, got)
		}
	}
	rows := splitRows(1, h, looks, 2, 80, nil)
	if got := slices.Collect(func(yield func([2]int) bool) {
		for _, r := range rows {
			if !yield([2]int{r.old, r.new}) {
				return
			}
		}
	}); !slices.Equal(got, [][2]int{{1, 1}, {2, 2}, {0, 3}, {0, 4}}) {
		t.Errorf("sides %v", got)
	}
}
