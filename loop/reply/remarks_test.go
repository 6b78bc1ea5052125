package reply

import (
	"strings"
	"testing"
)

// TestPassWithUnreadText: a list item, a quotation, a fence or a section that no reader understands stays with the pass
// as a note; an item below "Required changes" refuses.
func TestPassWithUnreadText(t *testing.T) {
	cases := []formCase{
		{"### Required changes\n1. fix the SQL injection in f.txt:3", "NEEDS_FIX"},
		{"### Not required\n- the loop in f.txt:3", "PASS_WITH_NOTES; note f.txt:3 the loop in f.txt:3"},
		{"**Changes required:**\n- the loop in f.txt:3", "NEEDS_FIX"},
		{"Required changes:\n\n- the loop in f.txt:3", "NEEDS_FIX"},
		{"### Must fix\n- the loop in f.txt:3", "CRITICAL; critical f.txt:3 the loop"},
		{"### Blocking\n- the loop in f.txt:3", "CRITICAL; critical f.txt:3 the loop"},
		{"- f.txt:3 SQL injection", "PASS_WITH_NOTES; note f.txt:3 SQL injection"},
		{"- I found an SQL injection", "PASS_WITH_NOTES; note I found an SQL injection"},
		{"- Nice, but it leaks the token", "PASS_WITH_NOTES; note Nice, but it leaks the token"},
		{"> I could not review this. Do not merge.", "PASS_WITH_NOTES; note I could not review this. Do not merge."},
		{"> I could not\n> review this.", "PASS_WITH_NOTES; note I could not"},
		{"- > Do not merge.", "PASS_WITH_NOTES; note Do not merge."},
		{"```\nDo not merge: SQL injection\n```", "PASS_WITH_NOTES; note Do not merge: SQL injection"},
		{"1. critical a:1 secret leaked", "PASS_WITH_NOTES; note critical a:1 secret leaked"},
		{"### Findings\n1. SQL injection in f.txt:3", "PASS_WITH_NOTES; warning f.txt:3 SQL injection"},
		{"### Findings\n1. SQL injection in f.txt:3\n\n### Other\n- a race",
			"PASS_WITH_NOTES; warning f.txt:3 SQL injection; note a race"},
		{"### Security\n\nThere is an SQL injection.", "PASS_WITH_NOTES; note There is an SQL injection."},
		{"There is an SQL injection in f.txt:3.", "PASS_WITH_NOTES; note f.txt:3 There is an SQL injection in f.txt:3."},
		{"### SQL injection in f.txt", "PASS_WITH_NOTES; note SQL injection in f.txt"},
		{"| f.txt:3 | SQL injection |", "PASS_WITH_NOTES; note f.txt:3 SQL injection"},
	}
	for _, nonce := range []string{"", fuzzNonce} {
		checkForms(t, nonce, "### Verdict: PASS\n", "\n", cases)
		checkForms(t, nonce, "### Verdict: PASS\n\n", "\n", cases)
		checkForms(t, nonce, "", "\n\n### Verdict: PASS\n", cases)
		checkForms(t, nonce, "### Verdict: PASS\n", "\n", passes("", "No issues found.",
			"### Summary\n\nGood work. The cache is emptied when it is full.", "### Findings\nNone.", "### Findings\n\n- \n",
			"### Findings\n\n- None", "### Required changes\n\nNone.", "### Required changes\n- None",
			"### No required changes\n- [x] tests",
			"### Required changes\n\nNo changes required.", "- No issues found",
			"- Good tests", "- All tests pass", "- [x] tests", "- ✅ tests cover the new branch",
			"### Strengths\n- tests cover the new branch",
			"### What was done\n- f.txt:3 is read", "I checked:\n- f.txt:3 is read", "> \n", "```\n```"))
	}
	checkForms(t, "", "> Do not merge.\n\n", "", []formCase{
		{"```\n### Verdict: PASS\n```\n", "PASS_WITH_NOTES; note Do not merge."},
	})
	r := ParseReview("### Verdict: PASS\n\n- a race\n\nPlease add a test for it.\n", "")
	if len(r.Requests) != 1 || len(r.Findings) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestJSONPassWithUnreadField: a field that belongs to no format stays with a pass as a note, if it has words.
func TestJSONPassWithUnreadField(t *testing.T) {
	for _, object := range []string{
		`{"success": true, "review_issues": [], %}`,
		`{"status": "approved", "changes": [], %}`,
		`{"verdict": "PASS", "summary": "", "findings": [], %}`,
	} {
		for field, want := range map[string]string{
			`"remarks": "SQL injection in f.txt"`:    `PASS_WITH_NOTES; note remarks: "SQL injection in f.txt"`,
			`"advice": ["SQL injection"]`:            `PASS_WITH_NOTES; note advice: ["SQL injection"]`,
			`"more": {"f.txt": "SQL injection"}`:     `PASS_WITH_NOTES; note more: {"f.txt": "SQL injection"}`,
			`"risk": "low"`:                          "PASS",
			`"files_reviewed": ["a.txt", "b.txt"]`:   "PASS",
			`"remarks": "none"`:                      "PASS",
			`"remarks": ""`:                          "PASS",
			`"remarks": []`:                          "PASS",
			`"remarks": null`:                        "PASS",
			`"score": 9`:                             "PASS",
			`"complete": true`:                       "PASS",
			`"leftover_issues": ["f.txt:3 is slow"]`: `NEEDS_FIX; note leftover_issues: ["f.txt:3 is slow"]`,
		} {
			text := strings.Replace(object, "%", field, 1)
			if got := brief(ParseReview(text, "")); got != want {
				t.Errorf("%s:\n  got  %s\n  want %s", text, got, want)
			}
		}
	}
	tagged := strings.Replace(passingBlock, `"findings"`, `"remarks": "SQL injection", "findings"`, 1)
	if got := brief(ParseReview(tagged, fuzzNonce)); got != `PASS_WITH_NOTES; note remarks: "SQL injection"` {
		t.Errorf("tagged: %s", got)
	}
}

// TestJSONPassBesideUnreadText: the words beside an object that passes are judged like those beside a verdict line.
func TestJSONPassBesideUnreadText(t *testing.T) {
	for text, want := range map[string]string{
		plantedJSON: "PASS",
		plantedJSON + "\n\n- f.txt:3 SQL injection\n":                     "PASS_WITH_NOTES; note f.txt:3 SQL injection",
		"> Do not merge.\n\n" + plantedJSON:                               "PASS_WITH_NOTES; note Do not merge.",
		"I read all of it.\n\n" + plantedJSON + "\n\nThat is all.\n":      "PASS",
		passingBlock + "\n- f.txt:3 SQL injection\n":                      "PASS",
		`{"success":true,"review_summary":"- a race","review_issues":[]}`: "PASS_WITH_NOTES; note a race",
	} {
		nonce := ""
		if strings.Contains(text, fuzzNonce) {
			nonce = fuzzNonce
		}
		if got := brief(ParseReview(text, nonce)); got != want {
			t.Errorf("%q:\n  got  %s\n  want %s", text, got, want)
		}
	}
}
