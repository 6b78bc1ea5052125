package worddiff

import (
	"strings"

	"github.com/git-runr/git-runr/loop/unidiff"
)

// Marks returns the parts of changed lines that their partners lack, by the index of the line in its hunk:
// byte ranges in order.
func Marks(h unidiff.Hunk) map[int][][2]int {
	marks := map[int][][2]int{}
	for _, row := range Rows(h) {
		if row.Left >= 0 && row.Right >= 0 && row.Left != row.Right {
			marks[row.Left], marks[row.Right] = changedWords(h.Lines[row.Left].Text, h.Lines[row.Right].Text)
		}
	}
	return marks
}

// Row is a row of a view with two sides: indexes into the hunk's lines, -1 for none.
type Row struct{ Left, Right int }

// Rows pairs removed lines with the added ones that replaced them.
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

// changedWords returns the parts of two lines that the other one lacks, as byte ranges in order. It returns none if the
// lines have too little in common for marks to help a reader.
func changedWords(a, b string) (inA, inB [][2]int) {
	before, after := words(a), words(b)
	gone, come, alike := Compare(before, after, weight)
	if !alike {
		return nil, nil
	}
	return spans(a, before, gone), spans(b, after, come)
}

// weight returns the bytes of a word, without white space, which does not make two lines alike.
func weight(word string) int { return len(strings.TrimSpace(word)) }

// spans joins changed words of a line to byte ranges, across the white space between them.
func spans(line string, words []string, changed []bool) (all [][2]int) {
	end := 0
	for i, word := range words {
		from := end
		end += len(word)
		if !changed[i] {
			continue
		}
		if n := len(all); n > 0 && strings.TrimSpace(line[all[n-1][1]:from]) == "" {
			all[n-1][1] = end
			continue
		}
		all = append(all, [2]int{from, end})
	}
	return all
}

// Piece returns the end of the piece of a line that begins at a byte and that no mark divides, at most end, and whether
// the piece is marked.
func Piece(marks [][2]int, begin, end int) (next int, marked bool) {
	for _, m := range marks {
		for _, bound := range m {
			if begin < bound && bound < end {
				end = bound
			}
		}
		marked = marked || m[0] <= begin && begin < m[1]
	}
	return end, marked
}
