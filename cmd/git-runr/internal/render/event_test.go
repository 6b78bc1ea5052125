package render

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
)

// TestLanes: a lane is one run's or review's from its first event to its last, and then free.
func TestLanes(t *testing.T) {
	var events []record.Event
	for _, about := range strings.Fields("a b a c b b c d") {
		events = append(events, record.Event{Review: about})
	}
	lanes := NewLanes(events)
	var got []string
	for _, e := range events {
		got = append(got, lanes.draw(e)+e.Review)
	}
	if want := "*a,| *b,* |a,* |c,| *b,| *b,*c,*d"; strings.Join(got, ",") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
