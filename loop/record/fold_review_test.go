package record

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// reviewEvents returns the events of one review for short words such as "claim ann" and "resolve bob force". The
// first event is the request.
func reviewEvents(t *testing.T, words ...string) []Event {
	t.Helper()
	events := []Event{reviewEventAt(1, EventReviewRequested.Name, ReviewRequest{Reviewer: "builtin", Message: "look"})}
	for _, word := range words {
		events = append(events, reviewStep(t, len(events)+1, word))
	}
	return events
}

func reviewEventAt(clock int, eventType string, what any) Event {
	e := eventAt(clock, eventType, what)
	e.Review = testReview
	return e
}

func reviewStep(t *testing.T, clock int, word string) Event {
	t.Helper()
	fields := append(strings.Fields(word), "", "")
	by := ActorPayload{Actor: fields[1], Force: fields[2] == "force"}
	if lease, err := time.ParseDuration(fields[2]); err == nil {
		by.Lease = duration.Duration(lease)
	}
	switch fields[0] {
	case "submit":
		return reviewEventAt(clock, EventReviewSubmitted.Name, Submission{Reviewer: fields[1], Outcome: OutcomePassed})
	case "refuse":
		return reviewEventAt(clock, EventReviewSubmitted.Name, Submission{Reviewer: fields[1], Outcome: OutcomeFailed})
	case "settle":
		return reviewEventAt(clock, EventReviewResolved.Name, ActorPayload{Actor: Itself, Note: PassedNote})
	case "answered":
		return reviewEventAt(clock, EventReviewResolved.Name, ActorPayload{Actor: Itself, Note: AnsweredNote + ": 1 fixed"})
	case "fail":
		e := reviewEventAt(clock, EventReviewFailed.Name, Failure{Reason: ReasonAgentFailed})
		e.Source = fields[1]
		return e
	case "answer":
		return reviewEventAt(clock, EventReviewAnswered.Name,
			FindingAnswer{Answer: Answer{Finding: "f-1", Kind: AnswerDeferred, Actor: by.Actor}, Force: by.Force})
	case "reopen":
		return reviewEventAt(clock, EventReviewReopened.Name, by)
	case "cancel":
		return reviewEventAt(clock, EventReviewCancelled.Name, by)
	case "claim":
		return reviewEventAt(clock, EventReviewClaimed.Name, by)
	case "release":
		return reviewEventAt(clock, EventReviewReleased.Name, by)
	case "resolve":
		return reviewEventAt(clock, EventReviewResolved.Name, by)
	}
	t.Fatalf("no event for %q", word)
	return Event{}
}

// foldReview returns FoldReview of events. A fold that is kept and restored after each event has the same result.
func foldReview(t *testing.T, events []Event) Review {
	t.Helper()
	review, bad := FoldReview(events)
	if len(bad) > 0 {
		t.Fatalf("unreadable: %v", bad)
	}
	want, err := review.Keep()
	if err != nil {
		t.Fatal(err)
	}
	restored, kept := Review{}, []byte(nil)
	for _, e := range events {
		if err := restored.Apply(e); err != nil {
			t.Fatal(err)
		}
		if restored.ID == "" {
			continue // which the store does not keep either
		}
		if kept, err = restored.Keep(); err != nil {
			t.Fatal(err)
		}
		if restored, err = RestoreReview(kept); err != nil {
			t.Fatal(err)
		}
	}
	if len(events) > 0 && string(kept) != string(want) {
		t.Errorf("restored after each event:\n%s\nwant\n%s", kept, want)
	}
	return restored
}

// reviewPaths maps each status to words that lead to it.
var reviewPaths = map[ReviewStatus][]string{
	ReviewOpen:      {},
	ReviewSubmitted: {"submit rex"},
	ReviewClaimed:   {"submit rex", "claim ann"},
	ReviewResolved:  {"submit rex", "resolve ann"},
	ReviewCancelled: {"cancel ann"},
}

