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
	Commit gitstore.ID `json:"commit,omitempty"` // "": the branch had nothing to take from the run
	Onto   gitstore.ID `json:"onto"`
	Branch string      `json:"branch,omitempty"`
	Squash bool        `json:"squash,omitempty"`
	// the landed change differs from the reviewed one: others had changed the same files
	Stale   bool      `json:"stale,omitempty"`
	Carried []Carried `json:"carried,omitempty"` // commits that landed as other commits, oldest first
	At      time.Time `json:"at,omitzero"`
	By      string    `json:"by,omitempty"` // who landed it, on a branch of their clone; the fold fills it in
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
	return fmt.Sprintf("%s onto %s", cmp.Or(l.Commit.Short(), "nothing"), cmp.Or(l.Branch, "a detached HEAD"))
}

// Words says as which commit, where and by whom a run landed.
func (l Landed) Words() string {
	onto := cmp.Or(l.Branch, "a detached HEAD")
	if l.Commit == "" {
		return onto + " has nothing to take from the run"
	}
	words := fmt.Sprintf("landed as %s on %s", l.Commit.Short(), onto)
	if l.By != "" {
		words += " by " + l.By
	}
	return words
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
