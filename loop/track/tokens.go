package track

import (
	"path"
	"strings"
	"unicode"

	"git-runr/loop/internal/place"
	"git-runr/loop/prose"
)

type tokenKind byte

const (
	tokenWord  tokenKind = iota // lower case
	tokenName                   // an identifier
	tokenFile                   // a path without its line
	tokenBreak                  // punctuation between clauses
)

// token is one word of a request.
type token struct {
	text string
	kind tokenKind
}

// tokenise splits a request into words, identifiers and paths. Figures are left out.
func tokenise(text string) []token {
	text = strings.NewReplacer("’", "'", "**", "", "“", "`", "”", "`", "ard-coded", "ardcoded", "ypecheck", "ype check").Replace(text)
	var tokens []token
	for _, t := range prose.Tokens(text, "`") {
		if !t.Span {
			tokens = append(tokens, proseTokens(t.Raw, t.Text)...)
			continue
		}
		for field := range strings.FieldsSeq(t.Raw) {
			tokens = append(tokens, codeToken(field)...)
		}
	}
	return tokens
}

// codeToken reads one word of a code span.
func codeToken(field string) []token {
	if file, ok := filePath(field); ok {
		return []token{{file, tokenFile}}
	}
	name := strings.TrimFunc(field, func(r rune) bool { return !isWordRune(r) })
	if !strings.ContainsFunc(name, unicode.IsLetter) {
		return nil
	}
	return []token{{name, tokenName}}
}

// proseTokens reads what stands between two spaces.
func proseTokens(field, core string) []token {
	var tokens []token
	_, after, _ := strings.Cut(field, core)
	switch {
	case core == "" || core == "-" || core == "—" || core == "–":
		after = ";"
	case strings.ContainsAny(field[:1], "'\"") && strings.HasPrefix(after, field[:1]):
		tokens = codeToken(core)
	case strings.Contains(core, "://") || isFigure(core):
	default:
		tokens = plainTokens(core, strings.HasPrefix(after, "()"))
	}
	if at := strings.IndexAny(after, ",;.!?"); at >= 0 {
		tokens = append(tokens, token{after[at : at+1], tokenBreak})
	}
	return tokens
}

// isFigure reports whether s is a number, with its unit or sign, or a line like L12.
func isFigure(s string) bool {
	s = strings.TrimLeft(s, "L+-~#$€<>=≥≤")
	return s == "" || s[0] >= '0' && s[0] <= '9'
}

func plainTokens(core string, called bool) []token {
	if file, ok := filePath(core); ok {
		return []token{{file, tokenFile}}
	}
	if called || isIdentifier(core) {
		return []token{{core, tokenName}}
	}
	var tokens []token
	for word := range strings.FieldsFuncSeq(core, func(r rune) bool { return !isWordRune(r) && r != '\'' }) {
		word = strings.TrimSuffix(strings.Trim(word, "'"), "'s")
		if word != "" {
			tokens = append(tokens, token{strings.ToLower(word), tokenWord})
		}
	}
	return tokens
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}

// isIdentifier tells a name of the code from a word of the language.
func isIdentifier(s string) bool {
	if _, known := synonyms()[strings.ToLower(s)]; known {
		return false // TypeScript
	}
	if strings.HasPrefix(s, "--") || strings.ContainsAny(s, "_@$") || strings.Contains(s, "::") || strings.Contains(s, "->") {
		return true
	}
	hump := strings.IndexFunc(strings.TrimLeftFunc(s, unicode.IsUpper), unicode.IsUpper) > 0
	return hump || strings.ContainsFunc(s, unicode.IsDigit) || strings.Contains(s, ".")
}

// filePath reads s as a path: "src/a.ts:12", "./a.go", "Makefile".
func filePath(s string) (string, bool) {
	s = strings.Trim(s, "*\"',;()[]")
	if p := place.Read(s); p.Line > 0 && p.File != "" {
		s = p.File
	}
	s = strings.TrimPrefix(path.Clean(strings.ReplaceAll(s, "\\", "/")), "/")
	switch {
	case strings.ContainsAny(s, " \t(){}<>=:") || strings.Contains(s, ".."):
		return "", false
	case knownExtensions.Has(strings.TrimPrefix(path.Ext(strings.ToLower(s)), ".")) && path.Ext(s) != path.Base(s):
		return s, true
	}
	return s, strings.Count(s, "/") > 1 && !strings.ContainsAny(s, "'|")
}

var knownExtensions = prose.WordSet(`go mod sum ts tsx mts cts js jsx mjs cjs py pyi rb rs java kt kts c h cc cpp cxx hpp cs fs php swift m mm sh bash zsh fish bat ps1
	md rst txt json jsonl yaml yml toml html htm css scss sass less sql proto graphql xml lock ini cfg conf env ipynb vue svelte astro
	ex exs erl hrl hs ml mli scala clj lua pl pm r jl dart zig nim tf hcl gradle properties svg png jpg csv tmpl txtar snap`)
