package record

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/reply"
)

// said returns an agent's answer. Findings are written as "critical a.go:3 the issue".
func said(reviewer string, verdict reply.Verdict, findings ...string) Submission {
	sub := Submission{Reviewer: reviewer, Outcome: OutcomePassed, Tree: gitstore.ID("t" + reviewer),
		Census: Census{Files: 1, Lines: 1, SentFiles: 1, SentLines: 1}}
	sub.Report = reply.Report{Verdict: verdict, Findings: []reply.Finding{}}
	for _, text := range findings {
		var f reply.Finding
		severity, rest, _ := strings.Cut(text, " ")
		place, issue, _ := strings.Cut(rest, " ")
		fmt.Sscanf(strings.Replace(place, ":", " ", 1), "%s %d", &f.File, &f.Line)
		f.Severity, f.Issue = reply.Severity(severity), issue
		f.ID = reply.FindingID(f)
		sub.Report.Findings = append(sub.Report.Findings, f)
	}
	sub.Report.Requests = reply.Requests(sub.Report.Findings, nil)
	sub.Report.Effective = reply.EffectiveVerdict(verdict, sub.Report.Findings, false)
	if !sub.Report.Effective.Passed() {
		sub.Outcome = OutcomeFailed
	}
	return sub
}

// panelOf folds a request and steps: a Submission, a Judgement, a Person, an Answer, or a failed turn.
func panelOf(t *testing.T, request ReviewRequest, steps ...any) Review {
	t.Helper()
	events := []Event{reviewEventAt(1, EventReviewRequested.Name, request)}
	for i, step := range steps {
		var e Event
		switch s := step.(type) {
		case Submission:
			e = reviewEventAt(i+2, EventReviewSubmitted.Name, s)
		case Judgement:
			e = reviewEventAt(i+2, EventReviewJudged.Name, s)
		case Person:
			e = reviewEventAt(i+2, EventReviewSubmitted.Name, s.Submission(Review{}))
		case Failure:
			e = reviewEventAt(i+2, EventReviewFailed.Name, s)
			e.Source = s.Reviewer
		case Answer:
			e = reviewEventAt(i+2, EventReviewAnswered.Name, FindingAnswer{Answer: s})
		}
		events = append(events, e)
	}
	return foldReview(t, events)
}

func down(turn string) Failure { return Failure{Reviewer: turn, Reason: ReasonAgentFailed} }

func asked(panel Panel, names ...string) ReviewRequest {
	return ReviewRequest{Reviewer: names[0], Others: names[1:], Panel: panel}
}

const (
	divides = "critical a.go:3 Divide by zero when the cart is empty"
	divided = "warning a.go:3 divide by zero when the cart is empty."
	oftener = "warning a.go:4 Divides by zero when the cart is empty, which happens often"
	closes  = "warning b.go:9 The opened file is never closed"
)

