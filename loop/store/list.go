package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/git-runr/git-runr/loop/record"
)

// Filter selects and limits the lines of a list.
type Filter struct {
	Status func(string) bool               // nil: any
	Skip   int                             // how many matching lines to skip; they still count
	Limit  int                             // the maximum number of lines after Skip; 0: all
	Review func(record.ReviewSummary) bool // nil: any; reads the summary of each review that matches otherwise
	Run    func(record.RunSummary) bool    // likewise for runs
	// Mention selects what has or names one of these ids of commits, changes, runs and reviews; nil: any.
	Mention map[string]bool
	Waiting bool // selects reviews for which an agent who was asked has not answered
	// Newest omits a review if a newer one that matches says the same about the same change: see ReviewSummary.Topic.
	Newest bool
	// ClosedSince omits what was resolved or cancelled before it; the zero Time omits nothing.
	ClosedSince time.Time
	// ClosedBefore selects what was resolved or cancelled before it; the zero Time selects all.
	ClosedBefore time.Time
	CreatedSince time.Time // selects what began at this time or later; the zero Time selects all
	UpdatedSince time.Time // selects what changed at this time or later; the zero Time selects all
	Spent        bool      // selects runs and reviews with reported usage of agents
	// ByNeed lists first what most needs a person: see record.Need.
	ByNeed bool
	// Counts, if not nil, is filled in with the number of matches for each status, regardless of Status.
	Counts map[string]int
	// Carried counts threads that are carried into a review from earlier rounds: see record.Review.Carrying.
	Carried bool
	// Some allows the count to stop at Limit.
	Some bool
}

// Reviews lists reviews, newest submitted first unless f says otherwise, and counts all that match f.
func (s *Store) Reviews(ctx context.Context, f Filter) ([]record.ReviewSummary, int, error) {
	var carriedErr error
	carry := func(line record.ReviewSummary) record.ReviewSummary {
		if !f.Carried || line.Follows == "" {
			return line
		}
		review, err := s.Review(ctx, line.ID)
		if err == nil {
			review, err = s.Carrying(ctx, review)
		}
		if err != nil {
			carriedErr = cmp.Or(carriedErr, err)
			return line
		}
		return review.Summary()
	}
	if fits := f.Review; fits != nil {
		f.Review = func(line record.ReviewSummary) bool { return fits(carry(line)) }
	}
	found, total, err := list(ctx, s, kindReview, f, f.Review)
	for i := range found {
		found[i] = carry(found[i])
		found[i].Audience = s.audienceName(found[i].Writer)
	}
	return found, total, cmp.Or(err, carriedErr)
}

// ReviewBranches returns the branches that reviews were requested on, that of the newest review first, at most
// branchesMost.
func (s *Store) ReviewBranches(ctx context.Context) ([]string, error) {
	idx, err := s.index(ctx)
	if err != nil {
		return nil, err
	}
	defer idx.close()
	return idx.newestBranches(), nil
}

// Runs lists runs, newest first, and counts all that match f.
func (s *Store) Runs(ctx context.Context, f Filter) ([]record.RunSummary, int, error) {
	return list(ctx, s, kindRun, f, f.Run)
}

// Titled returns an event with a corrected title: a run is called a pass only if an agent or a person looked. If the
// event's run is not in the index, the event is unchanged.
func (s *Store) Titled(ctx context.Context, e record.Event) record.Event {
	if !e.SaysPass() {
		return e
	}
	_ = s.ofTyped(ctx, kindRun, e.Run, func(_ *index, r *row) error {
		line, err := loadLine[record.RunSummary](r)
		if err != nil || line.Result != record.ResultChecked {
			return err
		}
		e = e.WithResult(line.Result)
		return nil
	})
	return e
}

func list[T any](ctx context.Context, s *Store, kind entityKind, f Filter,
	fits func(T) bool) (found []T, total int, err error) {
	err = s.withIndex(ctx, func(idx *index) error {
		found, total, err = listIndex(idx, kind, f, fits)
		return err
	})
	return found, total, err
}

func listIndex[T any](idx *index, kind entityKind, f Filter, fits func(T) bool) ([]T, int, error) {
	found, total := []T{}, 0
	err := f.visit(idx, kind, func(r *row) error {
		shown := total >= f.Skip && (f.Limit == 0 || len(found) < f.Limit)
		if !shown && fits == nil {
			total++
			return nil
		}
		line, err := loadLine[T](r)
		if err != nil || fits != nil && !fits(line) {
			return err
		}
		if total++; shown {
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

// visit visits the matching rows in the order of the list.
func (f Filter) visit(idx *index, kind entityKind, visit func(*row) error) error {
	if !f.ByNeed {
		return f.inOrder(idx, kind, visit)
	}
	var rows []row
	err := f.inOrder(idx, kind, func(r *row) error {
		rows = append(rows, *r)
		return nil
	})
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.need, b.need) })
	for i := range rows {
		if err != nil {
			return err
		}
		err = visit(&rows[i])
	}
	return err
}

// inOrder visits the matching rows, newest first.
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
	entries, err := idx.marked(f.Mention, nil, kind)
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

// shelves returns the index shelves that can hold matching rows.
func (f Filter) shelves(kind entityKind) []byte {
	shelves := shelvesOf(kind)
	if kind == kindReview && f.Counts == nil && f.Status != nil && !f.Status(string(record.ReviewResolved)) &&
		!f.Status(string(record.ReviewCancelled)) {
		return []byte{shelfWaiting}
	}
	return shelves
}

// errEnough ends a scan.
var errEnough = errors.New("enough")

// fitting returns a function that reports whether a row matches, without reading its summary. It must be called in the
// order of the rows.
func (f Filter) fitting() func(*row) bool {
	before := func(milliseconds int64, at time.Time) bool { return time.UnixMilli(milliseconds).Before(at) }
	onlyClosed := !f.ClosedBefore.IsZero()
	topics := map[uint64]bool{}
	return func(r *row) bool {
		switch {
		case f.Waiting && !r.waits, f.Spent && !r.spent:
			return false
		case onlyClosed && (r.closed == 0 || !before(r.closed, f.ClosedBefore)):
			return false
		case r.closed != 0 && before(r.closed, f.ClosedSince):
			return false
		case before(r.created, f.CreatedSince), before(r.updated, f.UpdatedSince):
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

// mentions reports whether the summary of r names one of ids, without decoding it.
func (r *row) mentions(ids map[string]bool) (named bool, err error) {
	if ids[r.id] {
		return true, nil
	}
	summary, err := r.entry.Part(partSummary)
	hexIDs(summary, func(id []byte) { named = named || ids[string(id)] })
	return named, err
}

// OwnReviews returns the reviews among ids for which this clone wrote an event. It reads only the index.
func (s *Store) OwnReviews(ctx context.Context, ids map[string]bool) (among []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	err = s.withIndex(ctx, func(idx *index) error {
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
