package queue

import (
	"context"
	"github.com/git-runr/git-runr/loop/checking"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/closing"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
)

// markerRules is a rule-based reviewer that reports the word marker and counts its calls.
type markerRules struct{ asked *int }

func (markerRules) Limits() role.Limits { return role.Limits{} }
func (markerRules) NeedsCheckout() bool { return false }

func (r markerRules) Review(ctx context.Context, job role.ReviewJob) (role.ReviewAnswer, error) {
	*r.asked++
	report := record.EmptyReport()
	if strings.Contains(string(job.Patch), "+marker") {
		report.Findings = []reply.Finding{markerFinding()}
	}
	return role.ReviewAnswer{Report: report}, nil
}

func markerFinding() reply.Finding {
	f := reply.Finding{Severity: reply.Critical, File: "a.txt", Line: 1, Issue: "a marker", Rule: "conflict-marker"}
	f.ID = reply.FindingID(f)
	return f
}

// When a file with a finding changes, the rules that reported the finding are run again, once per change, and only
// for that file. An agent's finding in the same lines stays open until somebody answers it.
func TestConfirm(t *testing.T) {
	s, ctx, asked := runtest.NewStore(t), t.Context(), 0
	commit := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(s.Repo.WorkTree, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		testrepo.Git(t, s.Repo.WorkTree, "add", ".")
		testrepo.Git(t, s.Repo.WorkTree, "commit", "-q", "-m", file)
	}
	commit("a.txt", "marker\nbelow\n")
	subject, err := s.HeadSubject(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, reviewer := range []string{role.Builtin, "agent"} {
		review, err := s.RequestReview(ctx, record.ReviewRequest{Subject: subject, Reviewer: reviewer}, "hook")
		if err != nil {
			t.Fatal(err)
		}
		sub := record.Submission{Reviewer: reviewer, Commit: subject.Commit, Tree: subject.Tree,
			Outcome: record.OutcomeFailed, Report: record.EmptyReport()}
		sub.Report.Findings, sub.Report.Verdict, sub.Report.Effective = []reply.Finding{markerFinding()}, reply.NeedsFix,
			reply.NeedsFix
		if _, err = s.SubmitReview(ctx, review.ID, sub, ""); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, review.ID)
	}
	worker := &Worker{Store: s, Progress: checking.Quiet{}, Closing: closing.OnPass,
		Reviewer: func(string) (role.Reviewer, *record.Failure) {
			return markerRules{&asked}, nil
		}}
	work := func(what string, calls int, status record.ReviewStatus) {
		t.Helper()
		asked = 0
		if _, err := worker.Work(ctx); err != nil {
			t.Fatal(err)
		}
		for i, want := range []record.ReviewStatus{status, record.ReviewSubmitted} {
			if review, err := s.Review(ctx, ids[i]); err != nil || review.Status != want || asked != calls {
				t.Errorf("%s: %s is %s after %d calls, %v, want %s after %d", what, review.Request.Reviewer, review.Status, asked,
					err, want, calls)
			}
		}
	}
	work("the commit itself", 0, record.ReviewSubmitted)
	commit("b.txt", "b\n")
	work("another file", 0, record.ReviewSubmitted)
	commit("a.txt", "marker\nbelow, changed\n")
	work("another line", 2, record.ReviewSubmitted)
	work("again", 0, record.ReviewSubmitted)
	commit("a.txt", "mended\nbelow, changed\n")
	work("mended", 2, record.ReviewResolved)
}
