package reply

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/internal/place"
	"github.com/git-runr/git-runr/loop/prose"
)

// pathMark matches the prefix of a path in git status, git diff --name-status and people's lists. Group 1 is a path
// after a status code or after a verb with a colon. Group 2 is a path after a bare verb, which counts only outside of
// git's output.
var pathMark = lazyre.Compile(`(?i)^(?:(?-i:\?\?|!!|[MADRCTU][MADRCTU]?|[RC]\d{1,3})\s+|` +
	`(?:new file|both modified|typechange|new|modified|added|created|updated|changed|deleted|removed|renamed|edited|copied):\s*)(\S.*)$|` +
	`^(?:modified|added|created|updated|changed|deleted|removed|renamed|edited|copied)\s+(\S.*)$`)

// pathJoint matches the separator of two paths on one line: an arrow, a comma, a semicolon or "and".
var pathJoint = lazyre.Compile(`^\s*(->|=>|→|\t|[,;&]|and\b)\s*(?:and )?`)

// pathsIn returns the paths on one line; for a rename both sides. A fenced line is git's output, which is a path
// whatever it looks like.
func pathsIn(line string, fenced bool) []string {
	_, item := cutBox(strings.TrimSpace(prose.Cut(line, 4*place.MaxPath)))
	switch {
	case item == "", strings.HasPrefix(item, "$ "), strings.HasPrefix(item, "## "), strings.Contains(item, " changed,"):
		return nil // a shell prompt, or git's text around a list
	case strings.HasPrefix(item, "|"):
		item = pathCell(tableCells(item))
	case fenced:
		_, item, _ = markdown.CutBullet(strings.TrimPrefix(item, "~ "))
	}
	if m := pathMark().FindStringSubmatch(item); m != nil && (m[1] != "" || !fenced) {
		item = m[1] + m[2]
	}
	if from, to, ok := bracedRename(item); ok {
		return []string{from, to}
	}
	return listedPaths(item, fenced)
}

// pathCell returns the first cell of a row that names a path; "" if none does.
func pathCell(cells []string) string {
	at := slices.IndexFunc(cells, func(cell string) bool {
		first, _, quoted := quotedPath(cell)
		return quoted && claimsPath(first) || strings.Contains(cell, "/") || place.HasExtension(cell)
	})
	if at < 0 {
		return ""
	}
	return cells[at]
}

// listedPaths reads consecutive paths: "a.go, `b c.go` and d.go", "a.go -> b.go", "a.go b.go". After the first one,
// only quoted text or the name of a file counts as a path: "a.go, because it is slow".
func listedPaths(item string, fenced bool) []string {
	var paths []string
	for moved := false; item != ""; {
		first, rest, quoted := quotedPath(item)
		if m := pathMark().FindStringSubmatch(first); quoted && m != nil && m[1] != "" { // `M a.go`
			first = m[1]
		}
		if !quoted {
			first, rest = barePath(item, fenced)
		}
		word, _, _ := strings.Cut(first, " ")
		isPath := fenced || claimsPath(first) && (len(paths) == 0 || strings.Contains(word, "/") || place.HasExtension(word))
		if !quoted && !moved && !isPath {
			return paths
		}
		paths = append(paths, withoutLines(first))
		joint := pathJoint().FindStringSubmatch(rest)
		if joint == nil {
			return paths
		}
		moved = !strings.Contains(",;&and", joint[1])
		item = rest[len(joint[0]):]
	}
	return paths
}

// barePath returns the unquoted path at the start of item without a remark after it, and the rest of item from the
// next arrow or comma on.
func barePath(item string, fenced bool) (first, rest string) {
	end := len(item)
	for _, joint := range []string{" -> ", " => ", " → ", "\t", ", ", "; ", " and ", " & "} {
		at := strings.Index(item, joint)
		arrow := !strings.ContainsAny(joint, ",;&a")
		if at >= 0 && at < end && (arrow || !fenced && (joint[0] != ' ' || place.HasExtension(withoutLines(item[:at])))) {
			end = at
		}
	}
	first, rest = withoutRemark(item[:end]), item[end:]
	word, others, ok := strings.Cut(first, " ")
	switch {
	case !ok || fenced || !place.HasExtension(word): // one path, maybe with spaces in its name
	case place.HasExtension(others) && isPathWord(word) && isPathWord(others):
		return word, ", " + others + rest // "src/a.go src/b.go"
	default:
		return word, "" // "auth.go now checks the owner"
	}
	return first, rest
}

// quotedPath reads a path in backticks, in bold, in a link, or in double quotes as git writes them
// ("caf\303\251.txt").
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

// withoutLines cuts a place in a file off a path: ":42", "#L3-L9", ":12:4".
func withoutLines(s string) string {
	if m := place.PlacePattern().FindStringSubmatch(s); m != nil && m[1] != "" {
		return m[1]
	}
	return s
}

// bracedRename reads git's short form of a rename: "src/{a => b}/x.go".
func bracedRename(item string) (from, to string, ok bool) {
	before, rest, _ := strings.Cut(item, "{")
	old, rest, _ := strings.Cut(rest, " => ")
	renamed, after, ok := strings.Cut(rest, "}")
	after = withoutRemark(after)
	slashes := strings.NewReplacer("//", "/")
	return slashes.Replace(before + old + after), slashes.Replace(before + renamed + after), ok
}

// withoutRemark cuts off what people write after a path: " (created)", " - why", ": why", " | 12 ++--", ":42".
func withoutRemark(s string) string {
	for _, sep := range []string{" - ", " -- ", " — ", " – ", " | ", ": ", " # "} {
		s, _, _ = strings.Cut(s, sep)
	}
	s = strings.TrimRight(strings.TrimSpace(s), ",;:")
	if i := strings.LastIndex(s, " ("); i > 0 && strings.HasSuffix(s, ")") {
		s = s[:i]
	}
	return strings.TrimSpace(withoutLines(s))
}

// claimsPath reports whether item is a path and not prose: one word, or several words that end like a file name and
// contain no word of a sentence before a folder.
func claimsPath(item string) bool {
	words := strings.Fields(item)
	switch {
	case len(words) == 0 || isNone(item) && item[0] != '.':
		return false
	case len(words) == 1 && strings.ContainsAny(item, "./"):
		return true
	case len(words) == 1:
		word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-+@", r) }
		return !proseWords.Has(strings.ToLower(item)) && strings.TrimFunc(item, word) == ""
	case strings.Contains(words[0], "/") || place.HasExtension(words[0]):
		return true
	}
	return place.HasExtension(item) && !slices.ContainsFunc(words, func(w string) bool {
		return proseWords.Has(strings.ToLower(w))
	})
}

// proseWords are words of sentences, such as "none" and "done", that name no file.
var proseWords = prose.WordSet(
	`a the in to of and for with from as is was were are no not see none nothing updated added changed modified created
	removed deleted renamed fixed implemented refactored done unchanged pending unknown empty todo tbd yes total all above`)
