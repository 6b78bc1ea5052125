package loop

import (
	"context"

	"git-runr/loop/record"
)

// Waits is the review that run has stopped for and that nobody has answered with a
// verdict; ok is false where it waits for none.
func Waits(ctx context.Context, s *record.Store, run record.Run) (review record.Review, ok bool, err error) {
	if run.Asked == nil || run.Stop == nil || run.Stop.Review != run.Asked.Review || len(run.News()) > 0 {
		return review, false, nil
	}
	review, err = s.Review(ctx, run.Asked.Review)
	return review, err == nil && review.Status != record.ReviewCancelled && len(review.Verdicts()) == 0, err
}

// settleAsked closes the review that run asked people for, once nobody needs an answer
// to it any more. Somebody may have closed it before.
func settleAsked(ctx context.Context, s *record.Store, run record.Run, note string) error {
	if run.Asked == nil {
		return nil
	}
	review, err := s.Review(ctx, run.Asked.Review)
	if err != nil || !review.ClosedAt.IsZero() {
		return err
	}
	author, err := s.Repo.Identity(ctx)
	if err != nil {
		return err
	}
	_, err = end(ctx, s, review, record.Hold{Actor: author.String(), Force: true}, note)
	return err
}
