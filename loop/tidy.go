package loop

import (
	"context"
	"time"

	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

const (
	tidyEvery = 24 * time.Hour
	tidyMost  = 200 // reviews closed in one call
)

// Tidy does the cleanup that nobody should have to think of, at most once a day and only if no other process is doing
// it: it removes what ended longer than retention ago, as git runr gc does, and closes this clone's reviews that need
// nobody any more.
func Tidy(ctx context.Context, s *store.Store, retention time.Duration, how closing.Rule) error {
	unlock, free, err := s.Repo.TryLock("gc")
	if err != nil || !free {
		return err
	}
	defer unlock()
	c, err := readCutoff(s)
	now := s.EventTime()
	if err != nil || now.Sub(c.Tidied).Abs() < tidyEvery {
		return err
	}
	c.Tidied = now // even if the rest fails: one try a day is enough
	if err := writeCutoff(s, c); err != nil {
		return err
	}
	garbage, err := findGarbage(ctx, s, now.Add(-retention))
	if err != nil {
		return err
	}
	if err := collect(ctx, s, garbage); err != nil {
		return err
	}
	return closeLeft(ctx, s, how)
}

// closeLeft closes passed reviews of this clone that are still open: they are older than this rule, or their reviewers
// were in several clones.
func closeLeft(ctx context.Context, s *store.Store, how closing.Rule) error {
	left, _, err := s.Reviews(ctx, store.Filter{Status: record.WaitingStatus, Limit: tidyMost, Some: true,
		Review: func(r record.ReviewSummary) bool {
			return s.Repo.Owns(r.Writer) && r.Status != record.ReviewOpen && r.CommentCount == 0 && len(r.Waiting) == 0
		}})
	for _, line := range left {
		if err != nil {
			return err
		}
		var review record.Review
		if review, err = s.Review(ctx, line.ID); err == nil && !review.Reopened {
			_, err = closing.Close(ctx, s, review, how)
		}
	}
	return err
}
