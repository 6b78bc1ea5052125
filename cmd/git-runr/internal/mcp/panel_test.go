package mcp

import (
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// TestInboxOfAPanel: a finding that several reviewers reported is shown once, with their names and the judge's
// ruling.
func TestInboxOfAPanel(t *testing.T) {
	p := newProject(t)
	store := p.store()
	subject, err := store.Subject(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	made, err := store.RequestReview(t.Context(),
		record.ReviewRequest{Subject: subject, Reviewer: "ann", Others: []string{"bob", "cyd"},
			Panel: record.Panel{Quorum: 2, Judge: "jay", Kind: "tests"}}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []record.Submission{
		{Reviewer: "ann",
			Report: reply.Report{Findings: []reply.Finding{{Severity: reply.Warning, File: "a.txt", Line: 1,
				Issue: "Divide by zero when the cart is empty"}}}},
		{Reviewer: "bob",
			Report: reply.Report{Findings: []reply.Finding{{Severity: reply.Warning, File: "a.txt", Line: 1,
				Issue: "divide by zero when the cart is empty."}}}},
		{Reviewer: "dan",
			Report: reply.Report{Findings: []reply.Finding{{Severity: reply.Warning, File: "a.txt", Line: 2,
				Issue: "Divides by zero when the cart is empty, which is often"}}}},
		{Reviewer: "cyd",
			Report: reply.Report{Findings: []reply.Finding{{Severity: reply.Warning, File: "b.txt",
				Issue: "The name of it is misleading"}}}},
	} {
		reply.Identify(sub.Report.Findings)
		sub.Outcome, sub.Report.Verdict, sub.Report.Effective = record.OutcomeFailed, reply.NeedsFix, reply.NeedsFix
		if _, err := store.SubmitReview(t.Context(), made.ID, sub, ""); err != nil {
			t.Fatal(err)
		}
	}
	first := p.review(made.ID).Joined()[0].ID
	if _, err := store.JudgeReview(t.Context(), made.ID,
		record.Judgement{By: "jay",
			Rulings: []record.Ruling{{Finding: first, Kind: record.Confirmed, Reason: "nothing guards it"}}}, ""); err != nil {
		t.Fatal(err)
	}
	wants(t, p.chat().call("review_inbox", args{"action": "get", "id": made.ID}),
		"only this kind of fault was looked for: tests",
		"together: NEEDS_FIX, with a quorum of 2 of 4 who answered", "judged by jay: 1 confirmed",
		"Divide by zero when the cart is empty\n  reported by: ann, bob\n  similar: f-2f0a0d2a7e\n"+
			"  confirmed by the judge: nothing guards it\n",
		"The name of it is misleading\n  disputed: fewer than the quorum reported it\n")
}
