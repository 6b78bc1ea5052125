package queue

import (
	"context"
	"github.com/git-runr/git-runr/loop/checking"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
)

// fixedReviewer answers what it is made with.
type fixedReviewer struct{ verdict reply.Verdict }

func (fixedReviewer) Limits() role.Limits { return role.Limits{} }
func (fixedReviewer) NeedsCheckout() bool { return false }

func (r fixedReviewer) Review(context.Context, role.ReviewJob) (role.ReviewAnswer, error) {
	report := record.EmptyReport()
	report.Verdict, report.Effective = r.verdict, r.verdict
	return role.ReviewAnswer{Report: report}, nil
}

func TestWorkerAsksEveryAgent(t *testing.T) {
	s, ctx := runtest.NewStore(t), context.Background()
	asked := record.ReviewRequest{Reviewer: "good", Others: []string{record.Human, "gone", "bad", "good"}}
	err := safefile.WriteFile(s.Repo.WorkTree+"/a.go", []byte("one\n"), 0o644)
	if err == nil {
		asked.Subject, err = s.WorkingSubject(ctx, record.SubjectWorktree)
	}
	if err != nil {
		t.Fatal(err)
	}
	review, err := s.RequestReview(ctx, asked, "cli")
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	worker := &Worker{Store: s, Progress: checking.Quiet{}, Reviewer: func(name string) (role.Reviewer, *record.Failure) {
		calls = append(calls, name)
		switch name {
		case "good":
			return fixedReviewer{reply.Pass}, nil
		case "bad":
			return fixedReviewer{reply.NeedsFix}, nil
		}
		return nil, &record.Failure{Reason: record.ReasonAgentNotFound}
	}}
	for range 2 { // the second time there is nobody left to run
		if _, err := worker.Work(ctx); err != nil {
			t.Fatal(err)
		}
	}
	review, err = s.Review(ctx, review.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(calls, " "); got != "good gone bad" {
		t.Errorf("asked %q", got)
	}
	if review.Outcome() != record.OutcomeFailed || !slices.Equal(review.Waiting(), []string{record.Human, "gone"}) || review.Failure == nil || review.Failure.Reviewer != "gone" {
		t.Errorf("outcome %s, waiting for %v, failure %+v", review.Outcome(), review.Waiting(), review.Failure)
	}
	worker.Retry, calls = true, nil
	if _, err := worker.Work(ctx); err != nil || strings.Join(calls, " ") != "gone" {
		t.Errorf("tried again: %v, %v", calls, err)
	}
}
