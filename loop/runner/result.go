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

// AnswerFixed records which findings of the review that run addresses are fixed: those that the last round of the
// completed run did not find again. The run's reviewer confirms them; rules confirm only what rules have found. Nobody
// confirms that a secret is fixed, because the commit still has it.
func AnswerFixed(ctx context.Context, s *store.Store, run record.Run, actor string) error {
	if run.Plan.FromReview == "" || run.Status != record.RunCompleted {
		return nil
	}
	review, err := s.Review(ctx, run.Plan.FromReview)
	if err != nil || !review.ClosedAt.IsZero() || !record.NothingInTheWay(run.Result) {
		return nil // there is nothing to answer, or the review is closed
	}
	open, _ := run.Open()
	round := run.LastRound()
	for _, f := range run.Plan.Findings {
		again := func(o reply.Finding) bool { return o.ID == f.ID || o.ID == reply.FindingID(f) }
		if _, answered := review.AnswerTo(f.ID); answered && !review.IsOpen(f) || slices.ContainsFunc(open, again) {
			continue
		}
		answer := record.Answer{Finding: f.ID, Kind: record.AnswerFixed, Commit: run.Commit, Reason: "run " + run.ID,
			Actor: actor}
		if round != nil && (round.Looked != record.LookedRules || f.Rule != "") && f.Rule != record.RuleSecret {
			answer.ConfirmedBy = round.Reviewer
		}
		if _, err := s.AnswerFinding(ctx, review.ID, answer, false); err != nil {
			return err
		}
	}
	return nil
}
