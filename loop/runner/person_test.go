package runner

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// TestAskedIsFolded: a run knows the last review that it requested. A request that names another run is ignored.
func TestAskedIsFolded(t *testing.T) {
	events := tell(t, runtest.Plan(), "implement", "asked")
	events[len(events)-1].Review = "20260102030405-aaaaaa"
	run := foldRun(t, events)
	if run.Asked == nil || *run.Asked != (record.Asked{Review: "20260102030405-aaaaaa", Commit: "head", Round: 1}) {
		t.Errorf("%+v", run.Asked)
	}
	foreign := runtest.EventAt(9, record.EventReviewRequested.Name,
		record.ReviewRequest{Reviewer: record.Human, Run: "another"})
	foreign.Run = runtest.Run
	if run = foldRun(t, append(events, foreign)); run.Asked.Review != "20260102030405-aaaaaa" ||
		run.Last != record.EventAttemptCompleted.Name {
		t.Errorf("%+v, last %s", run.Asked, run.Last)
	}
}

// TestPeoplesAnswersAreJoined: the worst verdict counts, and every comment and message is kept.
func TestPeoplesAnswersAreJoined(t *testing.T) {
	answer := func(actor string, d record.Decision, message string, comments ...record.Comment) record.Submission {
		return record.Person{Actor: actor, Decision: d, Message: message, Comments: comments}.Submission(record.Review{})
	}
	polite := record.Comment{File: "a.txt", StartLine: 2, EndLine: 2, Comment: "say please"}
	grave := record.Comment{Comment: "all wrong", Severity: reply.Critical}
	for _, test := range []struct {
		name  string
		subs  []record.Submission
		want  reply.Verdict
		asked []string
	}{
		{"a pass", []record.Submission{answer("Ada", record.Approve, "")}, reply.Pass, nil},
		{"a pass with a remark", []record.Submission{answer("Ada", record.Approve, "fine", polite)}, reply.PassWithNotes,
			[]string{"a.txt:2: say please"}},
		{"only the whole", []record.Submission{answer("Ada", record.RequestChanges, "", record.Comment{Comment: "Not yet."})},
			reply.NeedsFix, []string{"Not yet."}},
		{"two", []record.Submission{answer("Ada", record.Approve, "fine"),
			answer("Bob", record.RequestChanges, "no", polite)}, reply.NeedsFix, []string{"a.txt:2: say please"}},
		{"critical", []record.Submission{answer("Ada", record.RequestChanges, "no", grave, polite)}, reply.CriticalFail,
			[]string{"all wrong", "a.txt:2: say please"}},
	} {
		r := joinSubmissions(test.subs)
		if r.Effective != test.want || r.Approved != test.want.Passed() ||
			!slices.Equal(r.Requests, test.asked) && len(r.Requests)+len(test.asked) > 0 {
			t.Errorf("%s: %+v", test.name, r)
		}
		for _, s := range test.subs {
			for _, text := range append([]string{s.Report.Summary}, comment.Blocks(s.Comments)...) {
				if !strings.Contains(r.Text, text) {
					t.Errorf("%s: %q is not in %q", test.name, text, r.Text)
				}
			}
		}
	}
}

// TestStopsForAReviewSayWhatToType: the suggested commands contain the review's id.
func TestStopsForAReviewSayWhatToType(t *testing.T) {
	plain, waits := record.Stop{Reason: record.ReasonHuman}.Explained(),
		record.Stop{Reason: record.ReasonHuman, Review: "20260102030405-aaaaaa"}.Explained()
	if plain.Intervene == "" || waits.Intervene != "" {
		t.Errorf("interventions %q, %q", plain.Intervene, waits.Intervene)
	}
	steps := strings.Join(waits.Steps("20260102030405-bbbbbb"), "\n")
	contains(t, steps, "git runr inbox submit 20260102030405-aaaaaa --approve\n", "--request-changes",
		"git runr resume 20260102030405-bbbbbb")
	lacks(t, steps, "REVIEW", "RUN")
}