// TestReviewTransitions is the complete table of a review's states and the allowed events. An event that a status
// does not list is refused.
func TestReviewTransitions(t *testing.T) {
	steps := []string{
		"submit sue", "fail builtin", "cancel ann", "reopen ann", "answer ann", "answer bob", "answer bob force", "claim ann",
		"claim bob", "claim bob force",
		"release ann", "release bob", "release bob force", "resolve ann", "resolve bob", "resolve bob force",
	}
	allowed := map[ReviewStatus]map[string]ReviewStatus{
		ReviewOpen: {"submit sue": ReviewSubmitted, "fail builtin": ReviewOpen, "cancel ann": ReviewCancelled},
		ReviewSubmitted: {
			"fail builtin": ReviewSubmitted, "answer ann": ReviewSubmitted, "answer bob": ReviewSubmitted,
			"answer bob force": ReviewSubmitted,
			"submit sue":       ReviewSubmitted, "claim ann": ReviewClaimed, "claim bob": ReviewClaimed,
			"claim bob force": ReviewClaimed,
			"resolve ann":     ReviewResolved, "resolve bob": ReviewResolved, "resolve bob force": ReviewResolved,
		},
		ReviewClaimed: {
			"fail builtin": ReviewClaimed, "answer ann": ReviewClaimed, "answer bob force": ReviewClaimed,
			"submit sue": ReviewClaimed, "claim ann": ReviewClaimed, "claim bob force": ReviewClaimed,
			"release ann": ReviewSubmitted, "release bob force": ReviewSubmitted, "resolve ann": ReviewResolved,
			"resolve bob force": ReviewResolved,
		},
		ReviewResolved: {"reopen ann": ReviewSubmitted, "resolve ann": ReviewResolved, "resolve bob": ReviewResolved,
			"resolve bob force": ReviewResolved},
		ReviewCancelled: {"reopen ann": ReviewOpen, "cancel ann": ReviewCancelled},
	}
	for status, path := range reviewPaths {
		for _, step := range steps {
			t.Run(string(status)+"/"+step, func(t *testing.T) {
				events := reviewEvents(t, append(slices.Clone(path), step)...)
				before, review := foldReview(t, events[:len(events)-1]), foldReview(t, events)
				if before.Status != status || len(before.Lost) > 0 {
					t.Fatalf("the path leads to %q", before.Status)
				}
				if want, ok := allowed[status][step]; ok {
					if review.Status != want || len(review.Lost) > 0 {
						t.Errorf("status %q, want %q; lost %v", review.Status, want, review.Lost)
					}
					return
				}
				checkRefused(t, before, review, events[len(events)-1])
			})
		}
	}
}

// checkRefused checks that a refused event changes nothing except the list of lost events.
func checkRefused(t *testing.T, before, after Review, e Event) {
	t.Helper()
	if len(after.Lost) != 1 {
		t.Fatalf("status %q, lost %v: want it refused", after.Status, after.Lost)
	}
	lost := after.Lost[0]
	if lost.Event != e.ID || lost.Type != e.Type || lost.By != e.Actor || lost.Writer != e.Writer ||
		!lost.At.Equal(e.Timestamp) || !strings.Contains(lost.Why, testReview) {
		t.Errorf("lost %+v of %+v", lost, e)
	}
	after.Lost = nil
	if !reflect.DeepEqual(before, after) {
		t.Errorf("the refused event changed %+v to %+v", before, after)
	}
}

func TestReviewRefusalsSayWhy(t *testing.T) {
	for _, test := range []struct{ path, step, says string }{
		{"submit rex, claim ann", "claim bob", "is claimed by ann"},
		{"submit rex, claim ann", "resolve bob", "is claimed by ann"},
		{"submit rex, claim ann", "release bob", "is claimed by ann"},
		{"cancel ann", "claim bob", "is cancelled and cannot be claimed"},
		{"cancel ann", "submit rex", "is cancelled and cannot be submitted"},
		{"submit rex, resolve ann", "submit sue", "is resolved and cannot be submitted"},
		{"submit rex, resolve ann", "claim bob", "is resolved and cannot be claimed"},
		{"submit rex, resolve ann", "cancel bob", "is resolved and cannot be cancelled"},
		{"submit rex", "cancel ann", "is submitted and cannot be cancelled"},
		{"submit rex, resolve ann", "fail", "is resolved and cannot be reviewed"},
		{"submit rex, resolve ann", "answer ann", "is resolved and cannot be answered"},
		{"submit rex, claim ann", "answer bob", "is claimed by ann"},
		{"submit rex", "reopen ann", "is submitted and cannot be reopened"},
		{"submit rex", "claim", "is submitted and cannot be claimed by nobody"},
		{"submit rex", "release ann", "is submitted and cannot be released"},
	} {
		review := foldReview(t, reviewEvents(t, append(strings.Split(test.path, ", "), test.step)...))
		if len(review.Lost) != 1 || review.Lost[0].Why != "review "+testReview+" "+test.says {
			t.Errorf("%s, then %s: lost %v, want %q", test.path, test.step, review.Lost, test.says)
		}
	}
}

