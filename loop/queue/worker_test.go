package queue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// fixedReviewer always answers with one verdict.
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
	for range 2 { // the second call has nothing left to do
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
	if review.Outcome() != record.OutcomeFailed || !slices.Equal(review.Waiting(), []string{record.Human, "gone"}) ||
		review.Failure == nil || review.Failure.Reviewer != "gone" {
		t.Errorf("outcome %s, waiting for %v, failure %+v", review.Outcome(), review.Waiting(), review.Failure)
	}
	worker.Retry, calls = true, nil
	if _, err := worker.Work(ctx); err != nil || strings.Join(calls, " ") != "gone" {
		t.Errorf("tried again: %v, %v", calls, err)
	}
}

// overtaken is a reviewer that calls meanwhile before it answers.
type overtaken struct {
	fixedReviewer
	meanwhile func()
}

func (o overtaken) Review(ctx context.Context, job role.ReviewJob) (role.ReviewAnswer, error) {
	o.meanwhile()
	return o.fixedReviewer.Review(ctx, job)
}

// TestReviewTakenOver: a newer request for the same change by the same reviewer is answered first, which cancels the
// older one. Whoever waits for the older one gets the newer one, whether its reviewer had begun or not.
func TestReviewTakenOver(t *testing.T) {
	s, ctx := asked(t, 2, "a"), t.Context()
	lines, _, err := s.Reviews(ctx, store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	older, err := s.Review(ctx, lines[1].ID)
	newer, err2 := s.Review(ctx, lines[0].ID)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	worker := func(r role.Reviewer) *Worker {
		return &Worker{Store: s, Progress: checking.Quiet{}, Closing: closing.OnPass,
			Reviewer: func(string) (role.Reviewer, *record.Failure) { return r, nil }}
	}
	took := func() {
		if _, err := worker(fixedReviewer{reply.NeedsFix}).Review(ctx, newer); err != nil {
			t.Error(err)
		}
	}
	for _, meanwhile := range []func(){took, func() { t.Error("asked about a cancelled review") }} {
		done, err := worker(overtaken{fixedReviewer{reply.NeedsFix}, meanwhile}).Review(ctx, older)
		if err != nil || done.ID != newer.ID || len(done.Submissions) != 1 {
			t.Errorf("%s with %d answers, %v; want %s", done.ID, len(done.Submissions), err, newer.ID)
		}
	}
}
