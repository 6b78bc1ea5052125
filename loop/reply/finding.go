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

// described gives a finding without an issue what text there is: a finding is
// never dropped because it is badly written.
func described(f Finding, heading string, log *markdown.Warnings) Finding {
	if f.Issue != "" {
		return f
	}
	log.Add(fmt.Sprintf("a %s finding has no issue text", f.Severity))
	for _, text := range []string{heading, f.Fix, "(no description)"} {
		if f.Issue == "" {
			f.Issue = text
		}
	}
	return f
}
