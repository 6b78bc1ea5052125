package lineage_test

import (
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// TestRequestIsKept: a commit is picked to a branch without the fix of its finding. The hook's request for it
// stays open, because the closed review of the original does not cover it. If the finding was refuted, the
// request is withdrawn.
func TestRequestIsKept(t *testing.T) {
	for _, kind := range []record.AnswerKind{record.AnswerFixed, record.AnswerRefuted} {
		s := runtest.NewStore(t)
		dir := s.Repo.WorkTree
		git := func(args ...string) gitstore.ID {
			testrepo.Git(t, dir, args...)
			return gitstore.ID(testrepo.Git(t, dir, "rev-parse", "HEAD"))
		}
		commit := func(file, subject string) gitstore.ID {
			testrepo.WriteFile(t, dir, file, subject+"\n")
			testrepo.Git(t, dir, "add", ".")
			return git("commit", "-q", "-m", subject)
		}
		ask := func(commit gitstore.ID) record.Review {
			subject := record.Subject{Kind: record.SubjectCommit, Commit: commit, Tree: commit,
				Base: gitstore.ID(testrepo.Git(t, dir, "rev-parse", string(commit)+"^"))}
			review, err := s.RequestReview(t.Context(), record.ReviewRequest{Subject: subject, Reviewer: record.Builtin}, "hook")
			if err != nil {
				t.Fatal(err)
			}
			return review
		}
		base := commit("a.txt", "base")
		bad := commit("b.txt", "marker")
		first := ask(bad)
		fix := commit("b.txt", "clean")
		report := failing()
		answer := record.Answer{Finding: report.Findings[0].ID, Kind: kind, Actor: record.Itself, Reason: "looked at"}
		if kind == record.AnswerFixed {
			answer.Commit = fix
		}
		_, err := s.SubmitReview(t.Context(), first.ID, record.Submission{Reviewer: record.Builtin,
			Outcome: record.OutcomeFailed, Commit: bad, Tree: bad, Report: report}, "")
		if err == nil {
			_, err = s.AnswerFinding(t.Context(), first.ID, answer, false)
		}
		if err == nil {
			_, err = s.ResolveReview(t.Context(), first.ID, record.Hold{Actor: record.Itself}, "every finding is answered")
		}
		if err == nil {
			_, err = lineage.Follow(t.Context(), s)
		}
		if err != nil {
			t.Fatal(err)
		}
		git("checkout", "-q", "-b", "other", string(base))
		commit("c.txt", "between")
		picked := git("cherry-pick", string(bad))
		second := ask(picked)
		if _, err := lineage.Follow(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if second, err = s.Review(t.Context(), second.ID); err != nil {
			t.Fatal(err)
		}
		if open := second.Status == record.ReviewOpen; open != (kind == record.AnswerFixed) {
			t.Errorf("%s: the request is %s (%s)", kind, second.Status, second.Note)
		}
	}
}

// failing returns the report of a review that found one fault.
func failing() reply.Report {
	report := record.EmptyReport()
	report.Verdict, report.Effective = reply.CriticalFail, reply.CriticalFail
	finding := reply.Finding{Severity: reply.Critical, File: "b.txt", Line: 1, Issue: "a marker", Rule: "marker"}
	finding.ID = reply.FindingID(finding)
	report.Findings = []reply.Finding{finding}
	return report
}

// TestReplacedOnce: a commit of the same author and second as an amended one, on another branch, is not taken for the
// replacement of the amended commit, because an earlier pass found its replacement.
func TestReplacedOnce(t *testing.T) {
	s := runtest.NewStore(t)
	dir := s.Repo.WorkTree
	commit := func(content string, args ...string) gitstore.ID {
		testrepo.WriteFile(t, dir, "a.txt", content+"\n")
		testrepo.Git(t, dir, "add", ".")
		testrepo.Git(t, dir, append([]string{"commit", "-q", "--date=2026-01-01T00:00:00Z", "-m", content}, args...)...)
		return gitstore.ID(testrepo.Git(t, dir, "rev-parse", "HEAD"))
	}
	base := commit("base")
	was := commit("first")
	subject := record.Subject{Kind: record.SubjectCommit, Commit: was, Tree: was, Base: base}
	review, err := s.RequestReview(t.Context(), record.ReviewRequest{Subject: subject, Reviewer: record.Builtin}, "cli")
	if err == nil {
		_, err = s.SubmitReview(t.Context(), review.ID, record.Submission{Reviewer: record.Builtin,
			Outcome: record.OutcomeFailed, Commit: was, Tree: was, Report: failing()}, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	follow := func() {
		t.Helper()
		if _, err := lineage.Follow(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	follow()
	amended := commit("second", "--amend")
	follow()
	testrepo.Git(t, dir, "checkout", "-q", "-b", "other", string(base))
	commit("third")
	follow()
	review, err = s.Review(t.Context(), review.ID)
	if err != nil {
		t.Fatal(err)
	}
	if moves := review.Moves; len(moves) != 1 || moves[0].To != amended {
		t.Errorf("the review moved %+v", moves)
	}
}

// TestFollowLateReport: a pass of a worker comes between an amend and git's report of it. The next request reads the
// report nevertheless.
func TestFollowLateReport(t *testing.T) {
	s := runtest.NewStore(t)
	dir := s.Repo.WorkTree
	head := func() gitstore.ID { return gitstore.ID(testrepo.Git(t, dir, "rev-parse", "HEAD")) }
	for _, text := range []string{"base", "one"} {
		testrepo.WriteFile(t, dir, "a.txt", text+"\n")
		testrepo.Git(t, dir, "add", ".")
		testrepo.Git(t, dir, "commit", "-q", "-m", text)
	}
	old := head()
	subject := record.Subject{Kind: record.SubjectCommit, Commit: old, Tree: old,
		Base: gitstore.ID(testrepo.Git(t, dir, "rev-parse", "HEAD^"))}
	review, err := s.RequestReview(t.Context(), record.ReviewRequest{Subject: subject, Reviewer: record.Human}, "cli")
	if err != nil {
		t.Fatal(err)
	}
	testrepo.Git(t, dir, "mv", "a.txt", "b.txt")
	testrepo.WriteFile(t, dir, "b.txt", "quite another\n")
	testrepo.Git(t, dir, "commit", "-q", "-a", "--amend", "-m", "two", "--date", "2001-01-01T00:00:00Z")
	if _, err := lineage.Follow(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := lineage.NoteRewrite(s, "amend", []gitstore.Moved{{From: old, To: head()}}); err != nil {
		t.Fatal(err)
	}
	if _, err := lineage.FollowRewrites(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	now, err := s.Review(t.Context(), review.ID)
	if moves := now.Summary().Moves; err != nil || len(moves) == 0 || moves[len(moves)-1].To != head() {
		t.Errorf("%v, %v; want a move to %s", moves, err, head().Short())
	}
}
