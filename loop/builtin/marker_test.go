package builtin

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/reply"
)

// conflict returns a conflict as a merge writes it, spelled so that this file contains no marker itself.
func conflict() string {
	begin, base, mid, end := strings.Repeat("<", 7), strings.Repeat("|", 7), strings.Repeat("=", 7), strings.Repeat(">", 7)
	return begin + " HEAD\nours()\n" + base + " base\nold()\n" + mid + "\ntheirs()\n" + end + " side\n"
}

func TestConflictMarkers(t *testing.T) {
	begin, end := strings.Repeat("<", 7), strings.Repeat(">", 7)
	for _, c := range []struct {
		path, text string
		want       []string
	}{
		{"a.go", "package a\n" + conflict() + "x\n" + conflict(),
			[]string{"critical conflict-marker 2", "critical conflict-marker 10"}},
		{"README.md", "# x\n\n" + conflict(), []string{"critical conflict-marker 3"}},
		{"vendor/x/x.go", conflict(), []string{"critical conflict-marker 1"}},
		{"package-lock.json", "{\n" + conflict() + "}\n", []string{"critical conflict-marker 2"}},
		{"a.go", "x\n" + begin + " HEAD\ny\n", []string{"critical conflict-marker 2"}},
		{"a.go", "x\n" + end + " topic\n", []string{"critical conflict-marker 2"}},
		{"Makefile", "x:\r\n" + strings.ReplaceAll(conflict(), "\n", "\r\n"), []string{"critical conflict-marker 2"}},
		// content that contains conflicts on purpose
		{"testdata/merge.txt", conflict(), []string{"note conflict-marker 1"}},
		{"cases/merge.txtar", conflict(), []string{"note conflict-marker 1"}},
		{"fix.patch", conflict(), []string{"note conflict-marker 1"}},
		{"merge_test.go", "var text = `\n" + conflict() + "`\n", []string{"note conflict-marker 2"}},
		{"doc.md", "A conflict:\n\n```\n" + conflict() + "```\n", []string{"note conflict-marker 4"}},
		// no markers
		{"README.md", "Title\n=======\n\nHead\n-------\n", nil},
		{"index.rst", "=======\nTitle\n=======\n", nil},
		{"mail.md", "> > quoted\n" + end + " deeply quoted\n", nil},
		{"a.cc", "cout " + begin[:2] + " x " + begin[:2] + " y;\n  " + begin + " x\n", nil},
		{"a.sh", "cat " + begin[:2] + "EOF\n" + strings.Repeat("=", 7) + "\nEOF\n", nil},
		{"a.py", `print("` + begin + ` HEAD")` + "\n", nil},
		{"a.txt", begin + "\n" + strings.Repeat("<", 8) + " x\n", nil},
	} {
		t.Run(c.path, func(t *testing.T) { wantFound(t, review(newText(c.path, c.text)), c.want...) })
	}
}

func TestConflictMarkerSpansTheConflict(t *testing.T) {
	r := review(newText("a.go", conflict()))
	if f := r.Findings[0]; f.Line != 1 || f.EndLine != 7 || f.Severity != reply.Critical {
		t.Errorf("%+v", f)
	}
}

// An older conflict is not this change's.
func TestConflictMarkersInContext(t *testing.T) {
	f := newText("a.go", conflict()+"x\n")
	f.New, f.Context, f.Added = false, f.Added[:7], f.Added[7:]
	wantFound(t, review(f))
}
