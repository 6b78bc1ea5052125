package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
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

// stopWords come and go when a sentence is said again. "not" and "no" are not among them.
var stopWords = map[string]bool{
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
		if !stopWords[w] {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return []string{strings.TrimSpace(issue)}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// identify gives every finding its id; the second with the same id gets "-2".
func identify(findings []Finding) {
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
		if severityRank(s) < severityRank(severity) {
			severity = s
		}
	}
	return severity, true
}

// severitiesIn are the severities that value begins with or lists as alternatives.
func severitiesIn(value string) []Severity {
	var named []Severity
	for part := range strings.SplitSeq(strings.NewReplacer("/", "|", " or ", "|").Replace(value), "|") {
		part = strings.TrimLeftFunc(part, func(r rune) bool { return isDecor(r) || r == '[' || r == '(' })
		end := strings.IndexFunc(part, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
		if end < 0 {
			end = len(part)
		}
		severity, ok := knownSeverity(part[:end])
		if !ok {
			severity, ok = knownSeverity(part)
		}
		if ok {
			named = append(named, severity)
		}
	}
	return named
}

// severityRank orders severities from the worst.
func severityRank(s Severity) int {
	return slices.Index([]Severity{Critical, Warning, Note}, s)
}

// maxPath is the longest path that is believed, in bytes.
const maxPath = 4096

// place is where a finding is. Its zero value is nowhere.
type place struct {
	file      string
	line, end int
}

// placePattern takes the line numbers off a path: "a.go:10", "a.go:10-20",
// "a.go:10:5", "a.go#L3-L9", "a.go, line 12", "a.go (lines 3-9)".
var placePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(.*?)(?::~?L?|#L?|[\s,;(@]+(?:at\s+)?lines?:?\s+)(\d+)(?:C\d+)?(?:\s*(?:-|–|—|to|\.\.)\s*L?(\d+)(?:C\d+)?|[:.]\d+(?:-\d+(?::\d+)?)?)?(?:[\s,;:)].*)?$`)
})

// noPlace are the words for a finding that is about no file.
var noPlace = map[string]bool{
	"": true, "general": true, "n/a": true, "na": true, "none": true, "-": true, "—": true, "–": true, "unknown": true, "null": true,
	"various": true, "multiple": true, "multiple files": true, "several": true, "overall": true, "global": true, "all": true, "all files": true,
}

// readPlace reads the value of a place field.
func readPlace(value string) place {
	value, _, _ = strings.Cut(strings.TrimSpace(value), "\n")
	value = cutBytes(value, 2*maxPath)
	text, target, isLink := cutLink(value)
	if isLink {
		return linkPlace(text, target)
	}
	if inner, rest, ok := strings.Cut(strings.TrimPrefix(value, "`"), "`"); ok && strings.HasPrefix(value, "`") {
		if p := readPlace(inner); p.line > 0 || strings.TrimSpace(rest) == "" {
			return p
		}
		value = inner + rest // `a.go`:12, `a.go`, line 12
	}
	value = strings.Trim(value, " \t*`\"'()")
	if noPlace[strings.ToLower(trimDecor(value))] || isPlaceholder(value) {
		return place{}
	}
	if m := placePattern().FindStringSubmatch(value); m != nil && m[1] != "" {
		if first, _, ok := strings.Cut(m[1], ", "); ok && hasExtension(first) {
			return newPlace(first, 0, 0) // the line is another file's
		}
		return newPlace(m[1], lineNumber(m[2]), lineNumber(m[3]))
	}
	return newPlace(withoutRemark(value), 0, 0)
}

// isPlaceholder reports whether value is what a template has in place of a value.
func isPlaceholder(value string) bool {
	s := trimDecor(value)
	return s == "..." || s == "…" || (len(s) > 1 && (s[0] == '{' && s[len(s)-1] == '}' || s[0] == '<' && s[len(s)-1] == '>'))
}

// cutLink reads a value that begins with a Markdown link.
func cutLink(value string) (text, target string, ok bool) {
	rest, ok := strings.CutPrefix(value, "[")
	if !ok {
		return "", "", false
	}
	text, rest, ok = strings.Cut(rest, "](")
	if !ok || strings.Contains(text, "\n") {
		return "", "", false
	}
	target, _, ok = strings.Cut(rest, ")")
	return strings.Trim(text, "`"), target, ok
}

// linkPlace takes a link's file from its text, which people read, and the line
// from wherever it stands.
func linkPlace(text, target string) place {
	p := readPlace(text)
	if p.file == "" || !strings.ContainsAny(p.file, "./") {
		p = place{}
	}
	if strings.Contains(target, "://") {
		_, anchor, _ := strings.Cut(target, "#")
		target = p.file + "#" + anchor
	}
	if q := readPlace(target); p.file == "" || p.line == 0 && q.line > 0 {
		return q
	}
	return p
}

// withoutRemark cuts " (the handler)", " - why" and ":function" off a path.
func withoutRemark(s string) string {
	if before, _, ok := strings.Cut(s, ":"); ok && hasExtension(before) {
		s = before
	}
	for _, sep := range []string{" (", " - ", " — ", " – ", ", "} {
		if before, _, ok := strings.Cut(s, sep); ok && before != "" {
			s = before
		}
	}
	return strings.TrimSpace(s)
}

// lineNumber is 0 for what cannot be one.
func lineNumber(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || n > 1<<30 {
		return 0
	}
	return n
}

// newPlace cleans a path; prose, addresses and folders above the tree are no place.
func newPlace(file string, line, end int) place {
	file = strings.Trim(file, " \t*`\"'(),;:")
	if strings.Contains(file, "\\") && !strings.Contains(file, "/") {
		file = strings.ReplaceAll(file, "\\", "/")
	}
	if !pathLike(file) || len(file) > maxPath {
		return place{}
	}
	file = path.Clean(file)
	if file == "." || file == "/" || file == ".." || strings.HasPrefix(file, "../") {
		return place{}
	}
	if end > 0 && end < line {
		line, end = end, line
	}
	if end == line || line == 0 {
		end = 0
	}
	return place{file: file, line: line, end: end}
}

// pathLike tells a path from prose: one word, or several that contain a slash or end in an extension.
func pathLike(s string) bool {
	if s == "" || strings.Contains(s, "://") || strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	return !strings.ContainsAny(s, " \t") || hasExtension(s) || (strings.Contains(s, "/") && len(strings.Fields(s)) < 4)
}

// hasExtension reports whether s ends like the name of a file: ".go", ".d.ts", ".mp3".
func hasExtension(s string) bool {
	ext := path.Ext(s)
	if len(ext) < 2 || len(ext) > 12 || ext == s {
		return ext == s && len(ext) > 1 // .gitignore
	}
	return !strings.ContainsFunc(ext[1:], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// cutPlace takes a place off the start of an issue: "auth.go:12 leaks a token",
// "`auth.go:12`: leaks a token". It asks for more than readPlace does, because
// most sentences begin with no place.
func cutPlace(text string) (place, string) {
	head, rest := firstTerm(text)
	p := readPlace(head)
	if p.file == "" || !strings.ContainsAny(p.file, "./") || !strings.ContainsFunc(p.file, unicode.IsLetter) {
		return place{}, text
	}
	if p.line == 0 && !hasExtension(p.file) || strings.TrimSpace(rest) == "" {
		return place{}, text
	}
	if next, after, ok := cutLineWords(rest); ok && p.line == 0 {
		p.line, rest = next, after
	}
	return p, strings.TrimLeftFunc(rest, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(":-–—,)*", r) })
}

// firstTerm is the first word, code span or link of a text.
func firstTerm(text string) (head, rest string) {
	text = strings.TrimLeft(text, " \t*(")
	if _, _, ok := cutLink(text); ok {
		end := strings.Index(text, ")") + 1
		return text[:end], text[end:]
	}
	if inner, after, ok := strings.Cut(strings.TrimPrefix(text, "["), "]"); ok && strings.HasPrefix(text, "[") && len(inner) < maxPath && readPlace(inner).line > 0 {
		return inner, after
	}
	if inner, after, ok := strings.Cut(strings.TrimPrefix(text, "`"), "`"); ok && strings.HasPrefix(text, "`") {
		if digits, ok := strings.CutPrefix(after, ":"); ok && digits != "" && digits[0] >= '0' && digits[0] <= '9' {
			word, rest := firstTerm(digits)
			return inner + ":" + word, rest
		}
		return inner, after
	}
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		end = len(text)
	}
	head, rest = text[:end], text[end:]
	return strings.TrimRight(head, ":,;)*"), rest
}

// cutLineWords takes "line 12" off the start of s.
func cutLineWords(s string) (line int, rest string, ok bool) {
	s = strings.TrimLeft(s, " ,(")
	after, ok := strings.CutPrefix(s, "line ")
	if !ok {
		return 0, s, false
	}
	digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
	line = lineNumber(after[:digits])
	return line, after[digits:], line > 0
}

// at puts a place into a finding.
func (f *Finding) at(p place) { f.File, f.Line, f.EndLine = p.file, p.line, p.end }
