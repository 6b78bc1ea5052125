package record

import (
	"testing"
)

// TestClaimOfAnOpenRequest: a person can claim an open request before answering it, and only its holder can hand it
// to somebody else.
func TestClaimOfAnOpenRequest(t *testing.T) {
	const dan, bob = "Dan <dan@example.com>", "Bob <bob@example.com>"
	requested := threadEvent(t, 1, EventReviewRequested.Name,
		ReviewRequest{Reviewer: Human, Invited: Invited{People: []string{dan}}})
	claimed := threadEvent(t, 2, EventReviewClaimed.Name, ActorPayload{Actor: dan})
	fold := func(events ...Event) Review {
		review, bad := FoldReview(append([]Event{requested, claimed}, events...))
		if len(bad) > 0 {
			t.Fatal(bad)
		}
		return review
	}
	review := fold()
	if review.Status != ReviewOpen || review.Claim == nil || review.Claim.By != dan {
		t.Fatalf("claimed: %s, %+v", review.Status, review.Claim)
	}
	other := threadEvent(t, 3, EventReviewClaimed.Name, ActorPayload{Actor: bob})
	other.Writer = "bbbbbbbbbbbb"
	if review = fold(other); len(review.Lost) != 1 || review.Claim.By != dan {
		t.Errorf("a second claim: %+v, held by %s", review.Lost, review.Claim.By)
	}
	if review = fold(threadEvent(t, 3, EventReviewReleased.Name, ActorPayload{Actor: dan})); review.Claim != nil ||
		review.Status != ReviewOpen {
		t.Errorf("released: %s, %+v", review.Status, review.Claim)
	}
	if review = fold(threadEvent(t, 3, EventReviewCancelled.Name,
		ActorPayload{Actor: "ada"})); review.Status != ReviewCancelled {
		t.Errorf("whoever asked cannot withdraw it: %s, %+v", review.Status, review.Lost)
	}
	person := Person{Actor: dan, Decision: Approve}
	if review = fold(threadEvent(t, 3, EventReviewSubmitted.Name,
		person.Submission(Review{}))); review.Status != ReviewSubmitted || review.Claim != nil {
		t.Errorf("answered: %s, %+v", review.Status, review.Claim)
	}
	given := threadEvent(t, 3, EventReviewGiven.Name, Given{People: []string{bob}, Actor: dan})
	review = fold(given)
	if review.Claim != nil || review.Request.Asks(dan) || !review.Request.Asks("Robert (host 12) <BOB@example.com>") {
		t.Errorf("given: %+v, asks %q", review.Claim, review.Request.People)
	}
	foreign := threadEvent(t, 3, EventReviewGiven.Name, Given{People: []string{bob}, Actor: "eve"})
	foreign.Writer = "eeeeeeeeeeee"
	if review = fold(foreign); len(review.Lost) != 1 || !review.Request.Asks(dan) {
		t.Errorf("taken out of the holder's hands: %+v", review)
	}
	if nobody := (ReviewRequest{}); !nobody.Asks("anybody") {
		t.Error("a request that names nobody does not ask anybody")
	}
}
