package prose

import (
	"strings"
	"unicode"
)

// Words are the runs of letters and digits in s, in lower case.
func Words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Singular takes off the ending of an English plural. What it makes of other words is
// for comparing, not for showing.
func Singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"), strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "shes"):
		return word[:len(word)-2]
	case len(word) < 4, strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"):
		return word
	}
	return strings.TrimSuffix(word, "s")
}

// Stem is what a word and its inflections have in common: "log" of "logs", "logged"
// and "logging". It is for comparing, not for showing.
func Stem(word string) string {
	if len(word) <= 3 {
		return word
	}
	word = Singular(word)
	for _, ending := range []string{"ation", "ating", "ated", "ate", "ion", "ing", "ed", "ly", "e"} {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) >= 3 && strings.ContainsAny(rest, "aeiouy") {
			word = rest
			break
		}
	}
	if n := len(word); n > 3 && word[n-1] == word[n-2] && strings.IndexByte("bdglmnprt", word[n-1]) >= 0 {
		return word[:n-1] // "logg"
	}
	return word
}
