package queue

import (
	"context"
	"time"

	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/record"
)

// retryWaits are how long a reviewer that may well answer later is left alone after each
// of its failures, unless its provider wants more. After the last one only a person asks it
// again.
var retryWaits = []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute}

// fail records why a reviewer gave no answer, and when it is tried again by itself.
func (w *Worker) fail(ctx context.Context, review record.Review, name string, failure record.Failure) error {
	failure.Tries = 1
	for _, f := range review.Failures {
		if f.Reviewer == name && !w.foreign(f.Writer) && f.Transient && !w.Retry { // a person's wish begins anew
			failure.Tries = f.Tries + 1
		}
	}
	if failure.Transient && 0 < failure.Tries && failure.Tries <= len(retryWaits) {
		wait := max(retryWaits[failure.Tries-1], time.Duration(failure.RetryAfter))
		failure.RetryAt = w.Store.EventTime().Add(wait)
	}
	review, err := w.Store.FailReview(ctx, review.ID, name, failure)
	if err == nil { // it may be complete by what the others said
		_, err = closing.Close(ctx, w.Store, review, w.Closing)
	}
	return err
}
