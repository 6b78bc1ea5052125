package record

import (
	"time"

	"git-runr/gitstore"
)

// AnswerKind is what became of a finding or a comment.
type AnswerKind string

const (
	AnswerFixed    AnswerKind = "fixed"    // by a commit
	AnswerRefuted  AnswerKind = "refuted"  // for a reason
	AnswerDeferred AnswerKind = "deferred" // to later
	AnswerGone     AnswerKind = "gone"     // with the code that it speaks of, in a commit
)

// Answer is what the one who addresses a review says of one finding or comment.
type Answer struct {
	Finding string      `json:"finding"` // its id
	Kind    AnswerKind  `json:"answer"`
	Commit  gitstore.ID `json:"commit,omitempty"` // that fixed it
	Reason  string      `json:"reason,omitempty"`
	Actor   string      `json:"actor"`
	At      time.Time   `json:"at,omitzero"`
}

// What is what became of the finding: "refuted", "fixed by 3f2a9c1", "gone in 3f2a9c1".
func (a Answer) What() string {
	switch {
	case a.Commit == "":
		return string(a.Kind)
	case a.Kind == AnswerGone:
		return string(a.Kind) + " in " + a.Commit.Short()
	}
	return string(a.Kind) + " by " + a.Commit.Short()
}
