package reply

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"git-runr/loop/internal/markdown"
	"git-runr/loop/internal/place"
	"git-runr/loop/prose"
)

// statusCode is what git status --short and git diff --name-status put before a path.
var statusCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\?\?|!!|[MADRCTU][MADRCTU]?|[RC]\d{1,3})\s+(\S.*)$`)
})

// statusVerb is what people and git status put before one.
var statusVerb = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:new file|new|both modified|typechange):\s*|(?:modified|added|created|updated|changed|deleted|removed|renamed|edited|copied)(?::\s*|\s+))(\S.*)$`)
})

// pathsIn are the paths that one line names: none, several, or both sides of a rename.
// A fenced line names one path whatever it looks like.
func pathsIn(line string, fenced bool) []string {
	item := withoutBox(strings.TrimSpace(prose.Cut(line, 4*place.MaxPath)))
	if isShellLine(item) {
		return nil
	}
	if strings.HasPrefix(item, "|") {
		return pathsInRow(tableCells(item))
	}
	if fenced {
		_, item, _ = markdown.CutBullet(strings.TrimPrefix(item, "~ "))
	}
	if m := statusCode().FindStringSubmatch(item); m != nil {
		item = m[1]
	} else if m := statusVerb().FindStringSubmatch(item); m != nil && (!fenced || strings.Contains(item, ":")) {
		item = m[1]
	}
	return namedPaths(item, fenced)
}

// pathsInRow are the paths in the first cell of a table's row that names any.
func pathsInRow(cells []string) []string {
	for _, cell := range cells {
		first, _, quoted := quotedPath(cell)
		if quoted && claimsPath(first) || strings.Contains(cell, "/") || place.HasExtension(cell) {
			return namedPaths(cell, false)
		}
	}
	return nil
}

// namedPaths reads what stands after git's code or a verb.
func namedPaths(item string, fenced bool) []string {
	first, rest, quoted := quotedPath(item)
	if !quoted {
		return barePaths(item, fenced)
	}
	if m := statusCode().FindStringSubmatch(first); m != nil { // `M a.go`
		return namedPaths(m[1], true)
	}
	if to, ok := cutArrow(rest); ok {
		return append([]string{withoutLines(first)}, onePath(to, true)...)
	}
	if strings.Contains(first, " -> ") {
		return barePaths(first, true)
	}
	paths := []string{withoutLines(first)}
	if next := strings.TrimLeft(rest, " ,;&"); next != rest && !fenced {
		next = strings.TrimPrefix(next, "and ")
		if word, _, quoted := quotedPath(next); quoted && claimsPath(word) || place.HasExtension(firstWord(next)) {
			paths = append(paths, namedPaths(next, false)...)
		}
	}
	return paths
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return strings.TrimRight(word, ",;")
}

// isShellLine: a prompt or git's own words around a list.
func isShellLine(item string) bool {
	return item == "" || strings.HasPrefix(item, "$ ") || strings.HasPrefix(item, "## ") || strings.Contains(item, " files changed,") || strings.Contains(item, " file changed,")
}

func withoutBox(item string) string {
	for _, box := range []string{"[x] ", "[X] ", "[ ] "} {
		if rest, ok := strings.CutPrefix(item, box); ok {
			return strings.TrimSpace(rest)
		}
	}
	return item
}

// quotedPath reads a path in backticks, in bold, in a link, or in double quotes as
// git writes them ("caf\303\251.txt").
func quotedPath(item string) (first, rest string, ok bool) {
	if text, _, isLink := place.CutLink(item); isLink {
		return text, item[strings.Index(item, ")")+1:], text != ""
	}
	if quoted, err := strconv.QuotedPrefix(item); err == nil && item[0] == '"' {
		if first, err := strconv.Unquote(quoted); err == nil {
			return first, item[len(quoted):], true
		}
	}
	for _, mark := range []string{"**", "``", "`", `"`} {
		inner, opens := strings.CutPrefix(item, mark)
		if !opens {
			continue
		}
		if first, rest, closes := strings.Cut(inner, mark); closes {
			first = strings.Trim(strings.TrimSpace(first), "`")
			return first, rest, first != "" && (mark != "**" || claimsPath(first))
		}
	}
	return "", "", false
}

