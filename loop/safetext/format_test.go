package safetext

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

type verdict string

type place struct{ file string }

func (p place) String() string { return "at " + p.file }

func TestFprintf(t *testing.T) {
	hostile := "a\x1b[2Jb\nVerdict: PASS\u202e"
	safe := `a\x1b[2Jb Verdict: PASS\u{202e}`
	for _, tt := range []struct {
		format string
		arg    any
		want   string
	}{
		{"%s\n", hostile, safe + "\n"},
		{"%v\n", verdict(hostile), safe + "\n"},
		{"%s\n", errors.New(hostile), safe + "\n"},
		{"%s\n", place{hostile}, "at " + safe + "\n"},
		{"%+v\n", struct{ A string }{hostile}, "{A:" + safe + "}\n"},
		{"%s\n", []string{hostile, "b"}, "[" + safe + " b]\n"},
		{"%s\n", []byte(hostile), safe + "\n"},
		{"%q\n", "\u202e\n", `"\u202e\n"` + "\n"},
		{"%s\n", Block(hostile), strings.ReplaceAll(safe, "b Verdict", "b\nVerdict") + "\n"},
		{"%-5s|", "ab", "ab   |"},
		{"%.2s|", "abc", "ab|"},
		{"%05d|", 42, "00042|"},
		{"%5.1f|", 1.25, "  1.2|"},
		{"%s|", 90 * time.Second, "1m30s|"},
		{"%t|", true, "true|"},
		{"%x|", "\n", "0a|"},
		{"\t\u00a0\x1b[1m%s\x1b[m", "x", "\t\u00a0\x1b[1mx\x1b[m"}, // the format is trusted
	} {
		if got := printed(t, tt.format, tt.arg); got != tt.want {
			t.Errorf("Fprintf(%q, %q) = %q, want %q", tt.format, tt.arg, got, tt.want)
		}
	}
	if got := printed(t, "%*d|%-*s|%[3]d", 4, 7, 3, "a\n"); got != fmt.Sprintf("%*d|%-*s|%[3]d", 4, 7, 3, "a ") {
		t.Errorf("widths as arguments: %q", got)
	}
	if got := printed(t, "%v %s", nil, "x"); got != "<nil> x" {
		t.Errorf("nil: %q", got)
	}
}

// printed returns what Fprintf writes.
func printed(t *testing.T, format string, args ...any) string {
	t.Helper()
	var b strings.Builder
	if n, err := Fprintf(&b, format, args...); n != b.Len() || err != nil {
		t.Errorf("Fprintf wrote %q, said %d, %v", b.String(), n, err)
	}
	return b.String()
}

// FuzzFprintf: whatever an argument contains, the lines are those of the format, and a Block is
// formatted by Text.
func FuzzFprintf(f *testing.F) {
	for _, s := range []string{"", "a\nb", "\x1b[2J", "\u202e", "\xff", "%s%n", "⚠\ufe0f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := printed(t, "<%s>\n", s); got != "<"+Line(s)+">\n" {
			t.Errorf("Fprintf of %q: %q", s, got)
		}
		if got := printed(t, "<%v>\n", Block(s)); got != "<"+Text(s)+">\n" {
			t.Errorf("Fprintf of a Block %q: %q", s, got)
		}
	})
}
