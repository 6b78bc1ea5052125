package store

import (
	"context"
	"fmt"

	"github.com/git-runr/git-runr/loop/record"
)

// VerifyReview records what came of a verification. raw is the agent's answer as it came.
func (s *Store) VerifyReview(ctx context.Context, id string, v record.Verification, raw string) (record.Review, error) {
	return s.reviewEvent(ctx, id, record.EventReviewVerified.New("cli", fmt.Sprintf("by %s", v), v).Attach("review.md", raw))
}
