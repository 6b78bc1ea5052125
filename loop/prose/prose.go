// Package prose formats text for people: counts with their nouns, texts cut to a length, one
// line from many. It also splits English text for all parsers: tokens, words, plurals, stems,
// sets of words.
package prose

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/safetext"
)

// Count formats n with its noun, in the plural unless n is 1: "1 file", "2 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Bytes formats n bytes for people: "0 B", "1.5 KiB".
func Bytes(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// Cut returns the start of s, at most n bytes, cut between runes; if s is not UTF-8, exactly n bytes.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for back := range min(n+1, utf8.UTFMax) {
		if utf8.RuneStart(s[n-back]) {
			return s[:n-back]
		}
	}
	return s[:n]
}

// CutMiddle returns s, or if it is longer than most bytes its beginning and its end, where
// verdicts usually are, with a line between them that states how much was left out.
func CutMiddle(s string, most int) string {
	const mark = 60
	if len(s) <= most {
		return s
	}
	if most <= mark {
		return Cut(s, max(most, 0))
	}
	head := Cut(s, (most-mark)*3/4)
	at := len(s) - (most-mark)/4
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, at-len(head), s[at:])
}

// OneRow replaces each run of white space in text by one space.
func OneRow(text string) string { return strings.Join(strings.Fields(text), " ") }

// OneLine formats text for a subject or a note: one line of limited length, safe for
// terminals.
func OneLine(s string) string {
	const limit = 200
	s = safetext.Line(OneRow(s))
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

// Tail returns the last n lines of s.
func Tail(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
