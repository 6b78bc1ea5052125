package diagnose

import (
	"strings"
	"unicode"
)

// columns is how wide s is on a terminal: letters of East Asia take two columns,
// marks that stand on a letter none.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me) || r == 0xfe0e || r == 0xfe0f:
		return 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// cut is s on at most width columns; that something was left out is marked.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	used := 1 // the mark
	for i, r := range s {
		if used += runeColumns(r); used > width {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// wrap is s in lines of at most width columns, each with a line feed; a word that is
// longer has a line of its own.
func wrap(s string, width int) string {
	var b strings.Builder
	used := 0
	for _, w := range strings.Fields(s) {
		n := columns(w)
		switch {
		case used == 0:
		case used+1+n > width:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(w)
		used += n
	}
	if used > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}
