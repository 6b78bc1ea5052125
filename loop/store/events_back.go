package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

const (
	newestReads = 5000 // up to how many events are read one by one: of more, all are read faster
	newestSpare = 256  // records that may say nothing, on the way
)

// Newest are the last n of Events, in order. Those before them are not read, nor is it
// said what cannot be read there, unless something on the way cannot be had, or stands in
// its log where its clock does not put it: then all are read. A log whose clocks do not
// rise, as none does that we write, is noticed where it is read.
func (s *Store) Newest(ctx context.Context, n int) (events []record.Event, unreadable []error, err error) {
	tips, err := s.tips(ctx)
	if err != nil {
		return nil, nil, err
	}
	if n <= newestReads && !s.Repo.SHA256() { // where each record would be a process
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

// errWhole is logs that cannot be read from their ends alone.
var errWhole = errors.New("not in the order of the clocks")

// backward reads logs from their ends.
type backward struct {
	store *Store
	reads int       // that are left
	ends  []*logEnd // of the logs that have not ended, in the order of events
	bad   []badRecord
}

// logEnd is the newest event of a log that was not given yet, and the record before it.
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

// read goes back from a record to the first that is an event, whose clock is to be below
// another one.
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
		if event.Clock >= below { // it may not be believed, or time decides, or others of its log come after it
			return errWhole
		}
		at, _ := slices.BinarySearchFunc(b.ends, event, func(end *logEnd, e record.Event) int { return end.event.Compare(e) })
		b.ends = slices.Insert(b.ends, at, &logEnd{event, entry.Parent})
		return nil
	}
	return nil
}

// unreadable tells of the records that say nothing, which were met.
func (b *backward) unreadable() (errs []error) {
	for _, bad := range b.bad {
		errs = append(errs, bad.err)
		if b.store.Warn != nil {
			b.store.Warn(bad.id, bad.err.Error())
		}
	}
	return errs
}
