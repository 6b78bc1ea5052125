package reply

import (
	"slices"
	"testing"
)

// The whole of what requests are is in diagnose/testdata/requests; these are the
// parts that a case there would not point to.

func TestSentencesOf(t *testing.T) {
	for text, want := range map[string][]string{
		"Fix it. Then run it!":            {"Fix it.", "Then run it!"},
		"Fix src/app.test.ts, v1.2.3.":    {"Fix src/app.test.ts, v1.2.3."},
		"Add one, e.g. two. Or three.":    {"Add one, e.g. two.", "Or three."},
		"Names, etc. Then tests.":         {"Names, etc.", "Then tests."},
		"Names, etc. and tests.":          {"Names, etc. and tests."},
		"Approved? No. 5 of 7 fail.":      {"Approved?", "No.", "5 of 7 fail."},
		"Call `a. b` (see c. d). Done.":   {"Call `a. b` (see c. d).", "Done."},
		"Say \"a. b\" here.** Next.":      {"Say \"a. b\" here.**", "Next."},
		"一。二":                             {"一。", "二"},
		"A quote \" that stays. Open it.": {"A quote \" that stays.", "Open it."},
	} {
		if got := sentencesOf(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSameRequestText(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"Fix the type errors", "please **fix** the type errors!", true},
		{"Fix a.go:1", "Fix a.go:10", false},
		{"Add `--all`", "Add `-all`", false},
		{"Use C", "Use C++", false},
		{"Rename `A` to `a`", "Rename `a` to `A`", false},
	} {
		if got := sameRequest(test.a) == sameRequest(test.b); got != test.same {
			t.Errorf("%q and %q: %v", test.a, test.b, got)
		}
	}
}

func TestApprovalInProse(t *testing.T) {
	for text, want := range map[string]bool{
		"Approved":                                true,
		"LGTM!":                                   true,
		"Ready to merge":                          true,
		"All good. Looks good to me, thanks.":     true,
		"LGTM. nit: rename x":                     true,
		"No issues found":                         true,
		"Not approved":                            false,
		"not ready to merge":                      false,
		"I can't approve":                         false,
		"cannot LGTM":                             false,
		"It would be approved if the build ran":   false,
		"Once fixed: LGTM":                        false,
		"Approved? no":                            false,
		"LGTM except the docs":                    false,
		"Don't merge":                             false,
		"LGTM, just fix the build":                false,
		"LGTM. But first fix the build.":          false,
		"LGTM. The build must be fixed.":          false,
		"Approved once CI is green. LGTM":         false,
		"The author says: LGTM":                   false,
		"He wrote \"LGTM\"":                       false,
		"> LGTM":                                  false,
		"```\nLGTM\n```\nI read it.":              false,
		"An approved list of hosts":               false,
		"## Previous round\nLGTM\n\n## Now\nRead": false,
		"LGTM, no changes needed":                 true,
		"LGTM, no tests.":                         false,
		"## Needs work\n\nLGTM.":                  false,
		"I read it.\n\n    LGTM\n":                false,
		"I read it.\n\n    x := 1\n    LGTM\n":    false,
		"- I read it.\n\n    Looks good to me.\n": true,
	} {
		report := ParseReview(text, "")
		if report.Approved != want || report.Effective.Passed() {
			t.Errorf("%q: approved %v, %s", text, report.Approved, report.Effective)
		}
	}
}

// A verdict whose pass has a condition is none.
func TestConditionalVerdicts(t *testing.T) {
	for value, want := range map[string]Verdict{
		"PASS": Pass, "PASS - no blocking issues": Pass, "Approved, no changes needed": Pass, "PASS — not a single issue": Pass,
		"Approved, subject to the tests": NeedsFix, "PASS, not": NeedsFix, "Approved: no": NeedsFix, "Approved - not yet": NeedsFix, "PASS, other than the docs": NeedsFix,
		"Not approved": NeedsFix,
	} {
		if got, _ := readVerdict(value); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

func TestRequestOfAFinding(t *testing.T) {
	for want, f := range map[string]Finding{
		"a.go:3: It leaks when it is full": {File: "a.go", Line: 3, Issue: "It leaks\nwhen it is full:\n```\nx\n```\nBad."},
		"Return the error":                 {Issue: "Return the error\nThe data may be lost."},
		"a.go":                             {File: "a.go", Issue: "```\nx\n```"},
		"One. Two.":                        {Issue: "One.\nTwo.\n\nThree."},
	} {
		if got := RequestOf(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
