package render

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
)

// TestCompletedChecked: a run that only rules looked at says so, suggests a review by a person, and can be landed.
func TestCompletedChecked(t *testing.T) {
	var b strings.Builder
	Completed(&b, record.Run{ID: "r1", Result: record.ResultChecked, Commit: "89abcdef01"})
	for _, want := range []string{"\nchecked by builtin: nothing found; nobody has read the code\n",
		"\n  git runr review --reviewer human ", "\n  git runr land r1\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "pass") {
		t.Errorf("called a pass:\n%s", b.String())
	}
}
