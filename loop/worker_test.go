package loop

import (
	"context"
	"git-runr/loop/reply"
	"slices"
	"strings"
	"testing"
)

// fixedReviewer answers what it is made with.
type fixedReviewer struct{ verdict reply.Verdict }

func (fixedReviewer) Limits() Limits      { return Limits{} }
func (fixedReviewer) NeedsCheckout() bool { return false }

func (r fixedReviewer) Review(context.Context, ReviewJob) (ReviewAnswer, error) {
	report := emptyReport()
	report.Verdict, report.Effective = r.verdict, r.verdict
	return ReviewAnswer{Report: report}, nil
}

func TestWorkerAsksEveryAgent(t *testing.T) {
	s, ctx := newTestStore(t), context.Background()
	asked := ReviewRequest{Reviewer: "good", Others: []string{Human, "gone", "bad", "good"}}
	asked.Subject = personReview(t, s, map[string]string{"a.go": "one\n"}).Request.Subject
	review, err := s.RequestReview(ctx, asked, "cli")
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	worker := &Worker{Store: s, Progress: quiet{}, Reviewer: func(name string) (Reviewer, *Failure) {
		calls = append(calls, name)
		switch name {
		case "good":
			return fixedReviewer{reply.Pass}, nil
		case "bad":
			return fixedReviewer{reply.NeedsFix}, nil
		}
		return nil, &Failure{Reason: ReasonAgentNotFound}
	}}
	for range 2 { // the second time there is nobody left to run
		if _, _, err := worker.Work(ctx); err != nil {
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
	if review.Outcome() != OutcomeFailed || !slices.Equal(review.Waiting(), []string{Human, "gone"}) || review.Failure == nil || review.Failure.Reviewer != "gone" {
		t.Errorf("outcome %s, waiting for %v, failure %+v", review.Outcome(), review.Waiting(), review.Failure)
	}
	worker.Retry, calls = true, nil
	if _, _, err := worker.Work(ctx); err != nil || strings.Join(calls, " ") != "gone" {
		t.Errorf("tried again: %v, %v", calls, err)
	}
}
