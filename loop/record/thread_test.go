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

// TestLaterOfTwoClones: two clones that do not know of each other's events record an approval and a refusal of one
// person, or two answers to one finding. The events' order is then by chance; what objects later by the clock stays.
func TestLaterOfTwoClones(t *testing.T) {
	const other = "ffffffffffff"
	of := func(e Event, writer string, second int) Event {
		e.Writer, e.Timestamp = writer, time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC)
		return e
	}
	verdict := func(decision Decision) Event {
		comments := []Comment{{ID: "c-0123456789", Comment: "why?"}}
		if decision == Approve {
			comments = nil
		}
		person := Person{Actor: "bob", Decision: decision, Comments: comments}
		return threadEvent(t, 3, EventReviewSubmitted.Name, person.Submission(Review{}))
	}
	for name, tt := range map[string]struct {
		writer string
		at     int // of the approval; the refusal is at 5
		want   Outcome
		open   int
	}{
		"an approval that is older":               {other, 4, OutcomeFailed, 1},
		"an approval that is newer":               {other, 6, OutcomePassed, 0},
		"the same log with a clock that was slow": {threadEvent(t, 3, "", nil).Writer, 4, OutcomePassed, 0},
	} {
		refusal := verdict(RequestChanges)
		review, bad := FoldReview([]Event{threadEvent(t, 1, EventReviewRequested.Name, ReviewRequest{Reviewer: Human}),
			of(refusal, refusal.Writer, 5), of(verdict(Approve), tt.writer, tt.at)})
		if got := review.Outcome(); len(bad) > 0 || got != tt.want || len(review.Unanswered()) != tt.open {
			t.Errorf("%s: %v, %s, open %q", name, bad, got, review.Unanswered())
		}
	}
	answer := func(kind AnswerKind) Event {
		return threadEvent(t, 4, EventReviewAnswered.Name, FindingAnswer{Answer: Answer{Finding: "c-0123456789", Kind: kind,
			Reason: "because", Actor: "ada"}})
	}
	for name, tt := range map[string]struct {
		writer string
		at     int // of "deferred"; "open" is at 5
		open   int
	}{
		"an answer that is older":                 {other, 4, 1},
		"an answer that is newer":                 {other, 6, 0},
		"the same log with a clock that was slow": {threadEvent(t, 3, "", nil).Writer, 4, 0},
	} {
		open := answer(AnswerOpen)
		review, bad := FoldReview([]Event{threadEvent(t, 1, EventReviewRequested.Name, ReviewRequest{Reviewer: Human}),
			verdict(RequestChanges), of(open, open.Writer, 5), of(answer(AnswerDeferred), tt.writer, tt.at)})
		if len(bad) > 0 || len(review.Unanswered()) != tt.open {
			t.Errorf("%s: %v, open %q", name, bad, review.Unanswered())
		}
	}
}
