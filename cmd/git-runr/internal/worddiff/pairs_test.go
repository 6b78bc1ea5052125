package worddiff

import (
	"slices"
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

func TestChangedPart(t *testing.T) {
	for _, c := range []struct{ a, b, inA, inB string }{
		{"return count + 1", "return total + 1", "count", "total"},
		{"f(a, b)", "f(a, c, b)", "", "c, "},
		{"naïve way of it", "naive way of it", "naïve", "naive"},
		{"all is new", "nothing stays", "-", "-"},
		{"same", "same", "-", "-"},
		{strings.Repeat("x", 200) + "safe", strings.Repeat("x", 200) + "evil", strings.Repeat("x", 64) + "safe", strings.Repeat("x", 64) + "evil"},
		{"safe" + strings.Repeat("ü", 200), "evil" + strings.Repeat("ü", 200), "safe" + strings.Repeat("ü", 32), "evil" + strings.Repeat("ü", 32)},
	} {
		a, b, ok := changedPart(c.a, c.b)
		if ok != (c.inA != "-") || ok && (c.a[a[0]:a[1]] != c.inA || c.b[b[0]:b[1]] != c.inB) {
			t.Errorf("%q, %q: %v %v %v", c.a, c.b, a, b, ok)
		}
	}
}
