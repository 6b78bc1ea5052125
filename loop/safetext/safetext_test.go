package safetext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "go test ./... ok", "go test ./... ok"},
		{"lines and tabs stay", "a\tb\nc\n", "a\tb\nc\n"},
		{"letters of all kinds", "naïve Ω 漢字 עברית हिन्दी", "naïve Ω 漢字 עברית हिन्दी"},
		{"no-break and wide space", "a\u00a0b\u3000c", "a\u00a0b\u3000c"},
		{"escape sequence", "\x1b[2K\x1b]0;x\a", `\x1b[2K\x1b]0;x\x07`},
		{"NUL and backspace", "a\x00b\b", `a\x00b\x08`},
		{"CR LF", "a\r\nb", "a\nb"},
		{"lone CR overwrites", "good\rbad", `good\x0dbad`},
		{"DEL", "a\x7f", `a\x7f`},
		{"C1 as a character", "\u009b31m", `\u{9b}31m`},
		{"C1 as a byte", "\x9b31m", `\x9b31m`},
		{"cut UTF-8 keeps the rest", "a\xe2\x82b", `a\xe2\x82b`},
		{"surrogate", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"replacement character itself", "\ufffd", "\ufffd"},
		{"bidi override", "a\u202eb\u2069", `a\u{202e}b\u{2069}`},
		{"bidi marks", "\u200e\u200f\u061c", `\u{200e}\u{200f}\u{61c}`},
		{"zero width", "to\u200bken\u2060\ufeff", `to\u{200b}ken\u{2060}\u{feff}`},
		{"soft hyphen", "a\u00adb", `a\u{ad}b`},
		{"tag characters", "x\U000e0041\U000e007f", `x\u{e0041}\u{e007f}`},
		{"blank letters", "\u3164\u115f\uffa0", `\u{3164}\u{115f}\u{ffa0}`},
		{"line and paragraph separator", "a\u2028b\u2029", `a\u{2028}b\u{2029}`},
		{"private use", "\ue0b0", `\u{e0b0}`},
		{"emoji selector", "⚠\ufe0f stop", "⚠\ufe0f stop"},
		{"hidden run of selectors", "⚠\ufe0f\ufe0e\U000e0100", "⚠\ufe0f" + `\u{fe0e}\u{e0100}`},
		{"selector on ASCII", "a\ufe0f", `a\u{fe0f}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Text(tt.in); got != tt.want {
				t.Errorf("Text(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestPrintableLineHasNoLineFeed(t *testing.T) {
	if got, want := Line("a\r\nb\nc\td\x1b"), `a b c d\x1b`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"", "a\r\nb", "\x1b[31m", "\u202e\u200b", "\xff\xfe", "⚠\ufe0f\ufe0f", "\U000e0041",
		"\u009b", "\xa0\ufe0f0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, line := Text(s), Line(s)
		if r, bad := firstHostile(text, "\n\t"); bad {
			t.Errorf("Text(%q) lets %U through", s, r)
		}
		if r, bad := firstHostile(line, ""); bad {
			t.Errorf("Line(%q) lets %U through", s, r)
		}
		if again := Text(text); again != text {
			t.Errorf("Text is not settled: %q, then %q", text, again)
		}
	})
}

// firstHostile finds the first character that must never reach a terminal, by another table than
// the code's: control, format and separator categories.
func firstHostile(s, allowed string) (rune, bool) {
	if !utf8.ValidString(s) {
		return utf8.RuneError, true
	}
	for _, r := range s {
		hostile := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) ||
			unicode.Is(unicode.Bidi_Control, r) || r >= 0xe0000 && r <= 0xe0fff
		if hostile && !strings.ContainsRune(allowed, r) {
			return r, true
		}
	}
	return 0, false
}

// TestJSON: the escaped document has the same meaning, and contains nothing that affects a terminal.
func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"src/new line.py": "src/new line.py", "src/new\nline.py": `"src/new\nline.py"`, "a\tb\r\n\"\\": `"a\tb\r\n\"\\"`,
		`"a"`: `"\"a\""`, `a\nb "c"`: `a\nb "c"`,
	} {
		if got := Name(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	said := "a\u009bb\u202ec\x7fd é ⚠\ufe0f \U000e0041 日本"
	doc, err := json.Marshal(map[string]string{"title": said})
	if err != nil {
		t.Fatal(err)
	}
	safe := JSON(doc)
	var back map[string]string
	if err := json.Unmarshal(safe, &back); err != nil || back["title"] != said {
		t.Errorf("%s says %q, %v", safe, back["title"], err)
	}
	if r, found := firstHostile(string(safe), "\ufe0f"); found {
		t.Errorf("%s holds %q", safe, r)
	}
	if !strings.Contains(string(safe), "é ⚠\ufe0f") || !strings.Contains(string(safe), "日本") {
		t.Errorf("%s spells out what can be seen", safe)
	}
}

func TestFenceMarksDiffer(t *testing.T) {
	if first, second := Fence("x"), Fence("x"); first == second || !strings.Contains(first, "\nx\n>>> ") {
		t.Errorf("a reviewer could write the mark of %q", first)
	}
}
