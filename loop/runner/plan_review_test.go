package runner

import (
	"slices"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// TestPlanReviewLeavesWhatIsSettled: a settled finding becomes neither a finding nor a request of the plan.
func TestPlanReviewLeavesWhatIsSettled(t *testing.T) {
	findings := []reply.Finding{{ID: "f-1", Severity: reply.Warning, File: "a.go", Line: 1, Issue: "One is wrong"},
		{ID: "f-2", Severity: reply.Warning, File: "b.go", Line: 2, Issue: "Two is wrong"}}
	review := record.Review{ID: "r", Request: record.ReviewRequest{Reviewer: "a", Subject: record.Subject{Commit: "c"}}}
	review.Submissions = []record.Submission{{Reviewer: "a", Outcome: record.OutcomeFailed, Report: reply.Report{
		Effective: reply.NeedsFix, Findings: findings,
		Requests: append(reply.Requests(findings, nil), "Say it in the documentation"),
	}}}
	review.Answers = []record.Answer{{Finding: "f-1", Kind: record.AnswerRefuted, Reason: "no", Actor: "Ada"}}
	var plan runplan.Plan
	if err := PlanReview(&plan, review); err != nil {
		t.Fatal(err)
	}
	if want := []string{"b.go:2: Two is wrong", "Say it in the documentation"}; len(plan.Findings) != 1 ||
		plan.Findings[0].ID != "f-2" || !slices.Equal(plan.Requests, want) {
		t.Errorf("findings %v, requests %q", plan.Findings, plan.Requests)
	}
}

// TestPlanReviewOfSome: the plan contains only the named findings of the review.
func TestPlanReviewOfSome(t *testing.T) {
	findings := []reply.Finding{{ID: "f-1", Severity: reply.Warning, File: "a.go", Line: 1, Issue: "One is wrong"},
		{ID: "f-2", Severity: reply.Warning, File: "b.go", Line: 2, Issue: "Two is wrong"}}
	review := record.Review{ID: "r", Request: record.ReviewRequest{Reviewer: "a", Subject: record.Subject{Commit: "c"}}}
	review.Submissions = []record.Submission{{Reviewer: "a", Outcome: record.OutcomeFailed, Report: reply.Report{
		Effective: reply.NeedsFix, Findings: findings,
		Requests: append(reply.Requests(findings, nil), "Say it in the documentation"),
	}}}
	var plan runplan.Plan
	if err := PlanReview(&plan, review, "f-2", "f-2"); err != nil {
		t.Fatal(err)
	}
	if len(plan.Findings) != 1 || plan.Findings[0].ID != "f-2" ||
		len(plan.Requests)+len(plan.Said)+len(plan.FailedChecks) > 0 || !plan.Part {
		t.Errorf("%+v", plan)
	}
	if err := PlanReview(&plan, review, "f-3"); err == nil {
		t.Error("a finding that there is not")
	}
}
