package record

import (
	"fmt"
	"time"

	"github.com/git-runr/git-runr/gitstore"
)

// A commit that is amended, rebased, squashed or merged on a forge is another one than
// was reviewed. Where the code of a review went is an event of the review, with what was
// said of the commit before, so that every clone puts the same on the new commit.

// MoveState is what became of the code that a review saw.
type MoveState string

const (
	MoveCarried MoveState = "carried" // the same change of the same content is in another commit
	MoveStale   MoveState = "stale"   // what took its place has another content: it is to be reviewed again
	MoveGone    MoveState = "gone"    // no branch has it any more, nor anything in its place
)

// Move says where the code of a review went.
type Move struct {
	From  gitstore.ID `json:"from"`            // the commit that was reviewed
	To    gitstore.ID `json:"to,omitempty"`    // the commit that has it now; "" when it is gone
	Base  gitstore.ID `json:"base,omitempty"`  // what To is compared with
	State MoveState   `json:"state"`           //
	How   string      `json:"how,omitempty"`   // what git said: amend, rebase; "" where its content or author told
	Again string      `json:"again,omitempty"` // the review that looks at To, of what is stale
	When  time.Time   `json:"when"`            // of To's committer, the same in every clone; of the event when it is gone
	Said  []Saying    `json:"said,omitempty"`  // what notes said of From, of what is carried
	// Unseen are of a range that is carried the commits that whoever read it did not see.
	Unseen []gitstore.ID `json:"unseen_commits,omitempty"`
}

// same reports whether two moves come to the same.
func (m Move) same(o Move) bool { return m.To == o.To && m.State == o.State }

func (m Move) by() (who ActorPayload, held bool) { return ActorPayload{}, false }

func (m Move) Title() string {
	if m.To == "" {
		return fmt.Sprintf("%s is %s", m.From.Short(), m.State)
	}
	return fmt.Sprintf("%s to %s, %s", m.From.Short(), m.To.Short(), m.State)
}
