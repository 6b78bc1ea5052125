package record

import (
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/spend"
)

// Verification is what an agent says of findings that nobody had answered: whether the code
// of now still has them. What it settles are answers beside it.
type Verification struct {
	By      string      `json:"by"`
	Commit  gitstore.ID `json:"commit"` // that it had
	Rulings []Ruling    `json:"rulings,omitempty"`
	Failure *Failure    `json:"failure,omitempty"` // why it says nothing
	spend.Spent
	At    time.Time   `json:"at,omitzero"`     // filled in by the fold
	Event gitstore.ID `json:"event,omitempty"` // that records it and keeps its words; filled in by the fold
}

func (v Verification) by() (who ActorPayload, held bool) { return ActorPayload{Actor: v.By}, false }

func (v Verification) took(Event) (string, spend.Spent) { return v.By, v.Spent }

// String is "judge: 1 fixed, 2 open", or why there is no more to tell.
func (v Verification) String() string {
	text := countRulings(v.Rulings)
	if v.Failure != nil {
		text = v.Failure.Reason + afterColon(v.Failure.Detail)
	}
	return prose.OneLine(v.Spent.By(v.By)) + ": " + text
}
