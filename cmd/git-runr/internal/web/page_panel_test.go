package web

import (
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// panelReview requests a review from ann and bob. Each reports one common finding and one of their own, and the judge
// refutes the common one.
func panelReview(t *testing.T, s *site) string {
	t.Helper()
	subject, err := s.Store.Subject(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	made, err := s.Store.RequestReview(t.Context(),
		record.ReviewRequest{Subject: subject, Reviewer: "ann", Others: []string{"bob"},
			Panel: record.Panel{Judge: "jay", Kind: "tests"}}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	submit := func(name string, verdict reply.Verdict, findings ...reply.Finding) {
		reply.Identify(findings)
		report := reply.Report{Verdict: verdict, Effective: verdict, Findings: findings, Requests: []string{},
			Warnings: []string{}}
		if _, err := s.Store.SubmitReview(t.Context(), made.ID,
			record.Submission{Reviewer: name, Outcome: record.OutcomeFailed, Report: report,
				Census: record.Census{Files: 1, SentFiles: 1}}, ""); err != nil {
			t.Fatal(err)
		}
	}
	submit("bob", reply.NeedsFix, reply.Finding{Severity: reply.Warning, File: "a.txt", Line: 2,
		Issue: "divide by zero\nwhen the cart is empty."})
	submit("ann", reply.CriticalFail,
		reply.Finding{Severity: reply.Critical, File: "a.txt", Line: 2, Issue: "Divide by zero when the cart is empty"},
		reply.Finding{Severity: reply.Warning, File: "a.txt", Line: 1, Issue: "The opened file is never closed"})
	review, err := s.Store.Review(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	found := review.Joined()
	if len(found) != 2 {
		t.Fatalf("%d findings", len(found))
	}
	rulings := []record.Ruling{{Finding: found[0].ID, Kind: record.Refuted, Reason: "guarded <above>"},
		{Finding: found[1].ID, Kind: record.Confirmed, Reason: "nothing closes it"}}
	if _, err := s.Store.JudgeReview(t.Context(), made.ID, record.Judgement{By: "jay", Rulings: rulings}, ""); err != nil {
		t.Fatal(err)
	}
	return made.ID
}

func TestPanelPage(t *testing.T) {
	s := newSite(t)
	id := panelReview(t, s)
	page := s.page("/review/" + id)
	checkHTML(t, page)
	shows(t, page, "It looks for one kind of fault: <b>tests</b>",
		"<b>NEEDS_FIX</b> of 2 reviewers: ann NEEDS_FIX (CRITICAL before the judge), bob PASS (NEEDS_FIX before the judge).",
		"Judged by jay: 1 refuted, 1 confirmed.", "<b>ann, bob</b>", "1 finding more, shown with another reviewer",
		"<summary>Refuted by jay: guarded &lt;above&gt;</summary>", "Confirmed by jay: nothing closes it")
	hides(t, page, "divide by zero")
}
