package steps

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// calls lists the calls that a Taker made, in order.
type calls []string

// asked returns a repository with a submitted review, and a Taker that records its calls. Held returns held.
func asked(t *testing.T, held error) (Taker, record.Review, *calls) {
	t.Helper()
	testrepo.Isolate(t)
	repo, err := gitstore.Open(t.Context(), testrepo.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	store := store.NewStore(repo, time.Now)
	subject, err := store.Subject(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	review, err := store.RequestReview(t.Context(), record.ReviewRequest{Reviewer: record.Human, Subject: subject}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	made := &calls{}
	note := func(what string) { *made = append(*made, what) }
	taker := Taker{
		Store: store, Closing: closing.OnPass,
		Held: func(context.Context, string, record.Hold, bool) (record.Review, error) {
			note("held")
			return review, held
		},
		Unclaim: func(record.Review, record.Hold) { note("unclaim") },
		Closed:  func() { note("closed") },
	}
	if review, err = taker.Submit(t.Context(), review.ID,
		record.Person{Actor: "ann", Decision: record.RequestChanges, Message: "no"}); err != nil {
		t.Fatal(err)
	}
	if review.Status != record.ReviewSubmitted || len(*made) != 1 || (*made)[0] != "closed" {
		t.Fatalf("submitted: %s, %v", review.Status, *made)
	}
	*made = nil
	return taker, review, made
}

// A step that ends a claim first checks for other holders, then releases the claim, and then updates the notes.
func TestResolve(t *testing.T) {
	taker, review, made := asked(t, nil)
	got, err := taker.Resolve(t.Context(), review.ID, record.Hold{Actor: "ann"}, "done")
	if err != nil || got.Status != record.ReviewResolved {
		t.Fatal(got.Status, err)
	}
	if want := "held unclaim closed"; want != joined(*made) {
		t.Errorf("%v, want %s", *made, want)
	}
	if got, err = taker.Reopen(t.Context(), review.ID, "ann"); err != nil || got.Status != record.ReviewSubmitted {
		t.Error(got.Status, err)
	}
}

// If somebody in another clone holds the review, nothing is recorded here.
func TestHeldElsewhere(t *testing.T) {
	refused := &record.StateError{What: "review", Holder: "bob"}
	taker, review, made := asked(t, refused)
	for name, step := range map[string]func() (record.Review, error){
		"resolve": func() (record.Review, error) {
			return taker.Resolve(t.Context(), review.ID, record.Hold{Actor: "ann"}, "")
		},
		"release": func() (record.Review, error) {
			return taker.Release(t.Context(), review.ID, record.Hold{Actor: "ann"})
		},
		"answer": func() (record.Review, error) {
			return taker.Answer(t.Context(), review.ID, record.Answer{Actor: "ann", Finding: "m-1"}, false)
		},
	} {
		*made = nil
		if _, err := step(); !errors.Is(err, error(refused)) {
			t.Errorf("%s: %v", name, err)
		}
		if joined(*made) != "held" {
			t.Errorf("%s went on: %v", name, *made)
		}
	}
	if now, err := taker.Store.Review(t.Context(), review.ID); err != nil || now.Status != record.ReviewSubmitted {
		t.Error(now.Status, err)
	}
}

// Await reads until the result is done or the context ends.
func TestAwait(t *testing.T) {
	reads := 0
	read := func(context.Context) (int, error) { reads++; return reads, nil }
	if got, err := Await(t.Context(), read, func(n int) bool { return n == 2 }); got != 2 || err != nil {
		t.Error(got, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Await(ended, read, func(int) bool { return false }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func joined(made calls) string { return strings.Join(made, " ") }
