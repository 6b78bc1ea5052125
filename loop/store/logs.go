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
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
)

// tellTakenUp prints what was repaired in this clone's own log.
func (s *Store) tellTakenUp(done gitstore.TakenUp) {
	switch {
	case done.Missing && done.To == "":
		s.tell("Nothing is left of the log of this clone: object %s is missing. git runr sync fetches what the remote has.",
			done.From)
	case done.Missing:
		s.tell("The newest event of this clone, %s, is missing: its log now ends at %s. git runr sync fetches what the "+
			"remote has.", done.From, done.To.Short())
	case done.Moved:
		s.tell("The log of this clone had been moved to %s: its own events up to %s are taken up again.",
			cmp.Or(done.From.Short(), "nothing"), done.To.Short())
	case done.Entries > 0:
		s.tell("%s of this clone had been deleted, by git gc or prune, and written again.",
			prose.Count(done.Entries, "event"))
	}
}

// tips returns the tips of all logs, after this clone's own log was repaired if it was not as its writer left it.
func (s *Store) tips(ctx context.Context) (gitstore.Tips, error) {
	tips, done, err := s.Repo.SoundTips(ctx, record.IsEntry)
	s.tellTakenUp(done)
	if err != nil {
		return nil, fmt.Errorf("list logs: %w", err)
	}
	return tips, nil
}

// errAfresh means that a log does not continue from where it was read, or is damaged there. The reader has to start
// from nothing.
var errAfresh = errors.New("read the logs afresh")

// newEvents reads the events beyond the tips that idx has read, and notes in idx what cannot be read.
func (s *Store) newEvents(ctx context.Context, idx *index, tips gitstore.Tips) (fresh []record.Event, err error) {
	err = s.eachNew(ctx, idx, tips, func() func(record.Event) {
		fresh = nil
		return func(e record.Event) { fresh = append(fresh, idx.placed(e)) }
	})
	return fresh, err
}

// eachNew visits the events that newEvents returns. Their order is undefined, except that events of one log with clocks
// beyond LateClock come oldest first. begin returns the visitor. It is called again if the logs have to be read one by
// one; what was visited before then does not count.
func (s *Store) eachNew(ctx context.Context, idx *index, tips gitstore.Tips, begin func() func(record.Event)) error {
	return s.eachRecord(ctx, idx, tips, func() (func(record.Event), func(gitstore.Entry)) {
		return begin(), func(gitstore.Entry) {}
	})
}

// eachRecord is eachNew which also visits all records, including unreadable ones.
func (s *Store) eachRecord(ctx context.Context, idx *index, tips gitstore.Tips,
	begin func() (func(record.Event), func(gitstore.Entry))) error {
	for writer := range idx.Tips {
		if _, still := tips[writer]; !still {
			return fmt.Errorf("%w: log of %s", errAfresh, writer)
		}
	}
	bad, late := len(idx.Bad), map[string][]record.Event{}
	visit, entryOf := begin()
	err := s.Repo.WalkAll(ctx, tips, idx.Tips, func(entry gitstore.Entry) error {
		entryOf(entry)
		if e, ok := s.decode(idx, entry); ok && e.Clock > record.LateClock {
			late[e.Writer] = append(late[e.Writer], e)
		} else if ok {
			visit(e)
		}
		return nil
	})
	if errors.Is(err, gitstore.ErrNotFound) || errors.Is(err, gitstore.ErrCorrupt) ||
		errors.Is(err, gitstore.ErrEntangled) {
		idx.Bad = idx.Bad[:bad]
		visit, entryOf = begin()
		return s.eachNewByLog(ctx, idx, tips, visit, entryOf)
	}
	if err != nil {
		return fmt.Errorf("read logs: %w", err)
	}
	for _, writer := range slices.Sorted(maps.Keys(late)) {
		for _, e := range slices.Backward(late[writer]) {
			visit(e)
		}
	}
	return nil
}

// eachNewByLog reads one log after the other, each from its beginning to its end, and of a damaged log what is left.
func (s *Store) eachNewByLog(ctx context.Context, idx *index, tips gitstore.Tips, visit func(record.Event),
	record func(gitstore.Entry)) error {
	for _, writer := range slices.Sorted(maps.Keys(tips)) {
		if idx.Tips[writer] == tips[writer] {
			continue
		}
		err := s.readLog(ctx, idx, writer, tips[writer], func(entry gitstore.Entry) {
			record(entry)
			if e, ok := s.decode(idx, entry); ok {
				visit(e)
			}
		})
		if err != nil {
			return fmt.Errorf("read log of %s: %w", writer, err)
		}
	}
	return nil
}

// event decodes an event and counts the read.
func (s *Store) event(entry gitstore.Entry) (record.Event, error) {
	if s.Reads != nil {
		s.Reads.Events.Add(1)
	}
	return record.DecodeEvent(entry)
}

// decode decodes the event of a record; an unreadable record is noted in idx and reported to Warn.
func (s *Store) decode(idx *index, entry gitstore.Entry) (record.Event, bool) {
	event, err := s.event(entry)
	if err == nil {
		return event, true
	}
	idx.Bad = append(idx.Bad, fmt.Sprintf("in the log of %s: %v", entry.Writer, err))
	if s.Warn != nil {
		s.Warn(entry.ID, err.Error())
	}
	return event, false
}