// TestPassOfAnotherClone: a clone that did not know of a refusal and closed the review as passed does not close it.
func TestPassOfAnotherClone(t *testing.T) {
	review := foldReview(t, reviewEvents(t, "submit rex", "refuse sue", "settle"))
	if review.Status != ReviewSubmitted || !review.ClosedAt.IsZero() || len(review.Lost) > 0 {
		t.Errorf("%s, closed %v, lost %v", review.Status, review.ClosedAt, review.Lost)
	}
	review = foldReview(t, reviewEvents(t, "submit rex", "submit sue", "settle"))
	if review.Status != ReviewResolved {
		t.Errorf("all pass it: %s", review.Status)
	}
	for words, want := range map[string]ReviewStatus{
		"submit rex, settle, refuse sue":                     ReviewSubmitted,
		"submit rex, settle, refuse sue, settle":             ReviewSubmitted,
		"submit rex, settle, refuse sue, resolve ann":        ReviewResolved,
		"submit rex, settle, settle, refuse sue, submit bob": ReviewSubmitted,
		"submit rex, settle, submit sue":                     ReviewResolved,
		"submit rex, resolve ann, refuse sue":                ReviewResolved,
		"submit rex, resolve ann, settle, refuse sue":        ReviewResolved,
		"submit rex, settle, resolve ann, refuse sue":        ReviewResolved,
		"submit rex, settle, refuse sue, submit sue, settle": ReviewResolved,
		"refuse rex, answered, refuse sue":                   ReviewSubmitted,
		"refuse rex, answered, submit sue":                   ReviewResolved,
		"refuse rex, resolve ann, refuse sue":                ReviewResolved,
		"refuse rex, answered, refuse sue, resolve ann":      ReviewResolved,
		"cancel ann, refuse sue":                             ReviewSubmitted,
		"cancel ann, refuse sue, cancel ann":                 ReviewSubmitted,
	} {
		review := foldReview(t, reviewEvents(t, strings.Split(words, ", ")...))
		if review.Status != want || review.ClosedAt.IsZero() != (want != ReviewResolved) {
			t.Errorf("%s: %s, closed %v, want %s", words, review.Status, review.ClosedAt, want)
		}
		if refuses := strings.Contains(words, "refuse sue"); refuses && !strings.Contains(words, "submit sue") &&
			review.Outcome() != OutcomeFailed {
			t.Errorf("%s: what sue refused is %q", words, review.Outcome())
		}
		if told := want != ReviewResolved && len(review.Lost) > 0; told && !strings.HasSuffix(words, "cancel ann") {
			t.Errorf("%s: lost %v", words, review.Lost)
		}
	}
}

func TestReviewRequestIsWhatWasAsked(t *testing.T) {
	request := reviewEvents(t)[0]
	review := foldReview(t, []Event{request})
	if review.ID != testReview || review.Status != ReviewOpen || review.Request.Message != "look" ||
		review.RequestedBy != request.Actor ||
		review.Writer != oneWriter || review.Source != "cli" || !review.CreatedAt.Equal(request.Timestamp) ||
		review.Submissions == nil {
		t.Errorf("review %+v", review)
	}
	again := reviewEventAt(2, EventReviewRequested.Name, ReviewRequest{Message: "another"})
	if twice := foldReview(t, []Event{request, again}); !reflect.DeepEqual(review, twice) {
		t.Errorf("a second request changed %+v to %+v", review, twice)
	}
}

func TestReviewResolvedTwiceIsResolvedOnce(t *testing.T) {
	events := reviewEvents(t, "submit rex", "resolve ann", "resolve bob", "resolve ann")
	review := foldReview(t, events)
	if review.ResolvedBy != "ann" || !review.ResolvedAt.Equal(events[2].Timestamp) || len(review.Lost) > 0 {
		t.Errorf("resolved by %q at %v, lost %v: want the first", review.ResolvedBy, review.ResolvedAt, review.Lost)
	}
}

func TestReviewClaims(t *testing.T) {
	for path, want := range map[string]string{
		"submit rex, claim ann":                          "ann",
		"submit rex, claim ann, claim ann":               "ann",
		"submit rex, claim ann, claim bob":               "ann",
		"submit rex, claim ann, claim bob force":         "bob",
		"submit rex, claim ann, release ann":             "",
		"submit rex, claim ann, release ann, claim bob":  "bob",
		"submit rex, claim ann, submit sue":              "ann",
		"submit rex, claim ann, resolve ann, reopen bob": "",

		// in these tests each event is a minute after the one before
		"submit rex, claim ann 2m, claim bob":                        "ann",
		"submit rex, claim ann 2m, submit sue, claim bob":            "bob",
		"submit rex, claim ann 2m, claim ann 2m, claim bob":          "ann",
		"submit rex, claim ann 2m, submit sue, resolve bob":          "ann", // the review is resolved; bob had the claim last
		"submit rex, claim ann 2m, submit sue, release bob":          "",
		"submit rex, claim ann 2m, claim ann, submit sue, claim bob": "ann", // a renewal without a lease does not expire
	} {
		review := foldReview(t, reviewEvents(t, strings.Split(path, ", ")...))
		got := ""
		if review.Claim != nil {
			got = review.Claim.By
		}
		if got != want {
			t.Errorf("%s: held by %q, want %q", path, got, want)
		}
	}
}

func TestReviewSubmissionsAreKeptInOrder(t *testing.T) {
	events := reviewEvents(t, "fail", "submit rex", "submit sue")
	if review := foldReview(t, events[:2]); review.Status != ReviewOpen || review.Failure == nil ||
		review.Failure.Reason != ReasonAgentFailed || !review.Failure.At.Equal(events[1].Timestamp) {
		t.Errorf("after the failure: %+v", review)
	}
	review := foldReview(t, events)
	if len(review.Submissions) != 2 || review.Submissions[0].Reviewer != "rex" || review.Submissions[1].Reviewer != "sue" {
		t.Fatalf("submissions %+v", review.Submissions)
	}
	if review.Failure != nil || !review.SubmittedAt.Equal(events[2].Timestamp) ||
		!review.Submissions[1].At.Equal(events[3].Timestamp) || !review.UpdatedAt.Equal(events[3].Timestamp) {
		t.Errorf("failure %v, submitted at %v, updated at %v", review.Failure, review.SubmittedAt, review.UpdatedAt)
	}
}

