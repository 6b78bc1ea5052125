package reply

import (
	"strings"
	"testing"
)

// brief formats a report as one line: the effective verdict, then each finding's severity,
// place and title.
func brief(r Report) string {
	parts := []string{string(r.Effective)}
	for _, f := range r.Findings {
		title, _, _ := strings.Cut(f.Issue, "\n")
		parts = append(parts, strings.Join(strings.Fields(string(f.Severity)+" "+f.Place()+" "+title), " "))
	}
	return strings.Join(parts, "; ")
}

type formCase struct{ text, want string }

func checkForms(t *testing.T, nonce, before, after string, cases []formCase) {
	t.Helper()
	for _, c := range cases {
		if got := brief(ParseReview(before+c.text+after, nonce)); got != c.want {
			t.Errorf("%q:\n  got  %s\n  want %s", before+c.text+after, got, c.want)
		}
	}
}

// A severity at the start or the end of a line that names a place or a fault is a finding,
// wherever the line is and whatever was stated.
func TestSeverityLeadsALine(t *testing.T) {
	const a = "CRITICAL; critical a.go:1 token logged"
	placed := []formCase{
		{"- Critical: token logged in a.go:1", "CRITICAL; critical a.go:1 token logged"},
		{"Critical: token logged in a.go:1", a},
		{"**Critical:** token logged in a.go:1", a},
		{"**Critical**: token logged in a.go:1", a},
		{"- Critical — token logged in a.go:1", a},
		{"- Critical – token logged in a.go:1", a},
		{"- Critical - token logged in a.go:1", a},
		{"1. (critical) token logged in a.go:1", a},
		{"a.go:1 (critical): token logged", a},
		{"`a.go:1` **[CRITICAL]** token logged", a},
		{"a.go:1: critical: token logged", a},
		{"token logged in a.go:1 [critical]", a},
		{"- token logged in a.go:1 (Severity: Critical)", a},
		{"- token logged (a.go:1) — Critical", a},
		{"- Blocker: token logged in a.go:1", a},
		{"must-fix: token logged in a.go:1", a},
		{"🔴 Critical: token logged in a.go:1", a},
		{"- 🔴 a.go:1 token logged", a},
		{"[P0] a.go:1 token logged", a},
		{"P0: token logged in a.go:1", a},
		{"issue (blocking): token logged in a.go:1", a},
		{"**issue (blocking, security):** token logged in a.go:1", a},
		{"suggestion (blocking): token logged in a.go:1", a},
		{"Critical issue: token logged in a.go:1", a},
		{"CRITICAL a.go:1 token logged", a},
		{"- [ ] Critical: token logged in a.go:1", a},
		{"(1) Critical: token logged in a.go:1", a},
		{"a) Critical: token logged in a.go:1", a},
		{"#1 [CRITICAL] token logged in a.go:1", a},
		{"C1. Critical: token logged in a.go:1", a},
		{"Finding 1 (Critical): token logged in a.go:1", a},
		{"Finding #1 — Critical — token logged in a.go:1", a},
		{"### Issue 1: token logged (Critical)\nIt is in a.go:1.", a},
		{"### 1. [Critical] token logged\nIt is in a.go:1.", a},
		{"Critical, token logged in a.go:1", a},
		{"CRITICAL! token logged in a.go:1", a},
		{"Severity: Critical — token logged in a.go:1", a},
		{"1. **token logged** `a.go:1` — severity: critical", a},
		{"1. token logged\n   Severity: Critical\n   File: a.go:1", a},
		{"<li><b>Critical</b>: token logged in a.go:1</li>", a},
		{"<strong>Critical:</strong> token logged in a.go:1", a},
		{"<b>Critical</b>: token logged in a.go:1", a},
		{"Security (critical): token logged in a.go:1", a},
		{"![critical](https://example.com/critical.svg) token logged in a.go:1", a},
		{"**<sub><sub>![P0 Badge](https://example.com/P0.svg)</sub></sub>  token logged in a.go:1**", a},
		{"| Critical | a.go:1 | token logged |", a},
		{"#### Critical: token logged in a.go:1", a},
		{"Critical — a.go:1 — token logged", a},
		{"* *Critical*: token logged in a.go:1", a},
		{"[a.go:1] Critical: token logged", a},
		{"**[a.go:1]** Critical: token logged", a},
		{"Priority: P0\nFile: a.go:1\nIssue: token logged", a},
		{"| Level | Where | What |\n|---|---|---|\n| Critical | a.go:1 | token logged |", a},
		{"- **Severity:** Critical\n- **File:** a.go:1\n- **Issue:** token logged", a},
	}
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", placed)
	checkForms(t, "", "", "\n\nNo issues found.\n", placed)
	checkForms(t, "", "No issues found.\n\n", "\n", placed)
	checkForms(t, "", "### Verdict: PASS\n\n### Findings\n", "\n", placed)
	checkForms(t, "", "", "\n\n### Verdict: PASS\n", placed)
	checkForms(t, "", "{\"success\": true, \"review_summary\": \"\", \"review_issues\": []}\n\n", "\n", placed)
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", []formCase{
		{"- Critical: the token is logged", "CRITICAL; critical the token is logged"},
		{"Critical: no input is validated", "CRITICAL; critical no input is validated"},
		{"- Critical: token logged\n- Critical: key in the source",
			"CRITICAL; critical token logged; critical key in the source"},
		{"- Critical: SQL injection\n- Warning: a slow loop", "CRITICAL; critical SQL injection; warning a slow loop"},
		{"P1: a.go:3 is slow\nP3: b.go:4 has a typing mistake",
			"PASS_WITH_NOTES; warning a.go:3 is slow; note b.go:4 has a typing mistake"},
		{"issue (non-blocking): a.go:3 is slow", "PASS_WITH_NOTES; note a.go:3 is slow"},
		{"nitpick (non-blocking): rename x", "PASS_WITH_NOTES; note rename x"},
		{"nitpick: rename x", "PASS_WITH_NOTES; note rename x"},
		{"issue: a.go:3 is slow", "PASS_WITH_NOTES; warning a.go:3 is slow"},
		{"todo: add a test for a.go:3", "PASS_WITH_NOTES; warning a.go:3 add a test for a.go:3"},
		{"praise: a lovely test in a.go:3", "PASS"},
		{"Note: I could not run the tests", "PASS"},
		{"Critical path: the loop in a.go:3 is covered", "PASS"},
		{"The critical section in a.go:3 is short.", "PASS"},
		{"Expired tokens are rejected in a.go:3.", "PASS"},
		{"The hot path [critical] is covered.", "PASS"},
		{"It touches two things, of which one is\ncritical - the lock - and the other is not.", "PASS"},
		{"- [x] Critical: the token is logged", "PASS"},
		{"Critical: none", "PASS"},
		{"Blocking: no", "PASS"},
		{"- Critical: nothing to fix", "PASS"},
		{"- Critical: nothing is validated", "CRITICAL; critical nothing is validated"},
		{"- Critical: 0\n- Warning: 0", "PASS"},
		{"**Critical issues:** No security vulnerabilities found.", "PASS"},
		{"Critical issues (0)", "PASS"},
		{"No critical issues in a.go:1", "PASS"},
	})
}

