package record

import "cmp"

// otherStop is what runr calls the fields of a stop.
type otherStop struct {
	OtherRounds    int      `json:"review_rounds,omitempty"`
	OtherMaxRounds int      `json:"max_review_rounds,omitempty"`
	OtherRequests  []string `json:"reviewer_requests,omitempty"`
	OtherCommands  []string `json:"commands_to_satisfy,omitempty"`
	OtherError     string   `json:"error,omitempty"`
}

// takeOtherNames fills in, where our names are absent, what stands under runr's. An event
// of the type review_loop_detected needs no reason.
func (p *StopPayload) takeOtherNames(e Event) {
	p.Round, p.MaxRounds = cmp.Or(p.Round, p.OtherRounds), cmp.Or(p.MaxRounds, p.OtherMaxRounds)
	p.Detail = cmp.Or(p.Detail, p.OtherError)
	if len(p.Unmet) == 0 {
		p.Unmet = p.OtherRequests
	}
	if len(p.Commands) == 0 {
		p.Commands = p.OtherCommands
	}
	if p.Reason == "" && e.Type == EventReviewLoopDetected.Name {
		p.Reason = ReasonReviewLoop
	}
	p.At = e.Timestamp
}
