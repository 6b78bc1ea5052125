package reply

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
)

// FindingID returns a short id ("f-" and 10 hex digits) made from the file and the
// significant words of the issue. Line numbers, word order, case, punctuation and figures
// do not matter, so that the same finding keeps its id in the next round.
func FindingID(f Finding) string {
	file := f.File
	if path.IsAbs(file) {
		file = path.Base(file) // the path of the reviewer's checkout is not part of the finding
	}
	sum := sha256.Sum256([]byte(file + "\x00" + strings.Join(significantWords(f.Issue), " ")))
	return "f-" + hex.EncodeToString(sum[:5])
}

// StopWords are words that may differ when a sentence is repeated. "not" and "no" are not among them.
var StopWords = prose.WordSet(
	`a an the this that these those it its is are was were be been being has have of in on at to for from by with as and or there here line lines still also`)

// significantWords returns the words of an issue in lower case, sorted, each once. For an
// issue without any it returns the issue's text.
func significantWords(issue string) []string {
	words := slices.DeleteFunc(prose.Runs(strings.ToLower(issue), unicode.Letter, unicode.Mark), StopWords.Has)
	if len(words) == 0 {
		return []string{strings.TrimSpace(issue)}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// Identify gives every finding its id. The second one with the same id gets the suffix "-2", and so on.
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

// described fills an empty issue with other text of the finding, so that a badly written
// finding is never dropped.
func described(f Finding, heading string, log *markdown.Warnings) Finding {
	if f.Issue != "" {
		return f
	}
	log.Add(fmt.Sprintf("a %s finding has no issue text", f.Severity))
	f.Issue = cmp.Or(heading, f.Fix, "(no description)")
	return f
}
