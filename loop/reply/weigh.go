package reply

import (
	"slices"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
)

// weight is how clearly a text makes a request.
type weight byte

const (
	weightNothing weight = iota // praise, a met requirement, a count of zero, an example, a template
	weightMixed                 // praise, or what the reviewer did, that mentions a fault; no request
	weightNeutral               // any other statement
	weightFault                 // mentions a fault
	weightFailing               // says that a check fails
	weightObliged               // "must", "should", "missing", "LGTM once …", "it would be nice to …"
	weightAsked                 // a request, direct or polite
	weightOpen                  // an open checkbox, or an item marked incomplete
)

// weigh returns the weight of an item or a sentence.
func weigh(item string) weight {
	text := strings.TrimSpace(withoutStruck(item))
	if box, rest := cutBox(text); box != noTick {
		if saysNothing(rest) {
			return weightNothing
		}
		return weightOf(box)
	}
	if saysNothing(text) {
		return weightNothing
	}
	if m := statusOf(text); m != noTick {
		return weightOf(m)
	}
	words := wordsOf(text)
	if len(words) == 0 || isNone(text) || saysMet(words) || pointsOnly(words) {
		return weightNothing
	}
	switch free := notNeeded(words); {
	case !free && (asksPolitely(text, words) || asksWithVerb(text)):
		return weightAsked
	case !free && obliges(words):
		return weightObliged
	case free, praiseEnds.Has(words[len(words)-1]) && !hasFault(words):
		return weightNothing
	case praiseWords.Has(words[0]), words[0] == "i":
		if hasFault(words) {
			return weightMixed
		}
		return weightNothing
	case saysFailing(words):
		return weightFailing
	case hasFault(words):
		return weightFault
	}
	return weightNeutral
}

// weightOf returns the weight of a checkbox or a status mark.
func weightOf(m tick) weight {
	if m == openTick {
		return weightOpen
	}
	return weightNothing
}

// saysNothing reports whether text is empty: no letter, a placeholder or a verb before one, a field without an issue, a
// severity alone.
func saysNothing(text string) bool {
	if f, value := readField(text); f != noField && (f < issueField || place.IsPlaceholder(value)) {
		return true
	}
	_, object, _ := strings.Cut(text, " ")
	_, isMark := readMark(text)
	return isMark || !strings.ContainsFunc(text, unicode.IsLetter) || place.IsPlaceholder(text) ||
		place.IsPlaceholder(strings.TrimSpace(object))
}

// participles are words for finished work.
var participles = prose.WordSet(
	`fixed done added addressed resolved met removed updated implemented corrected satisfied provided handled covered renamed`)

// saysMet reports whether a request is met: "the build has been fixed", "formatting was already corrected".
func saysMet(words []string) bool {
	at := slices.IndexFunc(words, participles.Has)
	if at < 1 || hasWord(words, adversatives) || hasWord(words, conditionWords) || verifyVerbs.Has(words[0]) {
		return false
	}
	return hasWord(words[max(0, at-2):at], metWords)
}

// statusOf returns the status of an item by its mark or by the words of its first or last clause: "❌ tests",
// "lint — done", "Resolved: the docs", "the race (fixed in b.go)", "coverage: not run".
func statusOf(text string) tick {
	if _, m := cutStatusMark(text); m != noTick {
		return m
	}
	clauses := clausesOf(text)
	if len(clauses) < 2 {
		return noTick
	}
	first, last := wordsOf(clauses[0]), wordsOf(clauses[len(clauses)-1])
	switch {
	case len(last) == 0:
	case len(last) < 4 && undoneWords.Has(last[0]), len(last) == 2 && last[0] == "not" && isDone(last[1]):
		return openTick
	case (isDone(last[0]) || len(first) == 1 && isDone(first[0])) && !hasWord(last, adversatives):
		return doneTick
	}
	return noTick
}

func isDone(word string) bool { return participles.Has(word) || doneWords.Has(word) }

var (
	doneWords = prose.WordSet(
		`ok okay pass passed passing passes complete completed yes green verified closed success clean run`)
	undoneWords = prose.WordSet(
		`incomplete pending unmet open failed failing missing partial partially outstanding unresolved never todo skipped`)
)

// metWords precede a participle when the work is finished.
var metWords = prose.WordSet(`already now since been was were is are`)

// notNeeded reports whether words use the vocabulary of a request but make none.
func notNeeded(words []string) bool {
	if says(words, "no need", "need not", "need no", "needs no", "not need", "not needed", "nothing needs", "not have to",
		"should be fine", "should work", "must be nice", "nothing is missing", "nothing else is missing", "up to you") {
		return !hasWord(words, pleaseWords)
	}
	last := words[len(words)-1]
	return last == "should" || last == "must"
}

