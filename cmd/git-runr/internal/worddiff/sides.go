package worddiff

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// maxWord is the longest word in bytes. Text without a boundary in so many bytes, such as base64, is no
// word: it is divided between two characters.
const maxWord = 64

// Next returns the length in bytes of the first word of s: letters, digits and marks, or white space, or
// one other character. It is 0 for an empty s only.
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

// words divides a line by Next.
func words(line string) (all []string) {
	for line != "" {
		n := Next(line)
		all, line = append(all, line[:n]), line[n:]
	}
	return all
}

// Compare reports which of the words a are not in b, and which of b are not in a, at the same place in the
// order of both. alike is false where less than a third of what weighs is in both: marks of single words
// then hide more than they show. weight returns how much a word counts.
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
	// surrogates is the first number that is no character. So many different parts are told apart; further
	// ones are taken for one.
	surrogates = 0xd800
	// maxCompared is how many pairs of parts are compared. Where there are more, all between the first and
	// the last difference counts as changed: that bounds the time whatever the text is.
	maxCompared = 1 << 22
)

// Sides tells which of the parts a are not in b, and which of b are not in a, at the same
// place in the order of both.
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

// compare returns the difference of two lists of parts, with a character for each part.
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
	differ.DiffTimeout = 0 // maxCompared is the limit: the result does not depend on how busy the machine is
	return differ.DiffMainRunes(before, after, false)
}
