package prose

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// inColumns measures text as a terminal shows it: control sequences have no width.
var inColumns = displaywidth.Options{ControlSequences: true}

// Columns returns the width of text in terminal columns: 0 for a combining mark or a colour
// sequence, 2 for East Asian wide characters and emoji.
func Columns(text string) int { return inColumns.String(text) }

// CutColumns cuts text to at most n terminal columns, with an ellipsis if something was cut.
// Colour sequences stay whole.
func CutColumns(text string, n int) string {
	if Columns(text) <= n {
		return text
	}
	kept := strings.TrimRight(inColumns.TruncateString(text, max(n-1, 0), ""), " ")
	return kept + "…"
}

// Pieces splits a word where a line may be broken: wide characters have no spaces between
// them.
func Pieces(word string) []string {
	if Columns(word) == len(word) { // no wide characters
		return []string{word}
	}
	var pieces []string
	wide := true // whether the previous character was wide
	for g := inColumns.StringGraphemes(word); g.Next(); {
		if g.Width() == 2 || wide {
			pieces = append(pieces, "")
		}
		pieces[len(pieces)-1] += g.Value()
		wide = g.Width() == 2
	}
	return pieces
}
