package diagnose

import "testing"

func TestCut(t *testing.T) {
	for _, test := range []struct {
		in    string
		width int
		want  string
	}{
		{"short", 5, "short"}, {"longer", 5, "long…"}, {"a b c", 3, "a…"}, {"漢字漢字", 5, "漢字…"}, {"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"}, {"", 0, ""},
	} {
		if got := cut(test.in, test.width); got != test.want {
			t.Errorf("%q to %d: %q, want %q", test.in, test.width, got, test.want)
		}
	}
}

func TestWrap(t *testing.T) {
	if got := wrap("one two  three extraordinary x", 9); got != "one two\nthree\nextraordinary\nx\n" {
		t.Errorf("got %q", got)
	}
	if got := wrap(" ", 9); got != "" {
		t.Errorf("nothing is %q", got)
	}
}
