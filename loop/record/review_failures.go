package record

import (
	"slices"

	"github.com/git-runr/git-runr/gitstore/each"
)

// FailedTurns returns the reviewers that could not be run, oldest failure first.
func (r Review) FailedTurns() []FailedTurn {
	return each.Of(r.Failures, func(f Failure) FailedTurn { return FailedTurn{f.Reviewer, f.Writer, f.RetryAt} })
}

// keepFailures sets the review's failures. Once somebody has answered, it keeps only those of reviewers who have not.
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
