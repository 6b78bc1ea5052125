package mcp

import (
	"context"
	"errors"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/screens"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// renew renews every claim once, and forgets those that are no longer ours.
func (s *Server) renew(ctx context.Context) {
	var project *screens.Project
	s.claims.Range(func(key, value any) bool {
		review := key.(string)
		if project == nil {
			var err error
			if project, err = s.Open(ctx); err != nil {
				s.Log("claims are not renewed: %v", err)
				return false
			}
		}
		err := s.renewOne(ctx, project, review, value.(record.Hold))
		if errors.As(err, new(*record.StateError)) || errors.Is(err, gitstore.ErrNotFound) {
			s.claims.Delete(review)
		}
		if err != nil && ctx.Err() == nil {
			s.Log("the claim of review %s is not renewed: %v", review, err)
		}
		return true
	})
	if project != nil {
		project.Close()
	}
}

// renewOne reads the review first, so that a claim taken away by a person is not taken again.
func (s *Server) renewOne(ctx context.Context, p *screens.Project, id string, by record.Hold) error {
	review, err := p.Store.Review(ctx, id)
	if err != nil {
		return err
	}
	if review.Status != record.ReviewClaimed || review.Claim == nil || review.Claim.ID != by.Claim {
		return &record.StateError{What: "review " + id, Status: string(review.Status), Cannot: "renewed"}
	}
	_, provisional, err := p.Claim(ctx, id, by)
	if provisional != "" {
		s.Log("the claim of review %s is renewed in this clone only: %s", id, provisional)
	}
	return err
}