func TestReviewOutcomeIsTheWorst(t *testing.T) {
	for _, test := range []struct {
		outcomes []Outcome
		want     Outcome
	}{
		{nil, ""},
		{[]Outcome{OutcomeNothing}, OutcomeNothing},
		{[]Outcome{OutcomeNothing, OutcomePassed}, OutcomePassed},
		{[]Outcome{OutcomePassed, OutcomeNothing}, OutcomePassed},
		{[]Outcome{OutcomePassed, OutcomeFailed, OutcomePassed}, OutcomeFailed},
		{[]Outcome{OutcomeNothing, OutcomeFailed}, OutcomeFailed},
		{[]Outcome{OutcomeCommented, OutcomePassed}, OutcomePassed},
		{[]Outcome{OutcomeFailed, OutcomeCommented}, OutcomeFailed},
	} {
		var review Review
		for i, o := range test.outcomes {
			review.Submissions = append(review.Submissions, Submission{Reviewer: fmt.Sprint("reviewer ", i), Outcome: o})
		}
		if got := review.Outcome(); got != test.want {
			t.Errorf("%v: %q, want %q", test.outcomes, got, test.want)
		}
	}
}

// TestReviewClaimedInTwoClones: of two concurrent claims, every clone gives the review to the same one and lists the
// other as lost.
func TestReviewClaimedInTwoClones(t *testing.T) {
	events := reviewEvents(t, "submit rex")
	one, two := reviewStep(t, 3, "claim ann"), reviewStep(t, 3, "claim bob")
	one.Writer, two.Writer = oneWriter, twoWriter
	holder, loser := "ann", "bob"
	if one.Compare(two) > 0 {
		holder, loser = "bob", "ann"
	}
	for _, arrived := range [][]Event{{one, two}, {two, one}} {
		review := foldReview(t, sorted(slices.Concat(arrived, events)...))
		if review.Claim == nil || review.Claim.By != holder || len(review.Lost) != 1 || review.Lost[0].Actor != loser ||
			review.Lost[0].Writer == "" {
			t.Errorf("held by %+v, lost %+v; want %s", review.Claim, review.Lost, holder)
		}
	}
}

// TestReviewClaimIsFenced: a writer that lost its claim cannot change the review while another claim holds, under any
// name, until it claims the review again. An event under an ended claim is refused by the claim's id.
func TestReviewClaimIsFenced(t *testing.T) {
	in := func(writer string, e Event) Event { e.Writer = writer; return e }
	step := func(clock int, writer, word string) Event { return in(writer, reviewStep(t, clock, word)) }
	under := func(clock int, eventType string, actor string, claim Event) Event {
		return in(oneWriter, reviewEventAt(clock, eventType, ActorPayload{Actor: actor, Claim: claim.ID}))
	}
	shared := func(clock int, writer, actor string) Event {
		return in(writer, reviewEventAt(clock, EventReviewClaimed.Name, ActorPayload{Actor: actor, Shared: true}))
	}
	first := step(3, oneWriter, "claim ann 1m")
	second := step(6, oneWriter, "claim bob 1m")
	for name, c := range map[string]struct {
		events []Event
		holder string
		status ReviewStatus
		lost   []string // actors of the refused events
	}{
		"the lease of who took over has run out too": {[]Event{first, second, step(9, oneWriter, "resolve ann")}, "bob",
			ReviewClaimed, []string{"ann"}},
		"it is claimed again": {[]Event{first, second, step(9, oneWriter, "claim ann"),
			step(10, oneWriter, "resolve ann")}, "ann", ReviewResolved, nil},
		"nobody ever had it": {[]Event{second, step(9, oneWriter, "resolve ann")}, "bob", ReviewResolved,
			nil},
		"the same name in another clone": {[]Event{step(3, oneWriter, "claim ci"), step(4, twoWriter, "claim ci"),
			step(5, twoWriter, "resolve ci"), step(6, twoWriter, "release ci")}, "ci", ReviewClaimed,
			[]string{"ci", "ci", "ci"}},
		"the holder resolves from another clone": {[]Event{step(3, oneWriter, "claim ci"), step(4, twoWriter, "resolve ci")},
			"ci", ReviewResolved, nil},
		"what was given back is not lost": {[]Event{step(3, oneWriter, "claim ann"), step(4, oneWriter, "release ann"),
			second, step(9, oneWriter, "resolve ann")}, "bob", ReviewResolved, nil},
		"taken away by force": {[]Event{step(3, oneWriter, "claim ann"),
			step(4, oneWriter, "claim bob force"), step(5, oneWriter, "resolve ann"), step(6, oneWriter, "answer ann")}, "bob",
			ReviewClaimed, []string{"ann", "ann"}},
		"under a claim that is over": {[]Event{first, second, step(9, oneWriter, "claim ann"),
			under(10, EventReviewResolved.Name, "ann", first), under(11, EventReviewReleased.Name, "ann", first),
			under(12, EventReviewClaimed.Name, "ann", first)}, "ann", ReviewClaimed, []string{"ann", "ann", "ann"}},
		"under the claim that stands": {[]Event{first, under(4, EventReviewClaimed.Name, "ann", first),
			under(5, EventReviewResolved.Name, "ann", first)}, "ann", ReviewResolved, nil},
		"the remote decided for the later one": {[]Event{step(3, oneWriter, "claim ann"), shared(4, twoWriter, "bob"),
			step(5, oneWriter, "resolve ann")}, "bob", ReviewClaimed, []string{"ann", "ann"}},
		"the remote decided for the earlier one": {[]Event{shared(3, twoWriter, "bob"), step(4, oneWriter, "claim ann"),
			step(5, oneWriter, "resolve ann")}, "bob", ReviewClaimed, []string{"ann", "ann"}},
	} {
		review := foldReview(t, slices.Concat(reviewEvents(t, "submit rex"), c.events))
		var lost []string
		for _, l := range review.Lost {
			lost = append(lost, l.Actor)
		}
		if review.Status != c.status || review.Claim == nil || review.Claim.By != c.holder || !slices.Equal(lost, c.lost) {
			t.Errorf("%s: %s, held by %+v, lost %q", name, review.Status, review.Claim, lost)
		}
	}
}

