package diagnose

import (
	"strings"

	"git-runr/loop/prose"
)

// columns is how wide s is on a terminal.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += prose.RuneColumns(r)
	}
	return n
}

// cut is s on at most width columns; that something was left out is marked.
func cut(s string, width int) string {
	if columns(s) <= width {
		return s
	}
	used := 1 // the mark
	for i, r := range s {
		if used += prose.RuneColumns(r); used > width {
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
