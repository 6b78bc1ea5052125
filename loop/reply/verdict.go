package reply

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"git-runr/loop/internal/markdown"
	"git-runr/loop/prose"
)

type verdictPhrase struct {
	words   string
	verdict Verdict
}

// verdictPhrases are the words for a verdict, the longer before its beginning.
var verdictPhrases = []verdictPhrase{
	{"PASSED", Pass}, {"PASS", Pass}, {"APPROVED", Pass}, {"APPROVE", Pass}, {"LGTM", Pass},
	{"NEEDS FIXES", NeedsFix}, {"NEEDS FIX", NeedsFix}, {"NEEDS WORK", NeedsFix}, {"FAILED", NeedsFix}, {"FAIL", NeedsFix},
	{"REJECTED", NeedsFix}, {"REJECT", NeedsFix}, {"CHANGES REQUESTED", NeedsFix}, {"REQUEST CHANGES", NeedsFix},
	{"CRITICAL", CriticalFail},
}

// readVerdict reads what stands after "Verdict:". The verdict is empty when it is
// a template's placeholder. A word that is not one of ours is NEEDS_FIX and gives a warning.
func readVerdict(value string) (v Verdict, warning string) {
	if isTemplate(value) {
		return "", ""
	}
	phrase, rest, ok := cutVerdict(verdictWords(value))
	if !ok {
		return plainVerdict(value)
	}
	if phrase.verdict.Passed() && (!endsVerdict(rest) || namesRefusal(value)) {
		return NeedsFix, fmt.Sprintf("verdict %q passes only in part: taken as NEEDS_FIX", prose.Cut(value, 80))
	}
	return phrase.verdict, ""
}

// plainVerdict reads a verdict in plain words: "No issues found", "Looks good to me".
func plainVerdict(value string) (v Verdict, warning string) {
	heard := approval{}
	heard.hear(value)
	switch {
	case !heard.given() || namesRefusal(value):
		return NeedsFix, fmt.Sprintf("verdict %q is not PASS, PASS_WITH_NOTES, NEEDS_FIX or CRITICAL: taken as NEEDS_FIX", prose.Cut(value, 80))
	case hasWord(strings.Fields(verdictWords(value)), noteWords):
		return PassWithNotes, ""
	}
	return Pass, ""
}

// noteWords are what a pass may come with, and smallWords may stand before them.
var (
	noteWords  = prose.WordSet(`NOTE NOTES NIT NITS COMMENT COMMENTS SUGGESTION SUGGESTIONS REMARK REMARKS`)
	smallWords = prose.WordSet(`MINOR SMALL OPTIONAL SOME A FEW`)
)

// cutNotes takes "WITH MINOR NITS" off what stands behind a passing word.
func cutNotes(rest string) (after string, ok bool) {
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " ,("), "WITH ")
	for ok {
		word, after, _ := strings.Cut(rest, " ")
		name := strings.TrimRight(word, ".,;:!)")
		if noteWords.Has(name) {
			return rest[len(name):], true
		}
		rest, ok = after, smallWords.Has(word)
	}
	return "", false
}

// verdictWords makes "**pass_with-notes**" and "~~PASS~~ CRITICAL" comparable.
func verdictWords(value string) string {
	value = withoutStruck(value)
	value = strings.NewReplacer("*", "", "`", "", "_", " ", "[", "", "]", "").Replace(value)
	value = strings.ToUpper(strings.TrimFunc(value, markdown.IsDecor))
	value = strings.Trim(value, `"'`)
	runes := []rune(value)
	for i := 1; i+1 < len(runes); i++ {
		if runes[i] == '-' && unicode.IsLetter(runes[i-1]) && unicode.IsLetter(runes[i+1]) {
			runes[i] = ' '
		}
	}
	return strings.Join(strings.Fields(string(runes)), " ")
}

func cutVerdict(s string) (phrase verdictPhrase, rest string, ok bool) {
	for _, p := range verdictPhrases {
		rest, found := strings.CutPrefix(s, p.words)
		next, _ := utf8.DecodeRuneInString(rest)
		if !found || unicode.IsLetter(next) || unicode.IsDigit(next) {
			continue
		}
		if after, ok := cutNotes(rest); ok && p.verdict.Passed() {
			return verdictPhrase{p.words, PassWithNotes}, after, true
		}
		return p, rest, true
	}
	return verdictPhrase{}, s, false
}

