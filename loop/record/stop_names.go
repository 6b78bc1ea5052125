package record

import "cmp"

// otherStop is what runr calls the fields of a stop.
type otherStop struct {
	Rounds    int      `json:"review_rounds"`
	MaxRounds int      `json:"max_review_rounds"`
	Requests  []string `json:"reviewer_requests"`
	Commands  []string `json:"commands_to_satisfy"`
	Error     string   `json:"error"`
}

// readStop is the payload of a stop, in our names or, where those are absent, in
// runr's. An event of the type review_loop_detected needs no reason.
func readStop(e Event) (StopPayload, error) {
	stop, err := PayloadOf[StopPayload](e)
	if err != nil {
		return stop, err
	}
	other, err := PayloadOf[otherStop](e)
	if err != nil {
		return stop, err
	}
	stop.Round, stop.MaxRounds = cmp.Or(stop.Round, other.Rounds), cmp.Or(stop.MaxRounds, other.MaxRounds)
	stop.Detail = cmp.Or(stop.Detail, other.Error)
	if len(stop.Unmet) == 0 {
		stop.Unmet = other.Requests
	}
	if len(stop.Commands) == 0 {
		stop.Commands = other.Commands
	}
	if stop.Reason == "" && e.Type == EventReviewLoopDetected {
		stop.Reason = ReasonReviewLoop
	}
	stop.At = e.Timestamp
	return stop, nil
}
