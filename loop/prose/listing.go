package prose

import (
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/safetext"
)

// namesShown is the maximum number of files in one sentence.
const namesShown = 50

// Names lists files in one sentence, made safe for terminals: at most namesShown, and how many
// more there are.
func Names(files []string) string { return FirstNames(files, namesShown) }

// FirstNames is Names with another maximum.
func FirstNames(files []string, most int) string {
	shown := make([]string, min(len(files), most))
	for i := range shown {
		shown[i] = safetext.Line(safetext.Name(files[i]))
	}
	if more := len(files) - most; more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}

// Indent formats foreign output as an indented block.
func Indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(safetext.Text(s), "\n"), "\n", "\n    ")
}

// Hanging formats foreign text after a label: its further lines are indented, so that none of
// them looks like one of ours.
func Hanging(s string) string {
	return strings.ReplaceAll(safetext.Text(s), "\n", "\n  ")
}
