package record

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
)

// Landed says where a run's result landed.
type Landed struct {
	Commit gitstore.ID `json:"commit"`
	Onto   gitstore.ID `json:"onto"`
	Branch string      `json:"branch,omitempty"`
	Squash bool        `json:"squash,omitempty"`
	// the landed change differs from the reviewed one: others had changed the same files
	Stale   bool      `json:"stale,omitempty"`
	Carried []Carried `json:"carried,omitempty"` // commits that landed as other commits, oldest first
	At      time.Time `json:"at,omitzero"`
}

// Carried is a commit of a run that landed as another commit, with the lines of its note about its review. They are
// copied to the note of the landed commit.
type Carried struct {
	From gitstore.ID `json:"from"`
	To   gitstore.ID `json:"to"`
	Said []Saying    `json:"said,omitempty"`
}

// Saying is one line of a note, without the time at its beginning.
type Saying struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// TitleOf describes the landing in a few words.
func (l Landed) TitleOf() string {
	return fmt.Sprintf("%s onto %s", l.Commit.Short(), cmp.Or(l.Branch, "a detached HEAD"))
}

// reviewedAs returns the commit as which the landed commit to was reviewed, or "" if that is to itself.
func (l Landed) reviewedAs(to gitstore.ID) gitstore.ID {
	for _, c := range slices.Backward(l.Carried) {
		if c.To == to {
			return c.From
		}
	}
	return ""
}
