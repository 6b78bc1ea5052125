package queue

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// confirmReviews is the maximum number of reviews that one worker verifies, those with the worst findings first.
const confirmReviews = 50

// confirm runs rules and checks again on their findings in older commits, where these may be fixed: in files that
// changed since the last time, and in the reviews that were just answered. After a failure the next worker tries again.
func (w *Worker) confirm(ctx context.Context, answered []string) error {
	repo := w.Store.Repo
	head, err := repo.Head(ctx)
	if err != nil { // no commit yet
		return nil
	}
	unlock, err := repo.Lock(ctx, "confirm")
	if err != nil {
		return err
	}
	defer unlock()
	file := filepath.Join(repo.StateDir(), "confirmed-"+filepath.Base(repo.GitDir)) // one for each working tree
	text, _ := safefile.ReadFile(file)
	last := gitstore.ID(text)
	if last == head && len(answered) == 0 {
		return nil
	}
	reviews, _, err := w.Store.Reviews(ctx, store.Filter{Status: record.WaitingStatus, ByNeed: true, Limit: confirmReviews,
		Some: true,
		Review: func(r record.ReviewSummary) bool {
			return r.Critical+r.Warnings+r.Notes > 0 && !w.foreign(r.Writer) && r.Commit != "" && r.Commit != head
		}})
	if err != nil {
		return err
	}
	if len(reviews) > 0 {
		if err := w.verifyTouched(ctx, reviews, answered, w.changedSince(ctx, last, head)); err != nil {
			return err
		}
	}
	return safefile.WriteFile(file, []byte(head), 0o666)
}

// changedSince returns a function that reports whether a file changed between two commits. If head was rewritten, any
// file may have changed.
func (w *Worker) changedSince(ctx context.Context, last, head gitstore.ID) func(file string) bool {
	var changes []gitstore.Change
	forward, err := w.Store.Repo.IsAncestor(ctx, last, head)
	if err == nil && forward {
		changes, err = w.Store.Repo.Changed(ctx, last, head)
	}
	return func(file string) bool {
		return err != nil || !forward ||
			slices.ContainsFunc(changes, func(c gitstore.Change) bool { return c.Path == file })
	}
}

func (w *Worker) verifyTouched(ctx context.Context, reviews []record.ReviewSummary, answered []string,
	changed func(string) bool) error {
	rules, failure := w.Reviewer(role.Builtin)
	if failure != nil {
		return errors.New(failure.Detail)
	}
	verifier := &reviewing.Verifier{Store: w.Store, Rules: rules, Closing: w.Closing, Progress: w.Progress, Machine: true}
	for _, r := range reviews {
		review, err := w.Store.Review(ctx, r.ID)
		if err != nil {
			return err
		}
		mayBeMended := func(f reply.Finding) bool {
			ofCheck := strings.HasPrefix(f.Rule, record.RuleOfCheck)
			return ofCheck && len(answered) > 0 || !ofCheck && (changed(f.File) || slices.Contains(answered, r.ID))
		}
		if !slices.ContainsFunc(slices.Concat(review.Open(), review.Claimed()), mayBeMended) {
			continue
		}
		_, _, err = verifier.Verify(ctx, review)
		if missing := new(gitstore.MissingError); err != nil && !errors.As(err, &missing) {
			return err
		}
	}
	return nil
}
