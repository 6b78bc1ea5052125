package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/prose"
)

// Store is the runs and reviews of a repository: events appended to this clone's
// log, and state folded from the logs of all.
type Store struct {
	Repo   *gitstore.Repo                   // required
	Now    func() time.Time                 // required
	Redact func(string) string              // takes secrets out of free text; nil: text is stored as it is
	Warn   func(id gitstore.ID, why string) // hears of records that say nothing that can be read; nil: they are only counted
	Tell   func(line string)                // hears of records that are lost or damaged, and of what was put right; nil: nobody does
}

// EventTime is now as events have it: in UTC and whole milliseconds.
func (s *Store) EventTime() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// retryIndex runs read once more, without the cache, when the cache was damaged.
func (s *Store) retryIndex(read func() error) error {
	err := read()
	if errors.Is(err, errIndex) {
		_ = os.Remove(s.indexPath()) // when it cannot be removed, the next try says so
		err = read()
	}
	return err
}

func (s *Store) indexPath() string { return filepath.Join(s.Repo.StateDir(), "cache", indexName) }

// takeUp makes sure that this clone's own log is as its writer left it.
func (s *Store) takeUp(ctx context.Context) error {
	done, err := s.Repo.TakeUpLog(ctx, isEntry)
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

func (s *Store) indexAt(ctx context.Context, tips gitstore.Tips) (*index, error) {
	idx := openIndex(s.indexPath())
	if len(idx.Damaged) > 0 && s.Repo.AnyReadable(ctx, damagedIDs(idx.Damaged)) {
		idx.close()
		idx = emptyIndex() // what was missing is back, and belongs in between
	}
	if maps.Equal(idx.Tips, tips) {
		return idx, nil
	}
	err := s.readOn(ctx, idx, tips)
	if errors.Is(err, errAfresh) {
		idx.close()
		idx = emptyIndex()
		err = s.readOn(ctx, idx, tips)
	}
	if err != nil {
		idx.close()
		return nil, err
	}
	_ = idx.save(s.indexPath()) // only a cache: a read-only repository is still readable
	return idx, nil
}

// readOn takes into idx what the logs hold beyond it.
func (s *Store) readOn(ctx context.Context, idx *index, tips gitstore.Tips) error {
	fresh, err := s.newEvents(ctx, idx, tips)
	if err != nil {
		return err
	}
	ahead, _, err := s.readRefs(ctx, idx.Ahead)
	if err != nil {
		return err
	}
	if err := s.merge(ctx, idx, idx.believe(append(fresh, ahead...))); err != nil {
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
func (s *Store) newEvents(ctx context.Context, idx *index, tips gitstore.Tips) ([]Event, error) {
	for writer := range idx.Tips {
		if _, still := tips[writer]; !still {
			return nil, fmt.Errorf("%w: log of %s", errAfresh, writer)
		}
	}
	var fresh []Event
	for _, writer := range slices.Sorted(maps.Keys(tips)) {
		if idx.Tips[writer] == tips[writer] {
			continue
		}
		entries, err := s.readLog(ctx, idx, writer, tips[writer])
		if err != nil {
			return nil, fmt.Errorf("read log of %s: %w", writer, err)
		}
		fresh = append(fresh, s.decode(idx, entries)...)
	}
	return fresh, nil
}

// decode gives the events of records of one log, and notes those that say nothing.
func (s *Store) decode(idx *index, entries []gitstore.Entry) []Event {
	events := make([]Event, 0, len(entries))
	for _, entry := range entries {
		event, err := DecodeEvent(entry)
		if err == nil {
			events = append(events, idx.placed(event))
			continue
		}
		idx.bad = append(idx.bad, err)
		if s.Warn != nil {
			s.Warn(entry.ID, err.Error())
		}
	}
	return events
}

// readLog reads the records of one log beyond what idx has read of it. Where records
// are lost or damaged it reads the rest, and notes them.
func (s *Store) readLog(ctx context.Context, idx *index, writer string, tip gitstore.ID) (entries []gitstore.Entry, err error) {
	known := idx.Tips[writer]
	collect := func(entry gitstore.Entry) error { entries = append(entries, entry); return nil }
	err = s.Repo.Walk(ctx, writer, tip, known, collect)
	switch {
	case err == nil || known == "" && !errors.Is(err, gitstore.ErrCorrupt):
		return entries, err
	case known != "" && (errors.Is(err, gitstore.ErrCorrupt) || errors.Is(err, gitstore.ErrNotFound)):
		return nil, fmt.Errorf("%w: %w", errAfresh, err)
	case known != "":
		return nil, err
	}
	entries = nil
	damaged, err := s.Repo.Salvage(ctx, writer, tip, isEntry, collect)
	for _, d := range damaged {
		idx.damage(d)
	}
	return entries, err
}

// merge folds the runs and reviews that fresh events speak of.
func (s *Store) merge(ctx context.Context, idx *index, fresh []Event) error {
	type entity struct {
		kind entityKind
		id   string
	}
	groups := map[entity][]Event{}
	for _, e := range fresh {
		for _, key := range []entity{{kindReview, e.Review}, {kindRun, e.Run}} {
			if key.id != "" {
				groups[key] = append(groups[key], e)
			}
		}
	}
	known := map[entity]*row{}
	for _, r := range idx.rows {
		known[entity{r.kind, r.id}] = r
	}
	for key, events := range groups {
		r := known[key]
		if r == nil {
			r = &row{kind: key.kind, id: key.id}
			idx.rows = append(idx.rows, r)
		} else {
			old, err := s.readRow(ctx, idx, r)
			if err != nil {
				return err
			}
			events = append(old, events...)
		}
		if err := r.fold(events); err != nil {
			return err
		}
	}
	return nil
}

// fold makes r the summary of events.
func (r *row) fold(events []Event) error {
	Sort(events)
	r.events, r.seq = encodeRefs(events), events[0].Clock
	var summary any
	if r.kind == kindReview {
		review, _ := FoldReview(events)
		s := review.Summary()
		r.status, r.sort, r.closed, summary = string(review.Status), s.sortKey().UnixMilli(), closedMillis(s), s
		r.need, r.critical = s.need(), s.Critical
	} else {
		run, _ := FoldRun(events)
		r.status, r.sort, summary = string(run.Status), run.CreatedAt.UnixMilli(), run.Summary()
	}
	var err error
	r.summary, err = json.Marshal(summary)
	return err
}

func closedMillis(s ReviewSummary) int64 {
	if s.ClosedAt.IsZero() {
		return 0
	}
	return s.ClosedAt.UnixMilli()
}

// readRow reads the events that r lists, and notes those that are lost.
func (s *Store) readRow(ctx context.Context, idx *index, r *row) ([]Event, error) {
	refs, err := idx.refs(r)
	if err != nil {
		return nil, err
	}
	events, lost, err := s.readRefs(ctx, refs)
	for _, d := range lost {
		idx.damage(d)
	}
	return events, err
}

// readRefs reads events, and names those that are missing or damaged.
func (s *Store) readRefs(ctx context.Context, refs []eventRef) (events []Event, lost []*gitstore.DamagedError, err error) {
	events = make([]Event, 0, len(refs))
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
		event, err := DecodeEvent(entry)
		if err != nil {
			return nil, nil, err
		}
		event.late = ref.Late
		events = append(events, event)
	}
	return events, lost, nil
}

func (s *Store) eventsOf(ctx context.Context, idx *index, kind entityKind, id string) ([]Event, error) {
	r := idx.find(kind, id)
	if r == nil || !r.begun() {
		return nil, notFound(kind, id)
	}
	known := len(idx.Damaged)
	events, err := s.readRow(ctx, idx, r)
	s.tellDamage(idx.Damaged[known:])
	Sort(events)
	return events, err
}

// tellDamage names records that cannot be read.
func (s *Store) tellDamage(damaged []damagedRecord) {
	for _, d := range damaged {
		s.tell("In the log of %s %s: git runr sync fetches it again.", d.Writer, d.Why)
	}
}

func notFound(kind entityKind, id string) *NotFoundError {
	return &NotFoundError{What: map[entityKind]string{kindReview: "review", kindRun: "run"}[kind], ID: id}
}

// resolve is the full id of what a person typed: an id, a unique prefix or latest.
func (idx *index) resolve(kind entityKind, typed string) (string, error) {
	var fits []string
	var latest *row
	for _, r := range idx.rows {
		if r.kind != kind || !r.begun() {
			continue
		}
		if r.id == typed {
			return r.id, nil
		}
		if strings.HasPrefix(r.id, typed) && typed != "" || strings.HasSuffix(r.id, "-"+typed) {
			fits = append(fits, r.id)
		}
		if latest == nil || r.seq > latest.seq {
			latest = r
		}
	}
	switch {
	case typed == Latest && latest != nil:
		return latest.id, nil
	case len(fits) == 1:
		return fits[0], nil
	}
	refused := notFound(kind, typed)
	refused.Among = fits
	if idx.find(kind, typed) != nil {
		refused.Where = "here: its beginning is in a log that did not come yet, git runr sync fetches it"
	}
	return "", refused
}

// Review is the review that id names: an id, a unique prefix or latest.
func (s *Store) Review(ctx context.Context, id string) (Review, error) {
	events, err := s.entityEvents(ctx, kindReview, id)
	review, _ := FoldReview(events)
	return review, err
}

// Run is the run that id names: an id, a unique prefix or latest.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	events, err := s.entityEvents(ctx, kindRun, id)
	run, _ := FoldRun(events)
	return run, err
}

func (s *Store) entityEvents(ctx context.Context, kind entityKind, typed string) ([]Event, error) {
	var events []Event
	err := s.retryIndex(func() error {
		idx, err := s.index(ctx)
		if err != nil {
			return err
		}
		defer idx.close()
		id, err := idx.resolve(kind, typed)
		if err != nil {
			return err
		}
		events, err = s.eventsOf(ctx, idx, kind, id)
		return err
	})
	return events, err
}

// RunEvents are the events of one run in order.
func (s *Store) RunEvents(ctx context.Context, id string) ([]Event, error) {
	return s.entityEvents(ctx, kindRun, id)
}

// ReviewEvents are the events of one review in order.
func (s *Store) ReviewEvents(ctx context.Context, id string) ([]Event, error) {
	return s.entityEvents(ctx, kindReview, id)
}

// Events are all events of all logs in order, and what could not be read.
func (s *Store) Events(ctx context.Context) ([]Event, []error, error) {
	tips, err := s.tips(ctx)
	if err != nil {
		return nil, nil, err
	}
	scratch := emptyIndex()
	events, err := s.newEvents(ctx, scratch, tips)
	if err != nil {
		return nil, nil, err
	}
	events = scratch.believe(events)
	return events, scratch.unreadable(), nil
}

// Check reads every record of every log with all that is attached to it, and gives the
// number of events and what cannot be read. What is missing or damaged, sync asks for.
func (s *Store) Check(ctx context.Context) (events int, unreadable []error, err error) {
	tips, err := s.tips(ctx)
	if err != nil {
		return 0, nil, err
	}
	idx := emptyIndex()
	var all []Event
	for _, writer := range slices.Sorted(maps.Keys(tips)) {
		entries, err := s.readLog(ctx, idx, writer, tips[writer])
		if err != nil {
			return 0, nil, fmt.Errorf("read log of %s: %w", writer, err)
		}
		all = append(all, s.decode(idx, entries)...)
		damaged, err := s.Repo.CheckAttachments(ctx, entries)
		if err != nil {
			return 0, nil, err
		}
		for _, d := range damaged {
			idx.damage(d)
		}
	}
	events = len(idx.believe(all))
	return events, idx.unreadable(), s.noteDamage(ctx, tips, idx.Damaged)
}

// noteDamage puts into the cache what a look at everything has found.
func (s *Store) noteDamage(ctx context.Context, tips gitstore.Tips, damaged []damagedRecord) error {
	idx, err := s.indexAt(ctx, tips)
	if err != nil {
		return err
	}
	defer idx.close()
	if !slices.Equal(idx.Damaged, damaged) {
		idx.Damaged = damaged
		_ = idx.save(s.indexPath())
	}
	return nil
}

// Rebuild drops the cache and reads every log again.
func (s *Store) Rebuild(ctx context.Context) error {
	tips, err := s.tips(ctx)
	if err != nil {
		return err
	}
	idx := emptyIndex()
	if err := s.readOn(ctx, idx, tips); err != nil {
		return err
	}
	return idx.save(s.indexPath())
}

// Damaged reports whether something of a log is known to be damaged or missing here.
func (s *Store) Damaged(ctx context.Context) bool {
	idx := openIndex(s.indexPath())
	defer idx.close()
	for _, d := range idx.Damaged {
		s.Repo.ReportDamage(d.Entry)
	}
	return s.Repo.Damaged(ctx)
}