func TestReviewNewestVerdictOfAReviewerCounts(t *testing.T) {
	sub := func(reviewer string, o Outcome, v reply.Verdict) Submission {
		return Submission{Reviewer: reviewer, Outcome: o, Report: reply.Report{Effective: v}}
	}
	failed, passed, said := sub("ann", OutcomeFailed, reply.NeedsFix), sub("ann", OutcomePassed, reply.Pass),
		sub("ann", OutcomeCommented, reply.PassWithNotes)
	for _, test := range []struct {
		submissions []Submission
		outcome     Outcome
		verdict     reply.Verdict
	}{
		{[]Submission{failed, passed}, OutcomePassed, reply.Pass},
		{[]Submission{passed, failed}, OutcomeFailed, reply.NeedsFix},
		{[]Submission{failed, said}, OutcomeFailed, reply.NeedsFix},
		{[]Submission{said, passed}, OutcomePassed, reply.Pass},
		{[]Submission{said}, OutcomeCommented, ""},
		{[]Submission{failed, sub("bob", OutcomePassed, reply.Pass)}, OutcomeFailed, reply.NeedsFix},
		{[]Submission{failed, sub("bob", OutcomeFailed, reply.CriticalFail), passed}, OutcomeFailed, reply.CriticalFail},
	} {
		review := Review{Submissions: test.submissions}
		if review.Outcome() != test.outcome || review.Verdict() != test.verdict {
			t.Errorf("%+v: %s %s, want %s %s", test.submissions, review.Outcome(), review.Verdict(), test.outcome, test.verdict)
		}
	}
}

func TestReviewKeepsTheFailureOfEachReviewer(t *testing.T) {
	events := reviewEvents(t, "fail rex", "fail sue", "fail rex", "submit sue", "fail tom")
	request := ReviewRequest{Reviewer: "rex", Others: []string{"sue"}}
	events[0] = reviewEventAt(1, EventReviewRequested.Name, request)
	for n, want := range [][]string{nil, {"rex"}, {"rex", "sue"}, {"sue", "rex"}, {"rex"}, {"rex"}} {
		review := foldReview(t, events[:n+1])
		if names := review.Summary().Failed; !slices.Equal(names, want) {
			t.Errorf("after %d events: failures of %v, want %v", n+1, names, want)
		}
	}
}

// Each clone's failure of a reviewer is kept, because the cause may exist in one clone only.
func TestReviewKeepsTheFailureOfEachClone(t *testing.T) {
	events := reviewEvents(t, "fail rex", "fail rex", "fail rex")
	events[2].Writer = twoWriter
	turns := foldReview(t, events).Summary().FailedTurns
	if len(turns) != 2 || turns[0].Writer != twoWriter || turns[1].Writer != oneWriter {
		t.Errorf("%+v", turns)
	}
}

// If two clones submit an answer of the same agent on the same tree, the one that asks for changes counts, else the
// first; what does not count is listed as lost. An agent's answer on another tree is a new answer, and people may
// change their minds.
func TestReviewCountsTheAnswerOfAnAgentOnce(t *testing.T) {
	events := reviewEvents(t)
	submit := func(clock int, writer string, sub Submission) {
		e := reviewEventAt(clock, EventReviewSubmitted.Name, sub)
		e.Writer = writer
		events = append(events, e)
	}
	submit(2, oneWriter, Submission{Reviewer: "rex", Tree: "t1", Outcome: OutcomePassed})
	submit(3, twoWriter, Submission{Reviewer: "rex", Tree: "t1", Outcome: OutcomeFailed})
	if review := foldReview(t, events); review.Outcome() != OutcomeFailed {
		t.Errorf("passed in one clone, refused in the other: %s", review.Outcome())
	}
	submit(4, oneWriter, Submission{Reviewer: "rex", Tree: "t1", Outcome: OutcomePassed})
	submit(4, twoWriter, Submission{Reviewer: "sue", Tree: "t1", Outcome: OutcomePassed})
	submit(5, oneWriter, Submission{Reviewer: "rex", Tree: "t2", Outcome: OutcomePassed})
	submit(6, oneWriter, Submission{Reviewer: "ann", Tree: "t1", Decision: RequestChanges, Outcome: OutcomeFailed})
	submit(7, oneWriter, Submission{Reviewer: "ann", Tree: "t1", Decision: Approve, Outcome: OutcomePassed})
	review := foldReview(t, events)
	if len(review.Submissions) != 6 || review.Outcome() != OutcomePassed {
		t.Errorf("%d submissions, %s", len(review.Submissions), review.Outcome())
	}
	if len(review.Lost) != 1 || review.Lost[0].Event != events[3].ID ||
		!strings.Contains(review.Lost[0].Why, "answered by rex twice") {
		t.Errorf("%+v", review.Lost)
	}
}

