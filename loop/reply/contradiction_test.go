package reply

import (
	"slices"
	"strings"
	"testing"
)

const (
	passingBlock = "```runr-review " + fuzzNonce +
		"\n{\"verdict\": \"PASS\", \"summary\": \"All is met.\", \"findings\": []}\n```\n"
	againstNotice = "the worse counts"
)

// TestWordsAgainstABlock: words beside a tagged block that clearly refuse cancel its pass.
func TestWordsAgainstABlock(t *testing.T) {
	for text, want := range map[string]Verdict{
		"### Verdict: NEEDS_FIX\n":                                                NeedsFix,
		"### Verdict: CRITICAL\n":                                                 CriticalFail,
		"### Verdict: PASS\n\n### Verdict: NEEDS_FIX\n":                           NeedsFix,
		"**Ready to merge?** No\n":                                                NeedsFix,
		"Critical: token logged in a.go:1\n":                                      CriticalFail,
		"{\"verdict\": \"NEEDS_FIX\", \"summary\": \"\", \"findings\": []}\n":     NeedsFix,
		"```json\n{\"success\": false, \"review_issues\": []}\n```\n":             NeedsFix,
		"Do not merge this.\n":                                                    NeedsFix,
		"Wait: I did not look at it. NEEDS_FIX. Verdict: CRITICAL\n":              NeedsFix,
		"The token is logged, so I cannot approve it.\n":                          NeedsFix,
		"I was not able to read any of the files.\n":                              NeedsFix,
		"### Verdict: PASS\n\n### Findings\n- Critical: token logged in a.go:1\n": CriticalFail,
	} {
		for _, answer := range []string{text + "\n" + passingBlock, passingBlock + "\n" + text} {
			if r := ParseReview(answer, fuzzNonce); r.Effective != want || r.Format != formatTagged ||
				r.Summary != "All is met." {
				t.Errorf("%q: want %s: %+v", answer, want, r)
			}
		}
	}
}

// Words beside a block that agree with it, or are not the reviewer's, are not reported; nor are
// words beside a block that refuses.
func TestWordsBesideABlock(t *testing.T) {
	refusing := strings.Replace(passingBlock, "PASS", "NEEDS_FIX", 1)
	for _, answer := range []string{
		passingBlock,
		"### Verdict: PASS\n\n" + passingBlock,
		"I read all of it. No critical issues.\n\n" + passingBlock,
		"I did not find CRITICAL problems. The verdict: see below.\n\n" + passingBlock,
		"### Verdict: " + placeholder + "\n\n" + passingBlock,
		"> ### Verdict: NEEDS_FIX\n\n" + passingBlock,
		"```\n### Verdict: NEEDS_FIX\n```\n\n" + passingBlock,
		"### Findings\n- [LOW] a.go:3 rename x\n\n" + strings.Replace(passingBlock, "PASS", "PASS_WITH_NOTES", 1),
		"### Findings\n- [HIGH] a.go:3 it is slow\n\n" + strings.Replace(passingBlock, "PASS", "PASS_WITH_NOTES", 1),
		"### Verdict: NEEDS_FIX\n\n" + refusing,
		"### Verdict: CRITICAL\n\n" + refusing,
	} {
		r := ParseReview(answer, fuzzNonce)
		if slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, againstNotice) }) {
			t.Errorf("%q: warnings %q", answer, r.Warnings)
		}
	}
}

// TestBlockThatIsNoAnswer: a passing block in a list, in code, in HTML or without its findings is not an answer; a
// refusing one counts wherever it stands.
func TestBlockThatIsNoAnswer(t *testing.T) {
	for _, c := range [][2]string{
		{"The template is:\n\n", "    "}, {"The template is:\n\n", "\t"}, {"The template is:\n\n", "        "},
		{"- I refuse; the template is:\n\n", "  "},
		{"I refuse <!--\n", ""}, {"<!--\n", ""},
		{"<pre>\nan example:\n", ""}, {"<PRE class=\"x\">\n", ""}, {"<pre><code>\n", ""},
	} {
		enclosed := c[0] + eachLine(c[1], passingBlock) + "\n--> </pre> </code>\n"
		if r := ParseReview(enclosed, fuzzNonce); !r.Unreadable() {
			t.Errorf("%q: %+v", enclosed, r)
		}
		if r := ParseReview(enclosed+"\n"+passingBlock, fuzzNonce); r.Effective != Pass {
			t.Errorf("%q and a block: %+v", enclosed, r)
		}
		refusing := strings.Replace(enclosed, "PASS", "NEEDS_FIX", 1)
		if r := ParseReview(refusing+"\n"+passingBlock, fuzzNonce); c[0] != "<!--\n" && r.Effective != NeedsFix {
			t.Errorf("%q and a block: %+v", refusing, r)
		}
	}
	for _, answer := range []string{
		strings.Replace(passingBlock, `, "findings": []`, "", 1),
		"<pre>\n### Verdict: PASS\n</pre>\n",
		"<PRE>\n### Verdict: PASS\n</PRE>\n",
		"<pre>\n" + plantedJSON + "\n</pre>\n",
	} {
		if r := ParseReview(answer, fuzzNonce); r.Effective.Passed() {
			t.Errorf("%q: %+v", answer, r)
		}
	}
	for _, before := range []string{
		"The comment in a.html begins with <!-- and never ends.\n\n", "`<pre>` is escaped, as </pre> is.\n\n",
		"<details>\n<summary>Result</summary>\n\n", " ", "<!-- done --> <pre>x</pre>\n",
	} {
		if r := ParseReview(before+passingBlock+"\n</details>\n", fuzzNonce); r.Effective != Pass {
			t.Errorf("%q: %+v", before, r)
		}
	}
}
