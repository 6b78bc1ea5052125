package loop

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// retryWaits are how long a reviewer that may well answer later is left alone after each
// of its failures. After the last one only a person asks it again.
var retryWaits = []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute}

// fail records why a reviewer gave no answer, and when it is tried again by itself.
func (w *Worker) fail(ctx context.Context, review Review, name string, failure Failure) (Review, error) {
	failure.Tries = 1
	for _, f := range review.Failures {
		if f.Reviewer == name && f.Transient && !w.Retry { // a person's wish begins anew
			failure.Tries = f.Tries + 1
		}
	}
	if failure.Transient && 0 < failure.Tries && failure.Tries <= len(retryWaits) {
		failure.RetryAt = w.Store.Now().UTC().Truncate(time.Millisecond).Add(retryWaits[failure.Tries-1])
	}
	return w.Store.FailReview(ctx, review.ID, name, failure)
}

// Next says what happens after a reviewer gave no answer, and what to type, in order.
func (f Failure) Next() (what string, commands []string) {
	const again = "git runr work --retry"
	switch {
	case !f.RetryAt.IsZero():
		return fmt.Sprintf("tried again by git runr work after %s; at once:", f.RetryAt.UTC().Format(time.DateTime+"Z")), []string{again}
	case f.Transient:
		return fmt.Sprintf("tried %d times; once more:", f.Tries), []string{again}
	case f.Reason == ReasonUntrusted:
		return "when its command is approved:", []string{"git runr trust", again}
	case f.Reason == ReasonAgentNotFound:
		return "when it is installed:", []string{again}
	}
	return "when that is mended:", []string{again}
}

// failed are the reviewers that could not be run, and retryAt when those of them are
// tried again that are.
func (r Review) failed() (names []string, retryAt map[string]time.Time) {
	for _, f := range r.Failures {
		names = append(names, f.Reviewer)
		if f.RetryAt.IsZero() {
			continue
		}
		if retryAt == nil {
			retryAt = map[string]time.Time{}
		}
		retryAt[f.Reviewer] = f.RetryAt
	}
	return names, retryAt
}

// Held are the reviews of this clone that wait for an agent which failed, until they are
// due or a person asks for them.
func (w *Worker) Held(ctx context.Context) ([]ReviewSummary, error) {
	held, _, err := w.Store.Reviews(ctx, Filter{Status: inboxStatus, Review: func(r ReviewSummary) bool {
		waits := slices.ContainsFunc(r.Waiting, func(name string) bool { return slices.Contains(r.Failed, name) })
		return r.Writer == w.Store.Repo.Writer() && waits && len(w.turns(r.Waiting, r.Failed, r.RetryAt)) == 0
	}})
	return held, err
}
