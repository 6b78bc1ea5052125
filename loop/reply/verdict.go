package reply

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
)

type verdictPhrase struct {
	words   string
	verdict Verdict
}

// verdictPhrases are the words for a verdict; a longer phrase precedes its prefix.
var verdictPhrases = []verdictPhrase{
	{"PASS WITH NOTES", PassWithNotes}, {"PASS", Pass},
	{"NEEDS FIXES", NeedsFix}, {"NEEDS FIX", NeedsFix}, {"NEEDS WORK", NeedsFix}, {"FAILED", NeedsFix}, {"FAIL", NeedsFix},
	{"REJECTED", NeedsFix}, {"REJECT", NeedsFix}, {"CHANGES REQUESTED", NeedsFix}, {"REQUEST CHANGES", NeedsFix},
	{"CRITICAL", CriticalFail},
}

// readVerdict reads the text after "Verdict:". Only the documented words pass, with nothing after them. A template's
// placeholder returns an empty verdict. Text that neither passes nor refuses returns NEEDS_FIX and unclear.
func readVerdict(value string) (v Verdict, unclear bool) {
	if isTemplate(value) {
		return "", false
	}
	phrase, rest, known := cutVerdict(verdictWords(value))
	switch {
	case known && (!phrase.verdict.Passed() || strings.Trim(rest, " .") == ""):
		return phrase.verdict, false
	case namesRefusal(value), saysRefused(wordsOf(value)):
		return NeedsFix, false
	}
	return NeedsFix, true
}

func unclearVerdict(value string) string {
	return fmt.Sprintf("verdict %q is not PASS, PASS_WITH_NOTES, NEEDS_FIX or CRITICAL: taken as NEEDS_FIX",
		prose.Cut(value, 80))
}

// verdictWords normalises a verdict, such as "**pass_with-notes**" or "~~PASS~~ CRITICAL", for comparison.
func verdictWords(value string) string {
	value = withoutStruck(value)
	value = strings.NewReplacer("*", "", "`", "", "_", " ", "[", "", "]", "").Replace(value)
	value = strings.ToUpper(strings.TrimFunc(value, markdown.IsDecor))
	return prose.OneRow(hyphen().ReplaceAllString(strings.Trim(value, `"'`), "$1 $2"))
}

var hyphen = lazyre.Compile(`(\pL)-(\pL)`)

func cutVerdict(s string) (phrase verdictPhrase, rest string, ok bool) {
	for _, p := range verdictPhrases {
		rest, found := strings.CutPrefix(s, p.words)
		next, _ := utf8.DecodeRuneInString(rest)
		if !found || unicode.IsLetter(next) || unicode.IsDigit(next) {
			continue
		}
		return p, rest, true
	}
	return verdictPhrase{}, s, false
}

// refuses reports whether value states a verdict that does not pass.
func refuses(value string) bool {
	words := wordsOf(value)
	return !isTemplate(value) && (namesRefusal(value) || len(words) < 4 && saysRefused(words))
}

// clauseEnds replaces further separators, which end a clause in verdicts only, by a dash.
var clauseEnds = strings.NewReplacer(" - ", "—", "|", "—", "[", "—", "]", "—", "\uFFFD", "—")

// namesRefusal reports whether value names a verdict that does not pass: as a clause of its
// own, with one word in capitals, or as a number of critical findings. Denied ones ("no
// longer CRITICAL") and zero ("Critical: 0") do not count.
func namesRefusal(value string) bool {
	clauses := clausesOf(clauseEnds.Replace(withoutStruck(value)))
	for i, clause := range clauses {
		if next := strings.Join(clauses[i+1:min(i+2, len(clauses))], ""); len(wordsOf(next)) > 0 &&
			(isNone(next) || saysMet(append([]string{"is"}, wordsOf(next)...))) {
			continue
		}
		if critical, _ := criticalTally(clause); critical > 0 || clauseRefuses(clause) {
			return true
		}
	}
	return false
}

// sayWords may accompany a verdict in a clause, like fillers.
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

// isTemplate reports whether value is a prompt's placeholder: "PASS | PASS_WITH_NOTES |
// NEEDS_FIX", "{verdict}", "<VERDICT>".
func isTemplate(value string) bool {
	s := markdown.TrimDecor(value)
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "<") ||
		markdown.TitleIs(strings.Trim(s, "[]"), "verdict", "...", "…") {
		return true
	}
	return 1 < each.Count(alternatives(strings.ReplaceAll(s, ", ", "|")), func(part string) bool {
		if part = verdictWords(part); part == "..." || part == "…" {
			return true
		}
		_, rest, ok := cutVerdict(part)
		return ok && strings.Trim(rest, " .)>}]") == ""
	})
}
