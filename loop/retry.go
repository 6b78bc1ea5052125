package loop

import (
	"context"
	"slices"
	"time"

	"git-runr/loop/record"
)

// retryWaits are how long a reviewer that may well answer later is left alone after each
// of its failures. After the last one only a person asks it again.
var retryWaits = []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute}

// fail records why a reviewer gave no answer, and when it is tried again by itself.
func (w *Worker) fail(ctx context.Context, review record.Review, name string, failure record.Failure) (record.Review, error) {
	failure.Tries = 1
	for _, f := range review.Failures {
		if f.Reviewer == name && f.Transient && !w.Retry { // a person's wish begins anew
			failure.Tries = f.Tries + 1
		}
	}
	if failure.Transient && 0 < failure.Tries && failure.Tries <= len(retryWaits) {
		failure.RetryAt = w.Store.EventTime().Add(retryWaits[failure.Tries-1])
	}
	return w.Store.FailReview(ctx, review.ID, name, failure)
}

// Held are the reviews of this clone that wait for an agent which failed: until it is
// due, what is missing is there, or a person asks for them.
func (w *Worker) Held(ctx context.Context) ([]record.ReviewSummary, error) {
	held, _, err := w.Store.Reviews(ctx, record.Filter{Status: record.WaitingStatus, Review: func(r record.ReviewSummary) bool {
		waits := slices.ContainsFunc(r.Waiting, func(name string) bool { return slices.Contains(r.Failed, name) })
		return r.Writer == w.Store.Repo.Writer() && waits
	}})
	return held, err
}
