package store

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/git-runr/git-runr/loop/record"
)

// Filter chooses lines of a list.
type Filter struct {
	Status func(string) bool               // nil: any
	Skip   int                             // the first ones that fit are only counted
	Limit  int                             // of those after Skip; 0: all
	Review func(record.ReviewSummary) bool // nil: any; reads the summary of each review that fits otherwise
	Run    func(record.RunSummary) bool    // the same of runs
	// Mention leaves out what has, or names, none of these ids, of commits, changes, runs and reviews; nil: nothing.
	Mention map[string]bool
	Waiting bool // leaves out reviews that every agent who was asked has answered
	// Newest leaves out the reviews that say the same of the same change as a newer one that fits: see
	// ReviewSummary.topic.
	Newest bool
	// ClosedSince leaves out what was resolved or cancelled before; the zero Time
	// leaves out nothing.
	ClosedSince time.Time
	// ClosedBefore leaves out what was not resolved or cancelled before it; the zero Time
	// leaves out nothing.
	ClosedBefore time.Time
	// CreatedSince and CreatedUntil leave out what was begun before the one, and at the other or
	// later; zero Times leave out nothing.
	CreatedSince, CreatedUntil time.Time
	UpdatedSince               time.Time // leaves out where nothing happened at it or later; the zero Time leaves out nothing
	Spent                      bool      // leaves out what took no calls of agents, as far as tools told
	// ByNeed puts first what needs a person most: see need.
	ByNeed bool
	// Counts is filled in with how many that fit have each status, whatever Status says; nil: not.
	Counts map[string]int
	// Some says that what is beyond Limit need not be counted.
	Some bool
}

// Reviews lists reviews, newest submitted first unless the filter says otherwise, and counts all that the filter fits.
func (s *Store) Reviews(ctx context.Context, f Filter) ([]record.ReviewSummary, int, error) {
	found, total, err := list[record.ReviewSummary](ctx, s, kindReview, f)
	if s.Repo.OneAudience() {
		return found, total, err
	}
	for i := range found {
		found[i].Audience = s.Repo.Audience(found[i].Writer).String()
	}
	return found, total, err
}

// ReviewBranches are the branches that reviews were asked for on, that of the newest first: of more than
// branchesMost the first ones.
func (s *Store) ReviewBranches(ctx context.Context) ([]string, error) {
	idx, err := s.index(ctx)
	if err != nil {
		return nil, err
	}
	defer idx.close()
	return idx.newestBranches(), nil
}

// Runs lists runs, newest first, and counts all that the filter fits.
func (s *Store) Runs(ctx context.Context, f Filter) ([]record.RunSummary, int, error) {
	return list[record.RunSummary](ctx, s, kindRun, f)
}

// Titled returns an event with a title that says what is known: a run is called a pass only where an agent or a person
// looked. The index says so; an event whose run is not in it stays as it is.
func (s *Store) Titled(ctx context.Context, e record.Event) record.Event {
	if !e.SaysPass() {
		return e
	}
	_ = s.ofTyped(ctx, kindRun, e.Run, func(_ *index, r *row) error {
		line, err := loadLine[record.RunSummary](r)
		if err == nil && line.Result == record.ResultChecked {
			e = e.WithResult(line.Result)
		}
		return err
	})
	return e
}

func list[T any](ctx context.Context, s *Store, kind entityKind, f Filter) (found []T, total int, err error) {
	err = s.retryIndex(func() error {
		idx, err := s.index(ctx)
		if err != nil {
			return err
		}
		defer idx.close()
		found, total, err = listIndex[T](idx, kind, f)
		return err
	})
	return found, total, err
}