// cutArrow takes the arrow of a rename off s.
func cutArrow(s string) (string, bool) {
	s = strings.TrimLeft(s, " ")
	for _, arrow := range []string{"->", "=>", "→"} {
		if rest, ok := strings.CutPrefix(s, arrow); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}

// barePaths are the paths in a line without quotation marks.
func barePaths(item string, fenced bool) []string {
	if from, to, ok := bracedRename(item); ok {
		return []string{from, to}
	}
	for _, arrow := range []string{" -> ", " => ", " → ", "\t"} {
		if from, to, ok := strings.Cut(item, arrow); ok {
			return append(onePath(from, fenced), onePath(to, fenced)...)
		}
	}
	if fenced {
		return onePath(item, true)
	}
	var paths []string
	for i, part := range listedPaths(item) {
		_, _, quoted := quotedPath(part)
		if i > 0 && !quoted && !strings.Contains(part, "/") && !place.HasExtension(firstWord(part)) && !place.HasExtension(withoutAnnotation(part)) {
			break // "a.go, because it is slow"
		}
		if quoted {
			paths = append(paths, namedPaths(part, false)...)
			continue
		}
		paths = append(paths, onePath(part, false)...)
	}
	return paths
}

// listedPaths are the parts of a line that lists paths: "a.go, b.go and c.go", "a.go b.go".
// A name of several words is one part.
func listedPaths(item string) []string {
	words := strings.Fields(item)
	if !slices.ContainsFunc(words, func(w string) bool { return !isPathWord(w) && !place.HasExtension(w) }) {
		return words
	}
	var parts []string
	for part := range strings.SplitSeq(strings.ReplaceAll(item, "; ", ", "), ", ") {
		for _, and := range []string{" and ", " & "} {
			if first, second, ok := strings.Cut(part, and); ok && place.HasExtension(withoutLines(first)) {
				parts, part = append(parts, first), second
			}
		}
		parts = append(parts, strings.TrimPrefix(part, "and "))
	}
	return parts
}

// withoutLines cuts a place in a file off its path: ":42", "#L3-L9", ":12:4".
func withoutLines(s string) string {
	if m := place.PlacePattern().FindStringSubmatch(s); m != nil && m[1] != "" {
		return m[1]
	}
	return s
}

// onePath is the path that one side of an arrow names.
func onePath(item string, fenced bool) []string {
	if first, _, quoted := quotedPath(item); quoted {
		return []string{withoutLines(first)}
	}
	if item = withoutAnnotation(item); item == "." || item == "./" {
		return []string{item}
	}
	if item == "" || isNone(item) || !fenced && !claimsPath(item) {
		return nil
	}
	if word, _, ok := strings.Cut(item, " "); ok && !fenced && place.HasExtension(word) {
		item = word // "auth.go now checks the owner"
	}
	return []string{item}
}

// bracedRename reads git's short form of a rename: "src/{a => b}/x.go".
func bracedRename(item string) (from, to string, ok bool) {
	before, rest, _ := strings.Cut(item, "{")
	old, rest, _ := strings.Cut(rest, " => ")
	renamed, after, ok := strings.Cut(rest, "}")
	after = withoutAnnotation(after)
	slashes := strings.NewReplacer("//", "/")
	return slashes.Replace(before + old + after), slashes.Replace(before + renamed + after), ok
}

// withoutAnnotation cuts what people write after a path: " (created)", " - why",
// " — why", ": why", " | 12 ++--", ":42".
func withoutAnnotation(s string) string {
	for _, sep := range []string{" - ", " -- ", " — ", " – ", " | ", ": ", " # "} {
		if before, _, ok := strings.Cut(s, sep); ok {
			s = before
		}
	}
	s = strings.TrimRight(strings.TrimSpace(s), ",;:")
	if i := strings.LastIndex(s, " ("); i > 0 && strings.HasSuffix(s, ")") {
		s = s[:i]
	}
	return strings.TrimSpace(withoutLines(s))
}

// claimsPath tells a path from prose: one word, or several that end like a file and
// hold none of the words of a sentence before a folder.
func claimsPath(item string) bool {
	words := strings.Fields(item)
	if len(words) == 1 {
		return strings.ContainsAny(item, "./") || isFileWord(item)
	}
	if strings.Contains(words[0], "/") || place.HasExtension(words[0]) {
		return true
	}
	if !place.HasExtension(item) {
		return false
	}
	for _, w := range words {
		if proseWords.Has(strings.ToLower(w)) {
			return false
		}
	}
	return true
}

// isFileWord: a word alone is a file if it looks like Makefile, LICENSE or go_test,
// and no word of a sentence such as "none" or "Done".
func isFileWord(word string) bool {
	if proseWords.Has(strings.ToLower(word)) {
		return false
	}
	return !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-+@", r)
	})
}

var proseWords = prose.WordSet(`a the in to of and for with from as is was were are no not see none nothing updated added changed modified created
	removed deleted renamed fixed implemented refactored done unchanged pending unknown empty todo tbd yes total all above`)
