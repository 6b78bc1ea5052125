package record

import (
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/spend"
)

// Verification is an agent's decision about open findings: whether the present code still has them.
// The answers that follow from it are separate events.
type Verification struct {
	By      string      `json:"by"`
	Commit  gitstore.ID `json:"commit"` // the commit that the agent had
	Rulings []Ruling    `json:"rulings,omitempty"`
	Failure *Failure    `json:"failure,omitempty"` // why there is no decision
	spend.Spent
	At time.Time `json:"at,omitzero"` // filled in by the fold
	// the event that records it and keeps the agent's words; filled in by the fold
	Event gitstore.ID `json:"event,omitempty"`
}

func (v Verification) by() (who ActorPayload, held bool) { return ActorPayload{Actor: v.By}, false }

func (v Verification) took(Event) (string, spend.Spent) { return v.By, v.Spent }

// String returns "judge: 1 fixed, 2 open", or the failure.
func (v Verification) String() string {
	text := countRulings(v.Rulings)
	if v.Failure != nil {
		text = v.Failure.Reason + afterColon(v.Failure.Detail)
	}
	return prose.OneLine(v.Spent.By(v.By)) + ": " + text
}
