package record

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"git-runr/gitstore"
)

func mustSync(t *testing.T, s *Store) Synced {
	t.Helper()
	done, err := s.Sync(context.Background(), "origin", true)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// remoteNotes is what the remote's notes are at, as a fetch finds it.
func remoteNotes(t *testing.T, s *Store) gitstore.Commit {
	t.Helper()
	ctx := context.Background()
	_, err := s.Repo.FetchLogs(ctx, "origin", NotesRef)
	var notes gitstore.Commit
	if err == nil {
		notes, err = s.Repo.SharedNotes(ctx, "origin")
	}
	if err != nil {
		t.Fatal(err)
	}
	return notes
}

// A clone whose program is too old for a log does not replace notes that were made by
// one that reads it.
func TestOlderProgramLeavesTheNotes(t *testing.T) {
	ctx := context.Background()
	now := testEpoch
	a, b, id := twoClones(t, &now)
	mustSync(t, a)
	if _, err := b.SubmitPerson(ctx, id, Person{Actor: "bob", Decision: Approve, Message: "as a newer program says"}); err != nil {
		t.Fatal(err)
	}
	_, err := b.Repo.Append(ctx, func(context.Context, gitstore.Tips, string) (gitstore.Record, error) {
		return gitstore.Record{Author: gitstore.Identity{Name: "B", Email: "b@example.org"}, Message: "new\n\n{\"v\":99}\n"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if done := mustSync(t, b); !done.Notes {
		t.Fatalf("the newer one did not push its notes: %+v", done)
	}
	want := remoteNotes(t, a)
	done := mustSync(t, a)
	if len(done.Rejected) != 1 || done.Notes || !strings.Contains(done.NotesWhy, "not taken over here") {
		t.Errorf("%+v", done)
	}
	if got := remoteNotes(t, a); got.ID != want.ID {
		t.Errorf("the notes moved to %s", got.ID)
	}
}

// A sync that brings nothing reads no review, and one that does reads those that it is
// about.
func TestSyncReadsWhatCame(t *testing.T) {
	now := testEpoch
	a, b, id := twoClones(t, &now)
	ctx := context.Background()
	mustSync(t, a)
	if _, err := b.ClaimReview(ctx, id, Hold{Actor: "bob"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ClaimReview(ctx, id, Hold{Actor: "ann"}); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, s := range []*Store{a, b, a, b} {
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

// What was derived from logs that had lost something is derived again when they are
// whole: an index and notes that say that everything was read, and lack an event.
func TestSyncReadsAgainWhatWasLost(t *testing.T) {
	ctx := context.Background()
	now := testEpoch
	a, _, id := twoClones(t, &now)
	mustSync(t, a)
	want, err := a.Repo.Ref(ctx, NotesRef)
	if err != nil {
		t.Fatal(err)
	}
	tips, err := a.Repo.Tips(ctx)
	if err != nil {
		t.Fatal(err)
	}
	lost := tips[a.Repo.Writer()]
	idx := &index{Tips: tips, Damaged: []damagedRecord{{Writer: a.Repo.Writer(), ID: lost, Entry: lost, Why: "it is missing"}}}
	if err := idx.save(a.indexPath()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Repo.NewNotes(NotesRef, want).Commit(ctx, notesMessage(tips, testEpoch), testEpoch); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(a.Repo.CommonDir, "objects", string(lost[:2]), string(lost[2:]))); err != nil {
		t.Fatal(err)
	}
	done := mustSync(t, a)
	if len(done.Recovered) != 1 || len(done.Missing) != 0 {
		t.Errorf("%+v", done)
	}
	if review, err := a.Review(ctx, id); err != nil || review.Status != ReviewSubmitted {
		t.Errorf("%s, %v", review.Status, err)
	}
	if got, err := a.Repo.Ref(ctx, NotesRef); err != nil || got != want {
		t.Errorf("notes at %s, %v, want %s", got, err, want)
	}
	if done := mustSync(t, a); len(done.Recovered) != 0 {
		t.Errorf("again: %+v", done)
	}
}
