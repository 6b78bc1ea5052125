package record

import (
	"slices"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
)

// What a run's reviewer has not seen is unseen where it landed too, unless the landing made one commit of the run.
func TestUnseenWhereItLanded(t *testing.T) {
	run := Run{
		Rounds: []Round{{Unseen: []gitstore.ID{"old"}}, {Unseen: []gitstore.ID{"one"}}},
		Landed: &Landed{Commit: "two'", Carried: []Carried{{From: "one", To: "one'"}, {From: "two", To: "two'"}}},
	}
	if got := run.Summary().Unseen; !slices.Equal(got, []gitstore.ID{"one", "one'"}) {
		t.Errorf("%q", got)
	}
	run.Landed.Squash = true
	if got := run.Summary().Unseen; !slices.Equal(got, []gitstore.ID{"one"}) {
		t.Errorf("squashed: %q", got)
	}
}
