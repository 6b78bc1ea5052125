package landing

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// TestWithTrailers: an attempt's commits get the run's trailers; commits of people and of the tool keep their
// messages.
func TestWithTrailers(t *testing.T) {
	run := record.Run{ID: "R", Attempts: []record.Attempt{
		{Number: 1, From: "base", Commit: "a2"}, {Number: 2, From: "person2", Commit: "b2"},
	}}
	own := "Runr-Run: R\nRunr-Attempt: 2\n"
	work := []gitstore.Commit{
		{ID: "a1", Message: "one"}, {ID: "a2", Message: "two\n\nbody: x\nand more\n"},
		{ID: "person1", Message: "mine\n"}, {ID: "person2", Message: "mine\n"},
		{ID: "b1", Message: "three\n\nSigned-off-by: A <a@b>\n"},
		{ID: "b2", Message: "four\n\n" + own}, {ID: "last", Message: "x\n"},
	}
	want := []string{
		"one\n\nRunr-Run: R\nRunr-Attempt: 1\n", "two\n\nbody: x\nand more\n\nRunr-Run: R\nRunr-Attempt: 1\n",
		"mine\n", "mine\n", "three\n\nSigned-off-by: A <a@b>\n" + own, "four\n\n" + own, "x\n",
	}
	var before []string
	for _, c := range work {
		before = append(before, c.Message)
	}
	for i, c := range withTrailers(run)(work) {
		if c.ID != work[i].ID || c.Message != want[i] {
			t.Errorf("%s: %q, want %q", c.ID, c.Message, want[i])
		}
	}
	for i, c := range work {
		if c.Message != before[i] {
			t.Errorf("the list that was given has %q now", c.Message)
		}
	}
	if got := withTrailers(run)([]gitstore.Commit{{ID: "b2"}})[0].Message; strings.TrimSpace(got) != "" {
		t.Errorf("a commit without a message says %q", got)
	}
}
