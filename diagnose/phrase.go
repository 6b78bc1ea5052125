package diagnose

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
)

// word is one word of a request.
type word struct {
	text string // in lower case
	one  string // without a plural ending
	code bool   // part of a path or an identifier, which names a place and asks for nothing
}

// phrase is a sequence of adjacent words.
type phrase []word

func phraseOf(s string) phrase {
	return each.Of(prose.Words(s), func(text string) word { return word{text: text, one: prose.Singular(text)} })
}

// phrases parses a comma-separated list.
func phrases(list string) []phrase {
	return each.Of(strings.Split(list, ","), phraseOf)
}

// leads reports whether text begins with the phrase, in the singular or plural.
func (p phrase) leads(text []word) bool {
	return len(p) > 0 && len(p) <= len(text) &&
		slices.EqualFunc(p, text[:len(p)], func(a, b word) bool { return a.one == b.one })
}

// wordsOf returns the words of a request in order.
func wordsOf(request string) phrase {
	var list phrase
	for _, t := range prose.Tokens(request, "") {
		code := isPlace(t)
		for _, w := range phraseOf(t.Raw) {
			w.code = code
			list = append(list, w)
		}
	}
	return list
}

// isPlace reports whether t is a path, an address or an identifier instead of a word of prose.
func isPlace(t prose.Token) bool {
	bare := strings.Trim(t.Text, "`,;:.!?*()")
	if strings.ContainsAny(bare, "/_\\=$") || strings.Contains(bare, "::") || strings.Contains(t.Raw, "()") {
		return true
	}
	stem, ext, dotted := strings.Cut(bare, ".")
	return dotted && stem != "" && ext != ""
}
