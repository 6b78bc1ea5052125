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
	// AnswerWithdrawn is made by the fold alone: who asked for the change as a whole has approved it since.
	AnswerWithdrawn AnswerKind = "withdrawn"
)

// answerKinds are the kinds that somebody may give.
var answerKinds = []AnswerKind{AnswerFixed, AnswerRefuted, AnswerDeferred, AnswerGone, AnswerOpen}

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
	case !slices.Contains(answerKinds, a.Kind):
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

// Reply is what somebody says in the thread of a finding or comment, or about a review as a whole. It closes nothing;
// an Answer does.
type Reply struct {
	ID      gitstore.ID `json:"id,omitempty"`      // the event that records it; filled in by the fold
	Finding string      `json:"finding,omitempty"` // the id of the finding or comment; "": the review as a whole
	Text    string      `json:"text"`              // Markdown, at most MaxMessage bytes
	Actor   string      `json:"actor"`
	At      time.Time   `json:"at,omitzero"` // filled in by the fold
	Voice
}

// EventReviewReplied is allowed in every status: a conversation goes on after a review is closed.
var EventReviewReplied = reviewEventType("review_replied", "replied to", always, (*Review).reply, nil)

func (p Reply) by() (who ActorPayload, held bool) { return ActorPayload{Actor: p.Actor}, false }

func (r *Review) reply(e Event, p Reply) {
	p.ID, p.Voice, p.At = e.ID, r.voice(e, p.Actor), e.Timestamp
	r.Replies = append(r.Replies, p)
}

// Check returns an *InputError for a reply that is empty, too long, or has no actor.
func (p Reply) Check() error {
	switch {
	case strings.TrimSpace(p.Text) == "":
		return &InputError{"a reply needs a text: -m TEXT"}
	case len(p.Text) > MaxMessage:
		return &InputError{fmt.Sprintf("a reply has at most %d bytes; this one has %d", MaxMessage, len(p.Text))}
	}
	return CheckActor(p.Actor)
}

// RepliesTo returns the replies in the thread of a finding or comment, by any of its ids, oldest first; "" names the
// review as a whole.
func (r Review) RepliesTo(finding string) []Reply {
	ids := []string{""}
	if finding != "" {
		ids = r.sameIDs(finding)
	}
	return slices.DeleteFunc(slices.Clone(r.Replies), func(p Reply) bool { return !slices.Contains(ids, p.Finding) })
}

// Given hands a review to other people, in place of those asked before.
type Given struct {
	People []string `json:"people"` // "Name <address>"
	Each   bool     `json:"each,omitempty"`
	Actor  string   `json:"actor"`
	Force  bool     `json:"force,omitempty"` // even if somebody else has claimed it
}

// Handover is a Given that was folded, with the people asked before.
type Handover struct {
	Given
	From []string  `json:"from,omitempty"` // none: anybody
	At   time.Time `json:"at"`
}

// Words says who gave the review to whom: "given to Bob <bob@x> by Ann <ann@x>".
func (h Handover) Words() string {
	return "given to " + strings.Join(h.People, ", ") + " by " + Plain(h.Actor)
}

// FirstAsked returns the people whom the request asked, before the review was given to others; none: anybody.
func (r Review) FirstAsked() []string {
	if len(r.Handovers) > 0 {
		return r.Handovers[0].From
	}
	return r.Request.People
}

// EventReviewGiven is allowed until somebody has answered. It ends the claim of whoever was going to review.
var EventReviewGiven = reviewEventType("review_given", "given to somebody else", []ReviewStatus{ReviewOpen},
	(*Review).give, nil)

func (p Given) by() (who ActorPayload, held bool) {
	return ActorPayload{Actor: p.Actor, Force: p.Force}, true
}

func (r *Review) give(e Event, p Given) {
	r.dropClaim(e, p.Actor)
	r.Handovers = append(r.Handovers, Handover{p, r.Request.People, e.Timestamp})
	r.Request.People, r.Request.Each = p.People, p.Each
}
