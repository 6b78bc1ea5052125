package worddiff

import (
	"strings"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/syntax"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// Marks are the parts of lines that differ from their partner's, by the index of
// the line in its hunk: from byte to byte.
func Marks(h unidiff.Hunk) map[int][2]int {
	marks := map[int][2]int{}
	for i, j := range pairs(h) {
		if h.Lines[i].Kind != '-' {
			continue
		}
		if a, b, ok := changedPart(h.Lines[i].Text, h.Lines[j].Text); ok {
			marks[i], marks[j] = a, b
		}
	}
	return marks
}

// Row is a row of the view with two sides: indexes into the hunk's lines, -1
// for nothing.
type Row struct{ Left, Right int }

// Rows puts removed lines beside the added ones that took their place.
func Rows(h unidiff.Hunk) []Row {
	var rows []Row
	for i := 0; i < len(h.Lines); {
		removed, added := h.Block(i)
		if removed+added == 0 {
			rows = append(rows, Row{i, i})
			i++
			continue
		}
		for k := range max(removed, added) {
			row := Row{-1, -1}
			if k < removed {
				row.Left = i + k
			}
			if k < added {
				row.Right = i + removed + k
			}
			rows = append(rows, row)
		}
		i += removed + added
	}
	return rows
}

// pairs matches the removed lines of a hunk with the added ones that took their
// place: for the index of a line that of its partner, on both sides.
func pairs(h unidiff.Hunk) map[int]int {
	partner := map[int]int{}
	for i := 0; i < len(h.Lines); {
		removed, added := h.Block(i)
		for k := range min(removed, added) {
			partner[i+k], partner[i+removed+k] = i+removed+k, i+k
		}
		i += max(1, removed+added)
	}
	return partner
}

// changedPart is the middle of a and b that differs, as byte ranges at the bounds
// of words. ok is false where too little is the same for that to help a reader.
func changedPart(a, b string) (inA, inB [2]int, ok bool) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	head = wordBound(a, b, head)
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	least := tail - maxWord
	for _, s := range []string{a, b} {
		for tail > 0 && insideWord(s, len(s)-tail) && (tail > least || !utf8.RuneStart(s[len(s)-tail])) {
			tail--
		}
	}
	same := len(strings.TrimSpace(a[:head])) + len(strings.TrimSpace(a[len(a)-tail:]))
	if same*3 < max(len(a), len(b)) || a == b {
		return inA, inB, false
	}
	return [2]int{head, len(a) - tail}, [2]int{head, len(b) - tail}, true
}

// maxWord is how far a bound of a word is looked for, in bytes: what has none in so
// many is no word, and may be cut between any two characters.
const maxWord = 64

// wordBound goes back from i to where no word of a or b is cut.
func wordBound(a, b string, i int) int {
	insideChar := func(s string) bool { return i < len(s) && !utf8.RuneStart(s[i]) }
	for least := i - maxWord; i > 0 && (insideWord(a, i) || insideWord(b, i)) && (i > least || insideChar(a) || insideChar(b)); {
		i--
	}
	return i
}

// insideWord reports whether a cut of s at i would divide a word or a character.
func insideWord(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return false
	}
	inWord := func(c byte) bool { return syntax.IsWordByte(c) || c >= 0x80 }
	return inWord(s[i-1]) && inWord(s[i])
}
