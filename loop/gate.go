package loop

import (
	"context"
	"slices"

	"git-runr/gitstore"
	"git-runr/loop/record"
)

// Gated is a commit that a gate does not let through, or that it need not look at.
type Gated struct {
	Covered
	Skipped string `json:"skipped,omitempty"` // why nobody is asked to review it; "" where it is held up
}

// Gate goes through commits and gives those that are not reviewed, or with passed those
// that have not passed, oldest first; and those of them that are skipped.
func Gate(ctx context.Context, s *record.Store, commits []gitstore.LoggedCommit, passed bool, skip Skip, branch string) (held, skipped []Gated, err error) {
	covered, err := Coverage(ctx, s, commits)
	if err != nil {
		return nil, nil, err
	}
	for i, c := range slices.Backward(covered) {
		if c.Reviewed() && (c.Passed || !passed) {
			continue
		}
		why := ""
		if !c.Reviewed() {
			if why, err = skip.Why(ctx, s, commits[i], branch); err != nil {
				return nil, nil, err
			}
		}
		if why != "" {
			skipped = append(skipped, Gated{c, why})
		} else {
			held = append(held, Gated{Covered: c})
		}
	}
	return held, skipped, nil
}
