package render

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// TestCompletedChecked: a run that only rules looked at says so, suggests a review by a person, and can be landed.
func TestCompletedChecked(t *testing.T) {
	var b strings.Builder
	Completed(&b, record.Run{ID: "r1", Result: record.ResultChecked, Commit: "89abcdef01"})
	for _, want := range []string{"\nchecked by builtin: nothing found; it reads no code\n",
		"\n  git runr review --reviewer human ", "\n  git runr land r1\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "pass") {
		t.Errorf("called a pass:\n%s", b.String())
	}
}

// TestCompletedElsewhere: if HEAD of the checkout moved, the work is looked at by the run's own range, because nobody
// knows whether it was committed.
func TestCompletedElsewhere(t *testing.T) {
	var b strings.Builder
	moved := record.Attempt{Commit: "89abcdef01", Moved: &record.HeadMove{From: "0123456789", To: "2222222222"}}
	Completed(&b, record.Run{ID: "r1", Result: record.ResultChecked,
		Attempts: []record.Attempt{moved}, Plan: runplan.Plan{InPlace: true, Base: "0123456789"}})
	for _, want := range []string{"git runr review --reviewer human 0123456..89abcde\n",
		"Look at it: git diff 0123456..89abcde\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
}
