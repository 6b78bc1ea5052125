package store

import (
	"context"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// A redaction withdraws what was attached before it, says so in its place, and leaves what is attached later.
func TestRedactionWithdrawsAttachments(t *testing.T) {
	s, _ := newRepo(t)
	ctx := t.Context()
	commit := testCommit(t, s, "one")
	review, err := s.RequestReview(ctx, record.ReviewRequest{Reviewer: "rex",
		Subject: record.Subject{Kind: record.SubjectCommit, Commit: commit}}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	submit := func(reviewer string) record.Submission {
		t.Helper()
		sub := record.Submission{Reviewer: reviewer, Commit: commit, Outcome: record.OutcomeFailed, Report: reply.Report{
			Findings: []reply.Finding{{ID: "f-1", Issue: "the customer Smith pays late"}}, Requests: []string{},
			Warnings: []string{}}}
		sub.Checks = []record.CheckResult{{Name: "test", Output: "the customer Smith"}}
		review, err = s.SubmitReview(ctx, review.ID, sub, "the customer Smith pays late, I think")
		if err != nil {
			t.Fatal(err)
		}
		return review.Submissions[len(review.Submissions)-1]
	}
	before := submit("rex")
	attached := func(sub record.Submission, role string) string {
		t.Helper()
		text, err := s.Attachment(ctx, sub.Event, role)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if !strings.Contains(attached(before, "review.md"), "Smith") {
		t.Fatal("nothing is attached")
	}
	if review, err = s.RedactReview(ctx, review.ID, "f-1", "ann"); err != nil {
		t.Fatal(err)
	}
	if err := s.Project(ctx); err != nil {
		t.Fatal(err)
	}
	after := submit("max")
	for _, role := range []string{"review.md", record.CheckLog("test")} {
		text := attached(before, role)
		if strings.Contains(text, "Smith") || !strings.Contains(text, "[redacted] withdrawn") ||
			!strings.Contains(text, "ann") {
			t.Errorf("%s: %q", role, text)
		}
	}
	if text := attached(after, "review.md"); !strings.Contains(text, "Smith") {
		t.Errorf("attached after the redaction: %q", text)
	}
	events, err := s.ReviewEvents(ctx, review.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if strings.Contains(string(e.Payload), "pays late") {
			t.Errorf("%s says it: %s", e.Type, e.Payload)
		}
	}
	for name, project := range map[string]func(context.Context) error{"later": s.Project, "rebuilt": s.RebuildNotes} {
		if err := project(ctx); err != nil {
			t.Fatal(err)
		}
		note, err := s.Note(ctx, commit)
		if err != nil || strings.Contains(note, "pays late") || !strings.Contains(note, "max") {
			t.Errorf("%s note, %v: %s", name, err, note)
		}
	}
}
