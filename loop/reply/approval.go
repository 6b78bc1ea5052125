package reply

import (
	"strings"

	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
)

// fillers are words that do not change the meaning of a verdict beside them.
var fillers = prose.WordSet(
	`this the that it is are all everything overall i we now very ok okay great thanks thank you nice good job work well done change changes pr patch commit
	code to me us for merge merging into main from my side by with in respects and as so yes found were was have be can consider as a whole round review of
	again here there comments nits notes suggestions remarks minor small optional perfect excellent happy finally`)

// aboutOthers are words of sentences about an earlier review or another person's; such sentences do not count.
var aboutOthers = prose.WordSet(`previous previously earlier last author says said list who whoever`)

// hear records whether a sentence or an item says that the change must not go in, or that it was not read.
func (r *requestReader) hear(sentence string) {
	if words := wordsOf(sentence); !r.past && !hasWord(words, aboutOthers) {
		r.refused = r.refused || statesRefusal(sentence) || refusesMerge(words) || saysUnread(words) || saysRed(words)
	}
}

// statesRefusal reports whether a sentence within a line is a verdict that refuses: "Wait. Verdict: NEEDS_FIX".
func statesRefusal(sentence string) bool {
	v, ok := verdictLine(markdown.Line{Text: sentence})
	return ok && refuses(v.value)
}

// saysUnread reports whether the reviewer could not read the change: "I was not able to read any of the files".
func saysUnread(words []string) bool {
	for _, who := range []string{"i", "we"} {
		for _, could := range []string{"could not", "can not", "was not able to", "were not able to", "was unable to",
			"were unable to", "am unable to", "am not able to"} {
			_, what, ok := strings.Cut(strings.Join(words, " "), who+" "+could+" ")
			if object := strings.Fields(what); ok && len(object) > 1 && lookVerbs.Has(object[0]) &&
				hasWord(object[1:min(6, len(object))], reviewed) {
				return true
			}
		}
	}
	return false
}

// lookVerbs are verbs for reading a change, and reviewed the nouns for its content.
var (
	lookVerbs = prose.WordSet(`read open access load review see`)
	reviewed  = prose.WordSet(`files diff change changes patch code`)
)

// saysRed reports whether words say that a check fails now: "the test suite fails with 3 errors", but not "the test
// fails without the fix".
func saysRed(words []string) bool {
	for i, w := range words {
		about := i > 0 && checkWords.Has(words[i-1]) || i > 1 && checkWords.Has(words[i-2]) && beWords.Has(words[i-1])
		if about && nowFailing.Has(w) && !denied(words[:i]) {
			return !hasWord(words, elsewhere)
		}
	}
	return false
}

// nowFailing are words for a failing check; elsewhere are words about another time or place.
var (
	nowFailing = prose.WordSet(`fail fails failing broken red`)
	elsewhere  = prose.WordSet(
		`if when unless before without previously earlier base used would could should until unrelated same already flaky known expected never`)
)

// refusesMerge reports whether words forbid merging the change: "This must not be merged",
// "I cannot approve it", "Changes requested". Sentences about what the code itself merges
// or approves do not count.
func refusesMerge(words []string) bool {
	if wantsNoChanges(words) {
		return false
	}
	text := strings.Join(words, " ")
	for _, verb := range []string{"not merge", "not ship", "not land", "not approve"} {
		if strings.HasSuffix(text, verb) || says(words, verb+" this", verb+" it", verb+" yet", verb+" until", verb+" before",
			verb+" the change") {
			return true
		}
	}
	whole := len(words) <= 4 || hasWord(words, wholeWords)
	return whole && says(words, "not be merged", "not be approved", "not be shipped", "not approved", "not approving",
		"not comfortable approving", "not lgtm",
		"not ready to merge", "not ready to be merged", "not ready for merge", "not ready to ship", "not recommend merging",
		"not recommend approving",
		"changes requested", "request changes", "requesting changes", "reject this", "i reject", "nack")
}

func wantsNoChanges(words []string) bool {
	return says(words, "no changes requested", "no further changes requested", "no more changes requested")
}

// wholeWords refer to the change as a whole, or to its judge.
var wholeWords = prose.WordSet(`this it i we pr patch`)

// saysRefused reports whether words refuse: "not approved", "changes requested", "no".
func saysRefused(words []string) bool {
	switch strings.Join(words, " ") {
	case "no", "not", "nope", "nah", "not really", "not yet", "no way":
		return true
	}
	if wantsNoChanges(words) {
		return false
	}
	return says(words, "not comfortable approving", "not approving", "not accept", "not recommend", "not approved",
		"not approve", "not lgtm", "not ready", "not merge", "not be merged", "changes requested", "request changes",
		"requesting changes",
		"rejected", "reject this", "i reject", "needs work", "needs fix", "needs fixes", "not acceptable", "not good enough",
		"nack", "not pass", "not looks good")
}