// asksPolitely reports whether a text makes a polite request: "please …", "could you …".
func asksPolitely(text string, words []string) bool {
	if hasWord(words, pleaseWords) || says(words, "por favor", "s'il vous plaît") {
		return len(words) > 2 || len(words) == 2 && isAskVerb(words[1]) && !emptyWords.Has(words[1])
	}
	i := skipLead(words)
	switch wordAt(words, i) {
	case "could", "can", "would", "will":
		return (wordAt(words, i+1) == "you" || wordAt(words, i+1) == "we") && len(words) > i+3
	}
	return strings.HasPrefix(text, "请") || strings.HasPrefix(text, "請")
}

// asksWithVerb reports whether text, or the part after a colon or dash in it, begins with a
// request.
func asksWithVerb(text string) bool {
	for _, clause := range clausesIn(text) {
		words := wordsOf(clause)
		i := skipLead(words)
		if verbAt(words, i) || isPathWord(wordAt(words, i)) && verbAt(words, i+1) {
			return true
		}
	}
	return false
}

// obliges reports whether words state an obligation ("must", "should", "missing") or a condition for approval.
func obliges(words []string) bool {
	return hasWord(words, mustWords) && len(words) > 2 || words[0] == "missing" && len(words) > 1 ||
		says(words, "have to", "has to", "would like", "would prefer", "would be nice", "would be good", "would be better",
			"could be", "could use", "not forget", "not exist", "is required",
			"is missing", "are missing", "still missing", "missing from", "was asked for", "were asked to") ||
		hasWord(words, approvalWords) && hasWord(words, conditionWords) && len(words) > 3
}

var (
	mustWords     = prose.WordSet(`must should need needs lacks lack shall ought`)
	approvalWords = prose.WordSet(`approved approve approving approval lgtm merge merged merging`)
)

// checkWords are words about checks.
var checkWords = prose.WordSet(
	`type types typecheck typechecks typing typescript test tests suite build builds lint linter linting coverage ci docs format formatting
	compile compiler compilation pipeline check checks command script`)

var failWords = prose.WordSet(
	`fail fails failed failing failure failures errors broken breaks red incomplete crash crashes crashed only below not`)

// saysFailing reports whether words say that a check fails: "3 type errors", "the build fails", "coverage is only 65%".
func saysFailing(words []string) bool {
	for i, w := range words {
		about := hasWord(words[max(0, i-4):i], checkWords) || checkWords.Has(wordAt(words, i+1))
		if failWords.Has(w) && about && !denied(words[:i]) {
			return true
		}
	}
	return false
}

// faultWords are words about something wrong.
var faultWords = prose.WordSet(
	`fail fails failed failing failure failures broken breaks break error errors bug bugs buggy typo typos regression regressions wrong wrongly incorrect
	incorrectly slow quadratic unclear confusing unused dead duplicate duplicated duplicates unsafe insecure flaky racy race races leak leaks leaked
	crash crashes panic panics deadlock deadlocks overflow overflows overflowed inconsistent incomplete stale outdated obsolete hard-coded hardcoded
	misleading redundant too not never cannot no without lacks lack lacking undefined unhandled unchecked untested undocumented unquoted vulnerable
	injection exposed exposes todo fixme violation violates warning warnings mismatch ignored ignores swallowed swallows dropped drops lost loses
	missing nobody instead below exceeds exceeded magic shadowed shadows unreachable unbounded invalid illegal bad poor only`)

func hasFault(words []string) bool {
	for i, w := range words {
		if faultWords.Has(w) && !denied(words[:i]) {
			return true
		}
	}
	return false
}

// denied reports whether words end in a negation of the fault that follows: "no longer", "0 of 14 tests".
func denied(words []string) bool {
	return hasWord(words[max(0, len(words)-2):], negators) ||
		says(words[max(0, len(words)-4):], "0 of", "zero of", "none of")
}

// praiseWords begin a sentence of praise.
var praiseWords = prose.WordSet(
	`good great nice nicely well love excellent clean cleanly correct correctly thanks thank solid works awesome neat impressive fantastic
	perfect lovely clear careful thorough kudos bravo happy glad`)

// praiseEnds end a sentence of praise: "lint is clean".
var praiseEnds = prose.WordSet(`good great fine clean green correct met expected pass`)

// weighRow reads a row of a table. It returns the request, made of the cells that are neither
// numbers nor signs, and its weight.
func weighRow(cells []string) (text string, w weight) {
	var said []string
	done := false
	for _, cell := range cells {
		name, m := cutStatusMark(cell)
		if status := statusOf("x: " + cell); m == noTick && len(said) > 0 {
			m = status
		}
		switch {
		case m == doneTick:
			done = true
		case m == openTick:
			w = weightOpen
		default:
			w = max(w, weigh(cell))
		}
		if name = strings.TrimSpace(name); name != "" && name != "#" && name != "-" && !isNumber(name) {
			said = append(said, name)
		}
	}
	if done && w < weightOpen || len(said) == 0 {
		return "", weightNothing
	}
	text = said[0]
	if len(said) > 1 {
		text += ": " + strings.Join(said[1:], ", ")
	}
	return text, w
}