// Severities above their findings.
func TestSeverityAbove(t *testing.T) {
	const a = "CRITICAL; critical a.go:1 token logged"
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", []formCase{
		{"#### Critical\n- token logged in a.go:1", a},
		{"**Critical**\n\ntoken logged in a.go:1", a},
		{"🔴 Critical\n- token logged in a.go:1", a},
		{"Critical:\n- token logged in a.go:1", a},
		{"🔴 **Must fix**\n\n1. token logged in a.go:1", a},
		{"## Blocking\n\ntoken logged in a.go:1", a},
		{"### Critical Issues (Must Fix)\n1. **token logged**\n   - File: a.go:1", a},
		{"### Critical\n\n**token logged** (a.go:1)\n\nIt is there for everybody to read.", a},
		{"_⚠️ Potential issue_ | _🔴 Critical_\n\n**token logged in a.go:1**\n\nIt is there for everybody to read.", a},
		{"![critical](https://example.com/critical.svg)\n\ntoken logged in a.go:1\n\n```suggestion\nlog.Print(\"in\")\n```",
			a},
		{"### token logged in a.go:1\n\n**Critical Severity**\n\ntoken logged in a.go:1", a},
		{"- Critical:\n  - token logged in a.go:1", a},
		{"Critical\n--------\n- token logged in a.go:1", a},
		{"Critical\n- token logged in a.go:1", a},
		{"CRITICAL\n\n- token logged in a.go:1", a},
		{"<details>\n<summary>🔴 Critical (1)</summary>\n\n- token logged in a.go:1\n\n</details>", a},
		{"### Critical\n\nNo critical issues were identified in this review.\n\n### Warnings\n\n" +
			"No warnings were found during the review of the change.", "PASS"},
		{"### Critical\n\nNo errors are handled in the loop.", "CRITICAL; critical No errors are handled in the loop."},
		{"### Critical\n\nNo issues found, but the token is logged.",
			"CRITICAL; critical No issues found, but the token is logged."},
		{"#### Critical\nNone.\n\n#### Warnings\nNo warnings found.", "PASS"},
		{"#### Critical\n\n#### Nits\n- rename x", "PASS_WITH_NOTES; note rename x"},
	})
}

