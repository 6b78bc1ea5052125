package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
)

// AnswerKind is what became of a finding or a comment.
type AnswerKind string

const (
	AnswerFixed    AnswerKind = "fixed"    // by a commit
	AnswerRefuted  AnswerKind = "refuted"  // for a reason
	AnswerDeferred AnswerKind = "deferred" // to later
	AnswerGone     AnswerKind = "gone"     // with the code that it speaks of, in a commit
	AnswerOpen     AnswerKind = "open"     // what was claimed fixed is still there, as who verified it says
)

// Answer is what the one who addresses a review says of one finding or comment.
type Answer struct {
	Finding string      `json:"finding"` // its id
	Kind    AnswerKind  `json:"answer"`
	Commit  gitstore.ID `json:"commit,omitempty"` // that fixed it
	Reason  string      `json:"reason,omitempty"`
	Actor   string      `json:"actor"`
	At      time.Time   `json:"at,omitzero"`
	// ConfirmedBy says of what is fixed or gone that it is: who objected, or who verified it. The fold fills it in
	// where that is Actor.
	ConfirmedBy string `json:"confirmed_by,omitempty"`
}

// Claimed reports whether the finding is fixed or gone by somebody's word alone.
func (a Answer) Claimed() bool {
	return (a.Kind == AnswerFixed || a.Kind == AnswerGone) && a.ConfirmedBy == ""
}

// Word is the kind, which of a claim says so: "fixed", "claimed fixed".
func (a Answer) Word() string {
	if a.Claimed() {
		return "claimed " + string(a.Kind)
	}
	return string(a.Kind)
}

// What is what became of the finding: "refuted", "claimed fixed by 3f2a9c1", "fixed by 3f2a9c1, confirmed by rev".
func (a Answer) What() string {
	what := a.Word()
	switch {
	case a.Kind == AnswerGone:
		what += " in " + a.Commit.Short()
	case a.Kind == AnswerFixed:
		what += " by " + a.Commit.Short()
	}
	if a.ConfirmedBy != "" && a.ConfirmedBy != a.Actor {
		what += ", confirmed by " + a.ConfirmedBy
	}
	return what
}

// Check refuses an answer that says too little.
func (a Answer) Check() error {
	switch {
	case !slices.Contains([]AnswerKind{AnswerFixed, AnswerRefuted, AnswerDeferred, AnswerGone, AnswerOpen}, a.Kind):
		return &InputError{fmt.Sprintf("answer %q is none of fixed, refuted, deferred, gone, open", a.Kind)}
	case (a.Kind == AnswerFixed || a.Kind == AnswerGone) && a.Commit == "":
		return &InputError{fmt.Sprintf("an answer of %s wants the commit", a.Kind)}
	case a.Kind == AnswerRefuted && strings.TrimSpace(a.Reason) == "":
		return &InputError{"an answer of refuted wants the reason"}
	}
	return CheckActor(a.Actor)
}

// FindingAnswer is the payload of an answer.
type FindingAnswer struct {
	Answer
	Force bool        `json:"force,omitempty"` // although somebody else holds the review
	Claim gitstore.ID `json:"claim,omitempty"` // the claim under which it is done
}

func (p FindingAnswer) by() (who ActorPayload, held bool) {
	return ActorPayload{Actor: p.Actor, Force: p.Force, Claim: p.Claim}, true
}
