package reply

import (
	"slices"
	"strings"

	"git-runr/loop/internal/markdown"
	"git-runr/loop/prose"
)

// approval is what a text says about approving.
type approval struct {
	said    bool
	taken   bool // refused, or bound to a condition
	refused bool // said in so many words: the change must not go in
}

// given reports whether approval was said and nothing took it back.
func (a approval) given() bool { return a.said && !a.taken }

// approvals are the phrases that approve.
var approvals = []string{
	"looks good to me", "looks great to me", "look good to me", "looks good", "looks great", "ready to merge", "ready to be merged", "ready for merge",
	"ready to ship", "good to merge", "good to go", "ship it", "lgtm", "approved", "approve", "approval granted", "pass", "passed", "accepted",
	"no issues", "no problems", "no findings", "no objections", "no bugs",
}

// fillers may stand around such a phrase without changing it.
var fillers = prose.WordSet(`this the that it is are all everything overall i we now very ok okay great thanks thank you nice good job work well done change changes pr patch commit
	code to me us for merge merging into main from my side by with in respects and as so yes found were was have be can consider as a whole round review of
	again here there comments nits notes suggestions remarks minor small optional perfect excellent happy finally`)

// negating words turn an approval into none, wherever they stand in its sentence.
var negating = prose.WordSet(`not never nobody none neither nor hardly barely if once when unless until after before except but however though although pending
	provided assuming would could might may apart almost nearly yet conditional conditionally partially partly subject denied refused false far modulo
	minus barring only just otherwise should must need needs nope nah fails failed cannot`)

// bindingWords make a wish beside an approval its condition.
var bindingWords = prose.WordSet(`but however though although except just first blocking required must before until`)

// aboutOthers: what others approved, or once was, is neither said nor refused here.
var aboutOthers = prose.WordSet(`previous previously earlier last author says said list who whoever`)

// hear reads one sentence or item.
func (a *approval) hear(sentence string) {
	words := withoutNegation(wordsOf(sentence))
	if len(words) == 0 || hasWord(words, aboutOthers) {
		return
	}
	a.refused = a.refused || refusesMerge(words)
	if saysRefused(words) || binds(sentence, words) {
		a.taken = true
		return
	}
	for _, clause := range clausesOf(sentence) {
		if approves(withoutNegation(wordsOf(clause))) {
			a.heard(words, strings.Contains(sentence, "?"))
			return
		}
	}
}

// heard takes an approving clause for what its whole sentence makes of it.
func (a *approval) heard(words []string, question bool) {
	if question || hasWord(words, negating) || deniesMore(words) {
		a.taken = true
		return
	}
	a.said = true
}

// deniesMore reports whether a "no" in words is about more than faults.
func deniesMore(words []string) bool {
	for i, w := range words {
		if after := words[i+1 : min(i+4, len(words))]; w == "no" && !hasWord(after, problemWords) && !says(after, "changes") {
			return true
		}
	}
	return false
}

// hearTitle reads a heading, which approves only when it says nothing else.
func (a *approval) hearTitle(title string) {
	if words := wordsOf(title); slices.Contains(approvals, strings.Join(words, " ")) {
		a.said = true
	} else if saysRefused(words) {
		a.taken = true
	}
	a.refused = a.refused || refusesMerge(wordsOf(title))
}

// withoutNegation says "did not find any issues" as "no issues".
func withoutNegation(words []string) []string {
	not := slices.Index(words, "not")
	anyAt := slices.Index(words, "any")
	if not < 1 || anyAt < not || anyAt > not+3 || slices.ContainsFunc(words[not+1:anyAt], func(w string) bool { return !findVerbs.Has(w) }) {
		return words
	}
	return slices.Concat(words[:not-1], []string{"no"}, words[anyAt+1:])
}

var findVerbs = prose.WordSet(`find see spot have identify detect notice discover be`)

// refusesMerge reports whether words forbid that the change goes in, and do not
// speak of what its code merges or approves: "This must not be merged", "I cannot
// approve it", "Changes requested".
func refusesMerge(words []string) bool {
	if wantsNoChanges(words) {
		return false
	}
	text := strings.Join(words, " ")
	for _, verb := range []string{"not merge", "not ship", "not land", "not approve"} {
		if strings.HasSuffix(text, verb) || says(words, verb+" this", verb+" it", verb+" yet", verb+" until", verb+" before", verb+" the change") {
			return true
		}
	}
	whole := len(words) <= 4 || hasWord(words, wholeWords)
	return whole && says(words, "not be merged", "not be approved", "not be shipped", "not approved", "not approving", "not comfortable approving", "not lgtm",
		"not ready to merge", "not ready to be merged", "not ready for merge", "not ready to ship", "not recommend merging", "not recommend approving",
		"changes requested", "request changes", "requesting changes", "reject this", "i reject", "nack")
}

func wantsNoChanges(words []string) bool {
	return says(words, "no changes requested", "no further changes requested", "no more changes requested")
}

// wholeWords speak of the change as a whole, or of who judges it.
var wholeWords = prose.WordSet(`this it i we pr patch`)

// saysRefused: "not approved", "changes requested", "no".
func saysRefused(words []string) bool {
	switch strings.Join(words, " ") {
	case "no", "not", "nope", "nah", "not really", "not yet", "no way":
		return true
	}
	if wantsNoChanges(words) {
		return false
	}
	return says(words, "not comfortable approving", "not approving", "not accept", "not recommend", "not approved", "not approve", "not lgtm", "not ready", "not merge", "not be merged", "changes requested", "request changes", "requesting changes",
		"rejected", "reject this", "i reject", "needs work", "needs fix", "needs fixes", "not acceptable", "not good enough", "nack", "not pass", "not looks good")
}

// binds: what must be done first takes an approval back, and so does a box that is open,
// and "please fix it", which points to something said before.
func binds(sentence string, words []string) bool {
	if hasWord(words, pleaseWords) && says(words, "fix", "address", "resolve") && pointsOnly(words) {
		return true
	}
	switch w := weigh(sentence); {
	case w == weightMarked, w == weightObliged && !markdown.TitleIs(words[0], "nit", "minor", "optional"):
		return true
	case w == weightAsked:
		return hasWord(words, bindingWords)
	}
	return false
}

// approves reports whether a clause is a phrase that approves, with nothing but
// fillers around it.
func approves(words []string) bool {
	text := " " + strings.Join(words, " ") + " "
	for _, phrase := range approvals {
		before, after, found := strings.Cut(text, " "+phrase+" ")
		if found && !slices.ContainsFunc(strings.Fields(before+" "+after), func(w string) bool { return !fillers.Has(w) }) {
			return true
		}
	}
	return false
}