// A legend explains the severities: it says how such a fault is handled, or has a title that
// says it is a key; it names each severity once and no place.
func TestLegendIsNoFinding(t *testing.T) {
	legends := []formCase{
		{"Severity key:\n- **Critical** - stops the release\n- **Warning** - should be fixed\n- **Note** - nice to have",
			"PASS"},
		{"Severity key: - **Critical** - stops the release", "PASS"},
		{"Severity key:\n- **Critical** - stops the release", "PASS"},
		{"### Severity levels\n\n- Critical: data loss, a security hole\n- Warning: a bug\n- Note: style", "PASS"},
		{"| Severity | Meaning |\n|---|---|\n| Critical | stops the release |\n| Warning | should be fixed |", "PASS"},
		{"| Severity | Description |\n|---|---|\n| Critical | must be fixed before merge |\n| Warning | should be fixed |",
			"PASS"},
		{"Severity: Critical = stops the release, Warning = should be fixed", "PASS"},
		{"Severity: Critical = stops the release", "PASS"},
		{"- Severity: Critical means that it stops the release", "PASS"},
		{"Critical = must be fixed before merge\nWarning = should be fixed", "PASS"},
		{"- Critical: must be fixed before merge\n- Warning: should be fixed\n- Note: optional", "PASS"},
		{"**Legend:** 🔴 Critical 🟡 Warning 🟢 Note", "PASS"},
		{"🔴 **Critical** (must fix) · 🟡 **Warning** (should fix) · 🟢 **Note** (nice to have)", "PASS"},
		{"**Critical** / **Warning** / **Note**", "PASS"},
		{"Severities: Critical, Warning, Note", "PASS"},
		{"**Severity scale**\n\nP0 - drop everything\nP1 - next release\nP2 - some day", "PASS"},
		{"(Critical: blocks merge; Warning: fix soon; Note: optional)", "PASS"},
		{"*Severity: 🔴 Critical | 🟡 Warning | 🟢 Note*", "PASS"},
		{"Severity levels: Note (optional), Warning (should fix), Critical (must fix)", "PASS"},
		{"Severity levels used: Critical (blocks release), Note (nice to have).", "PASS"},
		{"**Severity levels**: Critical (must fix), Warning (should fix), Note (for information)", "PASS"},
		{"| Level | Meaning | Action |\n|---|---|---|\n| Critical | data loss | revert |\n| Warning | a bug | fix |", "PASS"},
		{"<sub>Severity legend: Critical: stops the release; Warning: should be fixed</sub>", "PASS"},
	}
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", legends)
	checkForms(t, "", "", "\n\n### Verdict: PASS\n", legends)
	checkForms(t, "", "### Verdict: PASS\n\n### Findings\nNone.\n\n", "\n", legends)
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", []formCase{
		// The same frame around text that is not a definition.
		{"Severity key:\n- Critical: token logged in a.go:1", "CRITICAL; critical a.go:1 token logged"},
		{"Severity key:\n- Critical: token logged\n- Critical: key in the source",
			"CRITICAL; critical token logged; critical key in the source"},
		{"| Severity | Meaning |\n|---|---|\n| Critical | token logged in a.go:1 |",
			"CRITICAL; critical a.go:1 token logged"},
		{"Severity levels: Note, a.go:1 logs the token, Critical (must fix)",
			"CRITICAL; critical a.go:1 Severity levels: Note, a.go:1 logs the token, Critical"},
		{"- Critical: stops the release", "CRITICAL; critical stops the release"},
		{"- Critical: must be fixed before merge\n- Warning: `a.go:3` should be fixed",
			"CRITICAL; critical must be fixed before merge; warning a.go:3 should be fixed"},
		{"### Findings by severity level\n- Critical: token logged\n- Warning: a slow loop",
			"CRITICAL; critical token logged; warning a slow loop"},
	})
}

// Findings that are counted but not listed prevent a pass.
func TestTallyOfFindings(t *testing.T) {
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", []formCase{
		{"- Critical: 2\n- Warning: 1", "NEEDS_FIX"},
		{"| Severity | Count |\n|---|---|\n| Critical | 2 |\n| Warning | 0 |", "NEEDS_FIX"},
		{"**Critical issues:** 1", "NEEDS_FIX"},
		{"Critical: 0 | High: 0 | Medium: 1 | Low: 2", "PASS"},
		{"Critical: 1 | High: 0 | Medium: 1 | Low: 2", "NEEDS_FIX"},
		{"**Critical:** 0, **High:** 1", "PASS"},
		{"🔴 Critical: 3 · 🟡 Warning: 2", "NEEDS_FIX"},
		{"Findings: 2 critical, 1 warning", "NEEDS_FIX"},
		{"0 critical, 3 minor issues", "PASS"},
		{"**Total:** 3 findings (1 critical, 2 notes)", "NEEDS_FIX"},
		{"- Critical: 0\n- Warning: 3", "PASS"},
		{"Critical: 1\n\n- Critical: token logged in a.go:1", "CRITICAL; critical a.go:1 token logged"},
	})
}

