package reply

import (
	"fmt"
	"strings"
	"testing"
)

// lineEnds are the characters at which only some programs end a line.
var lineEnds = []string{"\r", "\v", "\f", "\u0085", "\u2028", "\u2029"}

// A line that only some programs show as a line of its own counts if it refuses, and does not
// count if it passes.
func TestStrangeLineEnds(t *testing.T) {
	for _, end := range lineEnds {
		checkForms(t, "", "", "", []formCase{
			{"### Verdict: PASS" + end + "### Verdict: CRITICAL" + end, "CRITICAL"},
			{"### Verdict: PASS" + end + "- Critical: token logged in a.go:1\n", "CRITICAL; critical a.go:1 token logged"},
			{"### Verdict: PASS" + end + end + "### Findings" + end + "None." + end, "PASS"},
			{"### Verdict: PASS\n\nAll is met." + end + "Nothing is left.\n", "PASS"},
			{"> quoted" + end + "### Verdict: PASS\n", "NEEDS_FIX"},
			{"<!-- x -->" + end + "### Verdict: PASS\n", "NEEDS_FIX"},
			{"@@ -1,0 +1,1 @@\n+x" + end + "### Verdict: PASS\n", "NEEDS_FIX"},
			{"```\n```x" + end + "```" + end + "### Verdict: PASS\n```\n", "NEEDS_FIX"},
			{"### Verdict: PASS\n\n> quoted" + end + "> ### Verdict: CRITICAL\n",
				"PASS_WITH_NOTES; note quoted > ### Verdict: CRITICAL"},
		})
		for _, text := range []string{"> quoted" + end + "LGTM\n", "A file holds it." + end + "LGTM\n"} {
			if r := ParseReview(text, ""); r.Approved {
				t.Errorf("%q approves: %+v", text, r)
			}
		}
	}
	for _, c := range "\x00\x01\x08\x7f\u0080" {
		checkForms(t, "", "", "", []formCase{
			{fmt.Sprintf("### Verdict: PASS%cNEEDS_FIX\n", c), "NEEDS_FIX"},
			{fmt.Sprintf("### Verdict: PASS%c\n", c), "PASS"},
		})
	}
}

// A refusing verdict after a passing one cancels the pass, as a verdict or as a finding; a denied
// verdict, a count of zero or a mere mention does not.
func TestVerdictBehindAPass(t *testing.T) {
	for _, label := range []string{"### Verdict: ", "**Verdict:** ", "Verdict: ", "### Verdict\n\n"} {
		for text, want := range map[string]string{
			"PASS — NEEDS_FIX":                        "NEEDS_FIX",
			"PASS. NEEDS_FIX.":                        "NEEDS_FIX",
			"PASS - NEEDS_FIX":                        "NEEDS_FIX",
			"PASS (NEEDS_FIX)":                        "NEEDS_FIX",
			"PASS: NEEDS_FIX":                         "NEEDS_FIX",
			"PASS; actually FAIL":                     "NEEDS_FIX",
			"PASS ❌ FAIL":                             "NEEDS_FIX",
			"PASS — wait, needs fix":                  "NEEDS_FIX",
			"PASS — changes requested":                "NEEDS_FIX",
			"PASS. Rejected.":                         "NEEDS_FIX",
			"PASS. This is CRITICAL.":                 "NEEDS_FIX",
			"PASS — CRITICAL":                         "NEEDS_FIX",
			"PASS_WITH_NOTES — NEEDS_FIX":             "NEEDS_FIX",
			"APPROVED. I say NEEDS_FIX to a.go.":      "NEEDS_FIX",
			"Looks good to me. NEEDS_FIX":             "NEEDS_FIX",
			"PASS — 2 critical issues found":          "NEEDS_FIX",
			"PASS — Critical: token logged in a.go:1": "NEEDS_FIX",
		} {
			if got := brief(ParseReview(label+text+"\n", "")); !strings.HasPrefix(got, want) || want == "PASS" && got != want {
				t.Errorf("%q: got %s, want %s", label+text, got, want)
			}
		}
	}
}

// A verdict in a list, or on an "overall" line, can refuse and cannot pass.
func TestVerdictInAList(t *testing.T) {
	refusing := []formCase{
		{"- Verdict: CRITICAL", "CRITICAL"},
		{"- **Verdict:** CRITICAL", "CRITICAL"},
		{"* Final verdict: NEEDS_FIX", "NEEDS_FIX"},
		{"1. Verdict: NEEDS_FIX — it leaks", "NEEDS_FIX"},
		{"- Correctness\n    - Verdict: NEEDS_FIX", "NEEDS_FIX"},
		{"Overall: NEEDS_FIX", "NEEDS_FIX"},
		{"**Overall:** NEEDS_FIX", "NEEDS_FIX"},
		{"- Overall: NEEDS_FIX", "NEEDS_FIX"},
		{"### Overall: CRITICAL", "CRITICAL"},
		{"- Ready to merge? No", "NEEDS_FIX"},
	}
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", refusing)
	checkForms(t, "", "### Verdict: PASS\n", "\n", refusing)
	checkForms(t, "", "", "\n\n### Verdict: PASS\n", refusing)
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", passes(
		"- Verdict: PASS", "Overall: PASS", "Overall: the critical path is covered", "Overall: good work, nothing failed",
		"- Verdict: PASS | NEEDS_FIX | CRITICAL", "<!-- - Verdict: CRITICAL -->",
	))
	const noted = "PASS_WITH_NOTES; note "
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", []formCase{
		{"- Overall: a good change", noted + "Overall: a good change"},
		{"> - Verdict: CRITICAL", noted + "- Verdict: CRITICAL"},
		{"> Overall: NEEDS_FIX", noted + "Overall: NEEDS_FIX"},
		{"```\n- Verdict: CRITICAL\n```", noted + "- Verdict: CRITICAL"},
		{"- `Verdict: CRITICAL` is what a.go prints", noted + "`Verdict: CRITICAL` is what a.go prints"},
		{"- Verdict: the words of it are in a.go", noted + "Verdict: the words of it are in a.go"},
		{"- The verdict of round 1 was NEEDS_FIX", noted + "The verdict of round 1 was NEEDS_FIX"},
		{"- Ready to merge? Yes", noted + "Ready to merge? Yes"},
	})
	for _, text := range []string{"- Verdict: PASS\n", "Overall: PASS\n", "- Ready to merge? Yes\n",
		"- Overall: approved\n"} {
		if r := ParseReview(text, ""); r.Effective.Passed() {
			t.Errorf("%q passes: %+v", text, r)
		}
	}
}

