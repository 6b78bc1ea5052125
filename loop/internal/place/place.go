// Package place reads where in a tree something is, as people and tools write it.
package place

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
)

// MaxPath is the longest path that is believed, in bytes.
const MaxPath = 4096

// Place is where a finding is. Its zero value is nowhere.
type Place struct {
	File      string
	Line, End int
}

// String is the place as Read reads it: "file:line" or "file:line-end", with the file's safetext.Name; "" when it is
// nowhere.
func (p Place) String() string {
	file := safetext.Name(p.File)
	switch {
	case p.File == "" || p.Line == 0:
		return file
	case p.End > p.Line:
		return fmt.Sprintf("%s:%d-%d", file, p.Line, p.End)
	}
	return fmt.Sprintf("%s:%d", file, p.Line)
}

// PlacePattern takes the line numbers off a path: "a.go:10", "a.go:10-20",
// "a.go:10:5", "a.go#L3-L9", "a.go, line 12", "a.go (lines 3-9)".
var PlacePattern = lazyre.Compile(
	`(?i)^(.*?)(?::~?L?|#L?|[\s,;(@]+(?:at\s+)?lines?:?\s+)(\d+)(?:C\d+)?(?:\s*(?:-|–|—|to|\.\.)\s*L?(\d+)(?:C\d+)?|[:.]\d+(?:-\d+(?::\d+)?)?)?(?:[\s,;:)].*)?$`)

// noPlace are the words for a finding that is about no file.
var noPlace = []string{"", "general", "n/a", "na", "none", "-", "—", "–", "unknown", "null", "various", "multiple",
	"multiple files", "several", "overall", "global", "all", "all files"}

// Read reads the value of a place field.
func Read(value string) Place {
	value, _, _ = strings.Cut(strings.TrimSpace(value), "\n")
	value = prose.Cut(value, 2*MaxPath)
	text, target, isLink := CutLink(value)
	if isLink {
		return linkPlace(text, target)
	}
	if inner, rest, ok := strings.Cut(strings.TrimPrefix(value, "`"), "`"); ok && strings.HasPrefix(value, "`") {
		if p := Read(inner); p.Line > 0 || strings.TrimSpace(rest) == "" {
			return p
		}
		value = inner + rest // `a.go`:12, `a.go`, line 12
	}
	value = strings.Trim(value, " \t*`\"'()")
	if slices.Contains(noPlace, prose.OneRow(strings.ToLower(markdown.TrimDecor(value)))) || IsPlaceholder(value) {
		return Place{}
	}
	if m := PlacePattern().FindStringSubmatch(value); m != nil && m[1] != "" {
		if first, _, ok := strings.Cut(m[1], ", "); ok && HasExtension(first) {
			return New(first, 0, 0) // the line is another file's
		}
		return New(m[1], markdown.Number(m[2]), markdown.Number(m[3]))
	}
	return New(withoutRemark(value), 0, 0)
}

// IsPlaceholder reports whether value is what a template has in place of a value.
func IsPlaceholder(value string) bool {
	s := markdown.TrimDecor(value)
	return s == "..." || s == "…" ||
		(len(s) > 1 && (s[0] == '{' && s[len(s)-1] == '}' || s[0] == '<' && s[len(s)-1] == '>'))
}

var link = lazyre.Compile(`^\[([^\n]*?)\]\(([^)]*)\)`)

// CutLink reads a value that begins with a Markdown link.
func CutLink(value string) (text, target string, ok bool) {
	m := link().FindStringSubmatch(value)
	if m == nil {
		return "", "", false
	}
	return strings.Trim(m[1], "`"), m[2], true
}

// linkPlace takes a link's file from its text, which people read, and the line
// from wherever it stands.
func linkPlace(text, target string) Place {
	p := Read(text)
	if p.File == "" || !strings.ContainsAny(p.File, "./") {
		p = Place{}
	}
	if strings.Contains(target, "://") {
		_, anchor, _ := strings.Cut(target, "#")
		target = p.File + "#" + anchor
	}
	if q := Read(target); p.File == "" || p.Line == 0 && q.Line > 0 {
		return q
	}
	return p
}

