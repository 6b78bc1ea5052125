package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

const reviewID = "20260107120000-fedcba"

func reviewed(submissions ...record.Submission) record.Review {
	request := record.ReviewRequest{Subject: record.Subject{Commit: head, Title: "Add a thing"}}
	return record.Review{ID: reviewID, Status: record.ReviewSubmitted, Request: request, Submissions: submissions}
}

func TestReviewThatAsksForChanges(t *testing.T) {
	d, ok := OfReview(reviewed(record.Submission{
		Outcome:  record.OutcomeFailed,
		Comments: []record.Comment{{File: "b.ts", StartLine: 3, Comment: "Run the lint check"}},
		Report: reply.Report{Effective: reply.NeedsFix,
			Findings: []reply.Finding{{File: "a.ts", Line: 1, Issue: "Fix type errors"}},
			Requests: []string{"a.ts:1: Fix type errors"}},
		Checks: []record.CheckResult{{Name: "typecheck", ExitCode: 1, Said: "3 errors", Tree: "of the change"}},
	}), npmChecks(), "git runr run --review "+reviewID)
	if !ok || d.ReviewID != reviewID || d.RunID != "" || d.StopReason != record.ReasonReviewNotPassed ||
		d.Intervention != "" {
		t.Fatalf("%v %+v", ok, d)
	}
	if !slices.Equal(d.LastReviewRequests, []string{"a.ts:1: Fix type errors", "Run the lint check"}) ||
		!slices.Equal(d.UnmetChecks, []string{"typecheck_failed", "lint_output_missing"}) {
		t.Errorf("requests %q, unmet %q", d.LastReviewRequests, d.UnmetChecks)
	}
	got := d.Block(Place{Width: 80})
	for _, part := range []string{
		"Review " + reviewID + ": review_not_passed\n", "1. Run: npm run typecheck\n",
		"3. Run: git runr run --review " + reviewID + "\n", "Edit: a.ts:1  Fix type errors\n",
		"Edit: b.ts:3  Run the lint check\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in:\n%s", part, got)
		}
	}
	for _, part := range []string{"resume", "intervene", reviewID + " commit"} {
		if strings.Contains(got, part) {
			t.Errorf("%q in:\n%s", part, got)
		}
	}
}

// An answered finding or comment is neither listed nor requested, whoever made it.
func TestReviewThatIsAnswered(t *testing.T) {
	found := []reply.Finding{{ID: "f-1", File: "a.ts", Line: 1, Issue: "Fix type errors"},
		{ID: "f-2", File: "b.ts", Line: 2, Issue: "Close the file"}}
	review := reviewed(record.Submission{
		Outcome:  record.OutcomeFailed,
		Comments: []record.Comment{{ID: "c-1", File: "c.ts", StartLine: 3, Comment: "Name it"}},
		Report: reply.Report{Effective: reply.NeedsFix, Findings: found,
			Requests: []string{"a.ts:1: Fix type errors", "b.ts:2: Close the file"}},
	})
	review.Answers = []record.Answer{{Finding: "f-1", Kind: record.AnswerFixed},
		{Finding: "c-1", Kind: record.AnswerRefuted}}
	d, ok := OfReview(review, npmChecks(), "git config runr.loop.implementer pi")
	if got := d.Block(Place{Width: 80}); !ok || strings.Contains(got, "type errors") || strings.Contains(got, "Name it") ||
		!strings.Contains(got, "Close the file") ||
		!strings.Contains(got, "Git: git config runr.loop.implementer pi\n") || strings.Contains(got, "run --review") {
		t.Errorf("%v\n%s", ok, got)
	}
	review.Answers = append(review.Answers, record.Answer{Finding: "f-2", Kind: record.AnswerDeferred})
	if d, ok := OfReview(review, npmChecks(), ""); ok {
		t.Errorf("all is answered, and it is diagnosed as %+v", d)
	}
}

func TestReviewThatCouldNotBeDone(t *testing.T) {
	review := reviewed()
	review.Failure = &record.Failure{Reason: record.ReasonUntrusted, Detail: "agents.mine"}
	d, ok := OfReview(review, nil, "")
	if !ok || d.StopReason != record.ReasonUntrusted || d.Detail != "agents.mine" ||
		d.NextSteps[0].Command != "git runr trust" || d.NextSteps[1].Command != "git runr work --retry" {
		t.Errorf("%v %+v", ok, d)
	}
}

func TestReviewWithNothingToSay(t *testing.T) {
	pass := record.Submission{Outcome: record.OutcomePassed, Report: reply.Report{Effective: reply.Pass}}
	for _, review := range []record.Review{reviewed(), reviewed(pass)} {
		if d, ok := OfReview(review, npmChecks(), "git runr run --review "+reviewID); ok {
			t.Errorf("diagnosed as %+v", d)
		}
	}
	noted := reviewed(record.Submission{Outcome: record.OutcomePassed, Report: reply.Report{
		Effective: reply.PassWithNotes, Findings: []reply.Finding{{ID: "f-1", Severity: reply.Note, Issue: "Name it"}}}})
	if d, ok := OfReview(noted, npmChecks(), ""); ok ||
		Calm(noted) != "review "+reviewID+" passed with 1 note, which nobody has answered" {
		t.Errorf("a note: %+v, %s", d, Calm(noted))
	}
	if d, ok := OfReview(reviewed(record.Submission{Outcome: record.OutcomeNothing}), nil, ""); !ok ||
		d.StopReason != record.ReasonNothing {
		t.Errorf("nothing to review: %v %+v", ok, d)
	}
}

func TestRunThatWasGivenUp(t *testing.T) {
	for _, status := range []record.RunStatus{record.RunAborted, record.RunSkipped} {
		run := stoppedRun()
		run.Status = status
		if d := diagnosisOf(run); d.Resumable || d.Intervention != "" ||
			slices.ContainsFunc(d.SuggestedActions, func(a Action) bool { return strings.Contains(a.Command, "resume") }) {
			t.Errorf("%s: %+v", status, d)
		}
	}
}
