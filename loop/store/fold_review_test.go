package store

import (
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

func reviewEventAt(clock int, eventType string, what any) record.Event {
	e := eventAt(clock, eventType, what)
	e.Review = testReview
	return e
}

func reviewStep(t *testing.T, clock int, word string) record.Event {
	t.Helper()
	fields := append(strings.Fields(word), "", "")
	by := record.ActorPayload{Actor: fields[1], Force: fields[2] == "force"}
	if lease, err := time.ParseDuration(fields[2]); err == nil {
		by.Lease = duration.Duration(lease)
	}
	switch fields[0] {
	case "submit":
		return reviewEventAt(clock, record.EventReviewSubmitted.Name,
			record.Submission{Reviewer: fields[1], Outcome: record.OutcomePassed})
	case "fail":
		e := reviewEventAt(clock, record.EventReviewFailed.Name, record.Failure{Reason: record.ReasonAgentFailed})
		e.Source = fields[1]
		return e
	case "answer":
		return reviewEventAt(clock, record.EventReviewAnswered.Name,
			record.FindingAnswer{Answer: record.Answer{Finding: "f-1", Kind: record.AnswerDeferred, Actor: by.Actor},
				Force: by.Force})
	case "reopen":
		return reviewEventAt(clock, record.EventReviewReopened.Name, by)
	case "cancel":
		return reviewEventAt(clock, record.EventReviewCancelled.Name, by)
	case "claim":
		return reviewEventAt(clock, record.EventReviewClaimed.Name, by)
	case "release":
		return reviewEventAt(clock, record.EventReviewReleased.Name, by)
	case "resolve":
		return reviewEventAt(clock, record.EventReviewResolved.Name, by)
	}
	t.Fatalf("no event for %q", word)
	return record.Event{}
}

// Titles and messages appear in every list, so long ones are cut: our own when they are recorded, others' when they
// are folded. Short ones are unchanged.
func TestLongTitles(t *testing.T) {
	store, _ := newRepo(t)
	long, fair := strings.Repeat("é", 1<<20), strings.Repeat("x", 1<<10)
	subject := record.Subject{Kind: record.SubjectCommit, Title: long, Author: long}
	for _, request := range []record.ReviewRequest{{Subject: subject, Message: long, Reviewer: "builtin"},
		{Subject: record.Subject{Title: fair, Author: "Ann"}, Message: fair, Reviewer: "builtin"}} {
		review, bad := record.FoldReview([]record.Event{reviewEventAt(1, record.EventReviewRequested.Name, request)})
		s := review.Summary()
		if len(bad) > 0 || len(s.Title)+len(s.Author)+len(s.Message) > 70<<10 {
			t.Errorf("a line of %d, %d and %d bytes, %v", len(s.Title), len(s.Author), len(s.Message), bad)
		}
		if cut := strings.HasSuffix(s.Title, "…"); cut == (request.Subject.Title == fair) ||
			!cut && (s.Title != fair || s.Message != fair) {
			t.Errorf("title %.20q…, message %.20q…", s.Title, s.Message)
		}
	}
	run, bad := record.FoldRun([]record.Event{eventAt(1, record.EventRunStarted.Name,
		runplan.Plan{Entity: runplan.Entity{Title: long}})})
	if n := len(run.Summary().Entity.Title); len(bad) > 0 || n == 0 || n > 2<<10 {
		t.Errorf("a run's title has %d bytes, %v", n, bad)
	}
	review, err := store.RequestReview(t.Context(), record.ReviewRequest{Subject: subject, Reviewer: "human"}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	entries, _, err := store.Events(t.Context())
	if err != nil || len(entries) != 1 || len(entries[0].Payload) > len(long)+10<<10 ||
		len(review.Request.Subject.Title) > 2<<10 {
		t.Errorf("%d events, %v, a title of %d bytes", len(entries), err, len(review.Request.Subject.Title))
	}
}
