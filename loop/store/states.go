package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/git-runr/git-runr/loop/record"
)

// begun returns the row of a run or review, or a *NotFoundError if its beginning is not here.
func (idx *index) begun(of entity) (*row, error) {
	r, err := idx.find(of)
	if err != nil || r != nil && r.begun() {
		return r, err
	}
	return r, notFound(of.kind, of.id)
}

// told runs read and reports the records that it found lost.
func (s *Store) told(idx *index, read func() error) error {
	known := len(idx.Damaged)
	err := read()
	s.tellDamage(idx.Damaged[known:])
	return err
}

func notFound(kind entityKind, id string) *record.NotFoundError {
	return &record.NotFoundError{What: kind.String(), ID: id}
}

// Review returns the review that typed names: by its id, a unique prefix or the end of one, "latest", or a commit or
// branch under review. If several fit a commit, the one that waits for somebody is preferred.
func (s *Store) Review(ctx context.Context, typed string) (record.Review, error) {
	st, err := s.named(ctx, kindReview, typed)
	return s.seen(st.review), s.orInstead(ctx, err, kindRun, typed)
}

// Run returns the run that typed names, as for Review; a commit names the run with that result or landing.
func (s *Store) Run(ctx context.Context, typed string) (record.Run, error) {
	st, err := s.named(ctx, kindRun, typed)
	if err != nil {
		return st.run, s.orInstead(ctx, err, kindReview, typed)
	}
	return s.shownRun(ctx, st.run)
}

// orInstead returns err, the result of looking for typed, or that typed names something of another kind.
func (s *Store) orInstead(ctx context.Context, err error, other entityKind, typed string) error {
	missing := new(record.NotFoundError)
	if !errors.As(err, &missing) || len(missing.Among) > 0 || typed == record.Latest {
		return err
	}
	if st, otherErr := s.entityState(ctx, other, typed); otherErr == nil {
		id := cmp.Or(st.run.ID, st.review.ID)
		return &record.NotFoundError{What: missing.What, ID: id, Instead: other.String()}
	}
	return err
}

// ReviewByID is Review without commits and branches.
func (s *Store) ReviewByID(ctx context.Context, id string) (record.Review, error) {
	st, err := s.entityState(ctx, kindReview, id)
	return s.seen(st.review), err
}

// RunByID is Run without commits and branches.
func (s *Store) RunByID(ctx context.Context, id string) (record.Run, error) {
	st, err := s.entityState(ctx, kindRun, id)
	if err != nil {
		return st.run, err
	}
	return s.shownRun(ctx, st.run)
}

// ofTyped calls read with the index and the row of the run or review that typed names.
func (s *Store) ofTyped(ctx context.Context, kind entityKind, typed string, read func(*index, *row) error) error {
	return s.withIndex(ctx, func(idx *index) error {
		id, err := s.resolve(ctx, idx, kind, typed)
		if err != nil {
			return err
		}
		r, err := idx.begun(entity{kind, id})
		if err != nil {
			return err
		}
		return s.told(idx, func() error { return read(idx, r) })
	})
}

func (s *Store) entityState(ctx context.Context, kind entityKind, typed string) (st state, err error) {
	err = s.ofTyped(ctx, kind, typed, func(idx *index, r *row) (err error) {
		st, err = s.stateOf(ctx, idx, r)
		return err
	})
	return st, err
}

func (s *Store) entityEvents(ctx context.Context, kind entityKind, typed string) (events []record.Event, err error) {
	err = s.ofTyped(ctx, kind, typed, func(idx *index, r *row) (err error) {
		events, err = s.readRow(ctx, idx, r.entity)
		return err
	})
	return events, err
}

// RunEvents returns the events of one run in order, without redacted texts.
func (s *Store) RunEvents(ctx context.Context, id string) ([]record.Event, error) {
	events, err := s.entityEvents(ctx, kindRun, id)
	if err != nil || !slices.ContainsFunc(events, func(e record.Event) bool { return e.Review != "" }) {
		return events, err
	}
	return s.WithoutRedacted(ctx, events)
}

// ReviewEvents returns the events of one review in order, without redacted texts.
func (s *Store) ReviewEvents(ctx context.Context, id string) ([]record.Event, error) {
	events, err := s.entityEvents(ctx, kindReview, id)
	redacted := func(e record.Event) bool { return e.Type == record.EventReviewRedacted.Name }
	if err != nil || !slices.ContainsFunc(events, redacted) {
		return events, err
	}
	return s.WithoutRedacted(ctx, events)
}
