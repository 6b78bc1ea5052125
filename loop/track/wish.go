package track

import (
	"slices"
	"strings"

	"git-runr/loop/prose"
	"git-runr/loop/reply"
)

// wish is what the first sentence of a request wants.
type wish struct {
	form    form
	negated bool   // an order that forbids or takes away, a statement that something is not there
	verb    string // stem of what is ordered or forbidden
}

type form byte

const (
	formOther     form = iota // "size limit on files", and orders whose verb nobody knows
	formOrder                 // "log the token", "the token must be logged"
	formStatement             // "the token is logged"
)

// opposes reports whether one wish is against the other. What a statement wants is not
// known, so it is held only against other statements.
func (w wish) opposes(other wish) bool {
	if w.negated == other.negated {
		return false
	}
	if w.form == other.form {
		return w.form != formOther
	}
	return w.verb != "" && w.verb == other.verb && w.form != formStatement && other.form != formStatement
}

// wishOf reads the words before the first stop.
func wishOf(tokens []token) wish {
	words := firstClause(tokens)
	if len(words) == 0 {
		return wish{}
	}
	w := wish{verb: firstStem(words[1+slices.IndexFunc(words, isNot):])}
	switch {
	case isOrder(words):
		w.form = formOrder
		for _, word := range words {
			w.negated = w.negated != (isNot(word) || removeWords.Has(word))
		}
	case slices.ContainsFunc(words, isBe):
		w.form = formStatement
		w.negated = slices.ContainsFunc(words, func(word string) bool { return isNot(word) || absentWords.Has(word) })
	}
	return w
}

// firstClause are the words before the first stop.
func firstClause(tokens []token) []string {
	var words []string
	for _, t := range tokens {
		word := t.text
		if len(words) > 0 && t.kind == tokenBreak && t.text != "," {
			break
		}
		if t.kind != tokenFile && t.kind != tokenBreak {
			words = append(words, word)
		}
	}
	return words
}

func firstStem(words []string) string {
	for _, word := range words {
		if s := stem(word); s != "" {
			return s
		}
	}
	return ""
}

// isOrder tells "add a test" and "a test should be added" from "a test is missing".
func isOrder(words []string) bool {
	leads := reply.AskVerbs.Has(words[0]) && words[0] != "missing" || leadWords.Has(words[0])
	return leads || slices.ContainsFunc(words, modalWords.Has)
}

func isBe(word string) bool { return beWords.Has(strings.TrimSuffix(word, "n't")) }

func isNot(word string) bool { return notWords.Has(word) || strings.HasSuffix(word, "n't") }

var (
	beWords     = prose.WordSet("is are was were be been being has have had does did ca can may might could will gets get")
	notWords    = prose.WordSet("not no never nor neither none nothing cannot avoid avoids avoided avoiding prevent prevents prevented stop forbid forbids")
	absentWords = prose.WordSet("missing misses lack lacks lacking absent without unset untested undocumented unchecked unhandled unvalidated unescaped unused ignored ignores swallowed")
	removeWords = prose.WordSet("remove removed removing delete deleted deleting drop dropped eliminate eliminated")
	modalWords  = prose.WordSet("must should need needs needed required requires ought please")
	leadWords   = prose.WordSet("do don't never avoid stop prevent not keep let allow")
)
