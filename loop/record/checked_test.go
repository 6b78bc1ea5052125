package record_test

import (
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// A review is recorded as one event only if that loses nothing that anybody requested or found.
func TestFoundNothing(t *testing.T) {
	request := record.ReviewRequest{Reviewer: record.Builtin,
		Subject: record.Subject{Kind: record.SubjectCommit, Commit: "c1", Tree: "c1"}}
	sub := record.Submission{Reviewer: record.Builtin, Outcome: record.OutcomePassed,
		Report: reply.Report{Verdict: reply.Pass, Effective: reply.Pass}}
	if !record.FoundNothing(request, sub) {
		t.Error("a commit in which rules found nothing is not recorded as one event")
	}
	for what, change := range map[string]func(*record.ReviewRequest, *record.Submission){
		"a message":         func(r *record.ReviewRequest, _ *record.Submission) { r.Message = "look at the lock" },
		"a judge":           func(r *record.ReviewRequest, _ *record.Submission) { r.Judge = "claude" },
		"a second reviewer": func(r *record.ReviewRequest, _ *record.Submission) { r.Others = []string{"claude"} },
		"an agent":          func(r *record.ReviewRequest, _ *record.Submission) { r.Reviewer = "claude" },
		"paths":             func(r *record.ReviewRequest, _ *record.Submission) { r.Subject.Paths = []string{"a"} },
		"a range":           func(r *record.ReviewRequest, _ *record.Submission) { r.Subject.Kind = record.SubjectRange },
		"a round of a run":  func(r *record.ReviewRequest, _ *record.Submission) { r.Run = "r1" },
		"a finding": func(_ *record.ReviewRequest, s *record.Submission) {
			s.Report.Findings = make([]reply.Finding, 1)
		},
		"something not seen": func(_ *record.ReviewRequest, s *record.Submission) {
			s.Report.Effective = reply.PassWithNotes
		},
		"a part not seen":   func(_ *record.ReviewRequest, s *record.Submission) { s.Outcome = record.OutcomePartial },
		"nothing to review": func(_ *record.ReviewRequest, s *record.Submission) { s.Outcome = record.OutcomeNothing },
		"a check that fails": func(_ *record.ReviewRequest, s *record.Submission) {
			s.Checks = []record.CheckResult{{ExitCode: 1}}
		},
		"the answer of another": func(_ *record.ReviewRequest, s *record.Submission) { s.Reviewer = "claude" },
	} {
		r, s := request, sub
		if change(&r, &s); record.FoundNothing(r, s) {
			t.Errorf("with %s it is recorded as if nothing had been found", what)
		}
	}
}
