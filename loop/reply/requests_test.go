package reply

import (
	"fmt"
	"slices"
	"testing"
)

// Requests are tested in diagnose/testdata/requests; these are parts that a case there would
// not point to.

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

// TestRequestKeepsItsSentence: a sentence that refers back is kept with the sentence before it.
func TestRequestKeepsItsSentence(t *testing.T) {
	for text, want := range map[string][]string{
		"There is still no test for an empty list. Add one.":   {"There is still no test for an empty list. Add one"},
		"The result of Close is dropped. Could you handle it?": {"The result of Close is dropped. Could you handle it"},
		"Release the lock. Then rename it.":                    {"Release the lock", "Then rename it"},
		"The cache is never emptied, but fix the typo " +
			"first.": {"The cache is never emptied, but fix the typo first"},
		"Verdict: NEEDS_FIX\n\nNo limit on the retries. Please add one.\n" +
			"- x is slow": {"No limit on the retries. Please add one", "x is slow"},
	} {
		if got := ParseReview(text, "").Requests; !slices.Equal(got, want) {
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

// TestProseNeverApproves: no wording passes outside of the requested forms.
func TestProseNeverApproves(t *testing.T) {
	for _, text := range []string{
		"Approved", "LGTM!", "Ready to merge", "All good. Looks good to me, thanks.", "LGTM. nit: rename x",
		"No issues found", "I didn't find any issues.", "approve with nits",
		"Verdict: PASS", "Verdict: ready to merge", "**Ready to merge?** Yes", "### Verdict\npass", "### Verdict: PASSED",
		"**Verdict:** No issues found.", "Overall: PASS",
		"I read it.\n\n{\"verdict\": \"PASS\", \"summary\": \"\", \"findings\": []}\n",
	} {
		if r := ParseReview(text, fuzzNonce); r.Approved || r.Effective.Passed() || r.Format != FormatUnreadable {
			t.Errorf("%q: %+v", text, r)
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

// TestHearsInCriteria: a refusal among the requirements cancels a pass, one in a report on another round does not.
func TestHearsInCriteria(t *testing.T) {
	for heading, want := range map[string]bool{"Requirements": false, "Acceptance criteria": false, "Done checks": false,
		"Previous round": true} {
		text := "### Verdict: PASS\n\n#### " + heading + "\n\n- I cannot approve this.\n"
		if got := ParseReview(text, "").Effective.Passed(); got != want {
			t.Errorf("below %q: passes %v, want %v", heading, got, want)
		}
	}
}

// TestManyRequests counts allocations, since each request was once compared with each finding.
func TestManyRequests(t *testing.T) {
	allocations := func(n int) float64 {
		var requests []string
		findings := make([]Finding, n)
		for i := range findings {
			findings[i] = Finding{File: "a.go", Line: i + 1, Issue: fmt.Sprintf("problem %d is bad", i)}
			requests = append(requests, RequestOf(findings[i]))
		}
		return testing.AllocsPerRun(1, func() {
			if left := RequestsBeside(requests, findings); len(left) > 0 {
				t.Fatalf("left: %q", left)
			}
		})
	}
	if few, many := allocations(100), allocations(1000); many > 12*few {
		t.Errorf("%.0f allocations for 100 findings, %.0f for 1000", few, many)
	}
}
