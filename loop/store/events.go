package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/spill"
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

// EachEvent visits all events of all logs in order, without redacted texts, and returns what could not be read. It
// holds only a part of them in memory at a time.
func (s *Store) EachEvent(ctx context.Context, show func(record.Event) error) (unreadable []error, err error) {
	ws, err := s.withdrawals(ctx, nil)
	if err != nil {
		return nil, err
	}
	visit := func(e record.Event) error {
		for _, w := range ws {
			e = w.Event(e)
		}
		return show(e)
	}
	tips, err := s.tips(ctx)
	if err != nil {
		return nil, err
	}
	// highest clock so far; if it grew, only the last part becomes larger
	highest := max(readManifest(s.indexPath()).Clock, 1<<20)
	scratch, width := scratchIndex(), min(highest, record.LateClock)/spill.Count+1
	var parts groups        // each holds the events of a range of clocks
	var late []record.Event // events with clocks beyond all parts
	defer func() { parts.Close() }()
	err = s.eachNew(ctx, scratch, tips, func() func(record.Event) {
		parts.Close()
		parts, late = groups{}, nil
		return func(e record.Event) {
			if e.Clock > record.LateClock {
				late = append(late, scratch.placed(e))
				return
			}
			scratch.Clock = max(scratch.Clock, e.Clock)
			parts.put(int(min(e.Clock/width, spill.Count-1)), entity{}, e)
		}
	})
	if err != nil {
		return scratch.unreadable(), err
	}
	for number := range spill.Count {
		if err := parts.visit(number, func(_ entity, events []record.Event) error {
			record.Sort(events)
			return eachOf(events, visit)
		}); err != nil {
			return scratch.unreadable(), err
		}
	}
	err = eachOf(scratch.believe(late), visit)
	return scratch.unreadable(), err
}

func eachOf(events []record.Event, visit func(record.Event) error) error {
	for _, e := range events {
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
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
