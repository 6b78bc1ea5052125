package diagnose

import (
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
)

// wrap breaks s into lines of at most width columns, each with a line feed. A longer word gets a line of its own.
func wrap(s string, width int) string {
	var b strings.Builder
	used := 0
	for _, w := range strings.Fields(s) {
		n := prose.Columns(w)
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
