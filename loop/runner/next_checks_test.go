package runner

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// A run whose only obstacle is failing checks says so.
func TestNextWhenOnlyChecksFail(t *testing.T) {
	round := func(verdict string) string { return "check fail; review " + verdict + " badcheck" }
	three := func(verdict string) string {
		return "implement; " + round(verdict) + "; fix; " + round(verdict) + "; fix; " + round(verdict)
	}
	for _, test := range []nextTest{
		{"retries are left", "implement; " + round("PASS"), "attempt 2 fix at implement"},
		{"none is", three("PASS"), "exhausted verification_failed_max_retries"},
		{"notes are nothing against it", three("PASS_WITH_NOTES f-1=note"), "exhausted verification_failed_max_retries"},
		{"the reviewer's refusal comes first", three("NEEDS_FIX"), "exhausted review_loop_detected"},
		{"and so do its findings", three("PASS f-1=critical"), "exhausted review_loop_detected f-1"},
		{"a person's note goes on", three("PASS") + "; stop verification_failed_max_retries; intervene; resume",
			"attempt 4 fix at implement"},
	} {
		test.check(t, runtest.Plan())
	}
	plan := runtest.Plan()
	plan.Policy.Workflow = workflow("check review")
	nextTest{"nobody could fix it", round("PASS"), "exhausted verification_failed_max_retries"}.check(t, plan)
	plan = runtest.Plan()
	plan.Policy.Threshold = runplan.ThresholdCritical
	nextTest{"nits do not block", three("NEEDS_FIX f-1=warning"), "exhausted verification_failed_max_retries f-1"}.check(t,
		plan)
	run := foldRun(t, tell(t, runtest.Plan(), strings.Split(three("PASS"), "; ")...))
	if step := Next(run, runtest.Plan().Policy); step.Detail != "failing: test; the retries are used up" {
		t.Errorf("%q", step.Detail)
	}
}

// The built-in reviewer's findings about failing checks count as failures of the checks.
func TestRefusedByChecks(t *testing.T) {
	check := reply.Finding{Severity: reply.Warning, Issue: "check test: x", Rule: record.RuleOfCheck + "test"}
	failed := []record.CheckResult{{Name: "test", ExitCode: 1}}
	for _, test := range []struct {
		name     string
		verdict  reply.Verdict
		findings []reply.Finding
		checks   []record.CheckResult
		want     bool
	}{
		{"its finding", reply.NeedsFix, []reply.Finding{check}, failed, true},
		{"with a note", reply.NeedsFix, []reply.Finding{check, {Severity: reply.Note, Issue: "trailing blank"}}, failed,
			true},
		{"with a warning", reply.NeedsFix, []reply.Finding{check, {Severity: reply.Warning, Issue: "stub"}}, failed, false},
		{"with a critical", reply.CriticalFail, []reply.Finding{check, {Severity: reply.Critical, Issue: "secret"}}, failed,
			false},
		{"a pass", reply.Pass, nil, failed, true},
		{"a refusal in prose", reply.NeedsFix, nil, failed, false},
		{"nothing fails", reply.NeedsFix, []reply.Finding{check}, []record.CheckResult{{Name: "test"}}, false},
		{"not run", reply.Pass, nil, []record.CheckResult{{Name: "test", ExitCode: 127, NotRun: "x is not installed"}},
			false},
		{"as on the base", reply.Pass, nil, []record.CheckResult{{Name: "test", ExitCode: 1, FailsOnBase: true}}, false},
	} {
		round := record.Round{Report: reply.Report{Verdict: test.verdict, Findings: test.findings}, Checks: test.checks}
		round.Report.Effective = reply.EffectiveVerdict(test.verdict, test.findings, round.ChecksFailed())
		if got := round.RefusedByChecks(runtest.Plan().Policy); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func TestNextKeepsProof(t *testing.T) {
	loop3 := reviews(3) + "; loop; "
	for _, test := range []nextTest{
		{"a note takes no proof back", loop3 + "intervene ok; intervene; resume", "checks at check"},
		{"nor do two", loop3 + "intervene ok; intervene; intervene; resume", "checks at check"},
		{"a command that fails does", loop3 + "intervene ok; intervene fail; resume", "attempt 4 fix at implement"},
		{"a note proves nothing", loop3 + "intervene fail; intervene; resume", "attempt 4 fix at implement"},
	} {
		test.check(t, runtest.Plan())
	}
}
