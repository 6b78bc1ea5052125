package prose

import (
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/safetext"
)

// namesShown is how many files one sentence names.
const namesShown = 50

// Names are files in one sentence, made safe for terminals: at most namesShown, and how
// many more there are.
func Names(files []string) string { return FirstNames(files, namesShown) }

// FirstNames is Names of at most that many.
func FirstNames(files []string, most int) string {
	shown := make([]string, min(len(files), most))
	for i := range shown {
		shown[i] = safetext.Line(files[i])
	}
	if more := len(files) - most; more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}

// Indent is foreign output as a block of code.
func Indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(safetext.Text(s), "\n"), "\n", "\n    ")
}

// Hanging is foreign text behind a label: its further lines are indented, so that none
// of them begins a part of ours.
func Hanging(s string) string {
	return strings.ReplaceAll(safetext.Text(s), "\n", "\n  ")
}
