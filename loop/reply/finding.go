package reply

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"git-runr/loop/internal/markdown"
	"git-runr/loop/internal/place"
)

// FindingID is a short id ("f-" and 10 hex digits) made of the file and the
// significant words of the issue. Line numbers, the order and the case of words,
// punctuation and figures do not count, so that the same finding has the same id
// in the next round.
func FindingID(f Finding) string {
	file := f.File
	if path.IsAbs(file) {
		file = path.Base(file) // where the reviewer's checkout was is not part of the finding
	}
	sum := sha256.Sum256([]byte(file + "\x00" + strings.Join(significantWords(f.Issue), " ")))
	return "f-" + hex.EncodeToString(sum[:5])
}

// StopWords come and go when a sentence is said again. "not" and "no" are not among them.
var StopWords = map[string]bool{
	"a": true, "an": true, "the": true, "this": true, "that": true, "these": true, "those": true, "it": true, "its": true,
	"is": true, "are": true, "was": true, "were": true, "be": true, "been": true, "being": true, "has": true, "have": true,
	"of": true, "in": true, "on": true, "at": true, "to": true, "for": true, "from": true, "by": true, "with": true, "as": true,
	"and": true, "or": true, "there": true, "here": true, "line": true, "lines": true, "still": true, "also": true,
}

// significantWords are the words of an issue, lower case, sorted, each once. An
// issue without any is its own text.
func significantWords(issue string) []string {
	notLetter := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(issue), notLetter) {
		if !StopWords[w] {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return []string{strings.TrimSpace(issue)}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// Identify gives every finding its id; the second with the same id gets "-2".
func Identify(findings []Finding) {
	seen := map[string]int{}
	for i := range findings {
		id := FindingID(findings[i])
		seen[id]++
		if n := seen[id]; n > 1 {
			id = fmt.Sprintf("%s-%d", id, n)
		}
		findings[i].ID = id
	}
}

// readSeverity reads the value of a severity field: "Critical (must fix — blocks
// commit)", "**HIGH**", "P1", "token logged (critical)". Of several ("Low/Medium") the
// worst counts. One that is unknown counts as a warning.
func readSeverity(value string) (severity Severity, known bool) {
	severity = Note
	named := severitiesIn(value)
	if len(named) == 0 {
		if m, _, ok := markIn(value); ok {
			return m.severity, true
		}
		return Warning, false
	}
	for _, s := range named {
		if SeverityRank(s) < SeverityRank(severity) {
			severity = s
		}
	}
	return severity, true
}

// severitiesIn are the severities that value begins with or lists as alternatives.
func severitiesIn(value string) []Severity {
	var named []Severity
	for part := range strings.SplitSeq(strings.NewReplacer("/", "|", " or ", "|").Replace(value), "|") {
		part = strings.TrimLeftFunc(part, func(r rune) bool { return markdown.IsDecor(r) || r == '[' || r == '(' })
		end := strings.IndexFunc(part, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
		if end < 0 {
			end = len(part)
		}
		m, ok := readMark(part[:end])
		if !ok {
			m, ok = readMark(part)
		}
		if ok {
			named = append(named, m.severity)
		}
	}
	return named
}

// SeverityRank orders severities from the worst.
func SeverityRank(s Severity) int {
	return slices.Index([]Severity{Critical, Warning, Note}, s)
}

// At puts a place into a finding.
func (f *Finding) At(p place.Place) { f.File, f.Line, f.EndLine = p.File, p.Line, p.End }
