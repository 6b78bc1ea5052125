package record

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
)

// Given hands a review to other people, in place of those asked before.
type Given struct {
	People []string `json:"people"` // "Name <address>"
	Actor  string   `json:"actor"`
	Force  bool     `json:"force,omitempty"` // even if somebody else has claimed it
}

// EventReviewGiven is allowed until somebody has answered. It ends the claim of whoever was going to review.
var EventReviewGiven = reviewEventType("review_given", "given to somebody else", []ReviewStatus{ReviewOpen}, (*Review).give, nil)

func (p Given) by() (who ActorPayload, held bool) {
	return ActorPayload{Actor: p.Actor, Force: p.Force}, true
}

func (r *Review) give(e Event, p Given) {
	if r.Claim != nil {
		r.end(r.Claim.By, r.Claim.Writer, e.Timestamp, !SameActor(r.Claim.By, p.Actor))
		r.Claim = nil
	}
	r.Request.People = p.People
}

// Named returns reviewers with "human" replaced by the names of the people asked.
func Named(reviewers, people []string) []string {
	if at := slices.Index(reviewers, Human); at >= 0 && len(people) > 0 {
		return slices.Replace(slices.Clone(reviewers), at, at+1, people...)
	}
	return reviewers
}

// Asks reports whether the request asks person, compared by address, whatever the session. A request that names
// nobody asks everybody.
func (r ReviewRequest) Asks(person string) bool {
	if len(r.People) == 0 {
		return true
	}
	who := gitstore.ParseIdentity(person)
	for _, p := range r.People {
		if asked := gitstore.ParseIdentity(p); who.Email != "" && strings.EqualFold(asked.Email, who.Email) {
			return true
		}
	}
	return false
}