func TestReviewMakesCommentsOfALogSound(t *testing.T) {
	events := reviewEvents(t)
	comments := []Comment{
		{ID: "c-0123456789", Comment: "a"}, {ID: "c-0123456789", Comment: "b"}, {Comment: "c"}, {Comment: "c"},
		{ID: "f-0123456789", Comment: "d"},
		{File: "a.go", StartLine: -3, EndLine: 7}, {File: "a.go", StartLine: 7, EndLine: 3},
	}
	for clock := 2; clock < 4; clock++ {
		events = append(events, reviewEventAt(clock, EventReviewSubmitted.Name,
			Submission{Reviewer: "ann", Outcome: OutcomeCommented, Comments: comments}))
	}
	review := foldReview(t, events)
	seen := map[string]bool{}
	for _, c := range review.Comments() {
		if !comment.IsID(c.ID) || seen[c.ID] || c.StartLine < 0 || c.EndLine < c.StartLine {
			t.Errorf("%+v", c)
		}
		seen[c.ID] = true
	}
	if first := review.Submissions[0].Comments[0].ID; first != "c-0123456789" || len(seen) != 14 {
		t.Errorf("%d ids, the first is %q", len(seen), first)
	}
	if again := foldReview(t, events); !reflect.DeepEqual(review, again) {
		t.Error("folded again it is another")
	}
}

// A claim's end is bounded: a time that JSON cannot express would make every list fail.
func TestReviewLeaseIsBounded(t *testing.T) {
	for _, test := range []struct {
		year  int
		lease string
	}{{2026, "9223372036854775807"}, {9999, "31536000000"}, {2026, "-5"}, {2026, "31536000000000"}} {
		events := reviewEvents(t, "submit rex")
		claim := reviewEventAt(3, EventReviewClaimed.Name, `{"actor":"ann","lease_ms":`+test.lease+`}`)
		claim.Timestamp = time.Date(test.year, 12, 31, 23, 0, 0, 0, time.UTC)
		review := foldReview(t, append(events, claim))
		if _, err := json.Marshal(review.Summary()); err != nil || review.Claim == nil ||
			review.Claim.Until.Sub(claim.Timestamp) > MaxLease {
			t.Errorf("%d, lease of %s: %+v, %v", test.year, test.lease, review.Claim, err)
		}
	}
}

