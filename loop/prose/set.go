package prose

import (
	"strings"
	"sync"

	"github.com/git-runr/git-runr/gitstore/each"
)

// Set is a set of words. It is built at its first use, because the program starts in a git hook.
type Set func() map[string]bool

// Has reports whether the set contains word.
func (s Set) Has(word string) bool { return s()[word] }

// WordSet returns the set of the words in a text.
func WordSet(words string) Set {
	return sync.OnceValue(func() map[string]bool { return each.Set(strings.Fields(words)) })
}
