package diagnose

import "testing"

func TestWrap(t *testing.T) {
	if got := wrap("one two  three extraordinary x", 9); got != "one two\nthree\nextraordinary\nx\n" {
		t.Errorf("got %q", got)
	}
	if got := wrap(" ", 9); got != "" {
		t.Errorf("nothing is %q", got)
	}
}
