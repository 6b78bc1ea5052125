package agent

import (
	"strings"
	"testing"
)

// Of a long stream only the end counts, from a line's beginning.
func TestEnding(t *testing.T) {
	long := strings.Repeat("progress\n", 10_000) + "error: no space left\n"
	got := string(ending([]byte(long)))
	if len(got) > 64<<10 || !strings.HasPrefix(got, "progress\n") || !strings.HasSuffix(got, "\nerror: no space left\n") {
		t.Errorf("%d bytes, %.20q", len(got), got)
	}
	for _, short := range []string{"", "error: one line", strings.Repeat("x", 64<<10)} {
		if got := string(ending([]byte(short))); got != short {
			t.Errorf("%.20q: %.20q", short, got)
		}
	}
	if got := ending([]byte(strings.Repeat("x", 100_000) + "\n")); len(got) != 64<<10 {
		t.Errorf("one line: %d bytes", len(got))
	}
}