func TestReviewSkipsWhatItDoesNotKnow(t *testing.T) {
	events := reviewEvents(t, "submit rex")
	want := foldReview(t, events)
	unknown := reviewEventAt(3, "review_praised", `{"stars":5}`)
	started := reviewEventAt(3, EventRunStarted.Name, runplan.Plan{})
	started.Run = testRun
	for name, with := range map[string][]Event{
		"unknown type":   {events[0], unknown, events[1]},
		"event of a run": {events[0], events[1], started},
	} {
		if got := foldReview(t, with); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// TestReviewRequestSortsLast: whoever asks chooses where the request sorts, and what was said counts all the same.
func TestReviewRequestSortsLast(t *testing.T) {
	events := reviewEvents(t, "submit rex", "claim ann")
	want := foldReview(t, events)
	if got := foldReview(t, []Event{events[1], events[2], events[0]}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	without, bad := FoldReview(events[1:])
	if len(bad) > 0 || without.ID != "" || without.WithoutRequest().ID != "" {
		t.Errorf("without its request: %+v, %v", without, bad)
	}
	refusal := reviewEventAt(2, EventReviewSubmitted.Name, Submission{Reviewer: "Bob <bob@x>", Decision: RequestChanges,
		Outcome: OutcomeFailed, Commit: "c"})
	other := reviewEventAt(2, EventReviewSubmitted.Name, Submission{Reviewer: "Eve <eve@x>", Decision: RequestChanges,
		Outcome: OutcomeFailed, Commit: "e"})
	unread := reviewEventAt(3, EventReviewSubmitted.Name, `{"reviewer":1}`)
	without, _ = FoldReview([]Event{events[1], other, refusal, unread})
	known := without.WithoutRequest().Summary()
	if len(known.Refusers) != 2 || !slices.Equal(known.Places(), []gitstore.ID{"e", "c"}) || !known.Unasked() {
		t.Errorf("known of it: %+v", known)
	}
}

// TestReviewFollowsItself: a review is no round after itself, which would settle what refuses it.
func TestReviewFollowsItself(t *testing.T) {
	request := reviewEventAt(1, EventReviewRequested.Name, ReviewRequest{Reviewer: Human, Follows: testReview})
	if got := foldReview(t, []Event{request}).Request.Follows; got != "" {
		t.Errorf("follows %s", got)
	}
}

func TestReviewReportsUnreadableEvents(t *testing.T) {
	events := reviewEvents(t, "submit rex")
	want := foldReview(t, events)
	for _, broken := range []Event{
		reviewEventAt(3, EventReviewSubmitted.Name, `{"reviewer":1}`),
		reviewEventAt(3, EventReviewSubmitted.Name, `{"reviewer":"a","Reviewer":"b"}`),
		reviewEventAt(3, EventReviewClaimed.Name, `[]`),
		reviewEventAt(3, EventReviewRequested.Name, `7`),
	} {
		got, bad := FoldReview(append(slices.Clone(events), broken))
		if len(bad) != 1 || !strings.Contains(bad[0].Error(), broken.ID.Short()) ||
			!strings.Contains(bad[0].Error(), broken.Type) {
			t.Errorf("%s %s: reported %v", broken.Type, broken.Payload, bad)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s %s changed the review: updated at %v, was %v", broken.Type, broken.Payload, got.UpdatedAt,
				want.UpdatedAt)
		}
	}
}

func TestReviewReportsUnreadableFailure(t *testing.T) {
	events := reviewEvents(t)
	want := foldReview(t, events)
	got, bad := FoldReview(append(events, reviewEventAt(2, EventReviewFailed.Name, `{"reason":1}`)))
	if len(bad) != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("reported %v, folded %+v", bad, got)
	}
}

// randomLogs returns the events of two writers about one entity. Each writer's clocks rise, as in a log.
func randomLogs(rng *rand.Rand, of func(clock int) Event) (one, two []Event) {
	for writer, log := range map[string]*[]Event{oneWriter: &one, twoWriter: &two} {
		clock := 0
		for range rng.IntN(15) {
			clock += rng.IntN(3) + 1
			e := of(clock)
			e.Writer = writer
			e.ID = gitstore.ID(writer) + e.ID
			*log = append(*log, e)
		}
	}
	return one, two
}

func randomReviewEvent(rng *rand.Rand, clock int) Event {
	types := []string{EventReviewRequested.Name, EventReviewSubmitted.Name, EventReviewSubmitted.Name,
		EventReviewFailed.Name, EventReviewCancelled.Name, EventReviewClaimed.Name, EventReviewReleased.Name,
		EventReviewResolved.Name, EventReviewReopened.Name, EventReviewAnswered.Name, EventReviewJudged.Name,
		EventReviewJudged.Name, "newer", EventRunStarted.Name, ""}
	payloads := []string{`{"actor":"ann"}`, `{"actor":"ann"}`, `{"actor":"bob"}`,
		`{"reviewer":"rex","other_reviewers":["ann","human"],"judge":"jay","quorum":2,"outcome":"failed","report":{"findings":[{"id":"f-1","issue":"the tests are missing"}]}}`,
		`{"reviewer":"ann","judge":"jay","outcome":"failed","report":{"findings":[{"id":"f-2","issue":"tests are missing"},{"id":"f-1","file":"a"}]}}`,
		`{"by":"jay","reviewer":"rex","finding":"f-2","answer":"refuted","rulings":[{"finding":"f-2","ruling":"refuted"},{"finding":"f-1","ruling":"confirmed"},{"finding":"","ruling":"?"}]}`, `{"actor":"bob","force":true}`, `{"actor":"ann","lease_ms":60000}`, `{"reviewer":"rex","outcome":"failed"}`, `{"reason":"x"}`, `null`, ``, `{`, `[]`, `{"actor":7}`}
	if clock <= 2 {
		types = types[:1]
	}
	return reviewEventAt(clock, types[rng.IntN(len(types))], payloads[rng.IntN(len(payloads))])
}

// sorted returns events in the order in which every clone folds them.
func sorted(events ...Event) []Event {
	events = slices.Clone(events)
	Sort(events)
	return events
}

func TestFoldReviewDoesNotDependOnArrival(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range 500 {
		one, two := randomLogs(rng, func(clock int) Event { return randomReviewEvent(rng, clock) })
		all := slices.Concat(one, two)
		want, wantBad := FoldReview(sorted(all...))
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for name, events := range map[string][]Event{
			"one after two": slices.Concat(two, one), "shuffled": all, "merged twice": slices.Concat(sorted(two...), one),
		} {
			got, bad := FoldReview(sorted(events...))
			if !reflect.DeepEqual(got, want) || fmt.Sprint(bad) != fmt.Sprint(wantBad) {
				t.Fatalf("seed %d, case %d, %s: %+v, want %+v", seed, i, name, got, want)
			}
		}
		if want.Status == ReviewClaimed && want.Claim == nil || want.ID == "" && want.Status != "" {
			t.Fatalf("seed %d, case %d: impossible state %+v", seed, i, want)
		}
	}
}

func TestFoldReviewNeverPanics(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 2))
	for i := range 3000 {
		var events []Event
		for range rng.IntN(20) {
			events = append(events, randomReviewEvent(rng, rng.IntN(10)))
		}
		if why := panics(func() { review, _ := FoldReview(events); review.Summary() }); why != nil {
			t.Fatalf("seed %d, case %d: %v on %v", seed, i, why, types(events))
		}
	}
}

