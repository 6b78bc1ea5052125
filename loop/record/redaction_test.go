package record

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/reply"
)

// redactedReview returns a review with two findings, of which one has an answer and a reply.
func redactedReview() Review {
	r := Review{ID: "20260102030405-aaaaaa", Status: ReviewSubmitted,
		Request: ReviewRequest{Message: "see the customer Smith", Subject: Subject{Title: "Smith's bill"}}}
	r.Submissions = []Submission{{Reviewer: "rex", Outcome: OutcomeFailed, Report: reply.Report{
		Verdict: reply.NeedsFix, Effective: reply.NeedsFix, Text: "I found: Smith pays late, always.",
		Requests: []string{"Smith pays late, always."},
		Findings: []reply.Finding{{ID: "f-1", Severity: reply.Critical, File: "a.go", Line: 3,
			Issue: "Smith pays late, always."}, {ID: "f-2", File: "b.go", Issue: "another fault"}},
	}}}
	r.Answers = []Answer{{Finding: "f-1", Kind: AnswerRefuted, Reason: "he paid", Actor: "ann"}}
	r.Replies = []Reply{{Finding: "f-1", Text: "did he?", Actor: "bob"}}
	return r
}

func TestRedaction(t *testing.T) {
	for target, want := range map[string]struct{ gone, left []string }{
		"": {[]string{"customer Smith", "pays late", "another fault", "he paid", "did he?"},
			[]string{"Smith's bill", `"critical"`, "a.go"}},
		"f-1": {[]string{"pays late", "he paid", "did he?"},
			[]string{"another fault", "the customer Smith", `"critical"`, "a.go"}},
		"Smith": {[]string{"pays late", "customer Smith"},
			[]string{"another fault", "he paid", "did he?", "a.go", "Smith's bill"}},
	} {
		t.Run(target, func(t *testing.T) {
			r := redactedReview()
			p, _, err := r.RedactionOf(target)
			if err != nil {
				t.Fatal(err)
			}
			if said, _ := json.Marshal(p); target == "Smith" && strings.Contains(string(said), "Smith") {
				t.Errorf("the redaction says it again: %s", said)
			}
			p.Actor = "ann"
			e := EventReviewRedacted.New("cli", "", p)
			body, _ := json.Marshal(e.Payload)
			if err := r.Apply(Event{Type: e.Type, Payload: body, Review: r.ID}); err != nil {
				t.Fatal(err)
			}
			text, _ := json.Marshal(r)
			for _, gone := range want.gone {
				if strings.Contains(string(text), gone) {
					t.Errorf("%q is still said", gone)
				}
			}
			for _, left := range want.left {
				if !strings.Contains(string(text), left) && !strings.Contains(strings.ToLower(string(text)), left) {
					t.Errorf("%q is gone: %s", left, text)
				}
			}
			if r.Status != ReviewSubmitted || r.Outcome() != OutcomeFailed {
				t.Errorf("%s, %s", r.Status, r.Outcome())
			}
			if _, _, err := r.RedactionOf(target); err == nil {
				t.Error("redacted twice")
			}
		})
	}
	if _, _, err := redactedReview().RedactionOf("nothing of the kind"); err == nil {
		t.Error("what nobody said was redacted")
	}
}

// A clone that does not know of a redaction goes on in the thread, and quotes the text: its events are covered too,
// whether they come before or after the redaction in the order.
func TestRedactionCoversWhatComesLate(t *testing.T) {
	for _, target := range []string{"", "f-1", "Smith"} {
		before := redactedReview()
		p, _, err := before.RedactionOf(target)
		if err != nil {
			t.Fatal(err)
		}
		p.Actor = "ann"
		event := func(clock uint64, d NewEvent) Event {
			body, _ := json.Marshal(d.Payload)
			return Event{Type: d.Type, Payload: body, Review: before.ID, Clock: clock}
		}
		late := event(1, EventReviewReplied.New("cli", "", Reply{Finding: "f-1", Text: "Smith? Never.", Actor: "bob"}))
		other := event(2, EventReviewReplied.New("cli", "", Reply{Finding: "f-2", Text: "leave it", Actor: "bob"}))
		redaction := event(3, EventReviewRedacted.New("cli", "", p))
		for name, events := range map[string][]Event{"before": {late, other, redaction}, "after": {redaction, late, other}} {
			t.Run(target+" "+name, func(t *testing.T) {
				r := before
				for _, e := range events {
					if err := r.Apply(e); err != nil {
						t.Fatal(err)
					}
					kept, err := r.Keep() // a kept state goes on like this one
					if err != nil {
						t.Fatal(err)
					}
					if r, err = RestoreReview(kept); err != nil {
						t.Fatal(err)
					}
				}
				w, text := NewWithdrawal(r, events), ""
				for _, e := range events {
					text += string(w.Event(e).Payload)
				}
				shown, _ := json.Marshal(r)
				for _, said := range []string{string(shown), text} {
					if strings.Contains(said, "Never") {
						t.Errorf("the late reply is shown: %s", said)
					}
					if strings.Contains(said, "leave it") != (target != "") {
						t.Errorf("the other thread: %s", said)
					}
				}
			})
		}
	}
}

