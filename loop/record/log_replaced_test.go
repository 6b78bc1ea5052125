package record

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
)

func TestIsRedactionOf(t *testing.T) {
	for _, tt := range []struct {
		was, is string
		want    bool
	}{
		{"the password is swordfish", "the password is [redacted]", true},
		{"the password is swordfish", "[redacted]", true},
		{"the password is swordfish", "[redacted] is [redacted]", true},
		{"the password is swordfish", "the password is swordfish", true},
		{"the password is swordfish", "the password was [redacted]", false},
		{"the password is swordfish", "[redacted] was [redacted]", false},
		{"the password is swordfish", "", false},
		{"aXa", "aX[redacted]Xa", false}, // the parts would overlap
		{"[redacted]", "swordfish", false},
		{"", "[redacted]", true},
	} {
		if got := isRedactionOf(tt.was, tt.is); got != tt.want {
			t.Errorf("%q of %q: %v", tt.is, tt.was, got)
		}
	}
}

// TestOnlyWithdraws: an entry that replaces another one says less, and nothing else.
func TestOnlyWithdraws(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	old := gitstore.ID(strings.Repeat("a", 40))
	ids := map[gitstore.ID]gitstore.ID{old: gitstore.ID(strings.Repeat("b", 40))}
	entry := func(payload, title string, change func(*Event)) gitstore.Entry {
		e := Event{V: 1, Clock: 3, Writer: "0123456789ab", Timestamp: at, Type: "review_submitted", Source: "cli",
			Review: "20260102030405-abcdef", Payload: json.RawMessage(payload), Title: "review_submitted: " + title}
		if change != nil {
			change(&e)
		}
		text, err := e.CommitText("submitted")
		if err != nil {
			t.Fatal(err)
		}
		ada := gitstore.Identity{Name: "Ada", Email: "ada@example.com"}
		return gitstore.Entry{ID: old, Author: ada, When: at, Message: text}
	}
	const said = `{"decision":"approve","n":12345678901234567,"summary":"the key is x1","claim":"aaaa","list":["a"]}`
	was := entry(said, "the key is x1", nil)
	for name, tt := range map[string]struct {
		is   gitstore.Entry
		want bool
	}{
		"the same":        {was, true},
		"a text":          {entry(strings.Replace(said, "x1", "[redacted]", 1), "the key is [redacted]", nil), true},
		"the claim's id":  {entry(strings.Replace(said, `"aaaa"`, `"`+string(ids[old])+`"`, 1), "the key is x1", nil), true},
		"another claim":   {entry(strings.Replace(said, `"aaaa"`, `"cccc"`, 1), "the key is x1", nil), false},
		"another text":    {entry(strings.Replace(said, "x1", "x2", 1), "the key is x1", nil), false},
		"another verdict": {entry(strings.Replace(said, `approve"`, `comment"`, 1), "the key is x1", nil), false},
		"no verdict":      {entry(strings.Replace(said, `approve"`, `[redacted]"`, 1), "the key is x1", nil), false},
		"another number":  {entry(strings.Replace(said, "567", "568", 1), "the key is x1", nil), false},
		"a key less":      {entry(strings.Replace(said, `"decision":"approve",`, "", 1), "the key is x1", nil), false},
		"a key more":      {entry(strings.Replace(said, "{", `{"more":1,`, 1), "the key is x1", nil), false},
		"a longer list":   {entry(strings.Replace(said, `["a"]`, `["a","b"]`, 1), "the key is x1", nil), false},
		"another title":   {entry(said, "all is well", nil), false},
		"another type":    {entry(said, "the key is x1", func(e *Event) { e.Type = "review_resolved" }), false},
		"another clock":   {entry(said, "the key is x1", func(e *Event) { e.Clock++ }), false},
		"another time":    {entry(said, "the key is x1", func(e *Event) { e.Timestamp = at.Add(time.Second) }), false},
		"another review":  {entry(said, "the key is x1", func(e *Event) { e.Review = "20260102030405-aaaaaa" }), false},
		"no event":        {gitstore.Entry{Author: was.Author, When: at, Message: "none"}, false},
		"another author":  {gitstore.Entry{Author: gitstore.Identity{Name: "Eve"}, When: at, Message: was.Message}, false},
		"another instant": {gitstore.Entry{Author: was.Author, When: at.Add(time.Second), Message: was.Message}, false},
	} {
		if err := OnlyWithdraws(was, tt.is, ids); (err == nil) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzWithdrawnIsAccepted: what Withdrawn makes of an entry is what OnlyWithdraws accepts.
func FuzzWithdrawnIsAccepted(f *testing.F) {
	f.Add("the key is swordfish", "swordfish", "approve of swordfish")
	f.Add("a\nlong line with swordfish in it\nb", "swordfish", "")
	f.Add("x", "x", "x x")
	f.Add("[redacted] twice", "[redacted]", "claim")
	f.Fuzz(func(t *testing.T, summary, target, other string) {
		person := Person{Actor: "bob", Decision: RequestChanges, Message: summary,
			Comments: []Comment{{ID: "c-0123456789", Comment: "why " + other}}}
		events := []Event{
			threadEvent(t, 1, EventReviewRequested.Name, ReviewRequest{Reviewer: Human}),
			threadEvent(t, 2, EventReviewSubmitted.Name, person.Submission(Review{})),
			threadEvent(t, 3, EventReviewReplied.Name, Reply{Finding: "c-0123456789", Text: other + summary, Actor: "ada"}),
		}
		review, _ := FoldReview(events)
		p, _, err := review.RedactionOf(target)
		if err != nil {
			t.Skip()
		}
		events = append(events, threadEvent(t, 4, EventReviewRedacted.Name, p))
		review, _ = FoldReview(events)
		w := NewWithdrawal(review, events)
		ids := map[gitstore.ID]gitstore.ID{}
		for _, e := range events {
			text, err := e.CommitText("")
			if err != nil {
				t.Skip()
			}
			was := gitstore.Entry{Writer: e.Writer, Message: text}
			message, err := Withdrawn(was, []*Withdrawal{w}, ids)
			if err != nil {
				t.Fatal(err)
			}
			is := gitstore.Entry{Writer: e.Writer, Message: message}
			if err := OnlyWithdraws(was, is, ids); err != nil {
				t.Errorf("%v:\n%s\n%s", err, text, message)
			}
			again, err := Withdrawn(is, []*Withdrawal{w}, ids)
			if err != nil || again != message {
				t.Errorf("twice: %v\n%s\n%s", err, message, again)
			}
		}
	})
}

// TestTaskOfARunIsRedacted: the task of a run about a review has its texts as lines, however short, and names parts.
func TestTaskOfARunIsRedacted(t *testing.T) {
	events := []Event{
		threadEvent(t, 1, EventReviewRequested.Name, ReviewRequest{Reviewer: Human, Message: "see RS17"}),
	}
	run := threadEvent(t, 2, "run_started", map[string]string{"task": "Address the review.\n\nsee RS17\nsee RS17 again"})
	run.Run, run.Review = "20260102030405-zzzzzz", events[0].Review
	review, _ := FoldReview(events)
	for target, want := range map[string]string{
		"":     "Address the review.\n\n[redacted]\nsee RS17 again",
		"RS17": "Address the review.\n\n[redacted]\nsee [redacted] again",
	} {
		p, _, err := review.RedactionOf(target)
		if err != nil {
			t.Fatal(err)
		}
		all := append(events[:1:1], threadEvent(t, 3, EventReviewRedacted.Name, p))
		redacted, _ := FoldReview(all)
		var got struct{ Task string }
		if err := json.Unmarshal(NewWithdrawal(redacted, all).Event(run).Payload, &got); err != nil || got.Task != want {
			t.Errorf("%q: %q, %v, want %q", target, got.Task, err, want)
		}
	}
}
