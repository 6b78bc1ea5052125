package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

// When a sync restores a lost event, an index and notes that recorded everything as read without that event are made
// again.
func TestSyncReadsAgainWhatWasLost(t *testing.T) {
	ctx := t.Context()
	a, _, _ := runtest.Clones(t, time.Now)
	subject, err := a.Subject(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	review, err := a.RequestReview(ctx, record.ReviewRequest{Subject: subject, Reviewer: record.Human}, "cli")
	if err == nil {
		review, err = a.SubmitPerson(ctx, review.ID,
			record.Person{Actor: "ann", Decision: record.RequestChanges, Message: "mend it"})
	}
	if err != nil {
		t.Fatal(err)
	}
	mustSync := func() share.Synced {
		t.Helper()
		done, err := share.Sync(ctx, a, "origin", true)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	mustSync()
	want := testrepo.Git(t, a.Repo.WorkTree, "rev-parse", store.NotesRef+"^{tree}")
	tips, err := a.Repo.Tips(ctx)
	if err != nil {
		t.Fatal(err)
	}
	lost := tips[a.Repo.Writer()]
	if err := a.PretendRead(ctx, tips, lost); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(a.Repo.CommonDir, "objects", string(lost[:2]), string(lost[2:]))); err != nil {
		t.Fatal(err)
	}
	done := mustSync()
	if len(done.Recovered) != 1 || len(done.Missing) != 0 {
		t.Errorf("%+v", done)
	}
	if review, err := a.Review(ctx, review.ID); err != nil || review.Status != record.ReviewSubmitted {
		t.Errorf("%s, %v", review.Status, err)
	}
	if got := testrepo.Git(t, a.Repo.WorkTree, "rev-parse", store.NotesRef+"^{tree}"); got != want {
		t.Errorf("notes at %s, want %s", got, want)
	}
	if done := mustSync(); len(done.Recovered) != 0 {
		t.Errorf("again: %+v", done)
	}
}