// A check's command keeps its words but the named text, also where nothing else has that.
func TestRedactionOfCommand(t *testing.T) {
	r := redactedReview()
	r.Submissions[0].Checks = []CheckResult{{Name: "t", Command: "echo OUT-s3cretword; exit 1"}}
	p, _, err := r.RedactionOf("s3cretword")
	if err != nil {
		t.Fatal(err)
	}
	r.redact(Event{}, p)
	if r, err = r.redacted(); err != nil || r.Submissions[0].Checks[0].Command != "echo OUT-[redacted]; exit 1" {
		t.Errorf("%+v, %v", r.Submissions[0].Checks, err)
	}
}

// A run about a review repeats its texts among other words, also in titles; paths and ids stay.
func TestWithdrawalFromRuns(t *testing.T) {
	r := redactedReview()
	submitted, _ := json.Marshal(r.Submissions[0])
	p, _, err := r.RedactionOf("f-1")
	if err != nil {
		t.Fatal(err)
	}
	r.Redactions = []Redaction{p}
	if r, err = r.redacted(); err != nil {
		t.Fatal(err)
	}
	events := []Event{{Type: EventReviewSubmitted.Name, Review: r.ID, Clock: 1, Payload: submitted},
		{Type: EventRunStarted.Name, Run: "20260102030405-bbbbbb", Review: r.ID, Clock: 2, Payload: []byte(`{}`)},
		{Type: EventReviewRedacted.Name, Review: r.ID, Clock: 3, Payload: []byte(`{"actor":"ann"}`)}}
	w := NewWithdrawal(r, events)
	run := Run{ID: "20260102030405-bbbbbb"}
	run.Plan.Task, run.Plan.Base = "Fix this:\n- Issue: Smith pays late, always. (critical)", "abc"
	if run, err = w.Run(run); err != nil || run.Plan.Task != "Fix this:\n- Issue: [redacted] (critical)" ||
		run.Plan.Base != "abc" {
		t.Errorf("%+v, %v", run.Plan, err)
	}
	e := Event{Run: run.ID, Clock: 2, Title: "round: Smith pays late, always.",
		Payload: []byte(`{"a":"Smith pays late, always."}`)}
	if got := w.Event(e); got.Title != "round: [redacted]" || string(got.Payload) != `{"a":"[redacted]"}` ||
		w.Attached(e) == "" {
		t.Errorf("%q %s %q", got.Title, got.Payload, w.Attached(e))
	}
	if e.Clock = 4; w.Attached(e) != "" {
		t.Error("a later attachment is withdrawn")
	}
	e.Run = "20260102030405-cccccc"
	if got := w.Event(e); got.Title != e.Title {
		t.Errorf("another run's title became %q", got.Title)
	}
}

// Another round repeats a text, or a line of it, among words of its own.
func TestRedactionOfQuotes(t *testing.T) {
	round := Review{ID: "20260102030405-bbbbbb",
		Request: ReviewRequest{Message: "Round 2. You said:\n> he pays late, always"}}
	for quoted, want := range map[string]int{"first line\nhe pays late, always\n": 1, "something else": 0, "he": 0,
		"\n": 0} {
		if p, err := round.RedactionOfQuotes([]string{quoted}); len(p.Texts) != want || err != nil {
			t.Errorf("%q: %+v, %v", quoted, p, err)
		}
	}
}
