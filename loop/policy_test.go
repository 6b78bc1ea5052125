package loop

import "testing"

// What each threshold lets through, whatever the reviewer stated. A pass passes at
// every threshold, and what is critical at none.
func TestThresholds(t *testing.T) {
	const blocks, passes = true, false
	critical, warning, note := Finding{Severity: Critical}, Finding{Severity: Warning}, Finding{Severity: Note}
	for _, c := range []struct {
		stated                             Verdict
		findings                           []Finding
		failed                             bool
		byVerdict, byWarning, onlyCritical bool
	}{
		{Pass, nil, false, passes, passes, passes},
		{Pass, []Finding{note}, false, passes, passes, passes},
		{Pass, []Finding{warning}, false, passes, blocks, passes},
		{Pass, []Finding{critical}, false, blocks, blocks, blocks},
		{Pass, nil, true, blocks, blocks, blocks},
		{Pass, []Finding{note}, true, blocks, blocks, blocks},
		{PassWithNotes, nil, false, passes, passes, passes},
		{PassWithNotes, []Finding{warning}, false, passes, blocks, passes},
		{NeedsFix, nil, false, blocks, blocks, blocks},
		{NeedsFix, []Finding{note}, false, blocks, blocks, passes},
		{NeedsFix, []Finding{warning}, false, blocks, blocks, passes},
		{NeedsFix, []Finding{warning}, true, blocks, blocks, blocks},
		{NeedsFix, []Finding{warning, critical}, false, blocks, blocks, blocks},
		{CriticalFail, nil, false, blocks, blocks, blocks},
		{CriticalFail, []Finding{note}, false, blocks, blocks, blocks},
	} {
		report := Report{Verdict: c.stated, Effective: EffectiveVerdict(c.stated, c.findings, c.failed), Findings: c.findings}
		for threshold, want := range map[Threshold]bool{"": c.byVerdict, ThresholdVerdict: c.byVerdict, ThresholdWarning: c.byWarning, ThresholdCritical: c.onlyCritical} {
			if got := (Policy{Threshold: threshold}).blocks(report, c.failed); got != want {
				t.Errorf("threshold %q, %s with %d findings (failed checks: %v): blocks %v, want %v", threshold, c.stated, len(c.findings), c.failed, got, want)
			}
		}
	}
}
