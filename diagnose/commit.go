package diagnose

import (
	"context"
	"errors"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// About is what is known about a run, a review or a commit: the first of these that exists.
type About struct {
	Runs   []record.Run   // newest first; for a commit the stopped ones, or all if no review is open
	Review *record.Review // for a commit, an open review
	Note   string         // the commit's note, if this clone has nothing that it names
	Commit gitstore.ID    // the commit, if one was named
}

// Named finds what is known about the run, review or commit that what names. record.Latest names the newest run, or the
// newest review if there is no run. A review leads to the newest run that was started from it. The error is a
// *record.NotFoundError if what names nothing here.
func Named(ctx context.Context, store *store.Store, what string) (about About, err error) {
	run, noRun := store.RunByID(ctx, what)
	if noRun == nil {
		return About{Runs: []record.Run{run}}, nil
	}
	if !record.Unknown(noRun) {
		return about, noRun
	}
	review, err := store.ReviewByID(ctx, what)
	if err == nil {
		return ofReview(ctx, store, review)
	}
	if !record.Unknown(err) {
		return about, err
	}
	if what == record.Latest {
		return about, noRun
	}
	commit, failed := store.CommitNamed(ctx, what)
	if failed != nil {
		return about, err
	}
	if about, err = OfCommit(ctx, store, commit); err == nil && about.Review != nil {
		about, err = ofReview(ctx, store, *about.Review)
	}
	about.Commit = commit
	return about, err
}

func ofReview(ctx context.Context, store *store.Store, review record.Review) (About, error) {
	events, err := store.ReviewEvents(ctx, review.ID)
	for _, e := range slices.Backward(events) {
		if err == nil && e.Run != "" {
			run, err := store.RunByID(ctx, e.Run)
			return About{Runs: []record.Run{run}}, err
		}
	}
	return About{Review: &review}, err
}

// OfCommit finds what is known about a commit, by the events about it or else by its note.
func OfCommit(ctx context.Context, store *store.Store, commit gitstore.ID) (about About, err error) {
	events, _, err := store.EventsAbout(ctx, commit)
	if err != nil {
		return about, err
	}
	var ids, reviews []string
	for _, e := range slices.Backward(events) {
		if e.Run != "" {
			ids = each.Once(ids, e.Run)
		}
		if e.Review != "" {
			reviews = append(reviews, e.Review)
		}
	}
	runs, err := knownRuns(ctx, store, ids)
	if err != nil {
		return about, err
	}
	about.Runs = each.Where(runs, func(run record.Run) bool { return run.Stop != nil })
	if len(about.Runs) > 0 {
		return about, nil
	}
	here := false
	for _, id := range reviews {
		review, err := store.ReviewByID(ctx, id)
		if here = here || err == nil; err == nil && Asks(review) {
			return About{Review: &review}, nil
		}
	}
	if about.Runs = runs; len(runs) == 0 && !here {
		about.Note, err = store.Note(ctx, commit)
	}
	return about, err
}

// knownRuns returns the runs among ids that are in this clone.
func knownRuns(ctx context.Context, store *store.Store, ids []string) (known []record.Run, err error) {
	for _, id := range ids {
		run, err := store.RunByID(ctx, id)
		switch {
		case errors.Is(err, gitstore.ErrNotFound) || err == nil && run.ID != id: // its start has not arrived
		case err != nil:
			return nil, err
		default:
			known = append(known, run)
		}
	}
	return known, nil
}
