package track

import (
	"slices"
	"strings"
	"sync"

	"git-runr/loop/reply"
)

// wishOf reads whether a request wants what its words say or wants it gone, and the
// same for its condition. "Check the error", "the error is not checked" and "missing
// error check" all want the check: a statement tells what is wrong, and so wants the
// opposite of what it says.
func wishOf(tokens []token) wish {
	main, condition := clauses(tokens)
	w := mainWish(main)
	if len(condition) > 0 {
		w.condition = sign(len(explicitNegations(condition)) + min(1, len(absences(condition))))
	}
	return w
}

// wish is what a request wants. Its zero value is unclear about it.
type wish struct {
	wants     int8   // 1: what the words say; -1: it wants that gone; 0: unclear
	condition int8   // 1 or -1 for "when …" and "when not …"; 0: there is no condition
	request   bool   // and no statement
	forbids   bool   // "do not …", "remove …"
	lead      string // stem of the word that it begins with, or that it forbids
}

// opposes reports whether one wish is against the other. What a statement wants is
// guessed from what it says, so it is held only against other statements and against
// what is expressly forbidden.
func (w wish) opposes(other wish) bool {
	switch {
	case w.condition*other.condition < 0:
		return true
	case w.wants*other.wants < 0:
		return w.request == other.request || w.forbids || other.forbids
	}
	return w.lead != "" && w.lead == other.lead && (w.wants == 0 && other.forbids || other.wants == 0 && w.forbids)
}

// sign is 1 for an even number of negations.
func sign(negations int) int8 {
	if negations%2 == 0 {
		return 1
	}
	return -1
}

// clauses are the words of the main clause and of the condition of the first
// sentence; what comes after them gives reasons.
func clauses(tokens []token) (main, condition []string) {
	in := &main
	for _, t := range tokens {
		word := strings.ToLower(t.text)
		switch {
		case t.kind == tokenFile || t.kind == tokenBreak && len(main)+len(condition) == 0:
		case t.kind == tokenBreak && t.text == ",":
			if in == &condition && len(main) > 0 {
				return main, condition
			}
			in = &main
		case t.kind == tokenBreak, len(main) > 0 && isClass(classReason, word):
			return main, condition
		case isClass(classCondition, word):
			in = &condition
			if word == "unless" {
				condition = append(condition, "not")
			}
		default:
			*in = append(*in, word)
		}
	}
	return main, condition
}

// mainWish reads the main clause.
func mainWish(words []string) wish {
	for len(words) > 0 && isClass(classOpening, words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return wish{}
	}
	w := wish{lead: stem(words[0]), request: isRequest(words)}
	explicit, absent, undone := explicitNegations(words), absences(words), 0
	if w.request {
		undone = undoings(words)
	}
	if w.request && undone == 0 || len(explicit) > 0 {
		absent = slices.DeleteFunc(absent, func(i int) bool { return !followsBe(words, i) })
	}
	negations := len(explicit) + undone + min(1, len(absent))
	switch {
	case w.request:
		w.wants = sign(negations)
		w.forbids = w.wants < 0 && (len(explicit) > 0 || slices.ContainsFunc(words, func(word string) bool { return isClass(classRemove, word) }))
	case negations > 0 || slices.ContainsFunc(words, isBe):
		w.wants = -sign(negations)
	}
	if w.forbids && len(explicit) > 0 {
		w.lead = firstStem(words[explicit[0]+1:])
	}
	return w
}

func firstStem(words []string) string {
	for _, word := range words {
		if s := stem(word); s != "" {
			return s
		}
	}
	return ""
}

// isRequest tells "add a test" and "a test should be added" from "a test is missing".
func isRequest(words []string) bool {
	subject := len(words) > 1 && isBe(words[1]) && words[0] != "do"
	leads := reply.AskVerbs[words[0]] && words[0] != "missing" || isClass(classLead, words[0]) || strings.HasSuffix(words[0], "n't")
	if leads && !subject {
		return true
	}
	return slices.ContainsFunc(words, func(word string) bool { return isClass(classModal, word) })
}

// explicitNegations are the indexes of the words that turn the sense round.
func explicitNegations(words []string) []int {
	var at []int
	for i, word := range words {
		failsTo := i+1 < len(words) && words[i+1] == "to" && stem(word) == "error"
		if isClass(classNot, word) || i == 0 && word == "stop" || strings.HasSuffix(word, "n't") || failsTo {
			at = append(at, i)
		}
	}
	return at
}

// absences are the indexes of the words that say that something is not there.
func absences(words []string) []int {
	var at []int
	for i, word := range words {
		if isClass(classAbsent, word) {
			at = append(at, i)
		}
	}
	return at
}

// undoings counts the verbs that ask for the end of something: "fix", "should be removed".
func undoings(words []string) int {
	n := 0
	for i, word := range words {
		verb := i == 0 || isBe(words[i-1]) || isClass(classBeforeVerb, words[i-1])
		if verb && (isClass(classFix, word) || isClass(classRemove, word)) {
			n++
		}
	}
	return n
}

// followsBe reports whether a form of "be" goes before word i: "is still missing".
func followsBe(words []string, i int) bool {
	for i--; i >= 0 && (formWords()[words[i]] && !isClass(classModal, words[i])); i-- {
		if isBe(words[i]) {
			return true
		}
	}
	return false
}

func isBe(word string) bool {
	return isClass(classBe, strings.TrimSuffix(word, "n't"))
}

type wordClass byte

const (
	classBe wordClass = iota
	classNot
	classAbsent
	classFix
	classRemove
	classModal
	classLead
	classOpening
	classCondition
	classReason
	classBeforeVerb
)

func isClass(class wordClass, word string) bool { return wordClasses()[class][word] }

var wordClasses = sync.OnceValue(func() map[wordClass]map[string]bool {
	return map[wordClass]map[string]bool{
		classBe:  wordSet("is are was were be been being has have had does do did ca can may might could will gets get"),
		classNot: wordSet("not no never nor neither none nothing cannot avoid avoids avoided avoiding prevent prevents prevented forbid forbids disallow"),
		classAbsent: wordSet("missing misses lack lacks lacking absent without omitted omits unset untested uncovered undocumented unchecked unhandled",
			"unvalidated unverified unescaped unsanitised unsanitized unused unformatted unclosed uninitialised uninitialized unprotected",
			"ignored ignores swallowed swallows discarded discards"),
		classFix:        wordSet("fix fixed fixing resolve resolved resolving correct corrected repair repaired address addressed"),
		classRemove:     wordSet("remove removed removing delete deleted deleting drop dropped eliminate eliminated"),
		classModal:      wordSet("must should need needs needed required requires ought please mustn't shouldn't needn't"),
		classLead:       wordSet("do never avoid stop prevent not keep let allow"),
		classOpening:    wordSet("please also and then still again you we now just kindly the"),
		classCondition:  wordSet("when if unless until while whenever once"),
		classBeforeVerb: wordSet("to not never please must should need"),
		classReason:     wordSet("because since so which otherwise instead rather causing leading whereas"),
	}
})
