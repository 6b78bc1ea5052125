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
		"[PASS]":                            Pass,
		"✅ PASS":                            Pass,
		"PASS ✅":                            Pass,
		"PASS ✅ all requirements are met":   Pass,
		"PASSED":                            Pass,
		"PASS.":                             Pass,
		"PASS — 2 issues":                   Pass,
		"PASS - no issues":                  Pass,
		"PASS (8/8 requirements)":           Pass,
		"PASS | **Score:** 8/8":             Pass,
		"APPROVED":                          Pass,
		"Approve":                           Pass,
		"LGTM":                              Pass,
		"~~NEEDS_FIX~~ PASS":                Pass,
		"PASS_WITH_NOTES":                   PassWithNotes,
		"PASS WITH NOTES":                   PassWithNotes,
		"Pass-with-notes — 2":               PassWithNotes,
		"Passed with notes":                 PassWithNotes,
		"NEEDS_FIX":                         NeedsFix,
		"NEEDS FIX":                         NeedsFix,
		"needs-fix: 3 issues":               NeedsFix,
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
		if got, warning := readVerdict(value); got != want || warning != "" {
			t.Errorf("readVerdict(%q) = %q, %q; want %q", value, got, warning, want)
		}
	}
}

func TestReadVerdictDoubts(t *testing.T) {
	for _, value := range []string{
		"PASS_WITH_ISSUES", "PASS with minor issues", "PASSABLE", "not PASS", "PASS, but fix the tests", "PASS (if the tests pass)",
		"PASS — once the tests are fixed", "PASS?", "PASS -> NEEDS_FIX", "PASS → FAIL", "PASS / mostly", "pending", "9/10", "OK", "APPROVED WITH CHANGES",
	} {
		if got, warning := readVerdict(value); got != NeedsFix || warning == "" {
			t.Errorf("readVerdict(%q) = %q, %q; want NEEDS_FIX and a warning", value, got, warning)
		}
	}
}
