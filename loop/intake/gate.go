package intake

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// Gated is a commit that a gate does not let through.
type Gated struct {
	lineage.Covered
	Skipped string `json:"skipped,omitempty"` // why nobody was asked to review it
	Finding string `json:"finding,omitempty"` // the worst that refuses it
}

// Named is how many of the commits that a gate holds are named to people; of the others Gate does
// not read what refuses them.
const Named = 10

// Gate goes through commits and gives those that were not looked at as far as bar says, and those
// that something refuses, oldest first. What is skipped is not looked at: a commit, or a file
// of the repository, must not let itself through.
func Gate(ctx context.Context, s *store.Store, commits []gitstore.LoggedCommit, bar lineage.Bar, skip Skip, branch string) (held []Gated, err error) {
	covered, err := lineage.CoverageBy(ctx, s, commits, bar)
	if err != nil {
		return nil, err
	}
	for i, c := range slices.Backward(covered) {
		if c.Meets(bar.Level) {
			continue
		}
		gated := Gated{Covered: c}
		if c.State == lineage.CoverUnreviewed {
			if gated.Skipped, err = skip.Why(ctx, s, commits[i], branch); err != nil {
				return nil, err
			}
		}
		if c.Refused && c.Review != "" && len(held) < Named {
			review, err := s.Review(ctx, c.Review)
			if err != nil {
				return nil, err
			}
			gated.Finding = worstOf(review)
		}
		held = append(held, gated)
	}
	return held, nil
}

// worstOf is the worst of what a review found that nobody answered, on one line.
func worstOf(review record.Review) string {
	open := review.Open()
	if asked := review.Summary().Asked; len(open) == 0 {
		return cmp.Or(asked, "what settled it is in another line of history")
	}
	worst := slices.MinFunc(open, func(a, b reply.Finding) int { return reply.SeverityRank(a.Severity) - reply.SeverityRank(b.Severity) })
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", worst.Severity, worst.Place(), worst.Issue))
}

// ToType are the lines that get commits through, at most so many: one for each kind of what is in the way.
func ToType(held []Gated, most int) []string {
	var lines []string
	for _, c := range held {
		line := "git runr review --wait " + c.Commit.Short()
		switch {
		case c.Refused && c.Review != "":
			line = "git runr show " + c.Review
		case c.AwaitsPerson():
			line = "git runr inbox submit " + c.Review
		case c.State == lineage.CoverPending || c.State == lineage.CoverStale && c.Review != "":
			line = "git runr work"
		case c.Seen(), c.State == lineage.CoverUnshown: // the same reviewer would come to the same again
			line = "git runr review --reviewer human " + c.Commit.Short()
		}
		if !slices.Contains(lines, line) && len(lines) < most {
			lines = append(lines, line)
		}
	}
	return lines
}