// withoutRemark cuts " (the handler)", " - why" and ":function" off a path.
func withoutRemark(s string) string {
	if before, _, ok := strings.Cut(s, ":"); ok && HasExtension(before) {
		s = before
	}
	for _, sep := range []string{" (", " - ", " — ", " – ", ", "} {
		if before, _, ok := strings.Cut(s, sep); ok && before != "" {
			s = before
		}
	}
	return strings.TrimSpace(s)
}

// New cleans a path; prose, addresses and folders above the tree are no place.
func New(file string, line, end int) Place {
	file = strings.Trim(file, " \t*`\"'(),;:")
	if strings.Contains(file, "\\") && !strings.Contains(file, "/") {
		file = strings.ReplaceAll(file, "\\", "/")
	}
	if !pathLike(file) || len(file) > MaxPath {
		return Place{}
	}
	file = path.Clean(file)
	if file == "." || file == "/" || file == ".." || strings.HasPrefix(file, "../") {
		return Place{}
	}
	if end > 0 && end < line {
		line, end = end, line
	}
	if end == line || line == 0 {
		end = 0
	}
	return Place{File: file, Line: line, End: end}
}

// pathLike tells a path from prose: one word, or several that contain a slash or end in an extension.
func pathLike(s string) bool {
	if s == "" || strings.Contains(s, "://") || strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	return !strings.ContainsAny(s, " \t") || HasExtension(s) || (strings.Contains(s, "/") && len(strings.Fields(s)) < 4)
}

// HasExtension reports whether s ends like the name of a file: ".go", ".d.ts", ".mp3".
func HasExtension(s string) bool {
	ext := path.Ext(s)
	if len(ext) < 2 || len(ext) > 12 || ext == s {
		return ext == s && len(ext) > 1 // .gitignore
	}
	return !strings.ContainsFunc(ext[1:], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Cut takes a place off the start of an issue: "auth.go:12 leaks a token",
// "`auth.go:12`: leaks a token". It asks for more than Read does, because
// most sentences begin with no place.
func Cut(text string) (Place, string) {
	head, rest := firstTerm(text)
	p := Read(head)
	if p.File == "" || !strings.ContainsAny(p.File, "./") || !strings.ContainsFunc(p.File, unicode.IsLetter) {
		return Place{}, text
	}
	if p.Line == 0 && !HasExtension(p.File) || strings.TrimSpace(rest) == "" {
		return Place{}, text
	}
	if next, after, ok := cutLineWords(rest); ok && p.Line == 0 {
		p.Line, rest = next, after
	}
	return p, strings.TrimLeftFunc(rest, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(":-–—,)*", r)
	})
}

// firstTerm is the first word, code span or link of a text.
func firstTerm(text string) (head, rest string) {
	text = strings.TrimLeft(text, " \t*(")
	if _, _, ok := CutLink(text); ok {
		end := strings.Index(text, ")") + 1
		return text[:end], text[end:]
	}
	if inner, after, ok := strings.Cut(strings.TrimPrefix(text, "["), "]"); ok && strings.HasPrefix(text, "[") &&
		len(inner) < MaxPath && Read(inner).Line > 0 {
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
	line = markdown.Number(after[:digits])
	return line, after[digits:], line > 0
}

// Unsafe says why a claimed path must not be used; "" when it may be.
func Unsafe(p string) string {
	switch {
	case p == "" || path.Clean(p) == ".":
		return "it names no file"
	case len(p) > MaxPath:
		return "it is too long"
	case strings.ContainsRune(p, 0):
		return "it contains NUL"
	case !utf8.ValidString(p):
		return "it is not UTF-8"
	case isAbsolute(p):
		return "it is absolute"
	}
	for part := range strings.FieldsFuncSeq(p, isSlash) {
		if part == ".." {
			return "it leads outside"
		}
		if name := strings.ToLower(strings.TrimRight(part, ". ")); name == ".git" || name == "git~1" {
			return "it is git's own"
		}
	}
	return ""
}

// isSlash: on some systems both are.
func isSlash(r rune) bool { return r == '/' || r == '\\' }

func isAbsolute(p string) bool {
	drive := len(p) > 1 && p[1] == ':' && unicode.IsLetter(rune(p[0]))
	return isSlash(rune(p[0])) || strings.HasPrefix(p, "~") && (len(p) == 1 || isSlash(rune(p[1]))) || drive
}