// Levels of incidents, severities in code or italics, and labels that express "severity" in
// several words.
func TestSeverityAsALabel(t *testing.T) {
	const a = "CRITICAL; critical token logged"
	labels := []formCase{
		{"SEV0: token logged", a},
		{"SEV1: token logged", a},
		{"sev-1: token logged", a},
		{"- [SEV 1] token logged", a},
		{"**SEV-1** token logged", a},
		{"Severity 1: token logged", a},
		{"SEV1\n- token logged", a},
		{"Severity: SEV1\nIssue: token logged", a},
		{"SEV2: token logged", "PASS_WITH_NOTES; warning token logged"},
		{"SEV3: token logged", "PASS_WITH_NOTES; note token logged"},
		{"P-0: token logged", a},
		{"mustfix: token logged", a},
		{"Severity rating: token logged (critical)", a},
		{"Severity rating: critical - token logged", a},
		{"**Severity level:** Critical\n**Issue:** token logged", a},
		{"Severity: token logged (critical)", a},
		{"Severity: must-fix - token logged", a},
		{"Issue severity: token logged (critical)", a},
		{"- `critical` token logged", a},
		{"`critical` token logged", a},
		{"1. `must-fix` token logged", a},
		{"- [ ] `P0` token logged", a},
		{"- _critical_ token logged", a},
		{"- *Critical* token logged", a},
		{"- `HIGH` token logged", "PASS_WITH_NOTES; warning token logged"},
		{"- `major` token logged", "PASS_WITH_NOTES; warning token logged"},
		{"SEV0: 0, SEV1: 2", "NEEDS_FIX"},
	}
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", labels)
	checkForms(t, "", "", "\n\n### Verdict: PASS\n", labels)
	checkForms(t, "", "### Verdict: PASS\n\n", "\n", passes(
		"No critical issues.", "There are no SEV1 issues in a.go:1.", "Severity: none", "Severity rating: none",
		"Severity level: N/A", "Critical: none", "SEV1: none", "SEV0: 0, SEV1: 0",
		"- `critical`: none", "- `critical` none", "- `critical` no issues found", "`critical` findings: none",
		"- `critical` (0)",
		"### SEV1\n\nNone.\n\n### SEV2\n\nNone.", "### SEV1\n\n### SEV2\n", "#### `critical`\n\nNone.",
		"critical = must fix before merge", "`critical` = must fix before merge",
		"Severity rating: critical = must fix before merge",
		"SEV1 = stops the release\nSEV2 = fix soon", "- SEV1: must be fixed before merge\n- SEV2: should be fixed",
		"Severity scale: SEV0, SEV1, SEV2, SEV3",
		"- `critical` must be fixed before merge\n- `major` should be fixed\n- `minor` optional",
		"`critical` | `warning` | `note`",
		"Severity level: critical, warning or note", "Severity rating: Critical | Warning | Note",
		"Severity levels: critical, warning, note",
		"- `Critical()` was renamed",
		"`critical` is the name of the level", "*Critical* path is covered",
		"SEV-1 incidents are handled by the retry loop", "- [x] `critical` token logged",
		"The level `critical` is used in a.go:3.",
	))
	checkForms(t, "", "### Verdict: PASS\n\n- ", "\n", []formCase{
		{"`error` is returned by Foo and handled in a.go",
			"PASS_WITH_NOTES; note `error` is returned by Foo and handled in a.go"},
		{"`warn` logs a line in a.go:3", "PASS_WITH_NOTES; note a.go:3 `warn` logs a line in a.go:3"},
		{"`high` and `low` are swapped nowhere", "PASS_WITH_NOTES; note `high` and `low` are swapped nowhere"},
		{"`blocking` mode is off", "PASS_WITH_NOTES; note `blocking` mode is off"},
		{"`critical_path` is new", "PASS_WITH_NOTES; note `critical_path` is new"},
		{"`critical.go` covers it", "PASS_WITH_NOTES; note critical.go covers it"},
	})
}

// passes returns cases in which nothing is found.
func passes(texts ...string) []formCase {
	var cases []formCase
	for _, text := range texts {
		cases = append(cases, formCase{text, "PASS"})
	}
	return cases
}
