package record

import (
	"slices"
)

// FailedTurns are the reviewers that could not be run, oldest failure first.
func (r Review) FailedTurns() []FailedTurn {
	var turns []FailedTurn
	for _, f := range r.Failures {
		turns = append(turns, FailedTurn{f.Reviewer, f.Writer, f.RetryAt})
	}
	return turns
}

// keepFailures keeps those that still matter: once somebody has answered, those of
// reviewers who have not.
func (r *Review) keepFailures(failures []Failure) {
	if waiting := r.Waiting(); r.Status != ReviewOpen {
		failures = slices.DeleteFunc(failures, func(f Failure) bool { return !slices.Contains(waiting, f.Reviewer) })
	}
	r.Failures, r.Failure = failures, nil
	if len(failures) > 0 {
		newest := failures[len(failures)-1]
		r.Failure = &newest
	}
}
