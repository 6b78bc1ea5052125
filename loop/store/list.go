package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/segment"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/spend"
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
	// Unasked adds, to what Mention selects, the reviews whose request is not here: see record.ReviewSummary.Unasked.
	Unasked bool
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
	if err == nil {
		found, err = s.vouched(ctx, found)
	}
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

// Titled returns an event with a corrected title, which begins with its type: a run is called a pass only if an agent
// or a person passed it, and if it is in the index.
func (s *Store) Titled(ctx context.Context, e record.Event) record.Event {
	if e.Title = e.Headline(); !e.SaysPass() {
		return e
	}
	_ = s.ofTyped(ctx, kindRun, e.Run, func(_ *index, r *row) error {
		line, err := loadLine[record.RunSummary](r)
		if err != nil || line.Result != record.ResultChecked && line.Result != record.ResultBelow {
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
	for _, r := range rowsOf(entries) {
		if err != nil {
			return err
		}
		if !r.begun() && !(f.Unasked && r.unasked) || !fits(&r) {
			continue
		}
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

// Glance counts what waits for somebody, according to the cache.
type Glance struct {
	Critical int `json:"critical"` // open critical findings
	Waiting  int `json:"waiting"`  // waiting reviews
}

// Glance counts what waits. It reads no log and writes nothing, and an outdated, damaged or missing cache is not an
// error: shell prompts call it all the time.
func (s *Store) Glance() Glance {
	idx := s.cached()
	defer idx.close()
	var g Glance
	_ = idx.scan([]byte{shelfWaiting}, func(r *row) error {
		g.Critical += r.critical
		g.Waiting++
		return nil
	})
	return g
}

// criticalMost is how many of the newest reviews with critical findings Critical reads, since a commit waits for it.
const criticalMost = 20

// Critical returns the newest reviews of commits on a branch ("" for a detached HEAD) with open critical findings,
// according to the cache, like Glance.
func (s *Store) Critical(branch string) []record.ReviewSummary {
	idx := s.lastRead()
	defer idx.close()
	var found []record.ReviewSummary
	looked := 0
	_ = idx.scan([]byte{shelfWaiting}, func(r *row) error {
		if r.need != record.NeedCritical {
			return nil
		}
		if looked++; looked > criticalMost {
			return errEnough
		}
		if line, err := loadLine[record.ReviewSummary](r); err == nil && line.Branch == branch {
			found = append(found, line)
		}
		return nil
	})
	return found
}

// markOfDecision returns the mark of the reviews in which the verdict of a person is decision.
func markOfDecision(decision record.Decision) uint64 { return markOfText("decision", string(decision)) }

// closedOverMark returns the mark of the reviews that somebody resolved by hand in a week although people refuse the
// change.
func closedOverMark(week int64) uint64 { return markOfText("closed over", strconv.FormatInt(week, 10)) }

// weekOf returns the number of a week since 1970.
func weekOf(t time.Time) int64 { return t.Unix() / int64(7*24*time.Hour/time.Second) }

// Decided lists the reviews in which people refuse (record.RequestChanges) or approve (record.Approve), newest first,
// at most most. It leaves out withdrawn requests.
func (s *Store) Decided(ctx context.Context, decision record.Decision, most int) ([]record.ReviewSummary, error) {
	decided := func(line record.ReviewSummary) bool {
		by := line.Refusers
		if decision == record.Approve {
			by = line.Approvers
		}
		return len(by) > 0 && line.Status != record.ReviewCancelled
	}
	if s.Vouch == nil {
		return s.linesMarked(ctx, markOfDecision(decision), most, decided)
	}
	all := func(record.ReviewSummary) bool { return true }
	found, err := s.linesMarked(ctx, markOfDecision(record.RequestChanges), most, all)
	if err != nil {
		return nil, err
	}
	approved, err := s.linesMarked(ctx, markOfDecision(record.Approve), most, all) // which may take nothing back
	if err != nil {
		return nil, err
	}
	for _, line := range approved {
		if !slices.ContainsFunc(found, func(had record.ReviewSummary) bool { return had.ID == line.ID }) {
			found = append(found, line)
		}
	}
	found, err = s.vouched(ctx, found)
	return each.Where(found, decided), err
}

// closedOverShown is the maximum number of reviews that ClosedOver names.
const closedOverShown = 5

// ClosedOver returns a line for each review that somebody else resolved lately although me asked for changes there and
// has not agreed with the answers, according to the cache, like Glance.
func (s *Store) ClosedOver(me string) []string {
	idx := s.lastRead()
	defer idx.close()
	mine := func(by record.Speaker) bool { return record.SameActor(by.By, me) }
	var marks []uint64
	for week := weekOf(s.Now().Add(-closedRemembered)); week <= weekOf(s.Now())+1; week++ { // a clock may be ahead
		marks = append(marks, closedOverMark(week))
	}
	found, err := idx.linesMarked(marks, closedOverShown, func(line record.ReviewSummary) bool {
		return line.ClosedOver() && !record.SameActor(line.ResolvedBy, me) && slices.ContainsFunc(line.Refusers, mine) &&
			s.Now().Sub(line.ClosedAt) < closedRemembered
	})
	if err != nil { // the cache is damaged; the next command makes it anew
		return nil
	}
	return each.Of(found, func(line record.ReviewSummary) string {
		return fmt.Sprintf("%s resolved review %s, in which you asked for changes and have not agreed with the answers: "+
			"git runr show %s", line.ResolvedBy, line.ID, line.ID)
	})
}

// maxMarked is how many of the newest reviews with a mark are looked at for those that are wanted.
const maxMarked = 100

// linesMarked lists the reviews with a mark that are wanted, newest first: at most most of the newest maxMarked, or all
// if most is 0.
func (s *Store) linesMarked(ctx context.Context, mark uint64, most int,
	wanted func(record.ReviewSummary) bool) (found []record.ReviewSummary, err error) {
	err = s.withIndex(ctx, func(idx *index) (err error) {
		found, err = idx.linesMarked([]uint64{mark}, most, wanted)
		return err
	})
	return found, err
}

func (idx *index) linesMarked(marks []uint64, most int,
	wanted func(record.ReviewSummary) bool) (found []record.ReviewSummary, err error) {
	ofReviews, looked := each.SetOf(marks, kindReview.mark), 0
	err = idx.stack.VisitMarked(ofReviews, func(entry segment.Entry) (more bool, err error) {
		looked++
		if r := rowOf(entry); r.begun() {
			line, err := loadLine[record.ReviewSummary](&r)
			if err != nil {
				return false, err
			}
			if wanted(line) { // marks may collide
				found = append(found, line)
			}
		}
		return most == 0 || len(found) < most && looked < maxMarked, nil
	})
	return found, err
}

// spenders returns the runs and reviews that match f and for which agents were called.
func (s *Store) spenders(ctx context.Context, f Filter) ([]record.RunSummary, []record.ReviewSummary, error) {
	f.Spent = true
	runs, _, err := s.Runs(ctx, f)
	if err != nil {
		return nil, nil, fmt.Errorf("sum up calls: %w", err)
	}
	reviews, _, err := s.Reviews(ctx, f)
	if err != nil {
		return nil, nil, fmt.Errorf("sum up calls: %w", err)
	}
	return runs, reviews, nil
}

// Spent returns the usage of all calls for runs and reviews so far, in all clones, by agent. It reads no event.
func (s *Store) Spent(ctx context.Context) (spending spend.Spending, err error) {
	runs, reviews, err := s.spenders(ctx, Filter{})
	for _, r := range runs {
		spending.Join(r.Spending)
	}
	for _, r := range reviews {
		spending.Join(r.Spending)
	}
	return spending, err
}

// SpentSince returns the usage of calls that ended in this clone at since or later, by agent.
func (s *Store) SpentSince(ctx context.Context, since time.Time) (spending spend.Spending, err error) {
	runs, reviews, err := s.spenders(ctx, Filter{UpdatedSince: since.Truncate(time.Millisecond)})
	if err != nil {
		return nil, err
	}
	seen := map[gitstore.ID]bool{}
	add := func(events []record.Event, err error) error {
		for _, e := range events {
			if !seen[e.ID] && s.Repo.Owns(e.Writer) && !e.Timestamp.Before(since) {
				seen[e.ID] = true // a review's events are also those of the runs that fix it
				spending.Add(record.SpentOn(e))
			}
		}
		return err
	}
	for _, r := range runs {
		if err := add(s.entityEvents(ctx, kindRun, r.ID)); err != nil {
			return nil, err
		}
	}
	for _, r := range reviews {
		if err := add(s.entityEvents(ctx, kindReview, r.ID)); err != nil {
			return nil, err
		}
	}
	return spending, nil
}