func listIndex[T any](idx *index, kind entityKind, f Filter) ([]T, int, error) {
	found, total, passed := []T{}, 0, 0
	err := f.visit(idx, kind, func(r *row) error {
		full := f.Limit > 0 && len(found) >= f.Limit
		if r == nil || (full || passed < f.Skip) && !f.reads() {
			total++
			if r != nil {
				passed++
			}
			return nil
		}
		line, err := loadLine[T](r)
		if err != nil {
			return err
		}
		if !f.fitsLine(line) {
			return nil
		}
		total++
		if passed++; !full && passed > f.Skip {
			found = append(found, line)
		}
		if f.Some && len(found) == f.Limit {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return found, total, err
}

// visit visits the rows that fit, in the order in which they are listed; nil for one that
// is only to be counted.
func (f Filter) visit(idx *index, kind entityKind, visit func(*row) error) error {
	if !f.ByNeed {
		return f.inOrder(idx, kind, visit)
	}
	var byNeed [record.NeedClosed + 1][]row
	most := f.Skip + f.Limit
	if f.Limit == 0 || f.reads() {
		most = math.MaxInt
	}
	err := f.inOrder(idx, kind, func(r *row) error {
		rows := &byNeed[min(r.need, record.NeedClosed)]
		if len(*rows) == most {
			return visit(nil)
		}
		*rows = append(*rows, *r)
		return nil
	})
	for _, rows := range byNeed {
		for i := range rows {
			if err != nil {
				return err
			}
			err = visit(&rows[i])
		}
	}
	return err
}

// inOrder visits the rows that fit, the newest first.
func (f Filter) inOrder(idx *index, kind entityKind, visit func(*row) error) error {
	clear(f.Counts)
	fits := f.fitting()
	if f.Mention == nil {
		return idx.scan(f.shelves(kind), func(r *row) error {
			if !fits(r) {
				return nil
			}
			return visit(r)
		})
	}
	entries, err := idx.marked(f.Mention, kind)
	var r row
	for _, entry := range entries {
		if err != nil {
			return err
		}
		if r.read(entry); !r.begun() || !fits(&r) {
			continue
		}
		r.name()
		var named bool
		if named, err = r.mentions(f.Mention); named {
			err = visit(&r)
		}
	}
	return err
}

// shelves are those on which something may fit.
func (f Filter) shelves(kind entityKind) []byte {
	shelves := shelvesOf(kind)
	if kind == kindReview && f.Counts == nil && f.Status != nil && !f.Status(string(record.ReviewResolved)) && !f.Status(string(record.ReviewCancelled)) {
		return []byte{shelfWaiting}
	}
	return shelves
}

// errEnough ends a scan.
var errEnough = errors.New("enough")

// reads reports whether a summary is read to see whether it fits.
func (f Filter) reads() bool { return f.Review != nil || f.Run != nil }

func (f Filter) fitsLine(line any) bool {
	switch line := line.(type) {
	case record.ReviewSummary:
		return f.Review == nil || f.Review(line)
	case record.RunSummary:
		return f.Run == nil || f.Run(line)
	}
	return true
}

// fitting goes by what the index knows without reading a summary. It is asked of rows in their order.
func (f Filter) fitting() func(*row) bool {
	closedSince, closedBefore := millis(f.ClosedSince, math.MinInt64), millis(roundUp(f.ClosedBefore), math.MaxInt64)
	createdSince, createdUntil := millis(f.CreatedSince, math.MinInt64), millis(roundUp(f.CreatedUntil), math.MaxInt64)
	updatedSince, onlyClosed := millis(f.UpdatedSince, math.MinInt64), !f.ClosedBefore.IsZero()
	topics := map[uint64]bool{}
	return func(r *row) bool {
		switch {
		case f.Waiting && !r.waits, f.Spent && !r.spent:
			return false
		case r.closed == 0 && onlyClosed, r.closed != 0 && (r.closed < closedSince || r.closed >= closedBefore):
			return false
		case r.created < createdSince, r.created >= createdUntil, r.updated < updatedSince:
			return false
		}
		if f.Counts != nil {
			f.Counts[r.status]++
		}
		if f.Status != nil && !f.Status(r.status) {
			return false
		}
		if !f.Newest || r.kind != kindReview {
			return true
		}
		known := topics[r.topic]
		topics[r.topic] = true
		return !known
	}
}

// roundUp is at in whole milliseconds, not before it.
func roundUp(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.Add(time.Millisecond - 1).Truncate(time.Millisecond)
}

// millis are those since 1970 of a time, none those of the zero Time.
func millis(at time.Time, none int64) int64 {
	if at.IsZero() {
		return none
	}
	return at.UnixMilli()
}

// mentions reports whether the summary of r names one of ids, without decoding it.
func (r *row) mentions(ids map[string]bool) (named bool, err error) {
	if ids[r.id] {
		return true, nil
	}
	summary, err := r.entry.Part(partSummary)
	hexIDs(summary, func(id []byte) { named = named || ids[string(id)] })
	return named, err
}

// OwnReviews are the reviews among ids in which this clone did something, by the index
// alone.
func (s *Store) OwnReviews(ctx context.Context, ids map[string]bool) (among []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = s.retryIndex(func() error {
		idx, err := s.index(ctx)
		if err != nil {
			return err
		}
		defer idx.close()
		among = nil
		for id := range ids {
			refs, err := idx.refs(entity{kindReview, id}, 0)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(refs, func(ref eventRef) bool { return s.Repo.Owns(ref.Writer) }) {
				among = append(among, id)
			}
		}
		slices.Sort(among)
		return nil
	})
	return among, err
}
