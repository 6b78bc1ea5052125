package web

import (
	"context"

	"git-runr/loop/record"
)

// These are the steps of a review with what belongs to them beside the event, for the
// API and the page alike.

func (s *Server) submitPerson(ctx context.Context, id string, p record.Person) (record.Review, error) {
	return s.closed(s.Store.SubmitPerson(ctx, id, p))
}

// claimReview also says why the claim counts in this clone only, "" where it does not.
func (s *Server) claimReview(ctx context.Context, id string, by record.Hold) (review record.Review, provisional string, err error) {
	if s.Claim != nil {
		return s.Claim(ctx, id, by)
	}
	review, err = s.Store.ClaimReview(ctx, id, by)
	return review, "", err
}

// heldElsewhere refuses a step on a review that somebody else has where clones decide it.
func (s *Server) heldElsewhere(ctx context.Context, id string, by record.Hold, ask bool) error {
	if s.Held == nil {
		return nil
	}
	return s.Held(ctx, id, by, ask)
}

func (s *Server) releaseReview(ctx context.Context, id string, by record.Hold) (record.Review, error) {
	if err := s.heldElsewhere(ctx, id, by, true); err != nil {
		return record.Review{}, err
	}
	return s.unclaimed(by)(s.Store.ReleaseReview(ctx, id, by))
}

func (s *Server) resolveReview(ctx context.Context, id string, by record.Hold, note string) (record.Review, error) {
	if err := s.heldElsewhere(ctx, id, by, true); err != nil {
		return record.Review{}, err
	}
	return s.closed(s.unclaimed(by)(s.Store.ResolveReview(ctx, id, by, note)))
}

func (s *Server) answerFinding(ctx context.Context, id string, given record.Answer, force bool) (record.Review, error) {
	if err := s.heldElsewhere(ctx, id, record.Hold{Actor: given.Actor, Force: force}, false); err != nil {
		return record.Review{}, err
	}
	return s.Store.AnswerFinding(ctx, id, given, force)
}

func (s *Server) reopenReview(ctx context.Context, id, actor string) (record.Review, error) {
	return s.closed(s.Store.ReopenReview(ctx, id, actor))
}

func (s *Server) closed(review record.Review, err error) (record.Review, error) {
	if err == nil && s.Closed != nil {
		s.Closed()
	}
	return review, err
}

func (s *Server) unclaimed(by record.Hold) func(record.Review, error) (record.Review, error) {
	return func(review record.Review, err error) (record.Review, error) {
		if err == nil && s.Unclaim != nil {
			s.Unclaim(review, by)
		}
		return review, err
	}
}
