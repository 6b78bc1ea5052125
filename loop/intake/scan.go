package intake

import (
	"context"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// ScanState is a scan's result for a commit: a lineage.CoverState, or one of these.
type ScanState string

const (
	ScanQueue   ScanState = "queue"   // no review was requested
	ScanSkipped ScanState = "skipped" // no review is needed
	scanRefused ScanState = "refused" // its review asks for changes, and that is not settled
)

// Scanned is the result of a scan for one commit.
type Scanned struct {
	Commit  gitstore.ID `json:"commit"`
	Title   string      `json:"title"`
	State   ScanState   `json:"state"`
	Why     string      `json:"why,omitempty"`       // why it is skipped
	Review  string      `json:"review_id,omitempty"` // the review that covers it, or that was requested
	Follows string      `json:"follows,omitempty"`   // a review of the commit that this one replaced
}

// Scan finds commits for which no review was requested. It keeps the order of commits.
func Scan(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit, skip Skip,
	branch string) ([]Scanned, error) {
	covered, err := lineage.Coverage(ctx, s, commits)
	if err != nil {
		return nil, err
	}
	open, _, err := s.Reviews(ctx, store.Filter{Status: isOpen})
	if err != nil {
		return nil, err
	}
	scanned := make([]Scanned, len(commits))
	for i, c := range covered {
		scanned[i] = Scanned{Commit: c.Commit, Title: c.Title, State: ScanState(c.State), Review: c.Review}
		asked := slices.ContainsFunc(open, func(r record.ReviewSummary) bool { return r.ID == c.Review })
		if c.Seen() || c.State == lineage.CoverUnshown || asked {
			if c.Refused {
				scanned[i].State = scanRefused
			}
			continue
		}
		why, err := skip.Why(ctx, s, commits[i], branch)
		if err != nil {
			return nil, err
		}
		scanned[i].State, scanned[i].Why = ScanQueue, why
		scanned[i].Follows, scanned[i].Review = c.Review, ""
		if why != "" {
			scanned[i].State = ScanSkipped
		}
	}
	return scanned, nil
}
