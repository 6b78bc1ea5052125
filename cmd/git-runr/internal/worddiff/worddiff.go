// Package worddiff shows what changed within the lines of a patch.
package worddiff

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"

	"github.com/git-runr/git-runr/loop/unidiff"
)

// Mark marks the changed words of lines in a unified patch as git's --word-diff does: [-old-]{+new+}. It pairs lines in
// blocks that remove as many as they add. Other lines, and what cannot be parsed, stay.
func Mark(patch string) string {
	rows := slices.Collect(strings.Lines(patch))
	var out strings.Builder
	written := 0 // rows
	upTo := func(row int) {
		out.WriteString(strings.Join(rows[written:row], ""))
		written = row
	}
	for file := range unidiff.Files(patch) {
		for _, h := range file.Hunks {
			for i := 0; i < len(h.Lines); {
				gone, come := h.Block(i)
				block := h.Lines[i : i+gone+come]
				if gone == come && !slices.ContainsFunc(block, func(l unidiff.Line) bool { return l.NoEOL }) {
					upTo(h.Lines[i].Row)
					for k := range gone {
						out.WriteString(wordLine(block[k].Text, block[gone+k].Text))
					}
					written += gone + come
				}
				i += max(1, gone+come)
			}
		}
	}
	upTo(len(rows))
	return out.String()
}

// wordLine returns one line with its changes marked, or both lines if they have little in common.
func wordLine(old, new string) string {
	a, b := words(old), words(new)
	gone, come, alike := Compare(a, b, weight)
	if !alike {
		return "-" + old + "\n+" + new + "\n"
	}
	var out strings.Builder
	out.WriteString("~")
	taken := func(words []string, changed []bool, open, end string) int {
		n := 0
		for n < len(words) && changed[n] {
			n++
		}
		if n > 0 {
			out.WriteString(open + strings.Join(words[:n], "") + end)
		}
		return n
	}
	for len(a) > 0 || len(b) > 0 {
		n, m := taken(a, gone, "[-", "-]"), taken(b, come, "{+", "+}")
		if n+m == 0 {
			out.WriteString(a[0])
			n, m = 1, 1
		}
		a, gone, b, come = a[n:], gone[n:], b[m:], come[m:]
	}
	return out.String() + "\n"
}

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
	return Spans(a, before, gone), Spans(b, after, come)
}

// weight returns the bytes of a word, without white space, which does not make two lines alike.
func weight(word string) int { return len(strings.TrimSpace(word)) }

// Spans joins changed words of a line to byte ranges, across the white space between them.
func Spans(line string, words []string, changed []bool) (all [][2]int) {
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

// maxWord is the maximum length of a word in bytes. Longer text without a boundary, such as base64, is divided between
// two characters.
const maxWord = 64

// Next returns the length in bytes of the first word of s: letters, digits and marks, or white space, or one other
// character. It returns 0 only for an empty s.
func Next(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	inside := inWord
	switch {
	case unicode.IsSpace(r):
		inside = unicode.IsSpace
	case !inWord(r):
		return size
	}
	s = s[:min(len(s), maxWord)]
	return len(s) - len(strings.TrimLeftFunc(s, inside))
}

func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// words splits a line by Next.
func words(line string) (all []string) {
	for line != "" {
		n := Next(line)
		all, line = append(all, line[:n]), line[n:]
	}
	return all
}

// Compare reports which words of a are missing in b, and which of b in a, respecting their order. alike is false if
// both share less than a third of the total weight: marks of single words then hide more than they show. weight returns
// how much a word counts.
func Compare(a, b []string, weight func(word string) int) (gone, come []bool, alike bool) {
	gone, come = Sides(a, b)
	all := func(words []string) (n int) {
		for _, word := range words {
			n += weight(word)
		}
		return n
	}
	shared := 0
	for i, word := range a {
		if !gone[i] {
			shared += weight(word)
		}
	}
	return gone, come, 3*shared > min(all(a), all(b))
}

const (
	// surrogates is the first number that is not a valid character. It limits the number of different parts that are
	// distinguished; further ones count as equal.
	surrogates = 0xd800
	// maxCompared is the maximum number of pairs of parts to compare. Beyond it, everything between the first and the
	// last difference counts as changed, which bounds the time for any text.
	maxCompared = 1 << 22
)

// Sides reports which parts of a are missing in b, and which of b in a, respecting their order.
func Sides(a, b []string) (gone, come []bool) {
	gone, come = make([]bool, len(a)), make([]bool, len(b))
	head, tail := 0, 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	i, j := head, head
	for _, d := range compare(a, b) {
		for range utf8.RuneCountInString(d.Text) {
			if d.Type != diffmatchpatch.DiffInsert {
				gone[i] = d.Type == diffmatchpatch.DiffDelete
				i++
			}
			if d.Type != diffmatchpatch.DiffDelete {
				come[j] = d.Type == diffmatchpatch.DiffInsert
				j++
			}
		}
	}
	return gone, come
}

// compare returns the difference of two lists of parts, with one character for each part.
func compare(a, b []string) []diffmatchpatch.Diff {
	numbers := map[string]rune{}
	number := func(parts []string) []rune {
		all := make([]rune, len(parts))
		for i, part := range parts {
			if numbers[part] == 0 {
				numbers[part] = rune(min(len(numbers)+1, surrogates-1))
			}
			all[i] = numbers[part]
		}
		return all
	}
	before, after := number(a), number(b)
	if len(a)*len(b) > maxCompared {
		return []diffmatchpatch.Diff{
			{Type: diffmatchpatch.DiffDelete, Text: string(before)}, {Type: diffmatchpatch.DiffInsert, Text: string(after)},
		}
	}
	differ := diffmatchpatch.New()
	differ.DiffTimeout = 0 // maxCompared is the limit: the result must not depend on the load of the machine
	return differ.DiffMainRunes(before, after, false)
}
