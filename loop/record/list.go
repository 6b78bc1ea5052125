package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Filter chooses lines of a list.
type Filter struct {
	Status func(string) bool        // nil: any
	Limit  int                      // 0: all
	Review func(ReviewSummary) bool // nil: any; reads the summary of each review that fits otherwise
	// Mention leaves out what names none of these ids of commits, or of changes; nil: nothing.
	Mention map[string]bool
	Waiting bool // leaves out reviews that everybody who was asked has answered
	// ClosedSince leaves out what was resolved or cancelled before; the zero Time
	// leaves out nothing.
	ClosedSince time.Time
	// ByNeed puts first what needs a person most: see need.
	ByNeed bool
}

// inboxStatus is what is there to be addressed.
func inboxStatus(status string) bool {
	return status == string(ReviewSubmitted) || status == string(ReviewClaimed)
}

// WaitingStatus is what waits for somebody: to be reviewed, or to be addressed.
func WaitingStatus(status string) bool { return status == string(ReviewOpen) || inboxStatus(status) }

// StatusWaiting is the --status of all that waits for somebody: what a person is shown.
const StatusWaiting = "waiting"

// StatusFilter reads a --status value: inbox (submitted and claimed: what an agent is
// shown, also for ""), StatusWaiting (open ones too), all, or one status.
func StatusFilter(name string) (func(string) bool, error) {
	switch name {
	case "", "inbox":
		return inboxStatus, nil
	case StatusWaiting:
		return WaitingStatus, nil
	case "all":
		return func(string) bool { return true }, nil
	}
	if slices.Contains([]ReviewStatus{ReviewOpen, ReviewSubmitted, ReviewClaimed, ReviewResolved, ReviewCancelled}, ReviewStatus(name)) {
		return func(status string) bool { return status == name }, nil
	}
	return nil, fmt.Errorf("status %q is none of waiting, inbox, all, open, submitted, claimed, resolved, cancelled", name)
}

// Reviews lists reviews, newest submitted first unless the filter says otherwise, and counts all that the filter fits.
func (s *Store) Reviews(ctx context.Context, f Filter) ([]ReviewSummary, int, error) {
	return list[ReviewSummary](ctx, s, kindReview, f)
}

// Runs lists runs, newest first, and counts all that the filter fits.
func (s *Store) Runs(ctx context.Context, f Filter) ([]RunSummary, int, error) {
	return list[RunSummary](ctx, s, kindRun, f)
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
	found, total := []T{}, 0
	var heap []byte
	if f.Mention != nil || f.Waiting {
		var err error
		if heap, err = idx.wholeHeap(); err != nil {
			return nil, 0, err
		}
	}
	for _, r := range f.order(idx.rows) {
		if r.kind != kind || !r.begun() || !f.fits(r) || f.Mention != nil && !r.mentions(f.Mention, heap) || f.Waiting && !r.waits(heap) {
			continue
		}
		full := f.Limit > 0 && len(found) >= f.Limit
		if full && f.Review == nil {
			total++
			continue
		}
		line, err := loadLine[T](idx, r)
		if err != nil {
			return nil, 0, err
		}
		if review, ok := any(line).(ReviewSummary); ok && f.Review != nil && !f.Review(review) {
			continue
		}
		total++
		if !full {
			found = append(found, line)
		}
	}
	return found, total, nil
}

// order is that in which rows are listed.
func (f Filter) order(rows []*row) []*row {
	if !f.ByNeed {
		return rows
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b *row) int { return cmp.Compare(a.need, b.need) })
	return rows
}

// loadLine reads the summary of one row.
func loadLine[T any](idx *index, r *row) (line T, err error) {
	if err = idx.load(r); err == nil {
		err = json.Unmarshal(r.summary, &line)
	}
	if err != nil {
		return line, fmt.Errorf("read index: %w", err)
	}
	return line, nil
}

// fits goes by what the index knows without reading a summary.
func (f Filter) fits(r *row) bool {
	if f.Status != nil && !f.Status(r.status) {
		return false
	}
	return r.closed == 0 || f.ClosedSince.IsZero() || r.closed >= f.ClosedSince.UnixMilli()
}

// waitingKey stands in the summary of a review that waits for a reviewer, and nowhere else
// with these quotation marks.
const waitingKey = `"waiting_for":`

// waits reports whether the summary of r says that somebody was asked who has not answered,
// without decoding it.
func (r *row) waits(heap []byte) bool {
	summary, _, _, err := r.parts(heap)
	return err != nil || bytes.Contains(summary, []byte(waitingKey)) // who reads a damaged one says so
}

// mentions reports whether the summary of r names one of ids, without decoding it.
func (r *row) mentions(ids map[string]bool, heap []byte) bool {
	summary, _, _, err := r.parts(heap)
	if err != nil {
		return true // whoever reads it says so
	}
	for start, i := -1, 0; i <= len(summary); i++ {
		hex := i < len(summary) && (summary[i] >= '0' && summary[i] <= '9' || summary[i] >= 'a' && summary[i] <= 'f')
		switch {
		case hex && start < 0:
			start = i
		case !hex && start >= 0:
			if i-start >= 40 && ids[string(summary[start:i])] {
				return true
			}
			start = -1
		}
	}
	return false
}

// OwnReviews are the reviews among ids in which this clone did something, by the index
// alone.
func (s *Store) OwnReviews(ctx context.Context, ids map[string]bool) (among []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	own := s.Repo.Writer()
	err = s.retryIndex(func() error {
		idx, err := s.index(ctx)
		if err != nil {
			return err
		}
		defer idx.close()
		among = nil
		for _, r := range idx.rows {
			if r.kind != kindReview || !ids[r.id] {
				continue
			}
			refs, err := idx.refs(r)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(refs, func(ref eventRef) bool { return ref.Writer == own }) {
				among = append(among, r.id)
			}
		}
		return nil
	})
	return among, err
}
