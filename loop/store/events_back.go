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
