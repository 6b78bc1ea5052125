package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"git-runr/loop/prose"
)

// mark says how something in a list of things to do stands.
type mark byte

const (
	noMark mark = iota
	openMark
	doneMark
)

// cutBox takes the box of a task off an item.
func cutBox(item string) (box mark, rest string) {
	tag, after, ok := strings.Cut(item, "]")
	inner, opened := strings.CutPrefix(tag, "[")
	if !ok || !opened || strings.HasPrefix(after, "(") {
		return noMark, item
	}
	switch strings.TrimSpace(inner) {
	case "":
		return openMark, strings.TrimSpace(after)
	case "x", "X", "✓", "✔", "✅":
		return doneMark, strings.TrimSpace(after)
	case "❌", "✗", "✘", "!":
		return openMark, strings.TrimSpace(after)
	}
	return noMark, item
}

// The signs by which people tick things off, and those for what is not done.
const (
	doneSigns = "✅✔☑✓🟢🗸"
	openSigns = "❌✗✘✖⛔🔴☐⬜□🚫"
)

// cutStatusMark takes a tick or a cross off the start or the end of an item.
func cutStatusMark(item string) (string, mark) {
	text := strings.TrimFunc(item, isLoose)
	first, n := utf8.DecodeRuneInString(text)
	if m := signOf(first); m != noMark {
		return strings.TrimLeftFunc(text[n:], isLoose), m
	}
	last, n := utf8.DecodeLastRuneInString(text)
	if m := signOf(last); m != noMark {
		return strings.TrimRightFunc(text[:len(text)-n], isLoose), m
	}
	return item, noMark
}

// isLoose: white space and marks without a width, such as those that make a sign an emoji.
func isLoose(r rune) bool { return unicode.IsSpace(r) || unicode.In(r, unicode.Mn, unicode.Cf) }

func signOf(r rune) mark {
	switch {
	case strings.ContainsRune(doneSigns, r):
		return doneMark
	case strings.ContainsRune(openSigns, r):
		return openMark
	}
	return noMark
}

// doneStatus and openStatus are the words by which a thing is done or not.
var (
	doneStatus = prose.PhraseSet(`done, resolved, fixed, met, addressed, ok, okay, passed, pass, passing, passes, complete, completed, yes, green, already done, satisfied,
		implemented, verified, closed, n/a, not applicable, fully met, all met, already fixed, already met, already addressed, success, succeeded, clean, withdrawn`)
	openStatus = prose.PhraseSet(`incomplete, not done, failed, failing, fail, fails, missing, pending, todo, to do, unmet, not met, not run, never run, not satisfied,
		unsatisfied, not provided, outstanding, open, not passing, unfinished, partial, partially, partially met, partly met, not fixed, not resolved,
		not addressed, not complete, not completed, not verified, unverified, not found, unresolved, unaddressed, not yet, not started, in progress,
		broken, red, not ok, needs work, needs fix, not green, still failing, still open, still missing, not shown, not reported, absent, skipped,
		no output, no evidence, not done yet, not fixed yet, still incomplete, never ran, did not run, no`)
)

func statusWords(text string) mark {
	switch words := strings.Join(wordsOf(text), " "); {
	case doneStatus.Has(words):
		return doneMark
	case openStatus.Has(words):
		return openMark
	}
	return noMark
}

// statusOf reads how an item stands by a sign, or by words before or behind a
// colon, a dash or in parentheses: "❌ tests", "lint — not done", "Resolved: the docs".
func statusOf(item string) mark {
	text, m := cutStatusMark(item)
	if m != noMark && text != "" {
		return m
	}
	_, status, ok := cutStatus(item)
	if !ok {
		return noMark
	}
	if m := statusWords(status); m != noMark {
		return m
	}
	if before, _, ok := strings.Cut(item, ":"); ok && statusWords(before) == doneMark {
		return doneMark
	}
	return noMark
}

// cutStatus parts an item at its last separator.
func cutStatus(item string) (label, status string, ok bool) {
	text := strings.TrimRight(strings.TrimSpace(item), ".!*_")
	if before, closed := strings.CutSuffix(text, ")"); closed {
		i := strings.LastIndex(before, "(")
		if i < 0 {
			return "", "", false
		}
		return before[:i], before[i+1:], true
	}
	at, size := -1, 0
	for _, sep := range []string{":", " — ", " – ", " - ", " = ", " -> ", " → ", "："} {
		if i := strings.LastIndex(text, sep); i > at {
			at, size = i, len(sep)
		}
	}
	if at <= 0 {
		return "", "", false
	}
	return text[:at], text[at+size:], true
}

// isStatusLine reports whether a line without a list mark is the name of a check
// and how it stands.
func isStatusLine(text string) bool {
	if len(text) > 80 {
		return false
	}
	if name, m := cutStatusMark(text); m != noMark {
		return len(wordsOf(name)) < 8 && !strings.ContainsAny(name, ".!?")
	}
	label, status, ok := cutStatus(text)
	return ok && statusWords(status) != noMark && len(strings.Fields(label)) < 5
}

// plainItem is an item as a request: on one line, without its box, its mark, what
// is struck out of it and emphasis around the whole.
func plainItem(item string) string {
	text := strings.TrimSpace(withoutStruck(item))
	_, text = cutBox(text)
	text, _ = cutStatusMark(text)
	return strings.TrimRight(prose.OneRow(withoutEmphasis(text)), ": ")
}
