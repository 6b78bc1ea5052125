package track

import (
	"fmt"
	"testing"

	"github.com/git-runr/git-runr/loop/reply"
)

func found(file string, line int, issue string) reply.Finding {
	f := reply.Finding{Severity: reply.Warning, File: file, Line: line, Issue: issue}
	f.ID = reply.FindingID(f)
	return f
}

func TestSameAndAlike(t *testing.T) {
	const divides, divided = "Divide by zero when the cart is empty",
		"Divides by zero when the cart is empty, which happens often"
	for name, tc := range map[string]struct {
		a, b        reply.Finding
		same, alike bool
	}{
		"the same words": {found("a.go", 3, divides), found("a.go", 3, divides), true, true},
		"a full stop": {found("a.go", 3, divides),
			found("a.go", 3, "divide by zero\nwhen the cart is empty."), true, true},
		"other words":             {found("a.go", 3, divides), found("a.go", 3, divided), false, true},
		"a line further":          {found("a.go", 3, divides), found("a.go", 4, divides), false, true},
		"as far as may be":        {found("a.go", 3, divides), found("a.go", 8, divided), false, true},
		"too far":                 {found("a.go", 3, divides), found("a.go", 9, divided), false, false},
		"the same words, too far": {found("a.go", 3, divides), found("a.go", 300, divides), false, false},
		"of a range": {reply.Finding{File: "a.go", Line: 3, EndLine: 40, Issue: divides},
			found("a.go", 44, divided), false, true},
		"one without a line": {found("a.go", 0, divides), found("a.go", 300, divides), false, true},
		"another file":       {found("a.go", 3, divides), found("b.go", 3, divides), false, false},
		"a shortened path":   {found("shop/a.go", 3, divides), found("a.go", 3, divides), false, true},
		"one without a file": {found("", 0, divides), found("a.go", 3, divides), false, false},
		"both without": {found("", 0, "The tests are missing"), found("", 0, "the tests are missing."),
			true, true},
		"another thing at the same line": {found("a.go", 3, divides),
			found("a.go", 3, "The result is never checked for overflow"), false, false},
		"an identifier's capital": {found("a.go", 3, "Errors of Write"), found("a.go", 3, "Errors of write"), false, true},
	} {
		for _, lists := range [][][]reply.Finding{{{tc.a}, {tc.b}}, {{tc.b}, {tc.a}}} {
			if got := len(Same(lists)) == 1; got != tc.same {
				t.Errorf("%s: the same: %v", name, got)
			}
			if got := Alike(lists[0][0], lists[1][0]); got != tc.alike {
				t.Errorf("%s: alike: %v", name, got)
			}
		}
	}
}

func TestSameKeepsEachFinding(t *testing.T) {
	const issue = "The error is ignored"
	lists := [][]reply.Finding{
		{found("a.go", 3, issue), found("a.go", 3, issue), found("a.go", 200, issue)}, // one of them repeats a finding
		{},
		{found("a.go", 200, issue), found("a.go", 3, "The error is ignored.")},
		{found("a.go", 200, "the error is ignored here"), found("b.go", 200, issue)},
	}
	want := "[[{0 0} {2 1}] [{0 1}] [{0 2} {2 0}] [{3 0}] [{3 1}]]"
	if got := fmt.Sprint(Same(lists)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
