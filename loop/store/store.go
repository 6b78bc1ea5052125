package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/change"
	"github.com/git-runr/git-runr/loop/internal/segment"
	"github.com/git-runr/git-runr/loop/internal/spill"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
)

// Reads counts what a Store reads to answer: a test holds that it does not grow with what is there.
type Reads struct {
	segment.Reads              // of the index
	Events        atomic.Int64 // that were decoded
}

// Store is the runs and reviews of a repository: events appended to this clone's
// log, and state folded from the logs of all.
type Store struct {
	change.Source
	Redact func(string) string              // takes secrets out of free text; nil: text is stored as it is
	Warn   func(id gitstore.ID, why string) // hears of records that say nothing that can be read; nil: they are only counted
	Tell   func(line string)                // hears of records that are lost or damaged, and of what was put right; nil: nobody does
	Reads  *Reads                           // is told what is read; nil: nobody counts

	kept  atomic.Pointer[index] // that was read last, and is nobody's; nil for none
	steps atomic.Int32          // of several events each, that are being taken

	masked atomic.Pointer[strings.Replacer] // see Mask
}

func (s *Store) redacts() bool { return s.Redact != nil || s.masked.Load() != nil }

// Mask has texts redacted from now on wherever they would stand in a record: they were copied out of the user's files.
func (s *Store) Mask(texts []string) {
	if len(texts) == 0 {
		return
	}
	pairs := []string{}
	for _, text := range slices.SortedFunc(slices.Values(texts), func(a, b string) int { return len(b) - len(a) }) {
		pairs = append(pairs, text, "[redacted:copied]")
	}
	s.masked.Store(strings.NewReplacer(pairs...))
}

// NewStore is the store of a repository.
func NewStore(repo *gitstore.Repo, now func() time.Time) *Store {
	return &Store{Source: change.Source{Repo: repo, Now: now}}
}

// EventTime is now as events have it: in UTC and whole milliseconds.
func (s *Store) EventTime() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// retryIndex runs read once more, without the cache, when the cache was damaged.
func (s *Store) retryIndex(read func() error) error {
	err := read()
	if errors.Is(err, errIndex) {
		s.dropKept()
		_ = os.Remove(s.indexPath()) // when it cannot be removed, the next try says so
		err = read()
	}
	return err
}

// cached is the index as it is.
func (s *Store) cached() *index {
	idx := openIndex(s.indexPath())
	if s.Reads != nil {
		idx.stack.Count(&s.Reads.Reads)
	}
	return idx
}

// takeKept is the index that was read last, if that is of tips, what is cached is still what it was read
// from, and nobody else has it; else nil.
func (s *Store) takeKept(tips gitstore.Tips) *index {
	idx := s.kept.Swap(nil)
	if idx == nil {
		return nil
	}
	if info, err := os.Stat(s.indexPath()); err == nil && sameFile(info, idx.info) && maps.Equal(idx.Tips, tips) {
		return idx
	}
	idx.stack.Close()
	return nil
}

func (s *Store) dropKept() {
	if idx := s.kept.Swap(nil); idx != nil {
		idx.stack.Close()
	}
}

