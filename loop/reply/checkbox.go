package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/prose"
)

// tick is the state of an item in a list of things to do.
type tick byte

const (
	noTick tick = iota
	openTick
	doneTick
)

var checkbox = lazyre.Compile(`^\[\s*([^\s\]]?)\s*\]`)

// cutBox cuts the checkbox off an item.
func cutBox(item string) (box tick, rest string) {
	m := checkbox().FindStringSubmatch(item)
	if m == nil || strings.HasPrefix(item[len(m[0]):], "(") {
		return noTick, item
	}
	sign, _ := utf8.DecodeRuneInString(m[1])
	switch box = signOf(sign); {
	case m[1] == "":
		box = openTick
	case m[1] == "x", m[1] == "X":
		box = doneTick
	case box == noTick:
		return noTick, item
	}
	return box, strings.TrimSpace(item[len(m[0]):])
}

// cutStatusMark cuts a tick, a cross or an empty box, drawn as a character, off the start or end of an item.
func cutStatusMark(item string) (string, tick) {
	text := strings.TrimLeftFunc(item, isLoose)
	first, n := utf8.DecodeRuneInString(text)
	if m := signOf(first); m != noTick {
		return strings.TrimLeftFunc(text[n:], isLoose), m
	}
	text = strings.TrimRightFunc(text, isLoose)
	last, n := utf8.DecodeLastRuneInString(text)
	if m := signOf(last); m != noTick {
		return strings.TrimRightFunc(text[:len(text)-n], isLoose), m
	}
	return item, noTick
}

// isLoose reports whether r is white space or a zero-width character, such as an emoji's variation selector.
func isLoose(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Mn, unicode.Cf) }

func signOf(r rune) tick {
	switch {
	case strings.ContainsRune("✅✔☑✓🟢🗸", r):
		return doneTick
	case strings.ContainsRune("❌✗✘✖⛔🔴☐⬜□🚫", r):
		return openTick
	}
	return noTick
}

// plainItem formats an item as a request: on one line, without checkbox, status mark, struck-out text and emphasis
// around the whole.
func plainItem(item string) string {
	_, text := cutBox(strings.TrimSpace(withoutStruck(item)))
	text, _ = cutStatusMark(text)
	return strings.TrimRight(prose.OneRow(withoutEmphasis(text)), ": ")
}