func TestPanelVerdict(t *testing.T) {
	pass, fix, critical := said("c", reply.Pass), said("b", reply.NeedsFix, divided),
		said("a", reply.CriticalFail, divides)
	refuses := Person{Actor: "Ada", Decision: RequestChanges, Message: "no"}
	retried := Failure{Reviewer: "c", Reason: ReasonAgentFailed, RetryAt: time.Unix(9e9, 0)}
	for name, tc := range map[string]struct {
		request ReviewRequest
		steps   []any
		want    string // verdict, outcome, complete, outvoted
	}{
		"the worst": {asked(Panel{}, "a", "b", "c"), []any{critical, fix, pass},
			"CRITICAL failed true false"},
		"one is still to come": {asked(Panel{}, "a", "b", "c"), []any{fix, pass},
			"NEEDS_FIX failed false false"},
		"a quorum of two, two agree": {asked(Panel{Quorum: 2}, "a", "b", "c"), []any{critical, fix, pass},
			"NEEDS_FIX failed true false"},
		"a quorum of two for two reasons": {asked(Panel{Quorum: 2}, "a", "b", "c"),
			[]any{critical, said("b", reply.NeedsFix, closes), pass}, "PASS_WITH_NOTES passed true true"},
		"a third with a reason of its own": {asked(Panel{Quorum: 2}, "a", "b", "d"),
			[]any{critical, fix, said("d", reply.CriticalFail, "critical b.go:9 The file leaks")},
			"NEEDS_FIX failed true false"},
		"a reason that is no finding": {asked(Panel{Quorum: 2}, "a", "b", "c"),
			[]any{critical, said("b", reply.NeedsFix), pass}, "NEEDS_FIX failed true false"},
		"a note is no reason": {asked(Panel{Quorum: 2}, "a", "c", "d"),
			[]any{critical, pass, said("d", reply.PassWithNotes, divided)}, "PASS_WITH_NOTES passed true true"},
		"a quorum of two, one alone": {asked(Panel{Quorum: 2}, "a", "c", "d"),
			[]any{critical, pass, said("d", reply.Pass)}, "PASS_WITH_NOTES passed true true"},
		"a quorum of three, two agree": {asked(Panel{Quorum: 3}, "a", "b", "c"), []any{critical, fix, pass},
			"PASS_WITH_NOTES passed true true"},
		"a quorum above those who are": {asked(Panel{Quorum: 9}, "a", "b"), []any{critical, fix},
			"NEEDS_FIX failed true false"},
		"a quorum of one who is alone": {asked(Panel{Quorum: 2}, "a"), []any{critical}, "CRITICAL failed true false"},
		"who did not answer outvotes none": {asked(Panel{Quorum: 2}, "a", "c"), []any{critical, down("c")},
			"CRITICAL failed false false"},
		"one is down":       {asked(Panel{}, "a", "c"), []any{pass, down("a")}, "PASS passed true false"},
		"one is down first": {asked(Panel{}, "a", "c"), []any{down("a"), pass}, "PASS passed true false"},
		"one is down, of a quorum of two": {asked(Panel{Quorum: 2}, "a", "b", "c"), []any{down("a"), fix, pass},
			"PASS_WITH_NOTES passed true true"},
		"all are down":           {asked(Panel{}, "a", "c"), []any{down("a"), down("c")}, "  false false"},
		"one is tried again":     {asked(Panel{}, "b", "c"), []any{fix, retried}, "NEEDS_FIX failed false false"},
		"a person is waited for": {asked(Panel{}, "c", "human"), []any{pass}, "PASS passed false false"},
		"a person is not outvoted": {asked(Panel{Quorum: 2}, "c", "d", "human"),
			[]any{pass, said("d", reply.Pass), refuses}, "NEEDS_FIX failed true false"},
		"a person is not outvoted with them": {asked(Panel{Quorum: 2}, "a", "c", "d", "human"),
			[]any{critical, pass, said("d", reply.Pass), refuses}, "NEEDS_FIX failed true true"},
		"a person outvotes no agent": {asked(Panel{Quorum: 2}, "a", "c", "human"),
			[]any{critical, down("c"), Person{Actor: "Ada", Decision: Approve}}, "CRITICAL failed true false"},
		"a person does not make the quorum": {asked(Panel{Quorum: 2}, "a", "c", "human"),
			[]any{critical, pass, Person{Actor: "Ada", Decision: Approve}}, "PASS_WITH_NOTES passed true true"},
	} {
		r := panelOf(t, tc.request, tc.steps...)
		if got := fmt.Sprint(r.Verdict(), " ", r.Outcome(), " ", r.Complete(), " ", r.Outvoted()); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// An answer that nobody could read supports nobody's reason, and a person who approves answers it.
func TestPanelUnread(t *testing.T) {
	pass, fix, unread := said("c", reply.Pass), said("b", reply.NeedsFix, divided), said("d", reply.NeedsFix)
	unread.Report.Format = reply.FormatUnreadable
	approves := Person{Actor: "Ada", Decision: Approve}
	for name, tc := range map[string]struct {
		quorum int
		steps  []any
		want   string // verdict, outcome, unreadable, outvoted
	}{
		"alone":                 {1, []any{pass, unread}, "NEEDS_FIX failed true false"},
		"beside a refusal":      {1, []any{pass, fix, unread}, "NEEDS_FIX failed false false"},
		"in a quorum":           {2, []any{pass, fix, unread}, "NEEDS_FIX failed true false"},
		"a person approves":     {1, []any{pass, unread, approves}, "PASS passed false false"},
		"a person approves all": {1, []any{pass, fix, unread, approves}, "NEEDS_FIX failed false false"},
	} {
		r := panelOf(t, asked(Panel{Quorum: tc.quorum}, "b", "c", "d"), tc.steps...)
		if got := fmt.Sprint(r.Verdict(), " ", r.Outcome(), " ", r.Unreadable(), " ", r.Outvoted()); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		if r.Undecided() != (name == "in a quorum") {
			t.Errorf("%s: undecided %v", name, r.Undecided())
		}
	}
}

// A critical finding that fewer than the quorum report is disputed, unless a person reports it.
func TestPanelDisputed(t *testing.T) {
	critical, pass := said("a", reply.CriticalFail, divides), said("c", reply.Pass)
	remark := Person{Actor: "Ada", Decision: CommentOnly, Comments: []Comment{{Severity: "critical", Comment: "no"}}}
	for quorum, want := range map[int]string{1: "1 0", 2: "1 1"} {
		r := panelOf(t, asked(Panel{Quorum: quorum}, "a", "c"), critical, pass)
		if s := r.Summary(); fmt.Sprint(s.Critical, " ", s.Disputed) != want {
			t.Errorf("quorum %d: %d critical, %d disputed, want %s", quorum, s.Critical, s.Disputed, want)
		}
	}
	r := panelOf(t, asked(Panel{Quorum: 2}, "a", "c"), critical, pass, remark)
	if s := r.Summary(); s.Critical != 2 || s.Disputed != 1 {
		t.Errorf("with a person's: %d critical, %d disputed", s.Critical, s.Disputed)
	}
}

func TestPanelJoins(t *testing.T) {
	first, second := said("a", reply.CriticalFail, divides, closes), said("b", reply.NeedsFix, divided)
	want := "[critical a.go:3 [a b] same 0] [warning b.go:9 [a] same 0] "
	for _, steps := range [][]any{{first, second}, {second, first}} { // in either order of arrival
		r := panelOf(t, asked(Panel{}, "a", "b"), steps...)
		got := ""
		for _, j := range r.Joined() {
			got += fmt.Sprintf("[%s %s %v same %d] ", j.Severity, j.Place(), j.SaidBy, len(j.Same))
		}
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
		id := second.Report.Findings[0].ID
		r = panelOf(t, asked(Panel{}, "a", "b"),
			append(steps, Answer{Finding: id, Kind: AnswerRefuted, Reason: "no", Actor: "Ada"})...)
		if open := r.Open(); len(open) != 1 || open[0].File != "b.go" {
			t.Errorf("an answer to what b said is none to what a said: %v", open)
		}
		if r.Verdict() != reply.CriticalFail {
			t.Error("what a person refutes changes no reviewer's verdict")
		}
	}
}

// Two similar findings refer to each other and both stay listed; each needs its own answer.
func TestPanelKeepsWhatIsSimilar(t *testing.T) {
	first, second := said("a", reply.CriticalFail, divides, closes), said("b", reply.NeedsFix, oftener)
	r := panelOf(t, asked(Panel{Quorum: 2}, "a", "b", "c"), first, second, said("c", reply.Pass))
	got := ""
	for _, j := range r.Joined() {
		got += fmt.Sprintf("[%s %v similar %v disputed %v] ", j.Place(), j.SaidBy, j.Similar, j.Disputed)
	}
	one, other := first.Report.Findings[0].ID, second.Report.Findings[0].ID
	if want := "[a.go:3 [a] similar [" + other +
		"] disputed false] [b.go:9 [a] similar [] disputed true] [a.go:4 [b] similar [" + one +
		"] disputed false] "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r = panelOf(t, asked(Panel{}, "a", "b"), first, second,
		Answer{Finding: one, Kind: AnswerRefuted, Reason: "no", Actor: "Ada"})
	if open := r.Open(); len(open) != 2 || open[1].ID != other {
		t.Errorf("left to fix: %v", open)
	}
}

func TestPanelJudge(t *testing.T) {
	first, second := said("a", reply.CriticalFail, divides, closes), said("b", reply.NeedsFix, divided)
	zero, file := first.Report.Findings[0].ID, first.Report.Findings[1].ID
	judged := func(by string, rulings ...Ruling) Judgement { return Judgement{By: by, Rulings: rulings} }
	refute, refuteFile := Ruling{zero, Refuted, "guarded"}, Ruling{file, Refuted, "closed below"}
	panel := asked(Panel{Judge: "j"}, "a", "b")
	failing := first
	failing.Checks = []CheckResult{{Name: "test", Command: "false", ExitCode: 1}}
	asking := said("b", reply.NeedsFix, divided)
	asking.Report.Requests = append(asking.Report.Requests, "Say it in the documentation")
	for name, tc := range map[string]struct {
		steps []any
		want  string // verdict, outcome, waiting, open
	}{
		"not yet its turn":      {[]any{first}, "CRITICAL failed [b] 2"},
		"its turn":              {[]any{first, second}, "CRITICAL failed [judge:j] 2"},
		"its turn, one is down": {[]any{down("b"), first}, "CRITICAL failed [b judge:j] 2"},
		"nothing was found":     {[]any{said("a", reply.Pass), said("b", reply.Pass)}, "PASS passed [] 0"},
		"one refuted, one confirmed": {[]any{first, second, judged("j", refute, Ruling{file, Confirmed, "so"})},
			"NEEDS_FIX failed [] 1"},
		"one refuted, one not spoken of": {[]any{first, second, judged("j", refute, Ruling{file, Unsaid, ""})},
			"NEEDS_FIX failed [] 1"},
		"all refuted": {[]any{first, second, judged("j", refute, refuteFile)}, "PASS passed [] 0"},
		"all confirmed": {[]any{first, second,
			judged("j", Ruling{zero, Confirmed, "so"}, Ruling{file, Confirmed, "so"})}, "CRITICAL failed [] 2"},
		"somebody else's word": {[]any{first, second, judged("b", refute, refuteFile)},
			"CRITICAL failed [judge:j] 2"},
		"the first word counts": {[]any{first, second, judged("j", Ruling{zero, Confirmed, "so"}, refuteFile),
			judged("j", refute)}, "CRITICAL failed [] 1"},
		"a finding that is nowhere": {[]any{first, second, judged("j", Ruling{"f-0", Refuted, "no"})},
			"CRITICAL failed [judge:j] 2"},
		"it is down":                 {[]any{first, second, down("judge:j")}, "CRITICAL failed [judge:j] 2"},
		"a check fails all the same": {[]any{failing, second, judged("j", refute, refuteFile)}, "NEEDS_FIX failed [] 0"},
		"more was asked for": {[]any{said("a", reply.Pass), asking,
			judged("j", Ruling{asking.Report.Findings[0].ID, Refuted, "no"})}, "NEEDS_FIX failed [] 0"},
		"a person's comment is not its": {[]any{said("a", reply.Pass), said("b", reply.Pass),
			Person{Actor: "Ada", Decision: RequestChanges, Message: "no"}}, "NEEDS_FIX failed [] 1"},
	} {
		r := panelOf(t, panel, tc.steps...)
		if got := fmt.Sprint(r.Verdict(), " ", r.Outcome(), " ", r.Waiting(), " ", len(r.Open())); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
	if r := panelOf(t, panel, first, second, down("judge:j")); !r.Complete() || len(r.Absent()) != 1 {
		t.Error("a judge that is down holds the review")
	}
}

// TestFindFinding: a finding's id may be cut off, and its letter left out, where it still names one finding only.
func TestFindFinding(t *testing.T) {
	review := Review{ID: "r", Submissions: []Submission{{Report: reply.Report{Findings: []reply.Finding{
		{ID: "f-12340aaaaa", Issue: "one"}, {ID: "f-12345bbbbb", Issue: "two"}, {ID: "f-abcdeccccc", Issue: "three"},
		{ID: "f-abcdeccccc", Issue: "three", File: "again.txt"},
	}}}}}
	for word, want := range map[string]string{
		"f-12340aaaaa": "f-12340aaaaa", "f-12340": "f-12340aaaaa", "12345": "f-12345bbbbb", "abcd": "f-abcdeccccc",
		"f-ab": "f-abcdeccccc", "1234": "several", "f-1": "none", "abc": "none", "c-abcd": "none", "": "none",
	} {
		got, f, err := review.FindFinding(word)
		missing := new(NotFoundError)
		switch {
		case !errors.As(err, &missing):
			if f.ID != got {
				t.Errorf("%q: id %q with finding %q", word, got, f.ID)
			}
		case len(missing.Among) > 0:
			got = "several"
		default:
			got = "none"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
