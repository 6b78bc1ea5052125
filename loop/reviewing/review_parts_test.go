package reviewing

import (
	"context"
	"fmt"
	"github.com/git-runr/git-runr/loop/checking"
	"slices"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/role"
)

// partReviewer answers each part with the next of its texts.
type partReviewer struct {
	texts []string
	fail  int // number of the part that fails, from 1
	jobs  []role.ReviewJob
}

func (r *partReviewer) Limits() role.Limits { return role.Limits{} }
func (r *partReviewer) NeedsCheckout() bool { return false }

func (r *partReviewer) Review(_ context.Context, job role.ReviewJob) (role.ReviewAnswer, error) {
	r.jobs = append(r.jobs, job)
	if len(r.jobs) == r.fail {
		return role.ReviewAnswer{Failure: &record.Failure{Reason: record.ReasonAgentFailed, Detail: "boom"}}, nil
	}
	text := r.texts[len(r.jobs)-1]
	return role.ReviewAnswer{Report: reply.ParseReview(text, ""), Raw: text}, nil
}

func partChange(parts int) Change {
	change := Change{Files: []string{"a", "b"},
		Census: record.Census{Files: 2, Lines: parts, SentFiles: 2, SentLines: parts}}
	for i := range parts {
		change.Parts = append(change.Parts, Part{Patch: []byte{byte('0' + i)}, Files: []string{"a"}, Lines: 1})
	}
	return change
}

// stepsTold collects the details of progress steps.
type stepsTold struct {
	checking.Quiet
	details []string
}

func (s *stepsTold) Step(_, detail string) { s.details = append(s.details, detail) }

const leaks = "### Verdict: NEEDS_FIX\n### Findings\n- **Severity:** Warning\n- **File:Line:** a.go:3\n" +
	"- **Issue:** It leaks\n"

func TestReviewParts(t *testing.T) {
	for _, test := range []struct {
		name     string
		texts    []string
		want     reply.Verdict
		findings int
		asked    []string
	}{
		{"all pass", []string{"### Verdict: PASS", "### Verdict: PASS"}, reply.Pass, 0, nil},
		{"one with notes", []string{"### Verdict: PASS", "### Verdict: PASS_WITH_NOTES"}, reply.PassWithNotes, 0, nil},
		{"one fails", []string{"### Verdict: PASS", leaks}, reply.NeedsFix, 1, []string{"a.go:3: It leaks"}},
		{"twice the same", []string{leaks, leaks}, reply.NeedsFix, 1, []string{"a.go:3: It leaks"}},
		{"two places", []string{leaks, strings.Replace(leaks, "a.go:3", "b.go:9", 1)}, reply.NeedsFix, 2,
			[]string{"a.go:3: It leaks", "b.go:9: It leaks"}},
		{"the worst counts", []string{leaks, "### Verdict: CRITICAL\n\nAll wrong.", "### Verdict: PASS"}, reply.CriticalFail,
			1, []string{"a.go:3: It leaks", "All wrong"}},
	} {
		reviewer := &partReviewer{texts: test.texts}
		progress := &stepsTold{}
		answer, err := reviewParts(context.Background(), reviewer, partChange(len(test.texts)), Question{}, progress)
		told := progress.details
		r := answer.Report
		if err != nil || answer.Failure != nil || r.Effective != test.want || r.Approved != test.want.Passed() ||
			len(r.Findings) != test.findings || !slices.Equal(r.Requests, test.asked) && len(r.Requests)+len(test.asked) > 0 {
			t.Errorf("%s: %+v, %v", test.name, r, err)
		}
		if len(told) != len(test.texts) || told[1] != "part 2 of "+string('0'+rune(len(told))) {
			t.Errorf("%s: told %q", test.name, told)
		}
		for i, text := range test.texts {
			if !strings.Contains(r.Text, strings.TrimSpace(text)) || !strings.Contains(answer.Raw, text) {
				t.Errorf("%s: the words of part %d are gone: %q", test.name, i+1, r.Text)
			}
			job := reviewer.jobs[i]
			prompt, part := job.Prompt(), fmt.Sprintf("This is part %d, with 1 line", i+1)
			if !strings.Contains(prompt, part) || !strings.Contains(prompt, "BEGIN CHANGE "+job.Nonce) || len(job.Files) != 2 ||
				string(job.Patch) != string(rune('0'+i)) {
				t.Errorf("%s: part %d was asked about with %+v and told %s", test.name, i+1, job, prompt)
			}
		}
		if nonces := reviewer.jobs[0].Nonce + reviewer.jobs[1].Nonce; len(nonces) < 16 ||
			nonces[:len(nonces)/2] == nonces[len(nonces)/2:] {
			t.Errorf("%s: nonces %q", test.name, nonces)
		}
	}
}

