package prose

import (
	"slices"
	"strings"
	"unicode"
)

// Words returns the runs of letters and digits in s, in lower case.
func Words(s string) []string {
	return Runs(strings.ToLower(s), unicode.Letter, unicode.Digit)
}

// Runs returns the runs of characters in s that belong to the classes.
func Runs(s string, classes ...*unicode.RangeTable) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.In(r, classes...) })
}

// Singular removes the ending of an English plural. The result for other words is for
// comparison only, not for display.
func Singular(word string) string {
	switch {
	case strings.HasSuffix(word, "ies") && len(word) > 4:
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "sses"), strings.HasSuffix(word, "xes"), strings.HasSuffix(word, "ches"),
		strings.HasSuffix(word, "shes"):
		return word[:len(word)-2]
	case len(word) < 4, strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "is"):
		return word
	}
	return strings.TrimSuffix(word, "s")
}

// Stem returns the common part of a word and its inflections: "log" for "logs", "logged" and
// "logging". It is for comparison, not for display.
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

// Token is a word with its punctuation, or a text enclosed by marks.
type Token struct {
	Raw  string // the text between white space, or between the marks
	Text string // Raw without the punctuation around it
	Span bool   // enclosed by marks
}

// Tokens splits text at white space and at pairs of the marks.
func Tokens(text, marks string) []Token {
	var tokens []Token
	plain := func(text string) {
		for field := range strings.FieldsSeq(text) {
			tokens = append(tokens, Token{Raw: field, Text: strings.Trim(field, ".,;:!?()[]{}<>\"'*…")})
		}
	}
	from := 0
	for _, s := range Spans(text, marks) {
		plain(text[from:s.From])
		tokens = append(tokens, Token{Raw: text[s.From+s.Mark : s.To-s.Mark], Span: true})
		from = s.To
	}
	plain(text[from:])
	return tokens
}

// Span is a range of bytes in a text, including enclosing marks of width Mark.
type Span struct{ From, To, Mark int }

// Spans returns the ranges enclosed by pairs of marks: the same one of marks (ASCII), repeated
// equally often on both sides.
func Spans(text, marks string) []Span {
	var spans []Span
	for at := 0; ; {
		open := strings.IndexAny(text[at:], marks)
		if open < 0 {
			return spans
		}
		open += at
		width := len(text[open:]) - len(strings.TrimLeft(text[open:], text[open:open+1]))
		at = open + width
		if length := strings.Index(text[at:], text[open:at]); length >= 0 {
			spans = append(spans, Span{From: open, To: at + length + width, Mark: width})
			at += length + width
		} else if width == 2 { // an empty span
			spans = append(spans, Span{From: open, To: at, Mark: 1})
		}
	}
}

// ContainsAny reports whether s contains one of the words, as a part of a word or more.
func ContainsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}
