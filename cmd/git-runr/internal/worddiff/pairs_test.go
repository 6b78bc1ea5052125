package worddiff

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/unidiff"
)

const rowsPatch = `diff --git a/f b/f
index 1..2 100644
--- a/f
+++ b/f
@@ -1,4 +1,5 @@ func f()
 one
-two
-three
+2
+3
+three and a half
 four
`

func TestRows(t *testing.T) {
	for file, err := range unidiff.Files(rowsPatch) {
		want := []Row{{0, 0}, {1, 3}, {2, 4}, {-1, 5}, {6, 6}}
		if err != nil || !slices.Equal(Rows(file.Hunks[0]), want) {
			t.Errorf("got %v, %v; want %v", Rows(file.Hunks[0]), err, want)
		}
	}
}

func TestChangedWords(t *testing.T) {
	for _, c := range []struct{ a, b, inA, inB string }{
		{"return count + 1", "return total + 1", "count", "total"},
		{"f(a, b)", "f(a, c, b)", "", "c, "},
		{"naïve way of it", "naive way of it", "naïve", "naive"},
		{`on: push`, `on: [push, pull_request, workflow_dispatch]`, "", "[|, pull_request, workflow_dispatch]"},
		{"total = one two", "total = three four", "one two", "three four"},
		{"all is new", "nothing stays", "", ""},
		{"same", "same", "", ""},
		{strings.Repeat("x", 200) + "safe", strings.Repeat("x", 200) + "evil", "xxxxxxxxsafe", "xxxxxxxxevil"},
		{"safe" + strings.Repeat("ü", 200), "evil" + strings.Repeat("ü", 200), "safe" + strings.Repeat("ü", 30),
			"evil" + strings.Repeat("ü", 30)},
	} {
		a, b := changedWords(c.a, c.b)
		if gotA, gotB := texts(c.a, a), texts(c.b, b); gotA != c.inA || gotB != c.inB {
			t.Errorf("%q, %q: %q and %q, want %q and %q", c.a, c.b, gotA, gotB, c.inA, c.inB)
		}
	}
}

// texts returns the marked parts of a line, separated by bars.
func texts(line string, marks [][2]int) string {
	var all []string
	for _, m := range marks {
		all = append(all, line[m[0]:m[1]])
	}
	return strings.Join(all, "|")
}

// TestSidesAreBounded: lines that would take long to compare are marked as changed between their common ends.
func TestSidesAreBounded(t *testing.T) {
	a, b := []string{"same"}, []string{"same"}
	for i := range 4000 {
		a, b = append(a, strconv.Itoa(i)), append(b, strconv.Itoa(-1-i))
	}
	gone, come := Sides(append(a, "end"), append(b, "end"))
	if gone[0] || come[0] || !gone[1] || !come[4000] || gone[4001] || come[4001] {
		t.Error("not all between the ends is changed")
	}
}
