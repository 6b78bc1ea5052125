package reviewing

import (
	"context"
	"github.com/git-runr/git-runr/loop/checking"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
)

// readingReviewer passes every change, and calls do in the checkout.
type readingReviewer struct{ do func(dir string) error }

func (readingReviewer) Limits() role.Limits { return role.Limits{} }
func (readingReviewer) NeedsCheckout() bool { return true }

func (r readingReviewer) Review(_ context.Context, job role.ReviewJob) (role.ReviewAnswer, error) {
	return role.ReviewAnswer{Report: reply.ParseReview("### Verdict: PASS\n", "")}, r.do(job.Dir)
}

// The answer of a reviewer that changes the files under review is discarded.
func TestReviewOfChangedFilesIsVoid(t *testing.T) {
	store := runtest.NewStore(t)
	write := func(name string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte("two\n"), 0o666) }
	}
	if err := write("a.go")(store.Repo.WorkTree); err != nil {
		t.Fatal(err)
	}
	subject, err := store.WorkingSubject(t.Context(), record.SubjectWorktree)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		do   func(dir string) error
		void bool
	}{
		"reads":        {func(dir string) error { _, err := os.ReadFile(filepath.Join(dir, "a.go")); return err }, false},
		"writes again": {write("a.go"), false},
		"adds":         {write("b.go"), true},
		"removes":      {func(dir string) error { return os.Remove(filepath.Join(dir, "a.go")) }, true},
	} {
		answer, census, _, err := Inquiry{
			Store: store, Progress: checking.Quiet{}, Reviewer: readingReviewer{test.do}, Subject: subject,
			Question: func(Change) (Question, error) { return Question{}, nil },
		}.Answer(t.Context())
		if void := answer.Failure != nil && answer.Failure.Reason == record.ReasonTampered; err != nil ||
			census.SentFiles != 1 || void != test.void || answer.Failure != nil && !void {
			t.Errorf("%s: failure %+v, census %+v, %v", name, answer.Failure, census, err)
		}
	}
}
