package lineage

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// isGone reports whether the code of a review was gone when it was last looked for.
func isGone(r record.ReviewSummary) bool {
	return len(r.Moves) > 0 && r.Moves[len(r.Moves)-1].State == record.MoveGone
}

// findOrphans finds the commits of this clone's reviews that no branch holds any more, and those that a rewrite
// took off their branch here while a remote's branch still holds them. Git's post-rewrite hook reports the latter,
// but not every clone has it, and a reset does not call it.
func (f *follower) findOrphans(ctx context.Context) error {
	f.orphans, f.left = map[gitstore.ID]bool{}, map[gitstore.ID]gitstore.ID{}
	heads, err := f.store.Repo.Refs(ctx, "refs/heads/")
	if err != nil {
		return err
	}
	off, err := f.store.Repo.NotIn(ctx, slices.Collect(maps.Keys(f.places)), slices.Collect(maps.Values(heads))...)
	if err != nil {
		return err
	}
	own := func(r record.ReviewSummary) bool { return f.store.Repo.Owns(r.Writer) }
	var were []gitstore.ID // here, when their reviews were requested
	for _, r := range f.reviews {
		if own(r) && record.WaitingStatus(string(r.Status)) && !isGone(r) {
			were = append(were, r.Commit)
		}
	}
	for _, id := range f.store.Repo.Pruned(ctx, were) {
		f.orphans[id] = true
	}
	gone, err := f.store.Repo.Unreachable(ctx, off)
	for _, id := range gone {
		if f.told[id] != "" || slices.ContainsFunc(f.places[id], own) {
			f.orphans[id] = true
		}
	}
	for _, id := range off {
		for _, r := range f.places[id] {
			if tip := heads["refs/heads/"+r.Branch]; tip != "" && !f.gone(id) {
				f.left[id] = tip
			}
		}
	}
	return err
}

// gone reports whether a commit was replaced: git said so, or no branch holds it.
func (f *follower) gone(id gitstore.ID) bool { return f.told[id] != "" || f.orphans[id] }

// isHere reports whether a branch holds a commit that has the code of a review.
func (f *follower) isHere(r record.ReviewSummary) bool {
	return slices.ContainsFunc(r.Places(), func(id gitstore.ID) bool { return !f.orphans[id] })
}

// settleOrphans closes the reviews whose commits are on no branch and have no replacement, and reopens those whose
// commits are back.
func (f *follower) settleOrphans(ctx context.Context) error {
	for _, r := range f.reviews {
		gone := isGone(r)
		here := ""
		for _, id := range r.Places() {
			if !f.orphans[id] {
				here = string(id)
			}
		}
		var err error
		switch {
		case !f.store.Repo.Owns(r.Writer):
		case here == "" && !gone:
			if _, tips, tipErr := f.store.Repo.NewCommits(ctx, f.tips, 1); tipErr != nil || !slices.Equal(tips, f.tips) {
				return tipErr // a branch moved meanwhile: the next pass knows what replaced the commit
			}
			err = f.letGo(ctx, r, r.At())
		case here != "" && gone:
			err = f.back(ctx, r, gitstore.ID(here))
		}
		if state := new(record.StateError); err != nil && !errors.As(err, &state) {
			return err
		}
	}
	return nil
}

// goneNote begins the note of a review that is closed because its code is gone.
const goneNote = "its code is gone"

func (f *follower) letGo(ctx context.Context, r record.ReviewSummary, at gitstore.ID) error {
	if slices.ContainsFunc(r.Moves, func(m record.Move) bool { return m.State == record.MoveStale && m.From == at }) {
		return nil // it was replaced
	}
	if _, err := f.store.MoveReview(ctx, r.ID,
		record.Move{From: at, State: record.MoveGone, When: f.store.EventTime()}); err != nil {
		return err
	}
	f.done.Gone++
	note := goneNote + ": " + record.NoBranch + " has commit " + at.Short()
	switch r.Status {
	case record.ReviewOpen:
		review, err := f.store.Review(ctx, r.ID)
		if err != nil || f.store.HasDraft(review) { // keep a request that has a draft
			return err
		}
		_, err = f.store.CancelReview(ctx, r.ID, record.Itself, note)
		return err
	case record.ReviewSubmitted:
		_, err := f.store.ResolveReview(ctx, r.ID, record.Hold{Actor: record.Itself}, note)
		return err
	}
	return nil
}

// revived reopens a review that letGo closed in the moment between a rewrite and git's report of it.
func (f *follower) revived(ctx context.Context, r record.ReviewSummary) (record.ReviewSummary, error) {
	if !isGone(r) || !f.store.Repo.Owns(r.Writer) || f.told[r.Moves[len(r.Moves)-1].From] == "" {
		return r, nil
	}
	review, err := f.store.Review(ctx, r.ID)
	if err != nil || review.ClosedAt.IsZero() || !strings.HasPrefix(review.Note, goneNote) {
		return r, err
	}
	if review, err = f.store.ReopenReview(ctx, r.ID, record.Itself); err != nil {
		return r, err
	}
	now := review.Summary()
	now.Moves = now.Moves[:len(now.Moves)-1] // it is not gone
	return now, nil
}

// back undoes letGo when the commit is on a branch again.
func (f *follower) back(ctx context.Context, r record.ReviewSummary, at gitstore.ID) error {
	here, err := f.store.Repo.LogOnly(ctx, []gitstore.ID{at})
	if err != nil || len(here) == 0 {
		return err
	}
	review, err := f.store.Review(ctx, r.ID)
	if err != nil {
		return err
	}
	m := record.Move{From: at, To: at, Base: r.Base, State: record.MoveCarried, When: here[0].When}
	m.Unseen = f.unseenNow(ctx, review, m)
	review, err = f.store.MoveReview(ctx, r.ID, m)
	if err != nil || review.ResolvedBy != record.Itself || !strings.HasPrefix(review.Note, goneNote) {
		return err
	}
	_, err = f.store.ReopenReview(ctx, r.ID, record.Itself)
	return err
}