// sameFile reports whether nobody has replaced or changed a file between two looks.
func sameFile(a, b os.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

func (s *Store) indexPath() string { return filepath.Join(s.Repo.StateDir(), "cache", indexName) }

// takeUp makes sure that this clone's own log is as its writer left it.
func (s *Store) takeUp(ctx context.Context) error {
	done, err := s.Repo.TakeUpLog(ctx, record.IsEntry)
	switch {
	case done.Missing && done.To == "":
		s.tell("Nothing is left of the log of this clone: object %s is missing. git runr sync fetches what the remote has.", done.From)
	case done.Missing:
		s.tell("The newest event of this clone, %s, is missing: its log now ends at %s. git runr sync fetches what the remote has.", done.From, done.To.Short())
	case done.Moved:
		s.tell("The log of this clone had been moved to %s: its own events up to %s are taken up again.", cmp.Or(done.From.Short(), "nothing"), done.To.Short())
	case done.Entries > 0:
		s.tell("%s of this clone had been deleted, by git gc or prune, and written again.", prose.Count(done.Entries, "event"))
	}
	return err
}

func (s *Store) tell(format string, args ...any) {
	if s.Tell != nil {
		s.Tell(fmt.Sprintf(format, args...))
	}
}

// tips are the ends of all logs, this clone's own as its writer left it.
func (s *Store) tips(ctx context.Context) (gitstore.Tips, error) {
	if err := s.takeUp(ctx); err != nil {
		return nil, err
	}
	tips, err := s.Repo.Tips(ctx)
	if err != nil {
		return nil, fmt.Errorf("list logs: %w", err)
	}
	return tips, nil
}

// index brings the cache up to the logs as they are now.
func (s *Store) index(ctx context.Context) (*index, error) {
	tips, err := s.tips(ctx)
	if err != nil {
		return nil, err
	}
	idx, err := s.indexAt(ctx, tips)
	if err == nil {
		s.tellDamage(idx.Damaged)
	}
	return idx, err
}

// Together begins a step of several events: until end is called the index is not saved after each of them.
func (s *Store) Together() (end func()) {
	s.steps.Add(1)
	return func() {
		if s.steps.Add(-1) > 0 {
			return
		}
		if idx := s.kept.Swap(nil); idx != nil {
			if idx.unsaved {
				_ = idx.save(s)
			}
			idx.close()
		}
	}
}

func (s *Store) indexAt(ctx context.Context, tips gitstore.Tips) (*index, error) {
	idx := s.takeKept(tips)
	if idx == nil {
		idx = s.cached()
		idx.store = s
	}
	if len(idx.Damaged) > 0 && s.Repo.AnyReadable(ctx, damagedIDs(idx.Damaged)) {
		idx = idx.afresh() // what was missing is back, and belongs in between
	}
	if maps.Equal(idx.Tips, tips) {
		return idx, nil
	}
	err := s.readOn(ctx, idx, tips)
	if errors.Is(err, errAfresh) || errors.Is(err, errIndex) {
		idx = idx.afresh()
		err = s.readOn(ctx, idx, tips)
	}
	if err != nil {
		idx.stack.Close()
		return nil, err
	}
	if idx.unsaved = true; s.steps.Load() == 0 {
		_ = idx.save(s) // only a cache: a read-only repository is still readable
	}
	return idx, nil
}

// readOn takes into idx what the logs hold beyond it.
func (s *Store) readOn(ctx context.Context, idx *index, tips gitstore.Tips) error {
	b := &build{store: s, idx: idx}
	defer func() { b.groups.Close() }()
	err := s.eachNew(ctx, idx, tips, func() func(record.Event) {
		b.groups.Close()
		b.groups, b.high = groups{}, nil
		return b.add
	})
	if err != nil {
		return err
	}
	ahead, _, err := s.readRefs(ctx, idx.Ahead)
	if err != nil {
		return err
	}
	b.high = append(b.high, ahead...)
	if err := b.finish(ctx); err != nil {
		return err
	}
	idx.Tips = maps.Clone(tips)
	return nil
}

// errAfresh is a log that does not go on where it was read to, or is damaged there: a
// reader starts from nothing.
var errAfresh = errors.New("read the logs afresh")

// newEvents reads what the logs hold beyond the tips that idx has read, and notes what
// cannot be read.
func (s *Store) newEvents(ctx context.Context, idx *index, tips gitstore.Tips) (fresh []record.Event, err error) {
	err = s.eachNew(ctx, idx, tips, func() func(record.Event) {
		fresh = nil
		return func(e record.Event) { fresh = append(fresh, idx.placed(e)) }
	})
	return fresh, err
}

// eachNew visits what newEvents gives, in no order but that those of one log whose clocks are
// beyond lateClock come oldest first. begin gives the visitor: again, when what was visited
// does not count, for the logs have to be read one by one.
func (s *Store) eachNew(ctx context.Context, idx *index, tips gitstore.Tips, begin func() func(record.Event)) error {
	return s.eachRecord(ctx, idx, tips, func() (func(record.Event), func(gitstore.Entry)) { return begin(), func(gitstore.Entry) {} })
}

// eachRecord is eachNew that visits all records as well, with those that say nothing.
func (s *Store) eachRecord(ctx context.Context, idx *index, tips gitstore.Tips, begin func() (func(record.Event), func(gitstore.Entry))) error {
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
	if err == nil {
		for _, writer := range slices.Sorted(maps.Keys(late)) {
			for _, e := range slices.Backward(late[writer]) {
				visit(e)
			}
		}
		return nil
	}
	if !errors.Is(err, gitstore.ErrNotFound) && !errors.Is(err, gitstore.ErrCorrupt) && !errors.Is(err, gitstore.ErrEntangled) {
		return fmt.Errorf("read logs: %w", err)
	}
	idx.Bad = idx.Bad[:bad]
	visit, entryOf = begin()
	return s.eachNewByLog(ctx, idx, tips, visit, entryOf)
}

// eachNewByLog reads one log after the other, each from its beginning to its end, and what is
// left of one that has lost something.
func (s *Store) eachNewByLog(ctx context.Context, idx *index, tips gitstore.Tips, visit func(record.Event), record func(gitstore.Entry)) error {
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

// event is DecodeEvent that is counted.
func (s *Store) event(entry gitstore.Entry) (record.Event, error) {
	if s.Reads != nil {
		s.Reads.Events.Add(1)
	}
	return record.DecodeEvent(entry)
}

// decode gives the event of a record; one that says nothing is noted.
func (s *Store) decode(idx *index, entry gitstore.Entry) (record.Event, bool) {
	event, err := s.event(entry)
	if err == nil {
		return event, true
	}
	idx.Bad = append(idx.Bad, err.Error())
	if s.Warn != nil {
		s.Warn(entry.ID, err.Error())
	}
	return event, false
}

// readLog visits the records of one log beyond what idx has read of it. Where records
// are lost or damaged it visits the rest, and notes them.
func (s *Store) readLog(ctx context.Context, idx *index, writer string, tip gitstore.ID, visit func(gitstore.Entry)) error {
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
	damaged, err := s.Repo.Salvage(ctx, writer, tip, record.IsEntry, func(entry gitstore.Entry) error { left = append(left, entry); return nil })
	for _, d := range damaged {
		idx.damage(d)
	}
	done := slices.IndexFunc(left, func(entry gitstore.Entry) bool { return entry.ID == visited })
	for _, entry := range left[done+1:] {
		visit(entry)
	}
	return err
}

// readRow reads the events of a run or review, in order, and notes those that are lost.
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

// readRefs reads events, and names those that are missing or damaged.
func (s *Store) readRefs(ctx context.Context, refs []eventRef) (events []record.Event, lost []*gitstore.DamagedError, err error) {
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

// begun is the row of a run or review; a *NotFoundError where its beginning is not here.
func (idx *index) begun(of entity) (*row, error) {
	r, err := idx.find(of)
	if err == nil && (r == nil || !r.begun()) {
		err = notFound(of.kind, of.id)
	}
	return r, err
}

// told runs read and names the records that it found lost.
func (s *Store) told(idx *index, read func() error) error {
	known := len(idx.Damaged)
	err := read()
	s.tellDamage(idx.Damaged[known:])
	return err
}

// tellDamage names records that cannot be read.
func (s *Store) tellDamage(damaged []damagedRecord) {
	for _, d := range damaged {
		s.tell("In the log of %s %s: git runr sync fetches it again.", d.Writer, d.Why)
	}
}

func notFound(kind entityKind, id string) *record.NotFoundError {
	return &record.NotFoundError{What: map[entityKind]string{kindReview: "review", kindRun: "run"}[kind], ID: id}
}

// mayBeOlder reports whether what has an id, which begins with its time, or the end of one,
// may be in the archives that were not fetched.
func (s *Store) mayBeOlder(ctx context.Context, id string) bool {
	left, err := s.Repo.Unfetched(ctx, "")
	if err != nil || len(left) == 0 || id == record.Latest {
		return false
	}
	at, err := time.Parse("200601", id[:min(len(id), len("200601"))])
	return err != nil || at.Format("2006-01") <= left[len(left)-1]
}

// Review is the review that was typed: its id, a unique prefix or the end of one, latest, or a
// commit or branch that one review is of; of several the one that waits for somebody.
func (s *Store) Review(ctx context.Context, typed string) (record.Review, error) {
	st, err := s.named(ctx, kindReview, typed)
	return st.review, err
}

// Run is the run that was typed, as for Review: a commit is what its work came to, or landed as.
func (s *Store) Run(ctx context.Context, typed string) (record.Run, error) {
	st, err := s.named(ctx, kindRun, typed)
	return st.run, err
}

// ReviewByID is Review without commits and branches.
func (s *Store) ReviewByID(ctx context.Context, id string) (record.Review, error) {
	st, err := s.entityState(ctx, kindReview, id)
	return st.review, err
}

// RunByID is Run without commits and branches.
func (s *Store) RunByID(ctx context.Context, id string) (record.Run, error) {
	st, err := s.entityState(ctx, kindRun, id)
	return st.run, err
}

// ofTyped reads from an index what concerns the run or review that was typed.
func (s *Store) ofTyped(ctx context.Context, kind entityKind, typed string, read func(*index, *row) error) error {
	return s.retryIndex(func() error {
		idx, err := s.index(ctx)
		if err != nil {
			return err
		}
		defer idx.close()
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

// RunEvents are the events of one run in order.
func (s *Store) RunEvents(ctx context.Context, id string) ([]record.Event, error) {
	return s.entityEvents(ctx, kindRun, id)
}

// ReviewEvents are the events of one review in order.
func (s *Store) ReviewEvents(ctx context.Context, id string) ([]record.Event, error) {
	return s.entityEvents(ctx, kindReview, id)
}

// Events are all events of all logs in order, and what could not be read. It holds all of
// them: what concerns a part of them is asked for otherwise.
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

// EachEvent visits all events of all logs in order, and gives what could not be read. It
// holds a part of them at a time.
func (s *Store) EachEvent(ctx context.Context, visit func(record.Event) error) (unreadable []error, err error) {
	tips, err := s.tips(ctx)
	if err != nil {
		return nil, err
	}
	highest := max(readManifest(s.indexPath()).Clock, 1<<20) // so far: where it grew, only the last part is larger
	scratch, width := scratchIndex(), min(highest, record.LateClock)/spill.Count+1
	var parts groups        // each of a span of clocks
	var late []record.Event // than all of these
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
	for number := 0; err == nil && number < spill.Count; number++ {
		err = parts.visit(number, func(_ entity, events []record.Event) error {
			record.Sort(events)
			return eachOf(events, visit)
		})
	}
	if err == nil {
		err = eachOf(scratch.believe(late), visit)
	}
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

// CountEvents is how many events Events gives, and what cannot be read, by the index.
func (s *Store) CountEvents(ctx context.Context) (events int, unreadable []error, err error) {
	idx, err := s.index(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer idx.close()
	return idx.manifest.Events, idx.unreadable(), nil
}

// Damaged reports whether something of a log is known to be damaged or missing here.
func (s *Store) Damaged(ctx context.Context) bool {
	for _, d := range readManifest(s.indexPath()).Damaged {
		s.Repo.ReportDamage(d.Entry)
	}
	return s.Repo.Damaged(ctx)
}
