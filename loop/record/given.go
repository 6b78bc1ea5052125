package record

import (
	"strings"
	"time"
)

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
