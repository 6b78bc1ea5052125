package queue

import (
	"context"
	"github.com/git-runr/git-runr/loop/checking"
	"os/exec"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

// leaseClones returns two clones of one remote, both with the first clone's review request.
func leaseClones(t *testing.T) (a, b *store.Store, hub string, id string) {
	t.Helper()
	a, b, hub = runtest.Clones(t, time.Now)
	subject, err := a.Subject(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	review, err := a.RequestReview(t.Context(), record.ReviewRequest{Subject: subject, Reviewer: "a"}, "cli")
	for _, s := range []*store.Store{a, b} {
		if err == nil {
			_, err = share.Sync(t.Context(), s, "origin", false)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return a, b, hub, review.ID
}

func leaseWorker(s *store.Store, m role.Reviewer, sync func() error) *Worker {
	return &Worker{
		Store: s, Progress: checking.Quiet{}, Remote: "origin", ForAll: true,
		Reviewer: func(string) (role.Reviewer, *record.Failure) { return m, nil },
		Sync: func(ctx context.Context) error {
			if err := sync(); err != nil {
				return err
			}
			_, err := share.Sync(ctx, s, "origin", false)
			return err
		},
	}
}

// leaseThere reports whether the remote has a lease.
func leaseThere(t *testing.T, hub string) bool {
	t.Helper()
	out, err := exec.Command("git", "-C", hub, "for-each-ref", "refs/runr/leases").Output()
	if err != nil {
		t.Fatal(err)
	}
	return len(out) > 0
}

// Taking a lease also brings the results that another clone shared since the last fetch, so that the review is not
// repeated.
func TestLeaseBringsNews(t *testing.T) {
	a, b, hub, id := leaseClones(t)
	m := newMeeting(1)
	worker := leaseWorker(b, m, func() error { return nil })
	if err := worker.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	sub := record.Submission{Reviewer: "a", Outcome: record.OutcomePassed, Report: record.EmptyReport()}
	review, err := a.Review(t.Context(), id)
	if err == nil {
		sub.Tree = review.Request.Subject.Tree
		_, err = a.SubmitReview(t.Context(), id, sub, "")
	}
	if err == nil {
		_, err = share.Sync(t.Context(), a, "origin", false)
	}
	if err == nil {
		review, err = b.Review(t.Context(), id)
	}
	if err != nil || len(review.Submissions) > 0 {
		t.Fatalf("%+v, %v", review.Submissions, err)
	}
	if _, err := worker.Review(t.Context(), review); err != nil || m.calls != 0 || leaseThere(t, hub) {
		t.Errorf("%v, %d calls, lease %t", err, m.calls, leaseThere(t, hub))
	}
}

// The lease is released only after the result is shared. If the result cannot be shared, the lease stays.
func TestLeaseIsGivenBackAfterTheResultIsShared(t *testing.T) {
	for _, away := range []bool{false, true} {
		a, b, hub, id := leaseClones(t)
		answered := false
		worker := leaseWorker(b, answering{&answered}, func() error {
			if answered && !leaseThere(t, hub) {
				t.Error("the lease is gone before the result is shared")
			}
			if answered && away {
				return gitstore.ErrRemote
			}
			return nil
		})
		_, err := worker.Work(t.Context())
		if (err != nil) != away || leaseThere(t, hub) != away {
			t.Errorf("away %t: %v, lease %t", away, err, leaseThere(t, hub))
		}
		if _, err := share.Sync(t.Context(), a, "origin", false); err != nil {
			t.Fatal(err)
		}
		if review, err := a.Review(t.Context(), id); err != nil || (len(review.Submissions) == 1) == away {
			t.Errorf("away %t: %d submissions, %v", away, len(review.Submissions), err)
		}
	}
}

// answering is a reviewer that records whether it was called.
type answering struct{ asked *bool }

func (answering) Limits() role.Limits { return role.Limits{} }
func (answering) NeedsCheckout() bool { return false }

func (r answering) Review(ctx context.Context, job role.ReviewJob) (role.ReviewAnswer, error) {
	*r.asked = true
	return fixedReviewer{reply.Pass}.Review(ctx, job)
}

// A clone's own review needs a lease once the remote knows the request. Before that, the review runs without a lease,
// even if the remote cannot be reached.
func TestOwnReviewIsLeasedOncePublished(t *testing.T) {
	a, b, hub, id := leaseClones(t)
	if _, err := share.TakeLease(t.Context(), b, "origin", id); err != nil {
		t.Fatal(err)
	}
	review, err := a.Review(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	m := newMeeting(1)
	worker := leaseWorker(a, m, func() error { return nil })
	worker.ForAll = false
	if done, err := worker.Work(t.Context()); err != nil || m.calls != 0 || done.Reviews != 0 {
		t.Errorf("what another clone does: %+v, %d calls, %v", done, m.calls, err)
	}
	if queue, err := worker.Queue(t.Context()); err != nil || len(queue) != 1 || queue[0].State != StateElsewhere {
		t.Errorf("%+v, %v", queue, err)
	}
	if _, err := a.RequestReview(t.Context(), review.Request, "cli"); err != nil {
		t.Fatal(err)
	}
	if err := a.Repo.SetConfig(t.Context(), "remote.origin.url", hub+"-gone"); err != nil {
		t.Fatal(err)
	}
	if done, err := worker.Work(t.Context()); err != nil || m.calls != 1 || done.Reviews != 1 {
		t.Errorf("what nobody else knows of: %+v, %d calls, %v", done, m.calls, err)
	}
}
