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

// confirmReviews is how many reviews one worker asks rules and checks of again, those first in which most is wrong.
const confirmReviews = 50

// confirm asks rules and checks again of what they found in older commits, where that may be mended: in files
// that changed since this was done last, and in the reviews that were just answered.
// That it cannot be done is said, and done by the next worker.
func (w *Worker) confirm(ctx context.Context, answered []string) {
	err := w.confirmSince(ctx, answered)
	if err != nil && ctx.Err() == nil {
		w.Progress.Say("What was found is not verified: " + err.Error())
	}
}

func (w *Worker) confirmSince(ctx context.Context, answered []string) error {
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
	file := filepath.Join(repo.StateDir(), "confirmed-"+filepath.Base(repo.GitDir)) // of each working tree
	text, _ := safefile.ReadFile(file)
	last := gitstore.ID(text)
	if last == head && len(answered) == 0 {
		return nil
	}
	reviews, _, err := w.Store.Reviews(ctx, store.Filter{Status: record.WaitingStatus, ByNeed: true, Limit: confirmReviews, Some: true,
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

// changedSince reports of a file whether it changed between two commits. Any may have where head was rewritten.
func (w *Worker) changedSince(ctx context.Context, last, head gitstore.ID) func(file string) bool {
	forward, err := w.Store.Repo.IsAncestor(ctx, last, head)
	var changes []gitstore.Change
	if err == nil && forward {
		changes, err = w.Store.Repo.Changed(ctx, last, head)
	}
	if err != nil || !forward {
		return func(string) bool { return true }
	}
	return func(file string) bool {
		return slices.ContainsFunc(changes, func(c gitstore.Change) bool { return c.Path == file })
	}
}

func (w *Worker) verifyTouched(ctx context.Context, reviews []record.ReviewSummary, answered []string, changed func(string) bool) error {
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
