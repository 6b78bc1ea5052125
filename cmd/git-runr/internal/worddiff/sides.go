package worddiff

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

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
