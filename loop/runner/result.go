package runner

import (
	"context"
	"slices"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// Result is the outcome of a run in the form that orchestrators read.
type Result struct {
	Status         string        `json:"status"` // a completed run's result, skipped or abort; "" while it runs
	Files          []string      `json:"files"`
	Review         *reply.Report `json:"review"`
	ExecutorResult string        `json:"executor_result,omitempty"`
}

// ResultOf returns run's result. executor is the newest implementer's own report.
func ResultOf(run record.Run, executor string) Result {
	result := Result{Status: run.Result, Files: []string{}, ExecutorResult: executor}
	if run.Status == record.RunCompleted {
		result.Files = run.Files()
	}
	if round := run.LastRound(); round != nil {
		result.Review = &round.Report
	}
	return result
}

// ExecutorText returns the newest implementer's answer in a run, or "" if it cannot be found.
func ExecutorText(ctx context.Context, s *store.Store, run record.Run) string {
	events, err := s.RunEvents(ctx, run.ID)
	if err != nil {
		return ""
	}
	for _, e := range slices.Backward(events) {
		if e.Type == record.EventAttemptCompleted.Name {
			text, _ := s.Attachment(ctx, e.ID, "executor.md")
			return string(text)
		}
	}
	return ""
}
