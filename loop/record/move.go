package record

import (
	"fmt"
	"time"

	"github.com/git-runr/git-runr/gitstore"
)

// Amending, rebasing, squashing or merging on a forge replaces the reviewed commit. A Move event records where the
// code of a review went, together with the notes of the old commit, so that every clone writes the same notes on
// the new one.

// MoveState is what became of the code that a review saw.
type MoveState string

const (
	MoveCarried MoveState = "carried" // another commit has the same change with the same content
	MoveStale   MoveState = "stale"   // the replacement has other content and has to be reviewed again
	MoveGone    MoveState = "gone"    // neither the code nor a replacement is on any branch
)

// Move records where the code of a review went.
type Move struct {
	From  gitstore.ID `json:"from"`            // the commit that was reviewed
	To    gitstore.ID `json:"to,omitempty"`    // the commit that has the code now; "" if it is gone
	Base  gitstore.ID `json:"base,omitempty"`  // the commit that To is compared with
	State MoveState   `json:"state"`           //
	How   string      `json:"how,omitempty"`   // what git reported: amend, rebase; "" if To was found by content or author
	Again string      `json:"again,omitempty"` // for stale code: the review of To
	// To's committer date, the same in every clone; if the code is gone, the event's time
	When time.Time `json:"when"`
	Said []Saying  `json:"said,omitempty"` // for carried code: the lines of From's note
	// Unseen lists, for a carried range, the commits that its reviewer did not see.
	Unseen []gitstore.ID `json:"unseen_commits,omitempty"`
}

// same reports whether two moves have the same target and state.
func (m Move) same(o Move) bool { return m.To == o.To && m.State == o.State }

func (m Move) by() (who ActorPayload, held bool) { return ActorPayload{}, false }

func (m Move) Title() string {
	if m.To == "" {
		return fmt.Sprintf("%s is %s", m.From.Short(), m.State)
	}
	return fmt.Sprintf("%s to %s, %s", m.From.Short(), m.To.Short(), m.State)
}
