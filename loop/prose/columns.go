package prose

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// inColumns counts what a terminal shows: its own control sequences take no room.
var inColumns = displaywidth.Options{ControlSequences: true}

// Columns is how many columns of a terminal text takes: none for a mark over the letter
// before it or for what sets a colour, two for East Asian wide characters and emoji.
func Columns(text string) int { return inColumns.String(text) }

// CutColumns is text in at most n columns of a terminal, with an ellipsis where something
// was cut. What sets colours stays whole.
func CutColumns(text string, n int) string {
	if Columns(text) <= n {
		return text
	}
	kept := strings.TrimRight(inColumns.TruncateString(text, max(n-1, 0), ""), " ")
	return kept + "…"
}

// Pieces are the parts of a word between which a line may be broken: wide characters
// have no spaces between them.
func Pieces(word string) []string {
	if Columns(word) == len(word) { // no wide ones
		return []string{word}
	}
	var pieces []string
	wide := true // what came before
	for g := inColumns.StringGraphemes(word); g.Next(); {
		if g.Width() == 2 || wide {
			pieces = append(pieces, "")
		}
		pieces[len(pieces)-1] += g.Value()
		wide = g.Width() == 2
	}
	return pieces
}
