package reply

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestInstructionsNeverPass(t *testing.T) {
	for _, nonce := range []string{"", "1f2e3d4c"} {
		text := ReviewOutputInstructions(nonce)
		for _, given := range []string{nonce, "", "00000000"} {
			if r := ParseReview(text, given); r.Approved || r.Verdict.Passed() || r.Effective.Passed() {
				t.Errorf("instructions with nonce %q, read with %q, pass: %+v", nonce, given, r)
			}
		}
	}
}

// An answer that follows the instructions exactly is read by them.
func TestInstructionsCanBeFollowed(t *testing.T) {
	for nonce, format := range map[string]string{"1f2e3d4c": "tagged", "": "verdict_json"} {
		answer := ReviewOutputInstructions(nonce)
		answer = strings.Replace(answer, `"`+placeholder+`"`, `"PASS_WITH_NOTES"`, 1)
		answer = strings.Replace(answer, "<critical or warning or note>", "warning", 1)
		answer = strings.Replace(answer, "<path from the top of the repository, empty if there is none>", "a.go", 1)
		answer = strings.Replace(answer, `"line": 0`, `"line": 7`, 1)
		answer = answer[strings.Index(answer, "```") : strings.LastIndex(answer, "```")+len("```")]
		r := ParseReview(answer, nonce)
		if r.Format != format || r.Verdict != PassWithNotes || len(r.Findings) != 1 || r.Findings[0].Line != 7 ||
			len(r.Warnings) > 0 {
			t.Errorf("nonce %q: %+v", nonce, r)
		}
	}
}

func TestUnreadableSummaryIsCutAtARune(t *testing.T) {
	r := ParseReview(strings.Repeat("ä", 5000), "")
	if len(r.Summary) > 4000 || len(r.Summary) < 3990 || !utf8.ValidString(r.Summary) {
		t.Errorf("summary has %d bytes, valid: %v", len(r.Summary), utf8.ValidString(r.Summary))
	}
}

var overLimit = strings.Repeat(strings.Repeat("x", 1000)+"\n", 5000)

func TestReviewOverTheLimit(t *testing.T) {
	r := ParseReview("### Verdict: NEEDS_FIX\n"+overLimit+"### Verdict: PASS\n", "")
	if r.Verdict != NeedsFix || len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "4 MiB") {
		t.Errorf("verdict %s, warnings %q", r.Verdict, r.Warnings)
	}
}

// A pass at the start of an answer that was cut off does not count.
func TestPassOverTheLimit(t *testing.T) {
	r := ParseReview("### Verdict: PASS\n"+overLimit, "")
	if r.Effective.Passed() {
		t.Errorf("effective verdict %s", r.Effective)
	}
}

func TestWarningsAreCapped(t *testing.T) {
	r := ParseReview("### Findings\n"+strings.Repeat("- **Severity:** purple\n- **Issue:** it is\n", 1000), "")
	if len(r.Findings) != 1000 || len(r.Warnings) > 60 {
		t.Errorf("%d findings, %d warnings", len(r.Findings), len(r.Warnings))
	}
}

// hostileUnits are the units of texts on which a naive reader takes quadratic time or more.
var hostileUnits = map[string]string{
	"objects": `{"a":`, "arrays": `[{`, "braces": "{", "brackets": "[1,", "quotes": `{"`, "empty objects": "{}",
	"backticks": "`",
	"fences":    "```\n", "openers": "x ```\n", "comments": "<!--",
	"comments in lines": "x <!--\n", "verdicts": "### Verdict: PASS\n",
	"rows":       "| High | a.go:1 | x |\n",
	"severities": "- **Severity:** Critical\n", "continuations": "- **Issue:** x\nmore\n", "links": "- [HIGH] [",
	"headings": "### Findings\n",
	"colours":  "\x1b[", "struck": "Verdict: ~~", "places": "- [HIGH] a:1,", "bold": "**", "bullets": "- ",
	"fields": "**Fix:** x | ",
	"leads":  "- Critical: x in a.go:1\n", "legend": "- Critical: stops the release\n- Warning: should be fixed\n",
	"groups":           "**Critical**\n\nx\n\n",
	"groups in a line": "**Critical** / ", "pictures": "![", "tags": "<sub>", "hunks": "@@ -1,9 +1,9 @@\n",
	"elements": "<task>\n", "details": "<summary>Previous</summary>\n",
	"places in words": "a.go:1 ", "marks": "(critical) ", "passes": "### Verdict: PASS\n\nDo not merge. ",
	"sentences": "No issues. ", "words": "not any ", "colons": "a: ",
	"bars": " | _🔴 Critical_", "spaces": " ", "lines": "\n", "objects in lines": "{\"success\": true}\n",
	"nested": "  - x\n    - ",
}

// No text may take more than linear time: otherwise the test would not end.
func TestHostileReviews(t *testing.T) {
	for name, unit := range hostileUnits {
		for _, text := range []string{strings.Repeat(unit, 50_000/len(unit)),
			"### Findings\n" + strings.Repeat(unit, 50_000/len(unit))} {
			if r := ParseReview(text, "n"); r.Findings == nil || r.Requests == nil || r.Warnings == nil {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

// TestFindingThatCannotBeRead: a pass with an unreadable finding does not count.
func TestFindingThatCannotBeRead(t *testing.T) {
	for _, text := range []string{
		`{"verdict": "PASS", "summary": "fine", "findings": [{"severity": "note", "issue": 7}]}`,
		`{"success": true, "review_summary": "fine", "review_issues": [{"issue_description": 7}]}`,
		`{"overall_correctness": "patch is correct", "findings": [{"title": 7}]}`,
		`{"status": "approved", "changes": [7]}`,
	} {
		if r := ParseReview(text, ""); r.Effective.Passed() || r.Approved {
			t.Errorf("%s passes", text)
		}
	}
}
