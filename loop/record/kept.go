package record

import (
	"encoding/json"
	"time"

	"github.com/git-runr/git-runr/gitstore"
)

// keptRun is a run with the fields that its JSON omits and the fold needs to continue.
type keptRun struct {
	Run      Run       `json:"run"`
	Last     string    `json:"last"`
	News     int       `json:"news"`
	Began    time.Time `json:"began"`
	Reason   string    `json:"reason"`
	Progress int       `json:"progress"`
	Times    int       `json:"times"`
}

// Keep encodes the run in the form that RestoreRun reads, so that later events can be folded without reading the
// earlier ones.
func (r Run) Keep() ([]byte, error) {
	return json.Marshal(keptRun{r, r.Last, r.news, r.Began, r.sameStops.reason, r.sameStops.progress, r.sameStops.times})
}

// RestoreRun decodes what Run.Keep wrote.
func RestoreRun(data []byte) (Run, error) {
	var kept keptRun
	err := json.Unmarshal(data, &kept)
	r := kept.Run
	r.Last, r.news, r.Began = kept.Last, kept.News, kept.Began
	r.sameStops = stopCount{kept.Reason, kept.Progress, kept.Times}
	return r, err
}

// keptReview is a review with what its JSON omits and the fold needs to continue.
type keptReview struct {
	Review
	withheld
	RequestEvent gitstore.ID     `json:"request_event"`
	SameID       []sameIDRequest `json:"same_id_requests,omitempty"`
}

// Keep encodes the review in the form that RestoreReview reads.
func (r Review) Keep() ([]byte, error) {
	return json.Marshal(keptReview{r, r.withheld, r.requestEvent, r.others})
}

// RestoreReview decodes what Review.Keep wrote.
func RestoreReview(data []byte) (Review, error) {
	var kept keptReview
	err := json.Unmarshal(data, &kept)
	r := kept.Review
	r.withheld, r.requestEvent, r.others = kept.withheld, kept.RequestEvent, kept.SameID
	r.join()
	return r, err
}
