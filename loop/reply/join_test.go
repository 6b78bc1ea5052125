package reply

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Of two equally bad parts the one with a request names the whole: the implementer cannot act
// on the other.
func TestJoinUnreadable(t *testing.T) {
	unreadable := ParseReview("429 too many requests", "")
	asks := ParseReview("### Verdict: NEEDS_FIX\n\nPlease add a test.\n", "")
	for _, reports := range [][]Report{{unreadable, asks}, {asks, unreadable}} {
		if r := Join(reports); r.Format != asks.Format || r.Effective != NeedsFix ||
			!slices.Equal(r.Requests, asks.Requests) {
			t.Errorf("%s, then %s: %+v", reports[0].Format, reports[1].Format, r)
		}
	}
}

// TestJoinNamesParts: warnings and summaries follow the title of their part, and an empty part
// has no title.
func TestJoinNamesParts(t *testing.T) {
	r := Join([]Report{
		{Verdict: Pass, Effective: Pass, Approved: true, Summary: "All is met.", Warnings: []string{"an odd word"}},
		{Verdict: Pass, Effective: Pass, Approved: true},
		{Verdict: Pass, Effective: Pass, Approved: true, Summary: "So is this."},
	})
	if want := "Part 1 of 3:\nAll is met.\n\nPart 3 of 3:\nSo is this."; r.Summary != want {
		t.Errorf("summary %q, want %q", r.Summary, want)
	}
	if want := []string{"part 1 of 3: an odd word"}; !slices.Equal(r.Warnings, want) {
		t.Errorf("warnings %q, want %q", r.Warnings, want)
	}
}

// TestJoinIsBounded: the words of all parts are kept, and together are no longer than one
// answer may be.
func TestJoinIsBounded(t *testing.T) {
	var reports []Report
	for i := range 7 {
		reports = append(reports, Report{Verdict: Pass, Effective: Pass,
			Text: fmt.Sprintf("first %d\n%s\nlast %d", i, strings.Repeat("a word\n", MaxText/7), i)})
	}
	text := Join(reports).Text
	if len(text) > MaxText || len(text) < MaxText-1000 {
		t.Errorf("%d bytes, %d are allowed", len(text), MaxText)
	}
	for i := range reports {
		if !strings.Contains(text, fmt.Sprintf("Part %d of 7:\nfirst %d\n", i+1, i)) ||
			!strings.Contains(text, fmt.Sprintf("\nlast %d", i)) {
			t.Errorf("part %d is not there", i+1)
		}
	}
}

// TestJoinIdentifies: two findings with different ids in one part have different ids in the whole.
func TestJoinIdentifies(t *testing.T) {
	part := func(line int) Report {
		return Report{Verdict: NeedsFix, Effective: NeedsFix,
			Findings: []Finding{{ID: "f-1", File: "a.go", Line: line, Issue: "It leaks"}}}
	}
	if f := Join([]Report{part(1), part(9)}).Findings; len(f) != 2 || f[0].ID == f[1].ID {
		t.Errorf("%+v", f)
	}
}
