package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
)

// Landed is where a run's result went.
type Landed struct {
	Commit  gitstore.ID `json:"commit"`
	Onto    gitstore.ID `json:"onto"`
	Branch  string      `json:"branch,omitempty"`
	Squash  bool        `json:"squash,omitempty"`
	Stale   bool        `json:"stale,omitempty"`   // what landed is another change than was reviewed: others had changed the same files
	Carried []Carried   `json:"carried,omitempty"` // commits that landed as others, oldest first
	At      time.Time   `json:"at,omitzero"`
}

// Carried is a commit of a run that landed as another, and what its note says of its
// review: the commit that landed has that in its own note.
type Carried struct {
	From gitstore.ID `json:"from"`
	To   gitstore.ID `json:"to"`
	Said []Saying    `json:"said,omitempty"`
}

// Saying is one line of a note, without its time.
type Saying struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// TitleOf is the landing in a few words.
func (l Landed) TitleOf() string {
	return fmt.Sprintf("%s onto %s", l.Commit.Short(), cmp.Or(l.Branch, "a detached HEAD"))
}

// reviewedAs is the commit that landed as to; "" when to is what was reviewed.
func (l Landed) reviewedAs(to gitstore.ID) gitstore.ID {
	for _, c := range slices.Backward(l.Carried) {
		if c.To == to {
			return c.From
		}
	}
	return ""
}
