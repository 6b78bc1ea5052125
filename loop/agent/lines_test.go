package agent

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func cutLines(limit int, cut bool, chunks ...string) []string {
	var got []string
	l := lines{max: limit, cut: cut, fn: func(line []byte) { got = append(got, string(line)) }}
	for _, chunk := range chunks {
		l.add([]byte(chunk))
	}
	l.flush()
	return got
}

func TestLines(t *testing.T) {
	for _, tc := range []struct {
		limit  int
		cut    bool
		chunks []string
		want   []string
	}{
		{100, false, []string{"a\nb\r\nc\rd"}, []string{"a", "b", "c", "d"}},
		{100, false, []string{"a", "b\nc", "\n", "\n\n"}, []string{"ab", "c"}},
		{100, false, []string{"a\rb\nc"}, []string{"a", "b", "c"}},
		{3, false, []string{"abcd\nefg\n"}, []string{"efg"}},
		{3, true, []string{"abcd\nefg\n"}, []string{"abc", "efg"}},
		{3, false, []string{"abc", "d", "e\nf"}, []string{"f"}},
		{3, true, []string{"abc", "d", "e\nf"}, []string{"abc", "f"}},
	} {
		if got := cutLines(tc.limit, tc.cut, tc.chunks...); !slices.Equal(got, tc.want) {
			t.Errorf("%d %.40q: %.40q", tc.limit, tc.chunks, got)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ntext\t":                            "plain\ntext\t",
		"\x1b[1;31mbold\x1b[0m":                    "bold",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1b]0;title\x07after":                    "after",
		"\x1b(Btext\x1b=":                          "text",
		"\u009b31mred":                             "red",
		"\u009d0;t\x07x":                           "x",
		"\x1bPdcs\x1b\\x":                          "x",
		"\x1b":                                     "",
		"\x1b[":                                    "",
		"\x1b[31":                                  "",
		"\x1b]no end\ntext":                        "no end\ntext",
		"\x1b\nnext":                               "\nnext",
		"\x1bäx":                                   "äx",
		"bad \xff\xfe utf8":                        "bad \uFFFD utf8",
	} {
		if got := plain(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestVisibleIsShort(t *testing.T) {
	if got := visible(strings.Repeat("ä", 1000)); got != strings.Repeat("ä", maxVisible)+"…" {
		t.Errorf("%d characters", utf8.RuneCountInString(got))
	}
}

// FuzzVisible: the result contains nothing that affects a terminal, and plain text is unchanged.
func FuzzVisible(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\u202e\u200b\r\n\x00")
	f.Add("\x1b\x1b[[m\x1b]\x1b\\\u009b\u009d")
	f.Fuzz(func(t *testing.T, in string) {
		got := visible(in)
		if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%q shows %q", in, got)
		}
		if utf8.RuneCountInString(got) > maxVisible+1 {
			t.Errorf("%d characters", utf8.RuneCountInString(got))
		}
		text := plain(in)
		if !utf8.ValidString(text) || strings.Contains(text, "\x1b") {
			t.Errorf("%q is left as %q", in, text)
		}
		if !strings.ContainsAny(in, "\x1b\u009b\u009d") && utf8.ValidString(in) && text != in {
			t.Errorf("%q became %q", in, text)
		}
	})
}
