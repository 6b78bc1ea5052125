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

// Retry is what happens after a reviewer gave no answer.
type Retry struct {
	What     string   // when it is asked again
	Commands []string // what to type then, in order
}

// Next says what happens after a reviewer gave no answer, and what to type.
func (f Failure) Next() Retry {
	again := []string{"git runr work --retry"}
	switch {
	case f.Reason == ReasonObjects && f.Try != "":
		return Retry{"when it can be read:", []string{f.Try, "git runr work"}}
	case f.Reason == ReasonObjects:
		return Retry{"when it can be read:", []string{"git runr work"}}
	case !f.RetryAt.IsZero():
		return Retry{fmt.Sprintf("tried again by git runr work after %s; at once:", f.RetryAt.UTC().Format(time.DateTime+"Z")), again}
	case f.Transient:
		return Retry{fmt.Sprintf("tried %d times; once more:", f.Tries), again}
	case f.Reason == ReasonUntrusted:
		return Retry{"when its command is approved:", append([]string{"git runr trust"}, again...)}
	case f.Reason == ReasonAgentNotFound:
		return Retry{"when it is installed:", again}
	}
	return Retry{"when that is mended:", again}
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

// Held are the reviews of this clone that wait for an agent which failed: until it is
// due, what is missing is there, or a person asks for them.
func (w *Worker) Held(ctx context.Context) ([]ReviewSummary, error) {
	held, _, err := w.Store.Reviews(ctx, Filter{Status: waitingStatus, Review: func(r ReviewSummary) bool {
		waits := slices.ContainsFunc(r.Waiting, func(name string) bool { return slices.Contains(r.Failed, name) })
		return r.Writer == w.Store.Repo.Writer() && waits
	}})
	return held, err
}
