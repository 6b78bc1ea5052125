package reply

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/prose"
)

// askVerbs begin a request.
var askVerbs = prose.WordSet(
	`add avoid bump change check clarify clean correct cover create delete document drop ensure escape extract fix guard handle implement improve include
	increase make missing move provide reduce refactor remove rename replace rerun resolve restore revert rewrite run sanitise sanitize simplify split
	update use validate verify wrap write`)

// alsoAskVerbs begin a request too, but elsewhere in a sentence often mean something else.
var alsoAskVerbs = prose.WordSet(
	`address adjust align annotate apply assert attach bind bound bring call cap catch clear close combine commit compare complete compute configure
	confirm consider consolidate convert declare decouple deduplicate define deprecate describe disable enable encode exclude expand explain export expose
	extend factor fill format gate give hide import inject inline introduce investigate justify keep lift limit link lint list load log lower mark mention
	migrate mock name narrow note pass pin port preserve prevent propagate protect prove publish pull put quote raise read rebase recheck reconsider
	record redact refresh regenerate register reject release reorder repair rephrase report reset respect restrict return reuse review revise rework
	rotate save separate set shorten show sort specify squash state store strip swap switch sync test tidy tighten trim turn type unify upgrade wait wire`)

// isAskVerb reports whether word begins a request.
func isAskVerb(word string) bool {
	return word != "missing" && (askVerbs.Has(word) || alsoAskVerbs.Has(word))
}

// alsoNouns are verbs that often begin a description ("Test coverage is good", "Clean
// code"): they begin a request only before one of determiners.
var alsoNouns = prose.WordSet(
	`address clean clear close complete correct cover commit format lint list load lower limit log link name note pass record release report return
	review set show sort state store test type call import export mock check mark separate`)

var determiners = prose.WordSet(
	`the a an this that these those all any every each its your our their both it them up out in for whether how why what which only
	more some at least against on no nil`)

// verifyVerbs ask for a state: "ensure that …".
var verifyVerbs = prose.WordSet(`ensure verify check confirm validate make prove assert`)

// leadWords may precede the verb of a request.
var leadWords = prose.WordSet(
	`however also then and but finally first firstly second secondly third thirdly next additionally furthermore moreover still otherwise
	so now again just kindly lastly last instead plus therefore thus or besides meanwhile maybe perhaps here hence yes ok okay sorry step please pls plz`)

// pleaseWords are polite words, in the languages seen so far.
var pleaseWords = prose.WordSet(`please pls plz bitte veuillez svp`)

// verbAt reports whether words make a request with the verb at i.
func verbAt(words []string, i int) bool {
	verb, next, third := wordAt(words, i), wordAt(words, i+1), wordAt(words, i+2)
	switch verb {
	case "do":
		return next == "not" && !noOrder.Has(third) && third != ""
	case "never":
		return next != "" && !strings.HasSuffix(next, "s") && !strings.HasSuffix(next, "ed")
	case "stop":
		return strings.HasSuffix(next, "ing")
	case "let's", "lets":
		return isAskVerb(next)
	case "try", "remember":
		return next == "to"
	}
	if !isAskVerb(verb) || next == "" {
		return false
	}
	if alsoNouns.Has(verb) && verb != "check" && !determiners.Has(next) && next != spanWord {
		return false
	}
	described := slices.Contains([]string{"is", "are", "was", "were", "looks", "works", "seems"}, third)
	return !described || verifyVerbs.Has(verb)
}

// noOrder are verbs after "do not" that request no change.
var noOrder = prose.WordSet(
	`merge ship land approve worry mind see think know have need understand like find believe want get care agree block
	submit hesitate release accept`)

// skipLead returns the index of the first word that may make a request.
func skipLead(words []string) int {
	i := 0
	for i < len(words) && (leadWords.Has(words[i]) || isNumber(words[i])) {
		i++
	}
	return i
}

// emptyWords add no content to a verb: a request of only these refers to other text.
var emptyWords = prose.WordSet(
	`please pls plz the all these those this that issue issues problem problems point points comment comments finding findings item items
	change changes requested following above see inline it's they missing once i'm happy glad can will after when lgtm below before after next round again my of mentioned listed them everything it and re then also
	review request another for first so do as to fix add update address make use remove run check resolve ensure include handle work
	needs need must should have has be fixed addressed resolved done made required noted here now kindly bitte yes no not approve approved approval merge
	merging i you we is are needed still in order with blocking one`)

// pointsOnly reports whether words have no content of their own: "please fix the above".
func pointsOnly(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !emptyWords.Has(w) })
}

// pointsBack reports whether words request what the sentence before them names: "Add one", "Please fix it".
func pointsBack(words []string) bool {
	i := skipLead(words)
	return len(words) < 9 && hasWord(words, pointers) &&
		(isAskVerb(wordAt(words, i)) || hasWord(words[i:min(i+1, len(words))], pleaseWords) || wordAt(words, i+1) == "you")
}

var pointers = prose.WordSet(`one it them this that these those so`)
