package diagnose

import (
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
)

// wrap breaks s into lines of at most width columns, each with a line feed. A longer word gets a line of its own.
func wrap(s string, width int) string {
	var lines []string
	for _, w := range strings.Fields(s) {
		last := len(lines) - 1
		if last >= 0 && prose.Columns(lines[last]+" "+w) <= width {
			lines[last] += " " + w
		} else {
			lines = append(lines, w)
		}
	}
	return strings.Join(append(lines, ""), "\n")
}