// endsVerdict reports whether rest, what follows a passing word, leaves it a pass:
// "", " — 2 issues", " (8/8)", but not " with issues", "?", " -> FAIL" or ", but fix it".
func endsVerdict(rest string) bool {
	rest = strings.TrimSpace(rest)
	first, _ := utf8.DecodeRuneInString(rest)
	if rest == "" {
		return true
	}
	if unicode.IsLetter(first) || unicode.IsDigit(first) || strings.ContainsRune("→⇒>=?/+&<~", first) || strings.HasPrefix(rest, "->") {
		return false
	}
	words := prose.Runs(rest, unicode.Letter)
	if len(words) == 0 {
		return true
	}
	return !conditions.Has(words[0]) && !takenBack.Has(strings.Join(words[:min(2, len(words))], " "))
}

// conditions and takenBack begin what takes a pass back; takenBack are all of it, or
// its first two words.
var (
	conditions = prose.WordSet(`BUT IF ONLY ONCE UNLESS UNTIL PROVIDED PENDING ASSUMING EXCEPT HOWEVER CONDITIONAL CONDITIONALLY AFTER WHEN BEFORE THOUGH ALTHOUGH
		SUBJECT CONTINGENT BARRING MODULO MINUS APART WOULD`)
	takenBack = prose.PhraseSet(`NO, NOT, NOT READY, NOT YET, NOT REALLY, NOT APPROVED, OTHER THAN`)
)

// refuses reports whether value says a verdict that does not pass, in the words of one.
func refuses(value string) bool {
	words := wordsOf(value)
	return !isTemplate(value) && (namesRefusal(value) || len(words) < 4 && saysRefused(words))
}

// clauseEnds part the clauses of a verdict beside what ends one in a sentence.
var clauseEnds = strings.NewReplacer(" - ", "—", "|", "—", "[", "—", "]", "—", "\uFFFD", "—")

// namesRefusal reports whether value names a verdict that does not pass: a clause that
// says nothing else, one of its words in capitals, or a number of critical findings.
// What is denied ("no longer CRITICAL") or none ("Critical: 0") is not said.
func namesRefusal(value string) bool {
	clauses := clausesOf(clauseEnds.Replace(withoutStruck(value)))
	for i, clause := range clauses {
		if next := strings.Join(clauses[i+1:min(i+2, len(clauses))], ""); len(wordsOf(next)) > 0 && (isNone(next) || statusWords(next) == doneMark) {
			continue
		}
		if critical, _ := criticalTally(clause); critical > 0 || clauseRefuses(clause) {
			return true
		}
	}
	return false
}

// sayWords may stand beside a verdict in a clause, as fillers may.
var sayWords = prose.WordSet(`actually wait really rather mean sorry verdict final say still must`)

func clauseRefuses(clause string) bool {
	var words []string
	for _, t := range prose.Tokens(clause, spanMarks) {
		if !t.Span { // a code span is a name
			words = append(words, prose.Runs(t.Raw, unicode.Letter, unicode.Digit)...)
		}
	}
	said, alone := false, true
	for i := 0; i < len(words); {
		rest := strings.Join(words[i:], " ")
		phrase, after, ok := cutVerdict(strings.ToUpper(rest))
		if !ok || phrase.verdict.Passed() || hasWord(wordsOf(strings.Join(words[max(0, i-2):i], " ")), denials) {
			word := strings.ToLower(words[i])
			alone = alone && (fillers.Has(word) || sayWords.Has(word))
			i++
			continue
		}
		if strings.HasPrefix(rest, phrase.words) {
			return true // in capitals
		}
		said = true
		i = len(words) - len(strings.Fields(after))
	}
	return said && alone
}

var denials = prose.WordSet(`no not never zero 0 none nothing without`)

// isTemplate reports whether value is a prompt's placeholder and no answer:
// "PASS | PASS_WITH_NOTES | NEEDS_FIX", "{verdict}", "<VERDICT>".
func isTemplate(value string) bool {
	s := markdown.TrimDecor(value)
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "<") || markdown.TitleIs(strings.Trim(s, "[]"), "verdict", "...", "…") {
		return true
	}
	return alternatives(s, func(part string) bool {
		if part = verdictWords(part); part == "..." || part == "…" {
			return true
		}
		_, rest, ok := cutVerdict(part)
		return ok && strings.Trim(rest, " .)>}]") == ""
	})
}
