package intake

import (
	"context"
	"slices"

	"git-runr/gitstore"
	"git-runr/loop/lineage"
	"git-runr/loop/record"
)

// Gated is a commit that a gate does not let through.
type Gated struct {
	lineage.Covered
	Skipped string `json:"skipped,omitempty"` // why nobody was asked to review it
}

// Gate goes through commits and gives those that are not reviewed, or with passed those
// that have not passed, oldest first. What is skipped is not reviewed: a commit, or a file
// of the repository, must not let itself through.
func Gate(ctx context.Context, s *record.Store, commits []gitstore.LoggedCommit, passed bool, skip Skip, branch string) (held []Gated, err error) {
	covered, err := lineage.Coverage(ctx, s, commits)
	if err != nil {
		return nil, err
	}
	for i, c := range slices.Backward(covered) {
		if c.Reviewed() && (c.Passed || !passed) {
			continue
		}
		gated := Gated{Covered: c}
		if c.State == lineage.CoverUnreviewed {
			if gated.Skipped, err = skip.Why(ctx, s, commits[i], branch); err != nil {
				return nil, err
			}
		}
		held = append(held, gated)
	}
	return held, nil
}

// ToType are the lines that get commits through, at most so many: one for each kind of what is in the way.
func ToType(held []Gated, most int) []string {
	var lines []string
	for _, c := range held {
		line := "git runr review --wait " + c.Commit.Short()
		switch {
		case c.Review != "" && c.Reviewed():
			line = "git runr inbox get " + c.Review
		case c.AwaitsPerson():
			line = "git runr inbox submit " + c.Review
		case c.State == lineage.CoverPending || c.State == lineage.CoverStale && c.Review != "":
			line = "git runr work"
		case c.State == lineage.CoverUnshown: // an agent would be shown as little again
			line = "git runr review --reviewer human " + c.Commit.Short()
		}
		if !slices.Contains(lines, line) && len(lines) < most {
			lines = append(lines, line)
		}
	}
	return lines
}
