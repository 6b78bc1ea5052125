package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
)

// EventsAbout returns the events about commit, in order, as record.EventsOfCommit selects them, and what cannot be read
// of any log. The index limits the search to the runs and reviews that name the commit.
func (s *Store) EventsAbout(ctx context.Context,
	commit gitstore.ID) (about []record.Event, unreadable []error, err error) {
	err = s.withIndex(ctx, func(idx *index) error {
		all, err := s.naming(ctx, idx, map[string]bool{string(commit): true})
		if err != nil {
			return err
		}
		if from := record.Predecessors(all, commit); len(from) > 0 {
			if all, err = s.naming(ctx, idx, idTexts(append(from, commit))); err != nil {
				return err
			}
		}
		about = record.EventsOfCommit(all, commit)
		unreadable = idx.unreadable()
		return nil
	})
	return about, unreadable, err
}

// idTexts returns ids as a set.
func idTexts(ids []gitstore.ID) map[string]bool {
	return each.SetOf(ids, func(id gitstore.ID) string { return string(id) })
}

// naming returns the events of the runs and reviews that name one of ids, in order.
func (s *Store) naming(ctx context.Context, idx *index, ids map[string]bool) ([]record.Event, error) {
	entries, err := idx.marked(ids, nil, kindReview, kindRun)
	if err != nil {
		return nil, err
	}
	return s.eventsOfRows(ctx, idx, rowsOf(entries))
}

// Events are read one by one if there are at most eachAlone, or at most one in alonePartOf of all. Otherwise all logs
// are read in one pass, which costs less per event.
const (
	eachAlone   = 500
	alonePartOf = 8
)

// eventsOfRows returns the events of the given runs and reviews, in order, each once.
func (s *Store) eventsOfRows(ctx context.Context, idx *index, rows []row) (all []record.Event, err error) {
	among, n := map[entity]bool{}, 0
	for _, r := range rows {
		among[r.entity] = true
		n += r.events
	}
	if n > max(eachAlone, idx.manifest.Events/alonePartOf) {
		return s.eventsAmong(ctx, idx, among)
	}
	for of := range among {
		events, err := s.readRow(ctx, idx, of)
		if err != nil {
			return nil, err
		}
		all = append(all, events...)
	}
	record.Sort(all)
	return slices.CompactFunc(all, func(a, b record.Event) bool { return a.ID == b.ID }), nil
}

// RunsAbout returns the runs that name one of the commits, work on something with one of the names, or have one of the
// ids, in the order in which they began, and what cannot be read of any log.
func (s *Store) RunsAbout(ctx context.Context, commits []gitstore.ID,
	names, ids []string) (runs []record.Run, unreadable []error, err error) {
	err = s.withIndex(ctx, func(idx *index) error {
		named := idTexts(commits)
		maps.Copy(named, each.Set(ids))
		entries, err := idx.marked(named, names, kindRun)
		if err != nil {
			return err
		}
		rows := slices.DeleteFunc(rowsOf(entries), func(r row) bool { return !r.begun() })
		slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.seq, b.seq), strings.Compare(a.id, b.id)) })
		runs = nil
		for i := range rows {
			st, err := s.stateOf(ctx, idx, &rows[i])
			if err != nil {
				return err
			}
			runs = append(runs, st.run)
		}
		unreadable = idx.unreadable()
		return nil
	})
	for i := range runs {
		if err == nil {
			runs[i], err = s.shownRun(ctx, runs[i])
		}
	}
	return runs, unreadable, err
}

// EventsOf returns the events of all runs and reviews that match f, in order, and the ids of these.
func (s *Store) EventsOf(ctx context.Context, f Filter) (events []record.Event, ids map[string]bool, err error) {
	err = s.withIndex(ctx, func(idx *index) error {
		ids = map[string]bool{}
		var rows []row
		for _, kind := range []entityKind{kindRun, kindReview} {
			err := f.visit(idx, kind, func(r *row) error {
				r.name()
				rows, ids[r.id] = append(rows, *r), true
				return nil
			})
			if err != nil {
				return err
			}
		}
		events, err = s.eventsOfRows(ctx, idx, rows)
		return err
	})
	return events, ids, err
}

// eventsAmong reads all logs and returns the events of the given runs and reviews, in order.
func (s *Store) eventsAmong(ctx context.Context, idx *index, among map[entity]bool) (events []record.Event, err error) {
	scratch := scratchIndex()
	err = s.eachNew(ctx, scratch, idx.Tips, func() func(record.Event) {
		events = nil
		return func(e record.Event) {
			if e = scratch.placed(e); among[entity{kindRun, e.Run}] || among[entity{kindReview, e.Review}] {
				events = append(events, e)
			}
		}
	})
	record.Sort(events)
	return slices.DeleteFunc(events, idx.isAhead), err
}
