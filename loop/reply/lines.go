package reply

import (
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
)

// isDashes reports whether text is the line of dashes below a table's header.
func isDashes(text string) bool {
	return strings.Contains(text, "-") && strings.Trim(text, "|-: \t") == ""
}

// tableCells splits a row at its bars, except escaped ones.
func tableCells(text string) []string {
	s := strings.Trim(strings.ReplaceAll(strings.TrimSpace(text), `\|`, "\x00"), "|")
	return each.Of(strings.Split(s, "|"), func(cell string) string {
		return strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|"))
	})
}

// isRule reports whether text is a horizontal rule.
func isRule(text string) bool {
	s := strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	return len(s) > 2 && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "")
}

type field byte

const (
	noField field = iota
	severityField
	placeField
	lineField
	issueField
	fixField
	numFields
)

// fieldLabels are the names of fields; a name precedes names that it contains.
var fieldLabels = []struct {
	name  string
	field field
}{
	{"severity", severityField}, {"severity rating", severityField}, {"severity level", severityField},
	{"severity assessment", severityField},
	{"issue severity", severityField}, {"priority", severityField}, {"priority level", severityField},
	{"file:line", placeField}, {"file/line", placeField}, {"file, line", placeField}, {"file", placeField},
	{"location", placeField}, {"path", placeField},
	{"lines", lineField}, {"line", lineField},
	{"issue", issueField}, {"problem", issueField}, {"description", issueField}, {"finding", issueField},
	{"suggested fix", fixField}, {"fix", fixField}, {"suggestion", fixField}, {"recommendation", fixField},
	{"resolution", fixField},
}

func readField(text string) (field, string) {
	text = markdown.Labelled(text)
	for _, l := range fieldLabels {
		if value, ok := markdown.CutLabel(text, l.name); ok {
			return l.field, value
		}
	}
	return noField, ""
}

// levelSummary is the level of an HTML summary: below bold lines.
const levelSummary = markdown.LevelBold + 1

// summaryOf returns the text of an HTML summary.
func summaryOf(text string) (string, bool) {
	_, title, ok := strings.Cut(text, "<summary>")
	title, _, closed := strings.Cut(title, "</summary>")
	return strings.TrimSpace(title), ok && closed
}

// isTag reports whether text is a single HTML tag or a single address.
func isTag(text string) bool {
	if strings.Contains(text, "://") && !strings.ContainsAny(text, " \t") {
		return true
	}
	return place.IsPlaceholder(text) && !strings.ContainsAny(text, " {:.@")
}

// isNone reports whether text says that there is nothing: "None", "N/A", "0",
// "No critical issues found".
func isNone(text string) bool {
	words := prose.Words(text)
	switch key := strings.Join(words, " "); {
	case key == "n a", key == "na", key == "no", key == "nil", key == "nothing to report", isNumber(key): // or empty
		return true
	case words[0] == "none", words[0] == "nothing":
		return len(words) <= 2 || !slices.ContainsFunc(words, func(w string) bool {
			return !closingWords.Has(w) && !foundWords.Has(w)
		})
	case words[0] == "no" || words[0] == "zero" || words[0] == "0":
		return saysNoFaults(words[1:])
	}
	return false
}

// foundWords say that nothing of a kind was found, and closingWords where.
var (
	foundWords   = prose.WordSet(`found detected identified reported seen remaining remain left observed noted spotted`)
	beWords      = prose.WordSet(`were was is are have has been be`)
	closingWords = prose.WordSet(
		`none nothing else fix of in this the change changes code diff patch pr commit review files file here at time to report all`)
)

// saysNoFaults reports whether words, after "no", say that there is no fault. "No errors
// are handled" reports one.
func saysNoFaults(words []string) bool {
	at := slices.IndexFunc(words, func(w string) bool { return faultNouns.Has(strings.TrimSuffix(w, "s")) })
	if at < 0 || at > 2 {
		return false
	}
	rest := words[at+1:]
	for len(rest) > 0 && beWords.Has(rest[0]) {
		rest = rest[1:]
	}
	if len(rest) > 0 && foundWords.Has(rest[0]) {
		return !hasWord(rest, adversatives)
	}
	return !slices.ContainsFunc(rest, func(w string) bool { return !closingWords.Has(w) })
}

// faultNouns are nouns for what a reviewer finds.
var faultNouns = prose.WordSet(
	`finding issue problem concern bug blocker vulnerability vulnerabilitie defect flaw fault regression warning error comment note violation leak remark objection`)
