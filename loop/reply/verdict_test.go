package reply

import "testing"

func TestEffectiveVerdict(t *testing.T) {
	critical, warning, note := Finding{Severity: Critical}, Finding{Severity: Warning}, Finding{Severity: Note}
	for _, c := range []struct {
		stated   Verdict
		findings []Finding
		failed   bool
		want     Verdict
	}{
		{Pass, nil, false, Pass},
		{Pass, []Finding{warning}, false, PassWithNotes},
		{Pass, []Finding{note}, false, PassWithNotes},
		{Pass, []Finding{note, critical}, false, CriticalFail},
		{Pass, nil, true, NeedsFix},
		{PassWithNotes, nil, false, PassWithNotes},
		{PassWithNotes, []Finding{warning, warning}, false, PassWithNotes},
		{PassWithNotes, nil, true, NeedsFix},
		{NeedsFix, nil, false, NeedsFix},
		{NeedsFix, []Finding{critical}, false, CriticalFail},
		{CriticalFail, nil, false, CriticalFail},
		{CriticalFail, []Finding{note}, false, CriticalFail},
		{CriticalFail, nil, true, CriticalFail},
		{"", nil, false, NeedsFix},
		{"pass", nil, false, NeedsFix},
	} {
		if got := EffectiveVerdict(c.stated, c.findings, c.failed); got != c.want {
			t.Errorf("EffectiveVerdict(%q, %v, %v) = %s, want %s", c.stated, c.findings, c.failed, got, c.want)
		}
	}
}

func TestReadVerdict(t *testing.T) {
	for value, want := range map[string]Verdict{
		"PASS":                              Pass,
		"pass":                              Pass,
		"**PASS**":                          Pass,
		"`PASS`":                            Pass,
		"✅ PASS":                            Pass,
		"PASS ✅":                            Pass,
		"PASS.":                             Pass,
		"~~NEEDS_FIX~~ PASS":                Pass,
		"PASS_WITH_NOTES":                   PassWithNotes,
		"NEEDS_FIX":                         NeedsFix,
		"NEEDS FIX":                         NeedsFix,
		"needs-fix: 3 issues":               NeedsFix,
		"PASS -> NEEDS_FIX":                 NeedsFix,
		"not PASS":                          NeedsFix,
		"FAIL":                              NeedsFix,
		"FAILED":                            NeedsFix,
		"REJECT":                            NeedsFix,
		"CHANGES_REQUESTED":                 NeedsFix,
		"REQUEST_CHANGES":                   NeedsFix,
		"CRITICAL":                          CriticalFail,
		"**CRITICAL** — 1 issue":            CriticalFail,
		"🔴 `CRITICAL`":                      CriticalFail,
		"~~PASS~~ CRITICAL":                 CriticalFail,
		"PASS | PASS_WITH_NOTES | CRITICAL": "",
		"PASS / NEEDS_FIX":                  "",
		"PASS or NEEDS_FIX":                 "",
		"`PASS` | `NEEDS_FIX`":              "",
		"[PASS | PASS_WITH_NOTES]":          "",
		"PASS | ...":                        "",
		"{verdict}":                         "",
		"<VERDICT>":                         "",
		"[VERDICT]":                         "",
	} {
		if got, unclear := readVerdict(value); got != want || unclear {
			t.Errorf("readVerdict(%q) = %q, %v; want %q", value, got, unclear, want)
		}
	}
}

// TestUnclearVerdicts: only the documented words pass, with nothing after them.
func TestUnclearVerdicts(t *testing.T) {
	for _, value := range []string{
		"PASS_WITH_ISSUES", "PASS with minor issues", "PASSABLE", "PASS, but fix the tests", "PASS (if the tests pass)",
		"PASS?", "PASS / mostly", "pending",
		"PASSED", "APPROVED", "LGTM", "Looks good to me", "No issues found", "PASS — 2 issues", "PASS (8/8 requirements)",
		"9/10", "OK", "APPROVED WITH CHANGES",
	} {
		if got, unclear := readVerdict(value); got != NeedsFix || !unclear {
			t.Errorf("readVerdict(%q) = %q, %v; want NEEDS_FIX, and unclear", value, got, unclear)
		}
	}
}
