package web

import (
	"context"

	"git-runr/loop"
)

// These are the steps of a review with what belongs to them beside the event, for the
// API and the page alike.

func (s *Server) submitPerson(ctx context.Context, id string, p loop.Person) (loop.Review, error) {
	return s.closed(s.Store.SubmitPerson(ctx, id, p))
}

// claimReview also says why the claim counts in this clone only, "" where it does not.
func (s *Server) claimReview(ctx context.Context, id string, by loop.Hold) (review loop.Review, provisional string, err error) {
	if s.Claim != nil {
		return s.Claim(ctx, id, by)
	}
	review, err = s.Store.ClaimReview(ctx, id, by)
	return review, "", err
}

// heldElsewhere refuses a step on a review that somebody else has where clones decide it.
func (s *Server) heldElsewhere(ctx context.Context, id string, by loop.Hold, ask bool) error {
	if s.Held == nil {
		return nil
	}
	return s.Held(ctx, id, by, ask)
}

func (s *Server) releaseReview(ctx context.Context, id string, by loop.Hold) (loop.Review, error) {
	if err := s.heldElsewhere(ctx, id, by, true); err != nil {
		return loop.Review{}, err
	}
	return s.unclaimed(by)(s.Store.ReleaseReview(ctx, id, by))
}

func (s *Server) resolveReview(ctx context.Context, id string, by loop.Hold, note string) (loop.Review, error) {
	if err := s.heldElsewhere(ctx, id, by, true); err != nil {
		return loop.Review{}, err
	}
	return s.closed(s.unclaimed(by)(s.Store.ResolveReview(ctx, id, by, note)))
}

func (s *Server) answerFinding(ctx context.Context, id string, given loop.Answer, force bool) (loop.Review, error) {
	if err := s.heldElsewhere(ctx, id, loop.Hold{Actor: given.Actor, Force: force}, false); err != nil {
		return loop.Review{}, err
	}
	return s.Store.AnswerFinding(ctx, id, given, force)
}

func (s *Server) reopenReview(ctx context.Context, id, actor string) (loop.Review, error) {
	return s.closed(s.Store.ReopenReview(ctx, id, actor))
}

func (s *Server) closed(review loop.Review, err error) (loop.Review, error) {
	if err == nil && s.Closed != nil {
		s.Closed()
	}
	return review, err
}

func (s *Server) unclaimed(by loop.Hold) func(loop.Review, error) (loop.Review, error) {
	return func(review loop.Review, err error) (loop.Review, error) {
		if err == nil && s.Unclaim != nil {
			s.Unclaim(review, by)
		}
		return review, err
	}
}
