package screen

import (
	"strings"

	"github.com/git-runr/git-runr/loop/safetext"
)

// Diff is a difference in the colours of git, which are all that a line may have of control
// sequences: where one has others, it is shown as what they are, and without colours.
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
