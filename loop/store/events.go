package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
)

// Events returns all events of all logs in order, and what could not be read. It holds all of them in memory; other
// methods return a part.
func (s *Store) Events(ctx context.Context) ([]record.Event, []error, error) {
	tips, err := s.tips(ctx)
	if err != nil {
		return nil, nil, err
	}
	scratch := scratchIndex()
	events, err := s.newEvents(ctx, scratch, tips)
	if err != nil {
		return nil, nil, err
	}
	events = scratch.believe(events)
	return events, scratch.unreadable(), nil
}

// EachEvent visits all events of all logs in order, without redacted texts, and returns what could not be read.
func (s *Store) EachEvent(ctx context.Context, show func(record.Event) error) (unreadable []error, err error) {
	events, unreadable, err := s.Events(ctx)
	if err == nil {
		events, err = s.WithoutRedacted(ctx, events)
	}
	for _, e := range events {
		if err == nil {
			err = show(e)
		}
	}
	return unreadable, err
}

// CountEvents returns the number of events, and what cannot be read, from the index.
func (s *Store) CountEvents(ctx context.Context) (events int, unreadable []error, err error) {
	idx, err := s.index(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer idx.close()
	return idx.manifest.Events, idx.unreadable(), nil
}

// Damaged reports whether a log is known to be damaged or incomplete in this clone.
func (s *Store) Damaged(ctx context.Context) bool {
	for _, d := range readManifest(s.indexPath()).Damaged {
		s.Repo.ReportDamage(d.Entry)
	}
	return s.Repo.Damaged(ctx)
}

// EventsSince returns the events beyond the tips since, in order, and the present tips. It reads nothing if no log
// moved. If a log was replaced it returns all events, including those returned before.
func (s *Store) EventsSince(ctx context.Context, since gitstore.Tips) ([]record.Event, gitstore.Tips, error) {
	tips, err := s.Repo.Tips(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list logs: %w", err)
	}
	if since != nil && maps.Equal(tips, since) {
		return nil, tips, nil
	}
	cache, err := s.indexAt(ctx, tips) // the index knows which clocks are believed
	if err != nil {
		return nil, nil, err
	}
	defer cache.close()
	events, err := s.newEvents(ctx, &index{manifest: manifest{Tips: since}}, tips)
	if errors.Is(err, errAfresh) {
		events, err = s.newEvents(ctx, scratchIndex(), tips)
	}
	record.Sort(events)
	return slices.DeleteFunc(events, cache.isAhead), tips, err
}

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

const (
	newestReads = 5000 // maximum number of events to read one by one; for more, reading all logs is faster
	newestSpare = 256  // extra reads allowed for unreadable records
)

// Newest returns the last n events, in order. It reads the logs backwards from their ends, and reports only what it
// cannot read on the way. If a record is missing, or is not where its clock puts it in its log, it reads all logs. It
// notices clocks that do not rise within a log, which we never write, only in the part that it reads.
func (s *Store) Newest(ctx context.Context, n int) (events []record.Event, unreadable []error, err error) {
	tips, err := s.tips(ctx)
	if err != nil {
		return nil, nil, err
	}
	if n <= newestReads && !s.Repo.SHA256() { // with SHA-256 each read would start a process
		b := backward{store: s, reads: len(tips) + n + newestSpare}
		events, err := b.newest(ctx, tips, n)
		if err == nil {
			return events, b.unreadable(), nil
		}
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
	}
	events, unreadable, err = s.Events(ctx)
	return events[max(0, len(events)-n):], unreadable, err
}

// errWhole means that the ends of the logs alone are not enough.
var errWhole = errors.New("not in the order of the clocks")

// backward reads logs from their ends.
type backward struct {
	store *Store
	reads int       // how many reads are left
	ends  []*logEnd // ends of the logs that are not exhausted, in the order of events
	bad   []badRecord
}

// logEnd is the newest event of a log that was not returned yet, and its parent record.
type logEnd struct {
	event  record.Event
	parent gitstore.ID
}

type badRecord struct {
	id  gitstore.ID
	err error
}

func (b *backward) newest(ctx context.Context, tips gitstore.Tips, n int) (events []record.Event, err error) {
	for _, writer := range slices.Sorted(maps.Keys(tips)) {
		if err := b.read(ctx, writer, tips[writer], record.LateClock+1); err != nil {
			return nil, err
		}
	}
	for len(events) < n && len(b.ends) > 0 {
		last := len(b.ends) - 1
		end := b.ends[last]
		b.ends = b.ends[:last]
		events = append(events, end.event)
		if err := b.read(ctx, end.event.Writer, end.parent, end.event.Clock); err != nil {
			return nil, err
		}
	}
	slices.Reverse(events)
	return events, nil
}

// read goes back from record id to the first that is an event, and adds it to the ends. It returns errWhole if the
// event's clock is not less than below.
func (b *backward) read(ctx context.Context, writer string, id gitstore.ID, below uint64) error {
	for id != "" {
		if b.reads--; b.reads < 0 {
			return errWhole
		}
		entry, err := b.store.Repo.Entry(ctx, id)
		if err != nil {
			return fmt.Errorf("read log of %s: %w", writer, err)
		}
		entry.Writer = writer
		event, err := b.store.event(entry)
		if err != nil {
			b.bad = append(b.bad, badRecord{id, err})
			id = entry.Parent
			continue
		}
		if event.Clock >= below { // it may not be believed, or time decides the order, or later events of its log precede it
			return errWhole
		}
		at, _ := slices.BinarySearchFunc(b.ends, event, func(end *logEnd, e record.Event) int { return end.event.Compare(e) })
		b.ends = slices.Insert(b.ends, at, &logEnd{event, entry.Parent})
		return nil
	}
	return nil
}

// unreadable returns the errors of the unreadable records found, and reports them to Warn.
func (b *backward) unreadable() (errs []error) {
	for _, bad := range b.bad {
		errs = append(errs, bad.err)
		if b.store.Warn != nil {
			b.store.Warn(bad.id, bad.err.Error())
		}
	}
	return errs
}
