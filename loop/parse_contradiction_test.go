package loop

import (
	"slices"
	"strings"
	"testing"
)

const (
	passingBlock  = "```runr-review " + fuzzNonce + "\n{\"verdict\": \"PASS\", \"summary\": \"All is met.\", \"findings\": []}\n```\n"
	againstNotice = "the block counts"
)

// A block with the nonce that passes is what counts; words beside it that refuse are
// told of, so that a person sees both.
func TestWordsAgainstABlockAreToldOf(t *testing.T) {
	for text, said := range map[string]string{
		"### Verdict: NEEDS_FIX\n":                                                "NEEDS_FIX",
		"### Verdict: CRITICAL\n":                                                 "CRITICAL",
		"### Verdict: PASS\n\n### Verdict: NEEDS_FIX\n":                           "NEEDS_FIX",
		"**Ready to merge?** No\n":                                                "NEEDS_FIX",
		"Critical: token logged in a.go:1\n":                                      "CRITICAL",
		"{\"verdict\": \"NEEDS_FIX\", \"summary\": \"\", \"findings\": []}\n":     "NEEDS_FIX",
		"```json\n{\"success\": false, \"review_issues\": []}\n```\n":             "NEEDS_FIX",
		"Do not merge this.\n":                                                    "must not go in",
		"The token is logged, so I cannot approve it.\n":                          "must not go in",
		"### Verdict: PASS\n\n### Findings\n- Critical: token logged in a.go:1\n": "CRITICAL",
	} {
		for _, answer := range []string{text + "\n" + passingBlock, passingBlock + "\n" + text} {
			r := ParseReview(answer, fuzzNonce)
			if r.Effective != Pass || len(r.Findings) > 0 {
				t.Errorf("%q: the block does not count: %+v", answer, r)
			}
			if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], said) || !strings.Contains(r.Warnings[0], againstNotice) {
				t.Errorf("%q: warnings %q, want one of %q", answer, r.Warnings, said)
			}
		}
	}
}

// Words beside a block that say no more than it, or are not the reviewer's, are not
// told of; nor are those beside a block that refuses itself.
func TestWordsBesideABlock(t *testing.T) {
	refusing := strings.Replace(passingBlock, "PASS", "NEEDS_FIX", 1)
	for _, answer := range []string{
		passingBlock,
		"### Verdict: PASS\n\n" + passingBlock,
		"I read all of it. No critical issues.\n\n" + passingBlock,
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
