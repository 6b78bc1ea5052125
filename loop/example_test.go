package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"
	"time"

	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/reply"
)

// exampleTime is the pinned clock of the examples.
var exampleTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// exampleStore is a repository with one commit, and what removes it.
func exampleStore(ctx context.Context) (*loop.Store, func()) {
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
	store := &loop.Store{Repo: repo, Now: func() time.Time { return exampleTime }}
	return store, func() { os.RemoveAll(dir) }
}

// A review is asked for, answered by a person, and read again from its events.
func ExampleStore_RequestReview() {
	ctx := context.Background()
	store, remove := exampleStore(ctx)
	defer remove()

	subject, err := store.HeadSubject(ctx)
	if err != nil {
		log.Fatal(err)
	}
	review, err := store.RequestReview(ctx, loop.ReviewRequest{Subject: subject, Reviewer: "human"}, "cli")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(review.Status)

	answer := loop.Person{Actor: "bob", Decision: loop.RequestChanges, Message: "to whom?"}
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
	// 2 2026-01-02T03:04:05Z review_submitted: request_changes by bob, 0 comments
}

// A run is its events, and what comes next follows from them alone.
func ExampleNext() {
	plan := loop.RunPlan{Task: "say hello", Implementer: "mine", Policy: loop.Policy{
		MaxRetries: 2,
		Workflow: []loop.WorkStep{
			{Name: "implement", Kind: loop.StepAgent}, {Name: "check", Kind: loop.StepCheck}, {Name: "review", Kind: loop.StepReview},
		},
	}}
	var events []loop.Event
	happened := func(eventType string, payload any) {
		body, err := json.Marshal(payload)
		if err != nil {
			log.Fatal(err)
		}
		events = append(events, loop.Event{
			V: loop.FormatVersion, Clock: uint64(len(events) + 1), Writer: "0123456789ab", Timestamp: exampleTime,
			Type: eventType, Run: "20260102030405-abcdef", Payload: body,
		})
		run, unreadable := loop.FoldRun(events)
		if len(unreadable) > 0 {
			log.Fatal(unreadable)
		}
		step := loop.Next(run, plan.Policy)
		fmt.Printf("%s: %s\n", eventType, strings.TrimSpace(fmt.Sprint(step.Action, " ", step.Mode)))
	}
	attempt := loop.Attempt{Number: 1, Step: "implement", Mode: loop.ModeImplement, Commit: "c1", Tree: "t1", Files: []string{"hello.txt"}}
	happened(loop.RunStarted, plan)
	happened(loop.AttemptStarted, attempt)
	happened(loop.AttemptCompleted, attempt)
	happened(loop.ChecksCompleted, loop.CheckRun{Step: "check"})
	happened(loop.RoundCompleted, loop.Round{
		Number: 1, Attempt: 1, Commit: "c1", Tree: "t1", Census: loop.Census{Files: 1, Lines: 1, SentFiles: 1, SentLines: 1},
		Report: reply.Report{Verdict: reply.NeedsFix, Effective: reply.NeedsFix, Requests: []string{"say please"}},
	})
	// Output:
	// run_started: attempt implement
	// attempt_started: attempt implement
	// attempt_completed: checks
	// checks_completed: review
	// review_completed: attempt fix
}
