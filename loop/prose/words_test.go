package prose

import (
	"strings"
	"testing"
)

// TestTokens formats a span with its marks as brackets, and other words unchanged.
func TestTokens(t *testing.T) {
	for _, test := range []struct{ in, marks, want string }{
		{"", "`", ""},
		{"Fix (the `a b` call), \"now\".", "`", "Fix|the|[a b]|call|now"},
		{"Fix `a` \"b c\"", "`\"", "Fix|[a]|[b c]"},
		{"``a ` b`` c", "`", "[a ` b]|c"},
		{"an `open one", "`", "an|`open|one"},
		{"empty `` and \"\"", "`\"", "empty|[]|and|[]"},
		{"`a`s, `b`/`c`", "`", "[a]|s|[b]|/|[c]"},
		{"`a` b", "", "`a`|b"},
	} {
		var got []string
		for _, token := range Tokens(test.in, test.marks) {
			if token.Span {
				token.Text = "[" + token.Raw + "]"
			}
			got = append(got, token.Text)
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%q: %q, want %q", test.in, strings.Join(got, "|"), test.want)
		}
	}
}

// FuzzSpans: spans do not overlap, and have their marks at both ends.
func FuzzSpans(f *testing.F) {
	f.Add("a `b` \"c ``d `` `")
	f.Add("```\"")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, s := range Spans(text, "`\"") {
			if s.From < at || s.Mark < 1 || s.To < s.From+2*s.Mark || s.To > len(text) ||
				text[s.From:s.From+s.Mark] != text[s.To-s.Mark:s.To] {
				t.Fatalf("%q: %+v behind %d", text, s, at)
			}
			at = s.To
		}
	})
}
