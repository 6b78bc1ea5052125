package reply

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/prose"
)

// spanWord replaces a code span, a quotation or an address in a list of words: such text is
// named, not said.
const spanWord = "`"

// spanMarks are the characters around code spans and quotations.
const spanMarks = "`\""

// wordsOf returns the words of a text in lower case, with "don't" as two words.
func wordsOf(text string) []string {
	var words []string
	for _, t := range prose.Tokens(strings.ToLower(text), spanMarks) {
		word := strings.TrimFunc(t.Text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '`' })
		switch {
		case t.Span, strings.Contains(t.Raw, "://"), word == "" && strings.ContainsAny(t.Raw, "=<+&|%"):
			// the last case is an operator
			words = append(words, spanWord)
		case word != "":
			words = append(words, spelledOut(word)...)
		}
	}
	return words
}

// spelledOut expands contractions.
func spelledOut(word string) []string {
	switch word = strings.ReplaceAll(word, "’", "'"); word {
	case "cannot", "can't", "cant":
		return []string{"can", "not"}
	case "won't":
		return []string{"will", "not"}
	case "dont":
		return []string{"do", "not"}
	}
	at := strings.LastIndexByte(word, '\'')
	if at <= 0 {
		return []string{word}
	}
	switch stem := word[:at]; word[at:] {
	case "'t":
		return []string{strings.TrimSuffix(stem, "n"), "not"}
	case "'d":
		return []string{stem, "would"}
	case "'ve":
		return []string{stem, "have"}
	}
	return []string{word}
}

// says reports whether words contain one of phrases, each of whole words.
func says(words []string, phrases ...string) bool {
	text := " " + strings.Join(words, " ") + " "
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, " "+p+" ") })
}

// hasWord reports whether set contains one of words.
func hasWord(words []string, set prose.Set) bool {
	return slices.ContainsFunc(words, set.Has)
}

func wordAt(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

func isNumber(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }) && utf8.ValidString(s)
}

func withoutStruck(s string) string {
	parts := strings.Split(s, "~~")
	if len(parts)%2 == 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		b.WriteString(parts[i] + " ")
	}
	return b.String()
}

// alternatives splits a list of values: "low/medium", "PASS or FAIL", "a | b".
func alternatives(s string) []string {
	return strings.Split(strings.NewReplacer("/", "|", " or ", "|").Replace(s), "|")
}

var adversatives = prose.WordSet(
	`but no not without still however missing except never only yet should must need needs fails fail failing again wrong`)

var negators = prose.WordSet(`no 0 zero not never without cannot any nothing`)

var conditionWords = prose.WordSet(
	`if once when until unless after before except pending provided assuming modulo barring minus`)
