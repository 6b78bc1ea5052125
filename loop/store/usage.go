package store

import (
	"context"
	"fmt"
	"time"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/spend"
)

// Spent is what all calls for runs and reviews took so far, in whichever clone, by agent. No
// event is read for it.
func (s *Store) Spent(ctx context.Context) (spending spend.Spending, err error) {
	runs, _, err := s.Runs(ctx, Filter{Spent: true})
	if err != nil {
		return nil, fmt.Errorf("sum up calls: %w", err)
	}
	reviews, _, err := s.Reviews(ctx, Filter{Spent: true})
	if err != nil {
		return nil, fmt.Errorf("sum up calls: %w", err)
	}
	for _, r := range runs {
		spending.Join(r.Spending)
	}
	for _, r := range reviews {
		spending.Join(r.Spending)
	}
	return spending, nil
}

// SpentSince is what the calls took that ended in this clone at since or later, by agent.
func (s *Store) SpentSince(ctx context.Context, since time.Time) (spend.Spending, error) {
	recent := Filter{Spent: true, UpdatedSince: since.Truncate(time.Millisecond)}
	runs, _, err := s.Runs(ctx, recent)
	if err != nil {
		return nil, err
	}
	reviews, _, err := s.Reviews(ctx, recent)
	if err != nil {
		return nil, err
	}
	spending, seen := spend.Spending(nil), map[string]bool{}
	add := func(events []record.Event, err error) error {
		for _, e := range events {
			if id := string(e.ID); !seen[id] && e.Writer == s.Repo.Writer() && !e.Timestamp.Before(since) {
				seen[id] = true // a review's events are also those of the runs that fix it
				agent, spent := record.SpentOn(e)
				spending.Add(agent, spent)
			}
		}
		return err
	}
	for _, r := range runs {
		if err := add(s.RunEvents(ctx, r.ID)); err != nil {
			return nil, err
		}
	}
	for _, r := range reviews {
		if err := add(s.ReviewEvents(ctx, r.ID)); err != nil {
			return nil, err
		}
	}
	return spending, nil
}
