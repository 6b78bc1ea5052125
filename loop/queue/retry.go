package queue

import (
	"context"
	"time"

	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/record"
)

// retryWaits are the waits after each failure of a reviewer that is worth retrying, unless its provider asks for
// longer. After the last one only a person can have it retried.
var retryWaits = []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute}

// fail records why a reviewer gave no answer, and when it is retried automatically.
func (w *Worker) fail(ctx context.Context, review record.Review, name string, failure record.Failure) error {
	failure.Tries = 1
	for _, f := range review.Failures {
		if f.Reviewer == name && !w.foreign(f.Writer) && f.Transient && !w.Retry { // a person's retry starts anew
			failure.Tries = f.Tries + 1
		}
	}
	if failure.Transient && 0 < failure.Tries && failure.Tries <= len(retryWaits) {
		wait := max(retryWaits[failure.Tries-1], time.Duration(failure.RetryAfter))
		failure.RetryAt = w.Store.EventTime().Add(wait)
	}
	review, err := w.Store.FailReview(ctx, review.ID, name, failure)
	if err == nil { // the answers of the others may complete the review
		_, err = closing.Close(ctx, w.Store, review, w.Closing)
	}
	return err
}
