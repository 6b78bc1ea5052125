package prose

import (
	"strings"
	"sync"

	"github.com/git-runr/git-runr/gitstore/each"
)

// Set is a set of words or phrases. It is built at its first use, because the program starts in a git hook.
type Set func() map[string]bool

// Has reports whether the set contains word, written with single spaces.
func (s Set) Has(word string) bool { return s()[word] }

// WordSet returns the set of the words in a text.
func WordSet(words string) Set {
	return setOf(strings.Fields, words)
}

// PhraseSet returns the set of the phrases in a text, which are separated by commas.
func PhraseSet(phrases string) Set {
	return setOf(func(s string) []string { return strings.Split(s, ",") }, phrases)
}

func setOf(split func(string) []string, text string) Set {
	return sync.OnceValue(func() map[string]bool {
		return each.SetOf(split(text), OneRow)
	})
}
