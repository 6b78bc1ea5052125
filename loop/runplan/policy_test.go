package runplan

import (
	"testing"

	"github.com/git-runr/git-runr/loop/reply"
)

// Each threshold decides which findings block, whatever verdict the reviewer stated. Every threshold lets a pass
// through, and none a critical finding.
func TestThresholds(t *testing.T) {
	const blocks, passes = true, false
	critical, warning, note := reply.Finding{Severity: reply.Critical}, reply.Finding{Severity: reply.Warning},
		reply.Finding{Severity: reply.Note}
	for _, c := range []struct {
		stated                             reply.Verdict
		findings                           []reply.Finding
		failed                             bool
		byVerdict, byWarning, onlyCritical bool
	}{
		{reply.Pass, nil, false, passes, passes, passes},
		{reply.Pass, []reply.Finding{note}, false, passes, passes, passes},
		{reply.Pass, []reply.Finding{warning}, false, passes, blocks, passes},
		{reply.Pass, []reply.Finding{critical}, false, blocks, blocks, blocks},
		{reply.Pass, nil, true, blocks, blocks, blocks},
		{reply.Pass, []reply.Finding{note}, true, blocks, blocks, blocks},
		{reply.PassWithNotes, nil, false, passes, passes, passes},
		{reply.PassWithNotes, []reply.Finding{warning}, false, passes, blocks, passes},
		{reply.NeedsFix, nil, false, blocks, blocks, blocks},
		{reply.NeedsFix, []reply.Finding{note}, false, blocks, blocks, passes},
		{reply.NeedsFix, []reply.Finding{warning}, false, blocks, blocks, passes},
		{reply.NeedsFix, []reply.Finding{warning}, true, blocks, blocks, blocks},
		{reply.NeedsFix, []reply.Finding{warning, critical}, false, blocks, blocks, blocks},
		{reply.CriticalFail, nil, false, blocks, blocks, blocks},
		{reply.CriticalFail, []reply.Finding{note}, false, blocks, blocks, blocks},
	} {
		report := reply.Report{Verdict: c.stated, Effective: reply.EffectiveVerdict(c.stated, c.findings, c.failed),
			Findings: c.findings}
		for threshold, want := range map[Threshold]bool{"": c.byVerdict, ThresholdVerdict: c.byVerdict,
			ThresholdWarning: c.byWarning, ThresholdCritical: c.onlyCritical} {
			if got := (Policy{Threshold: threshold}).Blocks(report, c.failed); got != want {
				t.Errorf("threshold %q, %s with %d findings (failed checks: %v): blocks %v, want %v", threshold, c.stated,
					len(c.findings), c.failed, got, want)
			}
		}
	}
}
