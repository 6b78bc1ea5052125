package closing

import (
	"context"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

// submissionOf returns a reviewer's answer with one finding per severity.
func submissionOf(reviewer string, verdict reply.Verdict, severities ...reply.Severity) record.Submission {
	sub := record.Submission{Reviewer: reviewer, Outcome: record.OutcomeFailed, Report: record.EmptyReport()}
	for i, severity := range severities {
		f := reply.Finding{Severity: severity, File: reviewer + ".go", Line: i + 1, Issue: reviewer + " " + string(severity)}
		f.ID = reply.FindingID(f)
		sub.Report.Findings = append(sub.Report.Findings, f)
		if severity != reply.Note {
			sub.Report.Requests = append(sub.Report.Requests, f.Place()+": "+f.Issue)
		}
	}
	sub.Report.Verdict, sub.Report.Effective = verdict, reply.EffectiveVerdict(verdict, sub.Report.Findings, false)
	if sub.Report.Effective.Passed() {
		sub.Outcome = record.OutcomePassed
	}
	return sub
}

func TestWhyDone(t *testing.T) {
	answered := func(r *record.Review) {
		for i, f := range r.Findings() {
			kind := []record.AnswerKind{record.AnswerFixed, record.AnswerDeferred}[i%2]
			r.Answers = append(r.Answers, record.Answer{Finding: f.ID, Kind: kind, ConfirmedBy: "a"})
		}
	}
	pass := func(change func(*record.Submission)) record.Submission {
		sub := submissionOf("a", reply.Pass)
		change(&sub)
		return sub
	}
	person := record.Person{Actor: "Ann", Decision: record.RequestChanges, Message: "All of it."}
	remark := record.Person{Actor: "Ann", Message: "By the way."}
	commented := record.Person{Actor: "Ann", Decision: record.RequestChanges, Message: "Nearly.",
		Comments: []record.Comment{{ID: "c-1", Comment: "this"}}}
	for name, tc := range map[string]struct {
		others []string
		subs   []record.Submission
		answer bool
		want   string
	}{
		"passed": {nil, []record.Submission{submissionOf("a", reply.Pass)}, false,
			"passed without notes"},
		"one of two has answered": {[]string{"b"}, []record.Submission{submissionOf("a", reply.Pass)}, false, ""},
		"both have passed": {[]string{"b"},
			[]record.Submission{submissionOf("a", reply.Pass), submissionOf("b", reply.Pass)}, false, "passed without notes"},
		"one of two did not pass": {[]string{"b"},
			[]record.Submission{submissionOf("a", reply.Pass), submissionOf("b", reply.NeedsFix)}, true, ""},
		"notes": {nil, []record.Submission{submissionOf("a", reply.Pass, reply.Note)}, false, ""},
		"notes that are answered": {nil, []record.Submission{submissionOf("a", reply.Pass, reply.Note)}, true,
			"every finding is answered: 1 fixed"},
		"notes in words alone": {nil, []record.Submission{submissionOf("a", reply.PassWithNotes)}, false, ""},
		"a pass that asks for something": {nil,
			[]record.Submission{pass(func(s *record.Submission) { s.Report.Requests = []string{"Rename it."} })}, false, ""},
		"not all was seen": {nil, []record.Submission{pass(func(s *record.Submission) { s.Outcome = record.OutcomePartial })},
			false, ""},
		"not all was seen, with notes": {nil, []record.Submission{func() record.Submission {
			sub := submissionOf("a", reply.Pass, reply.Note)
			sub.Outcome = record.OutcomePartial
			return sub
		}()}, true, ""},
		"nothing to review": {nil,
			[]record.Submission{pass(func(s *record.Submission) { s.Outcome = record.OutcomeNothing })}, false,
			"there was nothing to review"},
		"a check that failed and no finding": {nil,
			[]record.Submission{pass(func(s *record.Submission) { s.Checks = []record.CheckResult{{Name: "t", ExitCode: 1}} })},
			false, ""},
		"findings": {nil,
			[]record.Submission{submissionOf("a", reply.NeedsFix, reply.Critical, reply.Warning)}, false, ""},
		"findings that are answered": {nil,
			[]record.Submission{submissionOf("a", reply.NeedsFix, reply.Critical, reply.Warning)}, true,
			"every finding is answered: 1 deferred, 1 fixed; what is deferred still holds the change back"},
		"no pass and no finding": {nil, []record.Submission{submissionOf("a", reply.NeedsFix)}, true, ""},
		"a person asks in words": {nil,
			[]record.Submission{submissionOf("a", reply.Pass), person.Submission(record.Review{})}, true, ""},
		"a person's comments are answered": {nil,
			[]record.Submission{submissionOf("a", reply.Pass), commented.Submission(record.Review{})}, true,
			"every finding is answered: 1 fixed"},
		"a person's remark": {nil, []record.Submission{submissionOf("a", reply.Pass), remark.Submission(record.Review{})},
			true, ""},
	} {
		review := record.Review{Request: record.ReviewRequest{Reviewer: "a", Others: tc.others}, Submissions: tc.subs}
		if tc.answer {
			answered(&review)
		}
		if got := whyDone(review); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestWhyDoneOfClaims: a review is done if its warnings are claimed fixed, and the reason says "claimed". A critical
// finding that is only claimed fixed keeps the review open.
func TestWhyDoneOfClaims(t *testing.T) {
	for severity, want := range map[reply.Severity]string{reply.Critical: "",
		reply.Warning: "every finding is answered: 1 claimed fixed"} {
		review := record.Review{Request: record.ReviewRequest{Reviewer: "a"},
			Submissions: []record.Submission{submissionOf("a", reply.NeedsFix, severity)}}
		review.Answers = []record.Answer{{Finding: review.Findings()[0].ID, Kind: record.AnswerFixed, Actor: "Ann"}}
		if got := whyDone(review); got != want {
			t.Errorf("%s: %q, want %q", severity, got, want)
		}
	}
}

// TestSupersede: an answered review ends the older reviews of the same change, unless information of an older one
// would be lost.
func TestSupersede(t *testing.T) {
	s, ctx := runtest.NewStore(t), context.Background()
	commit := runtest.Commit(t, s, "one")
	other := runtest.Commit(t, s, "two")
	subject := record.Subject{Kind: record.SubjectCommit, Spec: "HEAD", Base: commit, Commit: commit, Tree: commit}
	must := func(review record.Review, err error) record.Review {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return review
	}
	ask := func(request record.ReviewRequest) record.Review {
		t.Helper()
		if request.Subject.Commit == "" {
			request.Subject = subject
		}
		return must(s.RequestReview(ctx, request, "cli"))
	}
	found := submissionOf("a", reply.NeedsFix, reply.Critical)
	open := ask(record.ReviewRequest{Reviewer: "a"})
	failed := ask(record.ReviewRequest{Reviewer: "a"})
	must(s.SubmitReview(ctx, failed.ID, found, ""))
	claimed := ask(record.ReviewRequest{Reviewer: "a"})
	must(s.SubmitReview(ctx, claimed.ID, found, ""))
	must(s.ClaimReview(ctx, claimed.ID, record.Hold{Actor: "Ann"}))
	human := ask(record.ReviewRequest{Reviewer: record.Human})
	elsewhere := ask(record.ReviewRequest{Reviewer: "b"})
	must(s.SubmitReview(ctx, elsewhere.ID, submissionOf("b", reply.NeedsFix, reply.Critical), ""))
	another := ask(record.ReviewRequest{Reviewer: "a",
		Subject: record.Subject{Kind: record.SubjectCommit, Base: commit, Commit: other, Tree: other}})
	narrower := subject
	narrower.Paths = []string{"a.go"}
	part := ask(record.ReviewRequest{Reviewer: "a", Subject: narrower})
	followed := ask(record.ReviewRequest{Reviewer: "b",
		Subject: record.Subject{Kind: record.SubjectCommit, Base: other, Commit: other, Tree: other}})
	gone := runtest.Commit(t, s, "gone")
	testrepo.Git(t, s.Repo.WorkTree, "reset", "-q", "--hard", string(other))
	replaced := ask(record.ReviewRequest{Reviewer: "a",
		Subject: record.Subject{Kind: record.SubjectCommit, Base: commit, Commit: gone, Tree: gone}})
	must(s.SubmitReview(ctx, replaced.ID, found, ""))
	must(s.MoveReview(ctx, replaced.ID, record.Move{From: gone, To: commit, State: record.MoveStale}))
	picked := ask(record.ReviewRequest{Reviewer: "a",
		Subject: record.Subject{Kind: record.SubjectCommit, Base: commit, Commit: other, Tree: other}})
	must(s.MoveReview(ctx, picked.ID, record.Move{From: other, To: commit, State: record.MoveStale}))
	kind := ask(record.ReviewRequest{Reviewer: "a", Panel: record.Panel{Kind: "security"}})
	base := ask(record.ReviewRequest{Reviewer: "a",
		Subject: record.Subject{Kind: record.SubjectCommit, Base: other, Commit: commit, Tree: commit}})
	carried := func(kind record.SubjectKind) record.Review {
		review := ask(record.ReviewRequest{Reviewer: "a",
			Subject: record.Subject{Kind: kind, Base: other, Commit: other, Tree: other}})
		return must(s.MoveReview(ctx, review.ID, record.Move{From: other, To: commit, State: record.MoveCarried}))
	}
	carriedCommit, carriedRange := carried(record.SubjectCommit), carried(record.SubjectRange)
	newer := ask(record.ReviewRequest{Reviewer: "a", Follows: followed.ID})
	later := ask(record.ReviewRequest{Reviewer: "a"})
	newer = must(s.SubmitReview(ctx, newer.ID, found, ""))
	for range 2 { // a second call changes nothing
		must(Close(ctx, s, newer, Never))
	}
	if review := must(s.Review(ctx, open.ID)); review.Status != record.ReviewOpen {
		t.Errorf("never: %s", review.Status)
	}
	for range 2 {
		must(Close(ctx, s, newer, OnPass))
	}
	for name, want := range map[string]struct {
		review record.Review
		status record.ReviewStatus
	}{
		"open": {open, record.ReviewCancelled}, "with findings": {failed, record.ReviewResolved},
		"claimed":      {claimed, record.ReviewClaimed},
		"for a person": {human, record.ReviewOpen}, "found by somebody else": {elsewhere, record.ReviewSubmitted},
		"another commit": {another, record.ReviewOpen}, "other paths": {part, record.ReviewOpen},
		"followed": {followed, record.ReviewCancelled},
		"itself":   {newer, record.ReviewSubmitted}, "newer": {later, record.ReviewOpen},
		"of the commit before": {replaced, record.ReviewResolved}, "of one that is still there": {picked, record.ReviewOpen},
		"another kind": {kind, record.ReviewOpen}, "another base": {base, record.ReviewOpen},
		"carried": {carriedCommit, record.ReviewCancelled}, "a carried range": {carriedRange, record.ReviewOpen},
	} {
		review := must(s.Review(ctx, want.review.ID))
		if review.Status != want.status || !review.ClosedAt.IsZero() && review.Note != "superseded by "+newer.ID {
			t.Errorf("%s: %s %q, want %s", name, review.Status, review.Note, want.status)
		}
		if len(review.Lost) > 0 {
			t.Errorf("%s: %+v", name, review.Lost)
		}
	}
}

// TestCloseLeavesClaims: a claimed review does not end by itself, unless its holder gave the last answer. A review
// that a run requested from people ends with the run, because nobody needs its answer any more.
func TestCloseLeavesClaims(t *testing.T) {
	landed := gitstore.ID("")
	runOf := func(review record.Review) record.Run {
		return record.Run{
			ID: runtest.Run, Plan: runplan.Plan{FromReview: review.ID}, Commit: landed, Result: record.ResultPass,
			Landed: &record.Landed{Commit: landed}, Asked: &record.Asked{Review: review.ID},
		}
	}
	for name, tc := range map[string]struct {
		answeredBy string
		end        func(context.Context, *store.Store, record.Review) error
		want       record.ReviewStatus
	}{
		"somebody else's answer was the last": {"Bob", func(ctx context.Context, s *store.Store, review record.Review) error {
			_, err := Close(ctx, s, review, OnPass)
			return err
		}, record.ReviewClaimed},
		"the holder's answer was the last": {"Ann", func(ctx context.Context, s *store.Store, review record.Review) error {
			_, err := Close(ctx, s, review, OnPass)
			return err
		}, record.ReviewResolved},
		"a run fixed it and landed": {"Bob", func(ctx context.Context, s *store.Store, review record.Review) error {
			return CloseFixed(ctx, s, runOf(review))
		}, record.ReviewClaimed},
		"the run that asked for it is over": {"Bob", func(ctx context.Context, s *store.Store, review record.Review) error {
			return SettleAsked(ctx, s, runOf(review), "over")
		}, record.ReviewResolved},
	} {
		s, ctx := runtest.NewStore(t), t.Context()
		commit := runtest.Commit(t, s, "one")
		landed = runtest.Commit(t, s, "fix")
		subject := record.Subject{Kind: record.SubjectCommit, Base: commit, Commit: commit, Tree: commit}
		review, err := s.RequestReview(ctx, record.ReviewRequest{Subject: subject, Reviewer: "a"}, "cli")
		if err == nil {
			review, err = s.SubmitReview(ctx, review.ID, submissionOf("a", reply.NeedsFix, reply.Warning), "")
		}
		if err == nil {
			review, err = s.ClaimReview(ctx, review.ID, record.Hold{Actor: "Ann"})
		}
		if err == nil {
			answer := record.Answer{Finding: review.Unanswered()[0], Kind: record.AnswerFixed, Commit: landed,
				Actor: tc.answeredBy}
			review, err = s.AnswerFinding(ctx, review.ID, answer, true)
		}
		if err == nil {
			err = tc.end(ctx, s, review)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if now, err := s.Review(ctx, review.ID); err != nil || now.Status != tc.want {
			t.Errorf("%s: %s, %v, want %s", name, now.Status, err, tc.want)
		}
	}
}

// TestSupersedePeople: only a newer verdict of the same person withdraws the changes that this person asked for.
func TestSupersedePeople(t *testing.T) {
	remark := func(actor string, d record.Decision) record.Person {
		return record.Person{Actor: actor, Decision: d, Comments: []record.Comment{{Comment: "this"}}}
	}
	for name, tc := range map[string]struct {
		older, newer record.Person
		want         record.ReviewStatus
	}{
		"another asks for more": {remark("Ann", record.RequestChanges), remark("Bob", record.RequestChanges),
			record.ReviewSubmitted},
		"another approves": {remark("Ann", record.RequestChanges),
			record.Person{Actor: "Bob", Decision: record.Approve}, record.ReviewSubmitted},
		"another's comments": {remark("Ann", record.CommentOnly), remark("Bob", record.RequestChanges),
			record.ReviewSubmitted},
		"the same asks again": {remark("Ann", record.RequestChanges), remark("Ann", record.RequestChanges),
			record.ReviewResolved},
		"the same approves": {remark("Ann", record.RequestChanges),
			record.Person{Actor: "Ann", Decision: record.Approve}, record.ReviewResolved},
		"the same comments only": {remark("Ann", record.RequestChanges), remark("Ann", record.CommentOnly),
			record.ReviewSubmitted},
		"comments after comments": {remark("Ann", record.CommentOnly), remark("Ann", record.CommentOnly),
			record.ReviewResolved},
		"approved, and by another": {record.Person{Actor: "Ann", Decision: record.Approve},
			remark("Bob", record.RequestChanges), record.ReviewResolved},
	} {
		s, ctx := runtest.NewStore(t), context.Background()
		commit := runtest.Commit(t, s, "one")
		var reviews [2]record.Review
		for i, person := range []record.Person{tc.older, tc.newer} {
			subject := record.Subject{Kind: record.SubjectCommit, Base: commit, Commit: commit, Tree: commit}
			asked, err := s.RequestReview(ctx, record.ReviewRequest{Subject: subject, Reviewer: record.Human}, "cli")
			if err != nil {
				t.Fatal(err)
			}
			if reviews[i], err = s.SubmitPerson(ctx, asked.ID, person); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Close(ctx, s, reviews[1], OnPass); err != nil {
			t.Fatal(err)
		}
		if older, err := s.Review(ctx, reviews[0].ID); err != nil || older.Status != tc.want {
			t.Errorf("%s: %s, %v, want %s", name, older.Status, err, tc.want)
		}
	}
}

// TestSupersedeReads: ending many reviews reads the events of each a few times, however many reviews there are.
func TestSupersedeReads(t *testing.T) {
	s, ctx := runtest.NewStore(t), context.Background()
	commit := runtest.Commit(t, s, "one")
	submitted := func() record.Review {
		subject := record.Subject{Kind: record.SubjectCommit, Base: commit, Commit: commit, Tree: commit}
		asked, err := s.RequestReview(ctx, record.ReviewRequest{Subject: subject, Reviewer: record.Human}, "cli")
		if err != nil {
			t.Fatal(err)
		}
		review, err := s.SubmitPerson(ctx, asked.ID,
			record.Person{Actor: "Ann", Decision: record.RequestChanges, Message: asked.ID})
		if err != nil {
			t.Fatal(err)
		}
		return review
	}
	ending := func(n int) int64 {
		for range n {
			submitted()
		}
		newest := submitted()
		s.Reads = &store.Reads{}
		end := s.Together()
		if _, err := Close(ctx, s, newest, OnPass); err != nil {
			t.Fatal(err)
		}
		end()
		return s.Reads.Events.Load()
	}
	const most = 8 // events: its own two, for the one who decides, under the lock and in the index, and that of its end
	few, many := ending(5), ending(25)
	if each := (many - few) / 20; each > most {
		t.Errorf("%d events are read to end 5 reviews, %d to end 25: %d for each, at most %d", few, many, each, most)
	}
}

// TestCloseFixed: a run that fixed a review and landed ends the review. A run that was accepted with open findings
// does not. Undoing the landing reopens the review and what was fixed in it, and landing again fixes it again.
func TestCloseFixed(t *testing.T) {
	s, ctx := runtest.NewStore(t), context.Background()
	commit, fix, landed := runtest.Commit(t, s, "one"), runtest.Commit(t, s, "fix"), runtest.Commit(t, s, "two")
	subject := record.Subject{Kind: record.SubjectCommit, Base: commit, Commit: commit, Tree: commit}
	review, err := s.RequestReview(ctx, record.ReviewRequest{Subject: subject, Reviewer: "a"}, "cli")
	if err == nil {
		review, err = s.SubmitReview(ctx, review.ID, submissionOf("a", reply.NeedsFix, reply.Critical), "")
	}
	if err == nil {
		review, err = s.AnswerFinding(ctx, review.ID, record.Answer{Finding: review.Unanswered()[0], Kind: record.AnswerFixed,
			Commit: fix, Actor: "Ann"}, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	run := record.Run{ID: runtest.Run, Plan: runplan.Plan{FromReview: review.ID}, Commit: fix,
		Result: record.ResultWithIssues, Landed: &record.Landed{Commit: landed}}
	step := func(name string, do func() error, status record.ReviewStatus, by gitstore.ID) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		now, err := s.Review(ctx, review.ID)
		if err != nil {
			t.Fatal(err)
		}
		answer, wants, actor := now.Answers[len(now.Answers)-1], record.AnswerFixed, "Ann"
		if by == "" {
			wants, actor = record.AnswerOpen, record.Itself
		}
		if now.Status != status || answer.Kind != wants || answer.Commit != by || answer.Actor != actor {
			t.Errorf("%s: %s, %+v", name, now.Status, answer)
		}
	}
	nowhere := run
	nowhere.Landed = &record.Landed{}
	step("landed as no commit", func() error { return CloseFixed(ctx, s, nowhere) }, record.ReviewSubmitted, fix)
	step("accepted with issues", func() error { return CloseFixed(ctx, s, run) }, record.ReviewSubmitted, landed)
	run.Result = record.ResultPass
	step("undone", func() error { return ReopenFixed(ctx, s, run, landed) }, record.ReviewSubmitted, "")
	step("landed", func() error { return CloseFixed(ctx, s, run) }, record.ReviewResolved, landed)
	step("undone twice", func() error { return ReopenFixed(ctx, s, run, landed) }, record.ReviewSubmitted, "")
	step("landed again", func() error { return CloseFixed(ctx, s, run) }, record.ReviewResolved, landed)
	step("undone again", func() error { return ReopenFixed(ctx, s, run, landed) }, record.ReviewSubmitted, "")
	if _, err := s.ResolveReview(ctx, review.ID, record.Hold{Actor: "Ann"}, fixedBy(run)); err != nil {
		t.Fatal(err)
	}
	step("resolved by somebody", func() error { return ReopenFixed(ctx, s, run, landed) }, record.ReviewResolved, "")
	// A person says since that it is still there: landing again does not close the review.
	if _, err = s.ReopenReview(ctx, review.ID, "Ann"); err == nil {
		_, err = s.AnswerFinding(ctx, review.ID, record.Answer{Finding: review.Unanswered()[0], Kind: record.AnswerOpen,
			Reason: "still bad", Actor: "Ann"}, false)
	}
	if err == nil {
		err = CloseFixed(ctx, s, run)
	}
	if now, readErr := s.Review(ctx, review.ID); err != nil || readErr != nil || now.Status != record.ReviewSubmitted {
		t.Errorf("said open since: %s, %v, %v", now.Status, err, readErr)
	}
}
