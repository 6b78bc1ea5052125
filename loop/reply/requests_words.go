package reply

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"git-runr/loop/prose"
)

// wordTable is a set of words or phrases, made when it is first asked: the program
// starts in a git hook.
type wordTable func() map[string]bool

func (t wordTable) has(word string) bool { return t()[word] }

// tableOf is the words of a text.
func tableOf(text string) wordTable {
	return phraseSet(strings.Fields, text)
}

// statusSet is the phrases of a text with commas.
func statusSet(text string) wordTable {
	commas := func(text string) []string { return strings.Split(text, ",") }
	return phraseSet(commas, text)
}

func phraseSet(split func(string) []string, text string) wordTable {
	return sync.OnceValue(func() map[string]bool {
		set := map[string]bool{}
		for _, phrase := range split(text) {
			set[OneRow(phrase)] = true
		}
		return set
	})
}

// spanWord stands in a list of words for what is named and not said: a code span,
// a quotation, an address.
const spanWord = "`"

// wordsOf are the words that a text says, in lower case, with "don't" as two words.
func wordsOf(text string) []string {
	var words []string
	for field := range strings.FieldsSeq(strings.ToLower(withoutSpans(text))) {
		if strings.Contains(field, "://") {
			words = append(words, spanWord)
			continue
		}
		word := strings.TrimFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '`' })
		if word != "" {
			words = append(words, spelledOut(word)...)
		} else if strings.ContainsAny(field, "=<+&|%") {
			words = append(words, spanWord) // an operator
		}
	}
	return words
}

// spelledOut writes contractions in full.
func spelledOut(word string) []string {
	switch word = strings.ReplaceAll(word, "’", "'"); word {
	case "cannot", "can't", "cant":
		return []string{"can", "not"}
	case "won't":
		return []string{"will", "not"}
	case "dont":
		return []string{"do", "not"}
	}
	at := strings.LastIndexByte(word, '\'')
	if at <= 0 {
		return []string{word}
	}
	switch stem := word[:at]; word[at:] {
	case "'t":
		return []string{strings.TrimSuffix(stem, "n"), "not"}
	case "'d":
		return []string{stem, "would"}
	case "'ve":
		return []string{stem, "have"}
	}
	return []string{word}
}

// withoutSpans puts spanWord in the place of code spans and quotations.
func withoutSpans(text string) string {
	for _, mark := range []string{"`", "\""} {
		if strings.Count(text, mark) < 2 {
			continue
		}
		pieces := strings.Split(text, mark)
		var b strings.Builder
		for i, piece := range pieces {
			switch {
			case i%2 == 0:
				b.WriteString(piece)
			case i == len(pieces)-1: // not closed
				b.WriteString(mark + piece)
			default:
				b.WriteString(spanWord)
			}
		}
		text = b.String()
		if mark == "`" {
			text = strings.ReplaceAll(text, "``", "`")
		}
	}
	return text
}

// says reports whether one of phrases, each of whole words, stands in words.
func says(words []string, phrases ...string) bool {
	text := " " + strings.Join(words, " ") + " "
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, " "+p+" ") })
}

// hasWord reports whether one of words is in set.
func hasWord(words []string, set wordTable) bool {
	return slices.ContainsFunc(words, set.has)
}

// AskVerbs begin a sentence that asks for something.
var AskVerbs = tableOf(`add avoid bump change check clarify clean correct cover create delete document drop ensure escape extract fix guard handle implement improve include
	increase make missing move provide reduce refactor remove rename replace rerun resolve restore revert rewrite run sanitise sanitize simplify split
	update use validate verify wrap write`)()

// alsoAskVerbs do too, but are as often something else where no sentence begins.
var alsoAskVerbs = tableOf(`address adjust align annotate apply assert attach bind bound bring call cap catch clear close combine commit compare complete compute configure
	confirm consider consolidate convert declare decouple deduplicate define deprecate describe disable enable encode exclude expand explain export expose
	extend factor fill format gate give hide import inject inline introduce investigate justify keep lift limit link lint list load log lower mark mention
	migrate mock name narrow note pass pin port preserve prevent propagate protect prove publish pull put quote raise read rebase recheck reconsider
	record redact refresh regenerate register reject release reorder repair rephrase report reset respect restrict return reuse review revise rework
	rotate save separate set shorten show sort specify squash state store strip swap switch sync test tidy tighten trim turn type unify upgrade wait wire`)

// isAskVerb reports whether word begins an order.
func isAskVerb(word string) bool {
	return word != "missing" && (AskVerbs[word] || alsoAskVerbs.has(word))
}

// alsoNouns are those of askVerbs that as often begin a description ("Test
// coverage is good", "Clean code"): they ask only before a word of determiners.
var alsoNouns = tableOf(`address clean clear close complete correct cover commit format lint list load lower limit log link name note pass record release report return
	review set show sort state store test type call import export mock check mark separate`)

var determiners = tableOf(`the a an this that these those all any every each its your our their both it them up out in for whether how why what which only
	more some at least against on no nil`)

// verifyVerbs ask that something be so.
var verifyVerbs = tableOf(`ensure verify check confirm validate make prove assert`)

// leadWords may stand before the verb that asks.
var leadWords = tableOf(`however also then and but finally first firstly second secondly third thirdly next additionally furthermore moreover still otherwise
	so now again just kindly lastly last instead plus therefore thus or besides meanwhile maybe perhaps here hence yes ok okay sorry step please pls plz`)

// pleaseWords ask politely, in the languages that came up.
var pleaseWords = tableOf(`please pls plz bitte veuillez svp`)

// verbAt reports whether words ask with a verb at i.
func verbAt(words []string, i int) bool {
	verb, next, third := wordAt(words, i), wordAt(words, i+1), wordAt(words, i+2)
	switch verb {
	case "do":
		return next == "not" && !noOrder.has(third) && third != ""
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
	if alsoNouns.has(verb) && verb != "check" && !determiners.has(next) && next != spanWord {
		return false
	}
	described := slices.Contains([]string{"is", "are", "was", "were", "looks", "works", "seems"}, third)
	return !described || verifyVerbs.has(verb)
}

// noOrder follow "do not" where it forbids nothing that is to be changed.
var noOrder = tableOf(`merge ship land approve worry mind see think know have need understand like find believe want get care agree block
	submit hesitate release accept`)

func wordAt(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// skipLead is where the words begin that may ask.
func skipLead(words []string) int {
	i := 0
	for i < len(words) && (leadWords.has(words[i]) || isNumber(words[i])) {
		i++
	}
	return i
}

// beginsAsking reports whether a line begins like an order: "Add tests".
func beginsAsking(line string) bool {
	words := wordsOf(prose.Cut(line, 200))
	return hasWord(words[:min(1, len(words))], pleaseWords) || wordAt(words, 0) == "missing" || verbAt(words, skipLead(words))
}

// emptyWords add nothing to a verb: what has only these points to something else.
var emptyWords = tableOf(`please pls plz the all these those this that issue issues problem problems point points comment comments finding findings item items
	change changes requested following above see inline it's they missing once i'm happy glad can will after when lgtm below before after next round again my of mentioned listed them everything it and re then also
	review request another for first so do as to fix add update address make use remove run check resolve ensure include handle work
	needs need must should have has be fixed addressed resolved done made required noted here now kindly bitte yes no not approve approved approval merge
	merging i you we is are needed still in order with blocking`)

// pointsOnly reports whether words say nothing of their own: "please fix the above".
func pointsOnly(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !emptyWords.has(w) })
}
