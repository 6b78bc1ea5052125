package checking

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/store"
)

// Progress receives messages for people about what happens.
type Progress interface {
	Step(name, detail string)
	Line(text string) // a line of an agent's output: may be shown for a moment
	Say(text string)  // a message that people must see: stays
}

// WatchCheckout returns the Watch over a checkout while something runs in it.
func WatchCheckout(s *store.Store, p Progress, tree *gitstore.Worktree, while string) Watch {
	return Watch{Store: s, Progress: p, Tree: tree, While: while, alone: true}
}

// NewNonce returns a random word that a reviewer's answer must contain, so that no text in the change can pose as an
// answer.
func NewNonce() string {
	b := make([]byte, 8)
	rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// Quiet is a Progress that drops all messages.
type Quiet struct{}

func (Quiet) Step(string, string) {}
func (Quiet) Line(string)         {}
func (Quiet) Say(string)          {}
