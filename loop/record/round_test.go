package record

import (
	"testing"

	"github.com/git-runr/git-runr/loop/reply"
)

// Said lists the reviewer's verdict and the failed checks separately.
func TestRoundSaid(t *testing.T) {
	failing, flawed := []CheckResult{{Name: "test", ExitCode: 1}, {Name: "lint"}},
		[]reply.Finding{{Severity: reply.Critical}}
	for _, test := range []struct {
		stated   reply.Verdict
		findings []reply.Finding
		checks   []CheckResult
		want     string
	}{
		{reply.Pass, nil, nil, "PASS"},
		{reply.Pass, nil, failing, "PASS; check test failed"},
		{reply.NeedsFix, nil, failing, "NEEDS_FIX; check test failed"},
		{reply.Pass, flawed, failing, "CRITICAL; check test failed"},
	} {
		round := Round{Checks: test.checks, Report: reply.Report{Verdict: test.stated, Findings: test.findings}}
		round.Report.Effective = reply.EffectiveVerdict(test.stated, test.findings, round.ChecksFailed())
		if got := round.Said(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
