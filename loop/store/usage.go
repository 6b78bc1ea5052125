package store

import (
	"context"
	"fmt"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/spend"
)

// spenders returns the runs and reviews that match f and for which agents were called.
func (s *Store) spenders(ctx context.Context, f Filter) ([]record.RunSummary, []record.ReviewSummary, error) {
	f.Spent = true
	runs, _, err := s.Runs(ctx, f)
	if err != nil {
		return nil, nil, fmt.Errorf("sum up calls: %w", err)
	}
	reviews, _, err := s.Reviews(ctx, f)
	if err != nil {
		return nil, nil, fmt.Errorf("sum up calls: %w", err)
	}
	return runs, reviews, nil
}

// Spent returns the usage of all calls for runs and reviews so far, in all clones, by agent. It reads no event.
func (s *Store) Spent(ctx context.Context) (spending spend.Spending, err error) {
	runs, reviews, err := s.spenders(ctx, Filter{})
	for _, r := range runs {
		spending.Join(r.Spending)
	}
	for _, r := range reviews {
		spending.Join(r.Spending)
	}
	return spending, err
}

// SpentSince returns the usage of calls that ended in this clone at since or later, by agent.
func (s *Store) SpentSince(ctx context.Context, since time.Time) (spending spend.Spending, err error) {
	runs, reviews, err := s.spenders(ctx, Filter{UpdatedSince: since.Truncate(time.Millisecond)})
	if err != nil {
		return nil, err
	}
	seen := map[gitstore.ID]bool{}
	add := func(events []record.Event, err error) error {
		for _, e := range events {
			if !seen[e.ID] && s.Repo.Owns(e.Writer) && !e.Timestamp.Before(since) {
				seen[e.ID] = true // a review's events are also those of the runs that fix it
				spending.Add(record.SpentOn(e))
			}
		}
		return err
	}
	for _, r := range runs {
		if err := add(s.entityEvents(ctx, kindRun, r.ID)); err != nil {
			return nil, err
		}
	}
	for _, r := range reviews {
		if err := add(s.entityEvents(ctx, kindReview, r.ID)); err != nil {
			return nil, err
		}
	}
	return spending, nil
}
