package anchor

import (
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/gitstore/each"
)

// SplitLines returns the lines of a file without their newlines. A newline at the end does not begin another line.
func SplitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// comparableLine returns the part of a line that counts in comparisons: without blanks and a carriage return at its
// end, and with invalid UTF-8 replaced as in JSON.
func comparableLine(line string) string {
	return strings.Map(func(r rune) rune { return r }, strings.TrimRight(line, " \t\r"))
}

// lineTable assigns numbers to lines, equal ones to equal lines. Number 0 is the blank line.
type lineTable struct {
	numbers map[string]int
	weights []int // letters and digits of each line, by number
	indents []int // columns before the text, by number
	closers []bool
}

func newLineTable() *lineTable {
	t := &lineTable{numbers: map[string]int{}}
	t.number("")
	return t
}

func (t *lineTable) number(line string) int {
	line = comparableLine(line)
	n, known := t.numbers[line]
	if !known {
		n = len(t.weights)
		t.numbers[line] = n
		body := strings.TrimLeft(line, " \t")
		t.weights = append(t.weights, countWords(body))
		t.indents = append(t.indents, columns(line[:len(line)-len(body)]))
		t.closers = append(t.closers, body != "" && strings.ContainsRune(")]}", rune(body[0])) || body == "end")
	}
	return n
}

func (t *lineTable) all(text string) []int {
	lines := SplitLines(text)
	return each.Of(lines, t.number)
}

// weight returns the number of letters and digits in lines.
func (t *lineTable) weight(lines []int) int {
	sum := 0
	for _, n := range lines {
		sum += t.weights[n]
	}
	return sum
}

func countWords(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

func columns(indent string) int { return len(indent) + 7*strings.Count(indent, "\t") }

// lineCounts holds, by number, how often a text has a line, and the index of its last occurrence.
type lineCounts struct{ count, last []int }

func (t *lineTable) counts(lines []int) lineCounts {
	found := lineCounts{make([]int, len(t.weights)), make([]int, len(t.weights))}
	for i, n := range lines {
		found.count[n]++
		found.last[n] = i
	}
	return found
}

// nesting holds the block around each line of a text, derived from indentation.
type nesting struct {
	parent []int    // the line that begins the block around a line; -1 at the top level
	path   []uint64 // a hash of that line and those around it; 0 at the top level
}

func (t *lineTable) nesting(lines []int) nesting {
	in := nesting{parent: unmapped(len(lines)), path: make([]uint64, len(lines))}
	var open []int // lines whose blocks may contain the current line, each indented further than the one before
	for i, n := range lines {
		if n == 0 {
			continue
		}
		limit := t.indents[n] // lines indented less are around this one
		if t.closers[n] {
			limit++ // and so is the line of the block that it closes
		}
		for len(open) > 0 && t.indents[lines[last(open)]] >= limit {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			in.parent[i] = last(open)
			in.path[i] = in.path[last(open)]*1099511628211 + uint64(lines[last(open)]) + 1
		}
		if !t.closers[n] {
			open = append(open, i)
		}
	}
	return in
}

// within reports whether line i is in the block that line outer begins.
func (in nesting) within(i, outer int) bool {
	for i = in.parent[i]; i > outer; {
		i = in.parent[i]
	}
	return i == outer
}

// lineMap maps each line of two texts to its line in the other, -1 for none. Mapped lines have the same order in both
// texts.
type lineMap struct{ toNew, toOld []int }

// mapLines compares two texts: lines that occur once in each of them, in the same order, are anchors, and equal lines
// next to a mapped one are mapped too.
func mapLines(old, new []int, inOld, inNew lineCounts) lineMap {
	m := lineMap{unmapped(len(old)), unmapped(len(new))}
	var pairs [][2]int
	for i, n := range old {
		if inOld.count[n] == 1 && inNew.count[n] == 1 {
			pairs = append(pairs, [2]int{i, inNew.last[n]})
		}
	}
	anchors := slices.Concat([][2]int{{-1, -1}}, rising(pairs), [][2]int{{len(old), len(new)}})
	for n, from := range anchors[:len(anchors)-1] {
		i, j, to := from[0], from[1], anchors[n+1]
		if i >= 0 {
			m.pair(i, j)
		}
		for i, j = i+1, j+1; i < to[0] && j < to[1] && old[i] == new[j]; i, j = i+1, j+1 {
			m.pair(i, j)
		}
		for k, l := to[0]-1, to[1]-1; k >= i && l >= j && old[k] == new[l]; k, l = k-1, l-1 {
			m.pair(k, l)
		}
	}
	return m
}

func (m lineMap) pair(i, j int) { m.toNew[i], m.toOld[j] = j, i }

func unmapped(n int) []int { return slices.Repeat([]int{-1}, n) }

// rising returns a longest subsequence of pairs in which the second number rises too.
func rising(pairs [][2]int) [][2]int {
	var ends []int                    // ends[k]: the pair that ends the best subsequence of length k+1
	before := make([]int, len(pairs)) // the pair before it in that subsequence
	for i, p := range pairs {
		k := sort.Search(len(ends), func(k int) bool { return pairs[ends[k]][1] >= p[1] })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	part := make([][2]int, len(ends))
	for k := len(ends) - 1; k >= 0; k-- {
		part[k] = pairs[ends[k]]
		if k > 0 {
			ends[k-1] = before[ends[k]]
		}
	}
	return part
}

// occurrences returns the indices at which part occurs in lines, in linear time.
func occurrences(lines, part []int) []int {
	if len(part) == 0 {
		return nil
	}
	back := make([]int, len(part)) // length of the longest prefix of part that ends before an index
	for i, k := 1, 0; i < len(part); i++ {
		for k > 0 && part[i] != part[k] {
			k = back[k-1]
		}
		if part[i] == part[k] {
			k++
		}
		back[i] = k
	}
	var found []int
	k := 0
	for i, n := range lines {
		for k > 0 && n != part[k] {
			k = back[k-1]
		}
		if n == part[k] {
			k++
		}
		if k == len(part) {
			found = append(found, i-k+1)
			k = back[k-1]
		}
	}
	return found
}

// Selected returns lines start to end of a text, or false if the text lacks them.
func Selected(lines []string, start, end int) (string, bool) {
	if start < 1 || end < start || end > len(lines) {
		return "", false
	}
	return strings.Join(lines[start-1:end], "\n"), true
}
