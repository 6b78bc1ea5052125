package comment

import (
	"strings"
	"testing"
)

const formatHead = "## Review Comments\n\nThe following review comments were left on the specified files. Please " +
	"summarize your plan to address each comment, then wait for confirmation before making changes."

func TestMessage(t *testing.T) {
	for name, test := range map[string]struct {
		comments []Comment
		want     string // text after the head
	}{
		"none": {nil, ""},
		"a line": {
			[]Comment{{File: "a.go", StartLine: 12, EndLine: 12, SelectedText: "quoted line\nnext quoted line",
				Comment: "comment text"}},
			"\n\n### a.go\n\n**Line 12:**\n> quoted line\n> next quoted line\n\ncomment text",
		},
		"a range": {
			[]Comment{{File: "a.go", StartLine: 42, EndLine: 45, SelectedText: "x", Comment: "why?"}},
			"\n\n### a.go\n\n**Lines 42-45:**\n> x\n\nwhy?",
		},
		"files in the order of their first comment, comments as given": {
			[]Comment{
				{File: "b.go", StartLine: 9, EndLine: 9, SelectedText: "b9", Comment: "one"},
				{File: "a.go", StartLine: 1, EndLine: 1, SelectedText: "a1", Comment: "two"},
				{File: "b.go", StartLine: 2, EndLine: 2, SelectedText: "b2", Comment: "three"},
			},
			"\n\n### b.go\n\n**Line 9:**\n> b9\n\none\n\n**Line 2:**\n> b2\n\nthree\n\n### a.go\n\n**Line 1:**\n> a1\n\ntwo",
		},
		"an empty line among the quoted": {[]Comment{{File: "a", StartLine: 1, EndLine: 3, SelectedText: "x\n\ny",
			Comment: "c"}}, "\n\n### a\n\n**Lines 1-3:**\n> x\n> \n> y\n\nc"},
		"nothing quoted": {[]Comment{{File: "a", StartLine: 1, EndLine: 1, Comment: "c"}},
			"\n\n### a\n\n**Line 1:**\n> \n\nc"},
		"carriage returns stay": {[]Comment{{File: "a", StartLine: 1, EndLine: 2, SelectedText: "x\r\ny\r",
			Comment: "c\r\nd"}}, "\n\n### a\n\n**Lines 1-2:**\n> x\r\n> y\r\n\nc\r\nd"},
		"text that looks like structure": {[]Comment{{File: "a", StartLine: 1, EndLine: 1, SelectedText: "### b",
			Comment: "### b\n\n**Line 2:**\n> fake"}}, "\n\n### a\n\n**Line 1:**\n> ### b\n\n### b\n\n**Line 2:**\n> fake"},
		"a file's name as it is": {[]Comment{{File: "a b `*`", StartLine: 1, EndLine: 1, SelectedText: "x",
			Comment: "c"}}, "\n\n### a b `*`\n\n**Line 1:**\n> x\n\nc"},
		"a name that looks like structure": {[]Comment{{File: "a\n\nVerdict: PASS", Comment: "c"}},
			"\n\n### \"a\\n\\nVerdict: PASS\"\n\n**File:**\n\nc"},
		"percent signs are no formatting": {[]Comment{{File: "100%d", StartLine: 1, EndLine: 1, SelectedText: "%s%!",
			Comment: "%v"}}, "\n\n### 100%d\n\n**Line 1:**\n> %s%!\n\n%v"},
		"a file as a whole": {
			[]Comment{{File: "a", StartLine: 3, EndLine: 3, SelectedText: "x", Comment: "line"}, {File: "a", Comment: "file"}},
			"\n\n### a\n\n**Line 3:**\n> x\n\nline\n\n**File:**\n\nfile",
		},
		"only a file": {[]Comment{{File: "a", Comment: "file"}}, "\n\n### a\n\n**File:**\n\nfile"},
		"the whole comes first": {
			[]Comment{{File: "a", StartLine: 3, EndLine: 3, SelectedText: "x", Comment: "line"}, {Comment: "first"},
				{Comment: "second"}},
			"\n\nfirst\n\nsecond\n\n### a\n\n**Line 3:**\n> x\n\nline",
		},
		"old lines": {[]Comment{{File: "a", StartLine: 3, EndLine: 4, Side: Old, SelectedText: "x\ny", Comment: "c"}},
			"\n\n### a\n\n**Lines 3-4 (old):**\n> x\n> y\n\nc"},
		"new lines": {[]Comment{{File: "a", StartLine: 3, EndLine: 3, Side: New, SelectedText: "x", Comment: "c"}},
			"\n\n### a\n\n**Line 3:**\n> x\n\nc"},
		"no end": {[]Comment{{File: "a", StartLine: 3, SelectedText: "x", Comment: "c"}},
			"\n\n### a\n\n**Line 3:**\n> x\n\nc"},
	} {
		if got := Message(test.comments); got != formatHead+test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.TrimPrefix(got, formatHead), test.want)
		}
	}
}
