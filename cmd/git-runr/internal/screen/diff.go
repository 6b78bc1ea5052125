package screen

import (
	"strings"

	"github.com/git-runr/git-runr/loop/safetext"
)

// Diff returns a difference in git's colours. It shows a line that contains other control sequences in escaped form and
// without colours.
func Diff(plain, coloured string) string {
	lines, shown := strings.SplitAfter(plain, "\n"), strings.SplitAfter(coloured, "\n")
	if len(lines) != len(shown) {
		return safetext.Text(plain)
	}
	for i, line := range lines {
		if body := strings.TrimRight(line, "\r\n"); safetext.Text(body) != body {
			shown[i] = safetext.Text(line)
		}
	}
	return strings.Join(shown, "")
}
