package store

import (
	"context"
	"strings"

	"github.com/git-runr/git-runr/loop/record"
)

// Reply records a reply in a thread of a review of any status. It returns a *record.NotFoundError if the review has no
// such finding.
func (s *Store) Reply(ctx context.Context, id string, reply record.Reply) (record.Review, error) {
	review, err := s.ReviewAbout(ctx, id, reply.Finding)
	if err != nil {
		return review, err
	}
	if err := reply.Check(); err != nil {
		return review, err
	}
	if review, reply.Finding, err = s.ThreadOf(ctx, review, reply.Finding); err != nil {
		return review, err
	}
	if err := review.MaySay(reply.Finding); err != nil {
		return review, err
	}
	event := record.EventReviewReplied.New("cli", "by "+reply.Actor, reply)
	return s.reviewEvent(ctx, review.ID, event)
}

// GiveReview hands an unanswered review to other people. It returns a *record.StateError if the review was answered or
// somebody else has claimed it.
func (s *Store) GiveReview(ctx context.Context, id string, given record.Given) (record.Review, error) {
	review, err := s.Review(ctx, id)
	if err != nil {
		return review, err
	}
	if err := record.CheckActor(given.Actor); err != nil {
		return review, err
	}
	return s.reviewEvent(ctx, review.ID, record.EventReviewGiven.New("cli", "to "+strings.Join(given.People, ", "), given))
}