// panics returns the value that f panicked with, or nil.
func panics(f func()) (why any) {
	defer func() { why = recover() }()
	f()
	return nil
}

// types returns the types and payloads of events, for failure messages.
func types(events []Event) []string {
	var list []string
	for _, e := range events {
		list = append(list, e.Type+string(e.Payload))
	}
	return list
}

// A claim's time is when its holder got the review. A renewal keeps the time; taking over an expired claim, or
// forcing it, starts anew.
func TestReviewClaimTimes(t *testing.T) {
	for _, c := range []struct {
		words  string
		holder string
		at     int // minutes since the epoch
		until  int // 0: no end
	}{
		{"submit rex; claim ann", "ann", 3, 0},
		{"submit rex; claim ann 1m; claim ann 1m", "ann", 3, 5},
		{"submit rex; claim ann 1m; claim bob", "bob", 4, 0},
		{"submit rex; claim ann 1m; claim bob 2m; claim bob 9m", "bob", 4, 14},
		{"submit rex; claim ann; claim bob", "ann", 3, 0},
		{"submit rex; claim ann; claim bob force", "bob", 4, 0},
		{"submit rex; claim ann 1m; claim bob 1m; claim ann", "ann", 5, 0},
		{"submit rex; claim ann; release ann; claim ann", "ann", 5, 0},
		{"submit rex; claim ann; resolve ann; reopen ann; claim ann", "ann", 6, 0},
	} {
		review := foldReview(t, reviewEvents(t, strings.Split(c.words, "; ")...))
		want := Claim{By: c.holder, At: testEpoch.Add(time.Duration(c.at) * time.Minute)}
		if c.until > 0 {
			want.Until = testEpoch.Add(time.Duration(c.until) * time.Minute)
		}
		if review.Claim == nil {
			t.Errorf("%s: not claimed", c.words)
			continue
		}
		if c.words == "submit rex; claim ann; claim bob force" &&
			(len(review.Ended) != 1 || !review.Ended[0].At.Equal(review.Claim.At) || !review.Ended[0].Lost) {
			t.Errorf("%s: ended %+v", c.words, review.Ended)
		}
		got := *review.Claim
		if got.ID, got.Writer = "", ""; got != want {
			t.Errorf("%s: %+v, want %+v", c.words, got, want)
		}
	}
}

// TestAnswersOfAnotherClone: a clone that did not know of a finding and closed the review because every finding is
// answered does not close it.
func TestAnswersOfAnotherClone(t *testing.T) {
	finding := reply.Finding{ID: "f-1", Severity: reply.Warning, File: "a.go", Line: 1, Issue: "wrong"}
	events := reviewEvents(t, "refuse rex", "answered", "answer ann", "answered")
	events[1] = reviewEventAt(2, EventReviewSubmitted.Name,
		Submission{Reviewer: "rex", Outcome: OutcomeFailed, Report: reply.Report{Findings: []reply.Finding{finding}}})
	if review := foldReview(t, events[:3]); review.Status != ReviewSubmitted || len(review.Lost) > 0 {
		t.Errorf("closed with an open finding: %s, lost %v", review.Status, review.Lost)
	}
	if review := foldReview(t, events); review.Status != ReviewResolved {
		t.Errorf("closed when it is answered: %s", review.Status)
	}
}

// TestVerifiedByAnAuthor: an agent confirms to a person that a finding is fixed, unless an author of the change ran it.
func TestVerifiedByAnAuthor(t *testing.T) {
	for by, settled := range map[string]bool{"Ada <ada@example.com>": false, "Bob <bob@example.com>": true} {
		request := ReviewRequest{Reviewer: Human, Subject: Subject{Author: "Ada <ada@example.com>", Tree: "t1"}}
		events := []Event{
			reviewEventAt(1, EventReviewRequested.Name, request),
			reviewEventAt(2, EventReviewSubmitted.Name, Submission{Reviewer: "Cy <cy@example.com>", Tree: "t1",
				Decision: RequestChanges, Outcome: OutcomeFailed, Comments: []Comment{{ID: "c-0123456789", File: "f",
					Comment: "bad"}}}),
			reviewEventAt(3, EventReviewVerified.Name, Verification{By: "rev", Commit: "c2",
				Rulings: []Ruling{{Finding: "c-0123456789", Kind: Fixed}}}),
			reviewEventAt(4, EventReviewAnswered.Name, FindingAnswer{Answer: Answer{Finding: "c-0123456789", Kind: AnswerFixed,
				Commit: "c2", Actor: "rev"}}),
		}
		for i := range events {
			events[i].Actor = by
		}
		events[1].Actor = "Cy <cy@example.com>"
		review := foldReview(t, events)
		if claimed := len(review.Claimed()); claimed > 0 == settled {
			t.Errorf("%s: %d claimed, answers %+v, lost %v", by, claimed, review.Answers, review.Lost)
		}
	}
}