// A picture for a severity at the start of a text is a severity mark.
func TestSeverityPicture(t *testing.T) {
	pictures := []formCase{
		{"🔴 a:2 deletes the db - must fix", "CRITICAL; critical a:2 deletes the db - must fix"},
		{"- 🔴 a:2 deletes the db - must fix", "CRITICAL; critical a:2 deletes the db - must fix"},
		{"🔴 token logged", "CRITICAL; critical token logged"},
		{"- 🔴 token logged", "CRITICAL; critical token logged"},
		{"🛑 **token logged**", "CRITICAL; critical token logged"},
		{"🔴 token logged\n🟡 it is slow", "CRITICAL; critical token logged; warning it is slow"},
		{"🟡 it is slow", "PASS_WITH_NOTES; warning it is slow"},
		{"### 🔴 a.go:1 token logged", "CRITICAL; critical a.go:1 token logged"},
		{"### 🔴 missing check", "CRITICAL; critical missing check"},
		{"**🔴 a.go:1 token logged**", "CRITICAL; critical a.go:1 token logged"},
		{"Finding 1: 🔴 token logged", "CRITICAL; critical token logged"},
		{"🔴 3 · 🟡 1", "NEEDS_FIX"},
		{"🔴 Security\n- token logged", "CRITICAL; critical token logged"},
	}
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", pictures)
	checkForms(t, "", "", "\n\n### Verdict: PASS\n", pictures)
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", passes(
		"🔴 none", "🔴 No critical issues", "🔴 0", "🔴 0 · 🟡 0", "🔴 Critical: 0 🟡 Warning: 0", "🔴",
		"🔴 Security\n- None", "### 🔴 Security\n\nNo issues found.",
		"🔴 must be fixed before merge\n🟡 should be fixed\n🟢 optional", "Legend:\n🔴 stops the release\n🟡 next release",
		"🔴 Critical 🟡 Warning 🟢 Note",
		"The 🔴 in the log is the sign of a failure.", "- [x] 🔴 token logged", "✅ token is no longer logged",
		"🟢 token is no longer logged",
	))
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", []formCase{
		{"### 🔴 Security\n\nAll of it is read.", "PASS_WITH_NOTES; note All of it is read."},
		{"🔴 = stops the release", "PASS_WITH_NOTES; note 🔴 = stops the release"},
		{"> 🔴 token logged", "PASS_WITH_NOTES; note 🔴 token logged"},
	})
}

// Emphasis at the start of a heading or of a line in bold belongs to its text.
func TestSeverityInATitle(t *testing.T) {
	const a = "CRITICAL; critical token logged"
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", []formCase{
		{"### `critical` token logged", a},
		{"### **Critical** token logged", a},
		{"### *Critical* token logged", a},
		{"**`critical` token logged**", a},
		{"#### `critical` token logged\n\nIt is in a.go:1.", "CRITICAL; critical a.go:1 token logged"},
		{"### 1. **Critical** token logged", a},
		{"### `critical`\n\n- token logged", a},
	})
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", passes(
		"### `critical` path", "### `Critical()` was renamed", "### `error` handling", "### *High* level summary",
		"**`critical` level**",
		"### `critical`\n\nNone.", "### **Critical**\n\nNone found.", "### **Critical**: none", "### `critical` none",
		"**`high` and `low` are swapped nowhere**",
	))
}

// A row that names a severity is a finding, however little else it contains.
func TestRowsWithoutAHeader(t *testing.T) {
	const bare = "CRITICAL; critical a.go:1 (no description)"
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", []formCase{
		{"| Critical | token logged in a.go:1 |", "CRITICAL; critical a.go:1 token logged in a.go:1"},
		{"| Critical | a.go:1 |", bare},
		{"| Critical | `a.go:1` |", bare},
		{"| a.go:1 | Critical |", bare},
		{"| Critical | a.go, line 1 |", bare},
		{"| Severity | File |\n|---|---|\n| Critical | a.go:1 |", bare},
		{"| Critical | token logged |", "CRITICAL; critical token logged"},
		{"| Critical | a.go:1 | token logged | do not |", "CRITICAL; critical a.go:1 token logged"},
	})
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", passes(
		"| Critical | 0 |", "| Critical | none |", "| Critical | None found |", "| Critical | - |", "| Critical | — |",
		"| Critical | |", "| Critical | N/A |",
		"| Severity | Count |\n|---|---|\n| Critical | 0 |", "| Severity | File |\n|---|---|\n| Critical | none |",
		"| Critical | must be fixed |\n| Warning | should be fixed |",
	))
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", []formCase{
		{"> | Critical | a.go:1 |", "PASS_WITH_NOTES; note a.go:1 | Critical | a.go:1 |"},
	})
}
