package worddiff

import (
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// surrogates is where numbers begin that are no characters: so many different parts are told
// apart, and those behind them are taken for one.
const surrogates = 0xd800

// Sides tells which of the parts a are not in b, and which of b are not in a, at the same
// place in the order of both.
func Sides(a, b []string) (gone, come []bool) {
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
	differ := diffmatchpatch.New()
	differ.DiffTimeout = wordsTimeout
	for _, d := range differ.DiffMainRunes(number(a), number(b), false) {
		for range utf8.RuneCountInString(d.Text) {
			if d.Type != diffmatchpatch.DiffInsert {
				gone = append(gone, d.Type == diffmatchpatch.DiffDelete)
			}
			if d.Type != diffmatchpatch.DiffDelete {
				come = append(come, d.Type == diffmatchpatch.DiffInsert)
			}
		}
	}
	return gone, come
}
