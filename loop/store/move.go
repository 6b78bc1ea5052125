package store

import (
	"context"

	"github.com/git-runr/git-runr/loop/record"
)

// MoveReview records where the code of a review went. What is known already is not
// recorded again.
func (s *Store) MoveReview(ctx context.Context, id string, m record.Move) (record.Review, error) {
	return s.reviewEvent(ctx, id, record.EventReviewMoved.New("follow", m.Title(), m))
}

// SaidOf is what the notes of a review say, for what is carried: the newest of it.
func (s *Store) SaidOf(ctx context.Context, review string) ([]record.Saying, error) {
	events, err := s.ReviewEvents(ctx, review)
	return record.NewestSayings(events), err
}
