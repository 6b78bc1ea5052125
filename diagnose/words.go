package diagnose

import (
	"slices"
	"strings"
	"unicode"
)

// word is one word of a request, in lower case.
type word struct {
	text string
	one  string // the same for a word and its plural
	stem string // and for its -ing form
	code bool   // part of a path or an identifier, which names a place and asks for nothing
}

func wordOf(text string) word { return word{text: text, one: singular(text), stem: withoutIng(text)} }

// wordsOf are the words of a request in order.
func wordsOf(request string) []word {
	var list []word
	for _, field := range strings.Fields(request) {
		code := isPlace(field)
		for _, text := range splitWords(field) {
			w := wordOf(text)
			w.code = code
			list = append(list, w)
		}
	}
	return list
}

// splitWords are the runs of letters and digits in s, in lower case.
func splitWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// isPlace tells a path, an address or an identifier from a word of prose.
func isPlace(field string) bool {
	bare := strings.Trim(field, "`'\"*()[]{}<>,;:.!?")
	if strings.ContainsAny(bare, "_\\=$") || strings.Contains(bare, "::") || strings.Contains(field, "()") {
		return true
	}
	if segments := strings.Split(bare, "/"); len(segments) > 1 {
		return slices.ContainsFunc(segments, func(s string) bool { return !isProse(strings.ToLower(s)) })
	}
	stem, ext, dotted := strings.Cut(bare, ".")
	return dotted && stem != "" && ext != ""
}

// isProse reports whether a segment between slashes is a word about checks, as both
// are in "lint/format".
func isProse(segment string) bool {
	if segment == "and" || segment == "or" {
		return true
	}
	return slices.ContainsFunc(asksByWord()[singular(segment)], func(a ask) bool { return len(a.phrase.words) == 1 })
}

// phrase is words that stand next to each other.
type phrase struct {
	words []word
	whole word // the words written as one
}

func phraseOf(s string) phrase {
	parts := splitWords(s)
	p := phrase{whole: wordOf(strings.Join(parts, ""))}
	for _, text := range parts {
		p.words = append(p.words, wordOf(text))
	}
	return p
}

// phrases reads a list with commas in it.
func phrases(list string) []phrase {
	var all []phrase
	for p := range strings.SplitSeq(list, ",") {
		all = append(all, phraseOf(p))
	}
	return all
}

// at is how many words of text from i are the phrase; 0 when they are not. It may be
// written in one word or in two: "typecheck", "type check". With forms, -ing forms
// are the same word; plurals always are.
func (p phrase) at(text []word, i int, forms bool) int {
	switch {
	case len(p.words) == 0:
		return 0
	case p.inOrder(text[i:], forms):
		return len(p.words)
	case len(p.words) > 1 && same(text[i], p.whole, forms):
		return 1
	case len(p.words) == 1 && i+1 < len(text) && len(p.whole.text) > 3 && same(wordOf(text[i].text+text[i+1].text), p.whole, forms):
		return 2
	}
	return 0
}

// in reports whether text has the phrase, in any form, outside of paths.
func (p phrase) in(text []word) bool {
	for i := range text {
		if !text[i].code && p.at(text, i, true) > 0 {
			return true
		}
	}
	return false
}

// inOrder reports whether text begins with the phrase.
func (p phrase) inOrder(text []word, forms bool) bool {
	if len(text) < len(p.words) || len(p.words) == 0 {
		return false
	}
	for i, w := range p.words {
		if !same(text[i], w, forms) {
			return false
		}
	}
	return true
}

func same(a, b word, forms bool) bool { return a.one == b.one || forms && a.stem == b.stem }

// singular takes off a plural's ending; what it makes of other words is never shown.
func singular(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		return w[:len(w)-1]
	}
	return w
}

// withoutIng is what w and its -ing form have in common: "bundl" for both "bundle"
// and "bundling", "format" for "formatting".
func withoutIng(w string) string {
	w = singular(w)
	if stem, ok := strings.CutSuffix(w, "ing"); ok && len(stem) > 3 {
		w = stem
		if n := len(w); w[n-1] == w[n-2] {
			w = w[:n-1]
		}
	}
	return strings.TrimSuffix(w, "e")
}

// hasWord reports whether one of text's words is in the list, which has a space
// around each.
func hasWord(text []word, list string) bool {
	return slices.ContainsFunc(text, func(w word) bool { return !w.code && strings.Contains(list, " "+w.text+" ") })
}
