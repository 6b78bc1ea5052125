package record

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
)

// AnswerKind is the outcome of a finding or a comment.
type AnswerKind string

const (
	AnswerFixed    AnswerKind = "fixed"    // a commit fixed it
	AnswerRefuted  AnswerKind = "refuted"  // the finding is wrong; needs a reason
	AnswerDeferred AnswerKind = "deferred" // postponed
	AnswerGone     AnswerKind = "gone"     // a commit removed the code that the finding is about
	AnswerOpen     AnswerKind = "open"     // a verification found it still there after a claimed fix
	// AnswerWithdrawn is filled in by the fold: who asked for the change as a whole has approved it since.
	AnswerWithdrawn AnswerKind = "withdrawn"
)

// Answer is what somebody who addresses a review says about one finding or comment.
type Answer struct {
	Finding string      `json:"finding"` // the finding's id
	Kind    AnswerKind  `json:"answer"`
	Commit  gitstore.ID `json:"commit,omitempty"` // the commit that fixed it
	Reason  string      `json:"reason,omitempty"`
	Actor   string      `json:"actor"`
	At      time.Time   `json:"at,omitzero"`
	Voice
	// ConfirmedBy names who confirmed that a finding is fixed or gone: the objector or a verifier. The fold fills it
	// in when that is Actor.
	ConfirmedBy string `json:"confirmed_by,omitempty"`
}

// Claimed reports whether nobody has confirmed yet that the finding is fixed or gone.
func (a Answer) Claimed() bool {
	return (a.Kind == AnswerFixed || a.Kind == AnswerGone) && a.ConfirmedBy == ""
}

// Word returns the kind in words: "fixed" when confirmed, else "claimed fixed".
func (a Answer) Word() string {
	if a.Claimed() {
		return "claimed " + string(a.Kind)
	}
	return string(a.Kind)
}

// What describes the outcome: "refuted", "claimed fixed by 3f2a9c1", "fixed by 3f2a9c1, confirmed by rev".
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

// Check returns an *InputError for an answer that lacks its commit, reason or actor, or has an unknown kind.
func (a Answer) Check() error {
	switch {
	case !slices.Contains([]AnswerKind{AnswerFixed, AnswerRefuted, AnswerDeferred, AnswerGone, AnswerOpen}, a.Kind):
		return &InputError{fmt.Sprintf("unknown answer %q: use fixed, refuted, deferred, gone, open or confirmed", a.Kind)}
	case (a.Kind == AnswerFixed || a.Kind == AnswerGone) && a.Commit == "":
		return &InputError{fmt.Sprintf("an answer of %s needs the commit", a.Kind)}
	case a.Kind == AnswerRefuted && strings.TrimSpace(a.Reason) == "":
		return &InputError{"an answer of refuted needs the reason"}
	}
	return CheckActor(a.Actor)
}

// FindingAnswer is the payload of an answer event.
type FindingAnswer struct {
	Answer
	Force bool        `json:"force,omitempty"` // answer even if somebody else holds the review
	Claim gitstore.ID `json:"claim,omitempty"` // the claim that the actor acts under
}

func (p FindingAnswer) by() (who ActorPayload, held bool) {
	return ActorPayload{Actor: p.Actor, Force: p.Force, Claim: p.Claim}, true
}
