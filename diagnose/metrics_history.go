package diagnose

import (
	"context"
	"time"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// RunHistory is a run and its events, in order.
type RunHistory struct {
	Run    record.Run
	Events []record.Event
}

// Histories folds the runs and reviews in events, which are in order, and returns them in the order of their first
// event. keep selects by id; nil selects all. A run or review whose first event is missing is left out.
func Histories(events []record.Event, keep func(id string) bool) ([]RunHistory, []record.Review) {
	runs, reviews := newGrouping(keep), newGrouping(keep)
	for _, e := range events {
		runs.add(e.Run, e)
		reviews.add(e.Review, e)
	}
	var histories []RunHistory
	for _, group := range runs.groups {
		if run, _ := record.FoldRun(group); run.ID != "" {
			histories = append(histories, RunHistory{Run: run, Events: group})
		}
	}
	var folded []record.Review
	for _, group := range reviews.groups {
		if review, _ := record.FoldReview(group); review.ID != "" {
			folded = append(folded, review)
		}
	}
	return histories, folded
}

// grouping groups events by run or review.
type grouping struct {
	keep   func(string) bool
	at     map[string]int
	groups [][]record.Event
}

func newGrouping(keep func(string) bool) *grouping {
	return &grouping{keep: keep, at: map[string]int{}}
}

func (g *grouping) add(id string, e record.Event) {
	if id == "" || g.keep != nil && !g.keep(id) {
		return
	}
	i, known := g.at[id]
	if !known {
		i = len(g.groups)
		g.at[id] = i
		g.groups = append(g.groups, nil)
	}
	g.groups[i] = append(g.groups[i], e)
}

// Measure computes the metrics of what began in the period.
func Measure(ctx context.Context, records *store.Store, since, until time.Time) (Metrics, error) {
	events, chosen, err := records.EventsOf(ctx, store.Filter{CreatedSince: since, CreatedUntil: until})
	if err != nil {
		return Metrics{}, err
	}
	histories, folded := Histories(events, func(id string) bool { return chosen[id] })
	return NewMetrics(since, until, histories, folded), nil
}
