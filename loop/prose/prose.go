// Package prose words what programs say to people: counts with their nouns, texts cut to a
// length, one line of many. It also takes English apart for all who read it: tokens, words,
// plurals, stems, sets of words.
package prose

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/safetext"
)

// Count is n and its noun, in the plural unless n is 1: "1 file", "2 files".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Bytes is n bytes for people: "0 B", "1.5 KiB".
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

// Cut is the start of s, at most n bytes, cut between runes; of what is no UTF-8, n bytes.
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

// CutMiddle is s, or where it is longer than most bytes its beginning and its end,
// where verdicts stand, and between them a line that says how much was left out.
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

// OneRow is text with single spaces for all white space.
func OneRow(text string) string { return strings.Join(strings.Fields(text), " ") }

// OneLine is text for a subject or a note: one line whatever it quotes, with
// nothing in it that a terminal would act on.
func OneLine(s string) string {
	const limit = 200
	s = safetext.Line(OneRow(s))
	if len(s) > limit {
		s = strings.ToValidUTF8(s[:limit], "") + "…"
	}
	return s
}

// Tail is the last n lines of s.
func Tail(s string, n int) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
