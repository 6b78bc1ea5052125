package prose

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCutColumns(t *testing.T) {
	for _, test := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"ab cd", 4, "ab…"},
		{"漢字", 4, "漢字"},
		{"漢字", 3, "漢…"},
		{"漢字", 2, "…"},
		{"e\u0301e\u0301e", 3, "e\u0301e\u0301e"},
		{"e\u0301e\u0301ee", 3, "e\u0301e\u0301…"},
		{"👨‍👩‍👧👨‍👩‍👧", 3, "👨‍👩‍👧…"},
		{"\x1b[31mabcd\x1b[m", 4, "\x1b[31mabcd\x1b[m"},
		{"\x1b[31mabcd\x1b[m", 3, "\x1b[31mab\x1b[m…"},
		{"", 1, ""},
	} {
		if got := CutColumns(test.in, test.n); got != test.want {
			t.Errorf("CutColumns(%q, %d) = %q, want %q", test.in, test.n, got, test.want)
		}
	}
}

func TestPieces(t *testing.T) {
	for _, test := range []struct {
		in   string
		want []string
	}{
		{"漢字e\u0301b字", []string{"漢", "字", "e\u0301b", "字"}},
		{"a漢", []string{"a", "漢"}},
		{"e\u0301b", []string{"e\u0301b"}},
		{"\x1b[31mab\x1b[m", []string{"\x1b[31mab\x1b[m"}},
		{"ab", []string{"ab"}},
	} {
		if got := Pieces(test.in); !slices.Equal(got, test.want) {
			t.Errorf("Pieces(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

// FuzzCutColumns: the result is no wider than allowed, and still valid text.
func FuzzCutColumns(f *testing.F) {
	f.Add("review: 漢字 e\u0301 ⚠\ufe0f", 7)
	f.Add("\x1b[1;31m漢字\x1b[m", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = 1 + (n&0xff+0xff)%0xff
		got := CutColumns(s, n)
		if Columns(got) > n || utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("CutColumns(%q, %d) = %q, %d columns", s, n, got, Columns(got))
		}
		if got := strings.Join(Pieces(s), ""); got != s {
			t.Errorf("Pieces(%q) make %q", s, got)
		}
	})
}
