package record

// Given hands a review to other people, in place of those asked before.
type Given struct {
	People []string `json:"people"` // "Name <address>"
	Each   bool     `json:"each,omitempty"`
	Actor  string   `json:"actor"`
	Force  bool     `json:"force,omitempty"` // even if somebody else has claimed it
}

// EventReviewGiven is allowed until somebody has answered. It ends the claim of whoever was going to review.
var EventReviewGiven = reviewEventType("review_given", "given to somebody else", []ReviewStatus{ReviewOpen},
	(*Review).give, nil)

func (p Given) by() (who ActorPayload, held bool) {
	return ActorPayload{Actor: p.Actor, Force: p.Force}, true
}

func (r *Review) give(e Event, p Given) {
	if r.Claim != nil {
		r.end(r.Claim.By, r.Claim.Writer, e.Timestamp, !SameActor(r.Claim.By, p.Actor))
		r.Claim = nil
	}
	r.Request.People, r.Request.Each = p.People, p.Each
}