// TestReviewPartsUnreadable: an unreadable part is not hidden by parts that passed.
func TestReviewPartsUnreadable(t *testing.T) {
	reviewer := &partReviewer{texts: []string{"### Verdict: PASS", "429 too many requests", "### Verdict: PASS"}}
	answer, err := reviewParts(context.Background(), reviewer, partChange(3), Question{}, checking.Quiet{})
	if err != nil || !answer.Report.Unreadable() || answer.Report.Effective != reply.NeedsFix {
		t.Errorf("%+v, %v", answer.Report, err)
	}
}

func TestReviewPartsFailure(t *testing.T) {
	reviewer := &partReviewer{texts: make([]string, 3), fail: 2}
	answer, err := reviewParts(context.Background(), reviewer, partChange(3), Question{}, checking.Quiet{})
	if err != nil || answer.Failure == nil || answer.Failure.Detail != "part 2 of 3: boom" || len(reviewer.jobs) != 2 {
		t.Errorf("%+v, %v after %d", answer, err, len(reviewer.jobs))
	}
}

// TestVerdictOfWhatWasSeen: if files were not seen, a pass becomes a pass with notes. If a text file was too large to
// send, nothing is approved.
func TestVerdictOfWhatWasSeen(t *testing.T) {
	for _, test := range []struct {
		left []record.LeftOut
		said reply.Verdict
		want reply.Verdict
		ok   bool
	}{
		{nil, reply.Pass, reply.Pass, true},
		{[]record.LeftOut{{Path: "go.sum", Why: record.LeftExcluded}}, reply.Pass, reply.Pass, true},
		{[]record.LeftOut{{Path: "a.png", Why: record.LeftBinary}}, reply.Pass, reply.PassWithNotes, true},
		{[]record.LeftOut{{Path: "a.txt", Why: record.LeftTooLarge, Lines: 1}}, reply.Pass, reply.PassWithNotes, false},
		{[]record.LeftOut{{Path: "a.txt", Why: record.LeftTooLarge}}, reply.NeedsFix, reply.NeedsFix, false},
	} {
		r := reply.Report{Verdict: test.said, Effective: test.said, Approved: test.said.Passed()}
		BoundVerdict(&r, record.Census{LeftOut: test.left})
		if r.Effective != test.want || r.Approved != test.ok {
			t.Errorf("%s, %+v: %s, approved %v", test.said, test.left, r.Effective, r.Approved)
		}
	}
}

// TestReviewPartsBesideChecks: a pass becomes NEEDS_FIX if a check fails that does not fail on the base.
func TestReviewPartsBesideChecks(t *testing.T) {
	for _, test := range []struct {
		check record.CheckResult
		want  reply.Verdict
	}{
		{record.CheckResult{Name: "test"}, reply.Pass},
		{record.CheckResult{Name: "test", ExitCode: 1}, reply.NeedsFix},
		{record.CheckResult{Name: "test", ExitCode: 1, FailsOnBase: true}, reply.Pass},
	} {
		reviewer := &partReviewer{texts: []string{"### Verdict: PASS"}}
		answer, err := reviewParts(t.Context(), reviewer, partChange(1), Question{Checks: []record.CheckResult{test.check}},
			checking.Quiet{})
		if err != nil || answer.Report.Effective != test.want || len(reviewer.jobs[0].Checks) != 1 {
			t.Errorf("%+v: %s, %v", test.check, answer.Report.Effective, err)
		}
	}
}
