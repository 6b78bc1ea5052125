package record

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// threadEvent returns an event of a review; n is its clock.
func threadEvent(t *testing.T, n int, eventType string, payload any) Event {
	t.Helper()
	body, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	return Event{
		V: 1, Clock: uint64(n), Writer: "0123456789ab", Type: eventType, Review: "20260102030405-abcdef", Payload: body,
		Timestamp: time.Date(2026, 1, 2, 3, 4, n, 0, time.UTC),
	}
}

// TestReplies folds replies to a comment, to the review and after the review's end. A kept and restored review has
// the same replies, and a reply answers no finding.
func TestReplies(t *testing.T) {
	person := Person{Actor: "bob", Decision: RequestChanges, Comments: []Comment{{ID: "c-0123456789", Comment: "why?"}}}
	events := []Event{
		threadEvent(t, 1, EventReviewRequested.Name, ReviewRequest{Reviewer: Human}),
		threadEvent(t, 2, EventReviewSubmitted.Name, person.Submission(Review{})),
		threadEvent(t, 3, EventReviewReplied.Name, Reply{Finding: "c-0123456789", Text: "so", Actor: "ada"}),
		threadEvent(t, 4, EventReviewReplied.Name, Reply{Text: "to all", Actor: "ada"}),
		threadEvent(t, 5, EventReviewResolved.Name, ActorPayload{Actor: "ada"}),
		threadEvent(t, 6, EventReviewReplied.Name, Reply{Finding: "c-0123456789", Text: "I see", Actor: "bob"}),
	}
	review, bad := FoldReview(events)
	if len(bad) > 0 || len(review.Lost) > 0 || review.Status != ReviewResolved {
		t.Fatalf("%v, %+v", bad, review)
	}
	kept, err := review.Keep()
	if err != nil {
		t.Fatal(err)
	}
	if review, err = RestoreReview(kept); err != nil {
		t.Fatal(err)
	}
	texts := func(finding string) (texts []string) {
		for _, p := range review.RepliesTo(finding) {
			texts = append(texts, p.Text)
		}
		return texts
	}
	if got := texts("c-0123456789"); !slices.Equal(got, []string{"so", "I see"}) {
		t.Errorf("to the comment: %q", got)
	}
	if got := texts(""); !slices.Equal(got, []string{"to all"}) {
		t.Errorf("to the review: %q", got)
	}
	if open := review.Unanswered(); !slices.Equal(open, []string{"c-0123456789"}) {
		t.Errorf("a reply answers: %q are open", open)
	}
	for _, p := range []Reply{{Text: " ", Actor: "a"}, {Text: strings.Repeat("x", MaxMessage+1), Actor: "a"},
		{Text: "x"}} {
		if p.Check() == nil {
			t.Errorf("%.20q by %q is accepted", p.Text, p.Actor)
		}
	}
}
