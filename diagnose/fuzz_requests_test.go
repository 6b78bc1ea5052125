package diagnose

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// FuzzRequests: whatever a reviewer writes, each request is one line of the reviewer's own words, no request comes
// from a code fence, and each command is a configured one.
func FuzzRequests(f *testing.F) {
	for _, c := range readRequestCases(f) {
		f.Add(c.review)
	}
	checks := readChecks(defaultChecks)
	f.Fuzz(func(t *testing.T, text string) {
		report := reply.ParseReview(text, "")
		if again := reply.ParseReview(text, ""); !slices.Equal(report.Requests, again.Requests) ||
			report.Approved != again.Approved {
			t.Fatalf("two readings differ: %q and %q", report.Requests, again.Requests)
		}
		for i, r := range report.Requests {
			if r == "" || !utf8.ValidString(r) || strings.Join(strings.Fields(r), " ") != r ||
				slices.Contains(report.Requests[:i], r) {
				t.Fatalf("request %q of %q", r, report.Requests)
			}
		}
		ownWords(t, text, report)
		nothingFromFences(t, text)
		for _, command := range newMatcher(checks).commands(report.Requests...) {
			if !slices.ContainsFunc(checks, func(c runplan.Check) bool { return c.Command == command }) {
				t.Fatalf("command %q", command)
			}
		}
	})
}

func wordsIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// ownWords checks that requests consist of words of the text. JSON and coloured text are skipped, because escapes
// hide their words.
func ownWords(t *testing.T, text string, report reply.Report) {
	if report.Format != "markdown" && report.Format != "unreadable" || strings.Contains(text, "\x1b") {
		return
	}
	known := map[string]bool{"no": true, "description": true} // for a finding without a description
	for _, w := range wordsIn(text) {
		known[w] = true
	}
	for _, finding := range report.Findings {
		for _, w := range wordsIn(finding.Place()) {
			known[w] = true
		}
	}
	for _, r := range report.Requests {
		for _, w := range wordsIn(r) {
			if !known[w] {
				t.Fatalf("request %q has %q, which nobody said", r, w)
			}
		}
	}
}

// nothingFromFences checks that text in an added fence requests nothing. A text that has its own fence, comment or
// element is skipped, because that may include the text after it, and so is one of quotations alone: the fence beside
// them is the answer.
func nothingFromFences(t *testing.T, text string) {
	own := func(line string) bool { line = strings.TrimSpace(line); return line != "" && line[0] != '>' }
	if !slices.ContainsFunc(strings.Split(text, "\n"), own) || strings.ContainsAny(text, "`~<{[") {
		return
	}
	for _, fence := range []string{"```", "~~~~"} {
		report := reply.ParseReview(text+"\n\n"+fence+"\n- Please add Zzyzx\nYou must fix Zzyzx\n"+fence+"\n", "")
		for _, r := range report.Requests {
			if strings.Contains(r, "Zzyzx") {
				t.Fatalf("request %q comes from a fence", r)
			}
		}
	}
}