// readLog visits the records of one log beyond what idx has read. If records are lost or damaged it visits the rest and
// notes them in idx.
func (s *Store) readLog(ctx context.Context, idx *index, writer string, tip gitstore.ID,
	visit func(gitstore.Entry)) error {
	known, visited := idx.Tips[writer], gitstore.ID("")
	took := func(entry gitstore.Entry) error { visited = entry.ID; visit(entry); return nil }
	err := s.Repo.Walk(ctx, writer, tip, known, took)
	switch {
	case err == nil || known == "" && !errors.Is(err, gitstore.ErrCorrupt):
		return err
	case known != "" && (errors.Is(err, gitstore.ErrCorrupt) || errors.Is(err, gitstore.ErrNotFound)):
		return fmt.Errorf("%w: %w", errAfresh, err)
	case known != "":
		return err
	}
	var left []gitstore.Entry
	damaged, err := s.Repo.Salvage(ctx, writer, tip, record.IsEntry, func(entry gitstore.Entry) error {
		left = append(left, entry)
		return nil
	})
	for _, d := range damaged {
		idx.damage(d)
	}
	done := slices.IndexFunc(left, func(entry gitstore.Entry) bool { return entry.ID == visited })
	for _, entry := range left[done+1:] {
		visit(entry)
	}
	return err
}

// readRow reads the events of a run or review, in order, and notes lost ones in idx.
func (s *Store) readRow(ctx context.Context, idx *index, of entity) ([]record.Event, error) {
	refs, err := idx.refs(of, 0)
	if err != nil {
		return nil, err
	}
	events, lost, err := s.readRefs(ctx, refs)
	for _, d := range lost {
		idx.damage(d)
	}
	record.Sort(events)
	return events, err
}

// readRefs reads events, and returns those that are missing or damaged as lost.
func (s *Store) readRefs(ctx context.Context,
	refs []eventRef) (events []record.Event, lost []*gitstore.DamagedError, err error) {
	events = make([]record.Event, 0, len(refs))
	for _, ref := range refs {
		entry, err := s.Repo.Entry(ctx, ref.ID)
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if err != nil {
			lost = append(lost, &gitstore.DamagedError{Writer: ref.Writer, ID: ref.ID, Err: err})
			continue
		}
		entry.Writer = ref.Writer
		event, err := s.event(entry)
		if err != nil {
			return nil, nil, err
		}
		event.Late = ref.Late
		events = append(events, event)
	}
	return events, lost, nil
}

// Check reads every record of every log with its attachments, and returns the number of events and what cannot be
// read. It notes missing or damaged records for sync, which requests them. With rebuild it also rebuilds the cache
// and the notes.
func (s *Store) Check(ctx context.Context, rebuild bool) (events int, unreadable []error, err error) {
	tips, err := s.tips(ctx)
	if err != nil {
		return 0, nil, err
	}
	idx := openIndex(s.indexPath()).afresh()
	defer func() { idx.close() }()
	attached := attachments{}
	b := &build{store: s, idx: idx, groups: groups{count: !rebuild}}
	defer func() { b.groups.Close() }()
	err = s.eachRecord(ctx, idx, tips, func() (func(record.Event), func(gitstore.Entry)) {
		b.groups.Close()
		clear(attached)
		b.groups, b.high = groups{count: !rebuild}, nil
		return b.add, attached.add
	})
	if err != nil {
		return 0, nil, err
	}
	if err := attached.check(ctx, s, idx); err != nil {
		return 0, nil, err
	}
	if err := b.finish(ctx); err != nil {
		return 0, nil, err
	}
	events, unreadable = idx.Events, idx.unreadable()
	if !rebuild {
		return events, unreadable, s.noteDamage(ctx, tips, idx.Damaged)
	}
	idx.Tips = maps.Clone(tips)
	return events, unreadable, errors.Join(idx.save(s), s.project(ctx, true))
}

// Rebuild rebuilds the cache and the notes from the logs.
func (s *Store) Rebuild(ctx context.Context) error {
	_, _, err := s.Check(ctx, true)
	return err
}

// attachments holds, for each log, one record per attachment tree.
type attachments map[string]map[gitstore.ID]gitstore.Entry

func (a attachments) add(entry gitstore.Entry) {
	if a[entry.Writer] == nil {
		a[entry.Writer] = map[gitstore.ID]gitstore.Entry{}
	}
	a[entry.Writer][entry.Tree] = gitstore.Entry{ID: entry.ID, Writer: entry.Writer, Tree: entry.Tree}
}

// check reads the attachments and adds missing or damaged ones to idx. It checks all logs together, and each log by
// itself only if something is wrong.
func (a attachments) check(ctx context.Context, s *Store, idx *index) error {
	var all []gitstore.Entry
	for _, of := range a {
		all = slices.AppendSeq(all, maps.Values(of))
	}
	if damaged, err := s.Repo.CheckAttachments(ctx, all); err != nil || len(damaged) == 0 {
		return err
	}
	for _, writer := range slices.Sorted(maps.Keys(a)) {
		entries := slices.SortedFunc(maps.Values(a[writer]), func(x, y gitstore.Entry) int {
			return strings.Compare(string(x.ID), string(y.ID))
		})
		damaged, err := s.Repo.CheckAttachments(ctx, entries)
		if err != nil {
			return fmt.Errorf("check log of %s: %w", writer, err)
		}
		for _, d := range damaged {
			idx.damage(d)
		}
	}
	return nil
}

// noteDamage saves in the cache the damage that a full check has found.
func (s *Store) noteDamage(ctx context.Context, tips gitstore.Tips, damaged []damagedRecord) error {
	idx, err := s.indexAt(ctx, tips)
	if err != nil {
		return err
	}
	defer idx.close()
	if !slices.Equal(idx.Damaged, damaged) {
		idx.Damaged = damaged
		_ = idx.save(s)
	}
	return nil
}
