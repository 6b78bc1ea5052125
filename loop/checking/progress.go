package checking

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/store"
)

// Progress is told what goes on, for people.
type Progress interface {
	Step(name, detail string)
	Line(text string) // of an agent's output: may be shown, and passes
	Say(text string)  // what people must know: stays
}

// WatchCheckout is how a checkout is watched while something goes on in it.
func WatchCheckout(s *store.Store, p Progress, tree *gitstore.Worktree, while string) Watch {
	return Watch{Store: s, Progress: p, Tree: tree, While: while, alone: true}
}

// NewNonce is what a reviewer's answer must carry, so that no text in the change
// can pose as one.
func NewNonce() (string, error) {
	b := make([]byte, 8)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("make nonce: %w", err)
	}
	return hex.EncodeToString(b), nil
}

// Quiet is a Progress that says nothing.
type Quiet struct{}

func (Quiet) Step(string, string) {}
func (Quiet) Line(string)         {}
func (Quiet) Say(string)          {}
