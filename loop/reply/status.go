package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/prose"
)

// mark is the state of an item in a list of things to do.
type mark byte

const (
	noMark mark = iota
	openMark
	doneMark
)

// cutBox cuts the checkbox off an item.
func cutBox(item string) (box mark, rest string) {
	tag, after, ok := strings.Cut(item, "]")
	inner, opened := strings.CutPrefix(tag, "[")
	if !ok || !opened || strings.HasPrefix(after, "(") {
		return noMark, item
	}
	switch inner = strings.TrimSpace(inner); {
	case inner == "", strings.EqualFold(inner, "x"),
		utf8.RuneCountInString(inner) == 1 && signOf([]rune(inner)[0]) != noMark:
		box = openMark
		if strings.EqualFold(inner, "x") || inner != "" && signOf([]rune(inner)[0]) == doneMark {
			box = doneMark
		}
		return box, strings.TrimSpace(after)
	}
	return noMark, item
}

// cutStatusMark cuts a tick, a cross or an empty box, drawn as a character, off the start or end of an item.
func cutStatusMark(item string) (string, mark) {
	text := strings.TrimLeftFunc(item, isLoose)
	first, n := utf8.DecodeRuneInString(text)
	if m := signOf(first); m != noMark {
		return strings.TrimLeftFunc(text[n:], isLoose), m
	}
	text = strings.TrimRightFunc(text, isLoose)
	last, n := utf8.DecodeLastRuneInString(text)
	if m := signOf(last); m != noMark {
		return strings.TrimRightFunc(text[:len(text)-n], isLoose), m
	}
	return item, noMark
}

// isLoose reports whether r is white space or a zero-width character, such as an emoji's variation selector.
func isLoose(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Mn, unicode.Cf) }

func signOf(r rune) mark {
	switch {
	case strings.ContainsRune("✅✔☑✓🟢🗸", r):
		return doneMark
	case strings.ContainsRune("❌✗✘✖⛔🔴☐⬜□🚫", r):
		return openMark
	}
	return noMark
}

// plainItem formats an item as a request: on one line, without checkbox, status mark, struck-out text and emphasis
// around the whole.
func plainItem(item string) string {
	_, text := cutBox(strings.TrimSpace(withoutStruck(item)))
	text, _ = cutStatusMark(text)
	return strings.TrimRight(prose.OneRow(withoutEmphasis(text)), ": ")
}
