package store_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// exampleTime is the fixed clock of the examples.
var exampleTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// exampleStore returns a repository with one commit, and a function that removes it.
func exampleStore(ctx context.Context) (*store.Store, func()) {
	dir, err := os.MkdirTemp("", "loop-example")
	if err != nil {
		log.Fatal(err)
	}
	repo, err := gitstore.Init(ctx, dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, args := range [][]string{
		{"config", "user.name", "Ada"}, {"config", "user.email", "ada@example.com"},
		{"commit", "-q", "--no-gpg-sign", "--allow-empty", "-m", "Say hello"},
	} {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
		at := exampleTime.Format(time.RFC3339)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
		if out, err := cmd.CombinedOutput(); err != nil {
			log.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	store := store.NewStore(repo, func() time.Time { return exampleTime })
	return store, func() { os.RemoveAll(dir) }
}

// A person answers a review request; the review is read from its events.
func ExampleStore_RequestReview() {
	ctx := context.Background()
	store, remove := exampleStore(ctx)
	defer remove()

	subject, err := store.HeadSubject(ctx)
	if err != nil {
		log.Fatal(err)
	}
	review, err := store.RequestReview(ctx, record.ReviewRequest{Subject: subject, Reviewer: "human"}, "cli")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(review.Status)

	answer := record.Person{Actor: "bob", Decision: record.RequestChanges, Message: "to whom?"}
	if review, err = store.SubmitPerson(ctx, review.ID, answer); err != nil {
		log.Fatal(err)
	}
	fmt.Println(review.Status, review.Verdict())

	events, err := store.ReviewEvents(ctx, review.ID)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range events {
		fmt.Println(e.Clock, e.Timestamp.Format(time.RFC3339), e.Title)
	}
	// Output:
	// open
	// submitted NEEDS_FIX
	// 1 2026-01-02T03:04:05Z review_requested: HEAD 750c7f9 Say hello
	// 2 2026-01-02T03:04:05Z review_submitted: request_changes by bob, 1 comment
}
