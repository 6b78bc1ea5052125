package share

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

func mustSync(t *testing.T, s *store.Store) Synced {
	t.Helper()
	done, err := Sync(context.Background(), s, "origin", true)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// remoteNotes returns the commit of the remote's notes.
func remoteNotes(t *testing.T, s *store.Store) gitstore.Commit {
	t.Helper()
	ctx := context.Background()
	_, err := s.Repo.FetchLogs(ctx, "origin", store.NotesRef)
	var notes gitstore.Commit
	if err == nil {
		notes, err = s.Repo.SharedNotes(ctx, "origin")
	}
	if err != nil {
		t.Fatal(err)
	}
	return notes
}

// A clone whose program cannot read a log does not replace notes that a newer program made from it.
func TestOlderProgramLeavesTheNotes(t *testing.T) {
	ctx := context.Background()
	now := runtest.Epoch
	a, b, id := twoClones(t, &now)
	mustSync(t, a)
	if _, err := b.SubmitPerson(ctx, id, record.Person{Actor: "bob", Decision: record.Approve,
		Message: "as a newer program says"}); err != nil {
		t.Fatal(err)
	}
	_, err := b.Repo.Append(ctx, func(context.Context, gitstore.Tips, string) (gitstore.Record, error) {
		return gitstore.Record{Author: gitstore.Identity{Name: "B", Email: "b@example.org"}, Message: "new\n\n{\"v\":99}\n"},
			nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if done := mustSync(t, b); !done.Notes {
		t.Fatalf("the newer one did not push its notes: %+v", done)
	}
	want := remoteNotes(t, a)
	done := mustSync(t, a)
	if len(done.Rejected) != 1 || done.Notes || !strings.Contains(done.NotesWhy, "not accepted here") {
		t.Errorf("%+v", done)
	}
	if got := remoteNotes(t, a); got.ID != want.ID {
		t.Errorf("the notes moved to %s", got.ID)
	}
}

// A sync that brings nothing reads no review; otherwise it reads only the reviews with new events.
func TestSyncReadsWhatCame(t *testing.T) {
	now := runtest.Epoch
	a, b, id := twoClones(t, &now)
	ctx := context.Background()
	mustSync(t, a)
	if _, err := b.ClaimReview(ctx, id, record.Hold{Actor: "bob"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ClaimReview(ctx, id, record.Hold{Actor: "ann"}); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, s := range []*store.Store{a, b, a, b} {
		told = append(told, mustSync(t, s).Lost...)
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "review_claimed of "+id) {
		t.Errorf("told %q", told)
	}
	cache := filepath.Join(a.Repo.StateDir(), "cache")
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	if done := mustSync(t, a); done.Taken != 0 || len(done.Lost) != 0 {
		t.Errorf("%+v", done)
	}
	if _, err := os.Stat(cache); !os.IsNotExist(err) {
		t.Errorf("all reviews were read for nothing: %v", err)
	}
}

// A clone that was copied with its configuration gets a new writer id. It records the events that only it has again
// under that id, once, with their attachments.
func TestCopiedCloneRecordsItsOwnAgain(t *testing.T) {
	ctx, now := t.Context(), runtest.Epoch
	a, _, id := twoClones(t, &now)
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(a.Repo.WorkTree)); err != nil {
		t.Fatal(err)
	}
	c := runtest.GitStore(t, dir)
	if _, err := a.SubmitPerson(ctx, id, record.Person{Actor: "ann", Decision: record.Approve}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SubmitReview(ctx, id, record.Submission{Reviewer: "rex", Outcome: record.OutcomePassed,
		Report: record.EmptyReport()}, "as it came"); err != nil {
		t.Fatal(err)
	}
	mustSync(t, a)
	if done := mustSync(t, c); !done.Renewed || c.Repo.Writer() == a.Repo.Writer() {
		t.Errorf("%+v", done)
	}
	for _, s := range []*store.Store{c, a} {
		if s == a && mustSync(t, a).Taken != 1 {
			t.Error("the other clone has not one event more")
		}
		review, err := s.Review(ctx, id)
		if err != nil || len(review.Submissions) != 3 {
			t.Fatalf("%d submissions, %v", len(review.Submissions), err)
		}
		last := review.Submissions[slices.IndexFunc(review.Submissions, func(sub record.Submission) bool {
			return sub.Reviewer == "rex"
		})]
		if text, err := s.Attachment(ctx, last.Event, "review.md"); err != nil || string(text) != "as it came" {
			t.Errorf("attached: %q, %v", text, err)
		}
	}
	if done := mustSync(t, c); done.Renewed || done.Pushed != 0 {
		t.Errorf("again: %+v", done)
	}
}
