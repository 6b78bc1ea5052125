package reviewing

import (
	"testing"

	"github.com/git-runr/git-runr/loop/unidiff"
)

func TestTakesOut(t *testing.T) {
	const patch = "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,8 +1,6 @@\n one\n-two\n-three\n four\n-five\n+5\n six\n" +
		"-seven\n eight\n+nine\n"
	var hunk unidiff.Hunk
	for file, err := range unidiff.Files(patch) {
		if err != nil {
			t.Fatal(err)
		}
		hunk = file.Hunks[0]
	}
	for _, tc := range []struct {
		start, end int
		want       bool
	}{{2, 2, true}, {2, 3, true}, {3, 4, false}, {1, 1, false}, {5, 5, false}, {7, 7, true}, {8, 8, false}} {
		if got := takesOut(hunk, tc.start, tc.end); got != tc.want {
			t.Errorf("lines %d-%d: %v", tc.start, tc.end, got)
		}
	}
}
