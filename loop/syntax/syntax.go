// Package syntax describes programming languages in one table: which files belong to a
// language, and what in a line is comment, string or word. The page and git runr tui use it
// for colours, the built-in reviewer to find code.
package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the kind of a piece of source text, for colouring. Its letter is the CSS class.
type Kind byte

const (
	Plain   Kind = 0
	Comment Kind = 'c'
	String  Kind = 's'
	Number  Kind = 'n'
	Keyword Kind = 'k'
	Builtin Kind = 'b' // types and values predefined by the language
	Call    Kind = 'f'
	Key     Kind = 'a' // keys, attributes, properties
	Heading Kind = 'h' // headings, section names, tags
)

// Token is a piece of a line; it begins where the previous token ends.
type Token struct {
	Kind Kind
	End  int // byte offset in the line, exclusive
}

// openText is a text that continues on the next line; the zero value is none.
type openText struct {
	kind   Kind
	close  string // text that ends it
	nest   string // text that opens another level, "" if comments do not nest
	depth  int    // further levels
	escape bool   // a backslash escapes the next character
	line   bool   // close is on a line of its own
	fence  bool   // further fence marks and blanks may follow close
	tag    bool   // inside a tag of markup
}

// Scanner splits the lines of one file into tokens, in order. It knows only as much of a
// language as colours need.
type Scanner struct {
	Parts bool // the input may begin inside a string or comment
	lang  *Language
	open  openText
	src   string
	at    int
	toks  []Token
}

// NewScanner returns a Scanner for a file; lang is nil for a file without colours.
func NewScanner(lang *Language) *Scanner { return &Scanner{lang: lang} }

// Line returns the tokens of the next line, given without its line feed. They cover the whole
// line; the slice is valid until the next call.
func (s *Scanner) Line(src string) []Token {
	s.src, s.at, s.toks = src, 0, s.toks[:0]
	if s.open.close != "" {
		s.finishOpen()
	}
	switch {
	case s.lang == nil:
	case s.lang.scan != nil:
		s.lang.scan(s)
	default:
		s.code()
	}
	s.emit(Plain, len(src))
	return s.toks
}

// Open returns the kind of the text that the previous line left open, Plain for none.
func (s *Scanner) Open() Kind { return s.open.kind }

// emit adds a token that ends at end, or extends the last one if it has the same kind.
func (s *Scanner) emit(kind Kind, end int) {
	if n := len(s.toks); n > 0 && s.toks[n-1].Kind == kind {
		s.toks[n-1].End = end
	} else if end > s.begun() {
		s.toks = append(s.toks, Token{kind, end})
	}
	s.at = max(s.at, end)
}

// begun returns where the next token begins.
func (s *Scanner) begun() int {
	if len(s.toks) == 0 {
		return 0
	}
	return s.toks[len(s.toks)-1].End
}

func (s *Scanner) rest() string { return s.src[s.at:] }

// finishOpen continues the text that the previous line left open.
func (s *Scanner) finishOpen() {
	if s.open.line {
		text := strings.TrimLeft(s.src, " \t")
		done := text == s.open.close || s.open.fence && strings.HasPrefix(text, s.open.close) &&
			strings.Trim(text, s.open.close+" \t\r") == ""
		s.emit(s.open.kind, len(s.src))
		if done {
			s.open = openText{tag: s.open.tag}
		}
		return
	}
	kind := s.open.kind // before endOf resets it
	s.emit(kind, s.endOf(&s.open))
}

// endOf returns where open ends in the line, from s.at on; it then resets open.
func (s *Scanner) endOf(open *openText) int {
	for i := s.at; i < len(s.src); {
		rest := s.src[i:]
		switch {
		case open.escape && rest[0] == '\\':
			i += 1 + min(1, len(rest)-1)
		case strings.HasPrefix(rest, open.close):
			i += len(open.close)
			if open.depth == 0 {
				*open = openText{tag: open.tag}
				return i
			}
			open.depth--
		case open.nest != "" && strings.HasPrefix(rest, open.nest):
			open.depth++
			i += len(open.nest)
		default:
			i++
		}
	}
	return len(s.src)
}

// code scans a line of a programming language.
func (s *Scanner) code() {
	if s.lang.head != nil && s.at == 0 {
		s.head()
	}
	var heredoc openText
	for s.at < len(s.src) {
		switch {
		case s.comment() || s.quoted() || s.number() || s.word():
		case s.lang.heredoc != nil && s.lang.heredoc(s, &heredoc):
		default:
			_, size := utf8.DecodeRuneInString(s.rest())
			s.emit(Plain, s.at+size)
		}
	}
	if s.open.close == "" && heredoc.close != "" {
		s.open = heredoc
	}
}

// head marks the start of a line that the language's head pattern matches.
func (s *Scanner) head() {
	at := s.lang.head().FindStringSubmatchIndex(s.src)
	if at == nil {
		return
	}
	s.emit(Plain, at[2])
	s.emit(Kind(s.lang.HeadKind[0]), at[3])
	if len(at) > 4 && at[4] >= 0 {
		s.emit(Plain, at[4])
		s.emit(String, at[5])
	}
}

func (s *Scanner) comment() bool {
	rest := s.rest()
	for _, start := range s.lang.LineComments {
		if strings.HasPrefix(rest, start) && !(s.lang.Attributes && strings.HasPrefix(rest, "#[")) &&
			(start != "#" || !s.lang.SpacedHash || s.at == 0 || isBlank(s.src[s.at-1])) {
			s.emit(Comment, len(s.src))
			return true
		}
	}
	for _, pair := range s.lang.BlockComments {
		if !strings.HasPrefix(rest, pair[0]) {
			continue
		}
		open := openText{kind: Comment, close: pair[1]}
		if s.lang.Nested {
			open.nest = pair[0]
		}
		s.take(open, len(pair[0]))
		return true
	}
	return false
}

// take emits the text described by open, whose first size bytes are its start. If the line
// ends first, the text stays open.
func (s *Scanner) take(open openText, size int) {
	open.tag = s.open.tag
	s.open = open
	kind, from := open.kind, s.at
	s.at += size
	end := s.endOf(&s.open)
	s.at = from
	s.emit(kind, end)
}

func (s *Scanner) quoted() bool {
	rest := s.rest()
	for _, q := range s.lang.Quotes {
		if !strings.HasPrefix(rest, q.Open) {
			continue
		}
		if q.Char && !charLiteral(rest) {
			return false
		}
		was := s.open
		s.take(openText{kind: String, close: q.Close, escape: q.Escape}, len(q.Open))
		if !q.Multi && !(q.Loose && !s.Parts) {
			s.open = was // it ends at the end of its line
		}
		s.markKey()
		return true
	}
	if s.lang.raw != nil && strings.IndexByte("bRr", rest[0]) >= 0 && (s.at == 0 || !IsWordByte(s.src[s.at-1])) {
		if m := s.lang.raw().FindStringSubmatch(rest); m != nil {
			s.take(openText{kind: String, close: strings.Replace(s.lang.RawClose, "$1", m[1], 1)}, len(m[0]))
			return true
		}
	}
	return s.lang.Regexps && s.regexp()
}

// markKey turns the string just emitted into a key, if a colon follows it and the language has
// such keys.
func (s *Scanner) markKey() {
	if s.lang.StringKeys && strings.HasPrefix(strings.TrimLeft(s.rest(), " \t"), ":") {
		s.toks[len(s.toks)-1].Kind = Key
	}
}

// charLiteral reports whether rest begins with a character in single quotes, as opposed to a
// Rust lifetime or a C++ digit separator.
func charLiteral(rest string) bool {
	if strings.HasPrefix(rest, `'\`) {
		return strings.Contains(rest[2:], "'")
	}
	_, size := utf8.DecodeRuneInString(rest[1:])
	return strings.HasPrefix(rest[1+size:], "'") || strings.HasPrefix(rest, "''")
}

// maxRegexp limits the length of a regular expression in bytes: without it a line of slashes
// takes quadratic time.
const maxRegexp = 4096

// regexp scans a regular expression literal, which begins where no value can end. "</" closes
// a tag, and "++" and "--" may end a value.
func (s *Scanner) regexp() bool {
	rest := s.rest()
	if rest[0] != '/' || len(rest) < 2 || rest[1] == '=' {
		return false
	}
	before := strings.TrimRight(s.src[:s.at], " \t")
	if before != "" && !strings.ContainsAny(before[len(before)-1:], "(,=:[!&|?{};<>+-*%~^") &&
		!strings.HasSuffix(before, "return") {
		return false
	}
	if strings.HasSuffix(s.src[:s.at], "<") || strings.HasSuffix(before, "++") || strings.HasSuffix(before, "--") {
		return false
	}
	class := false
	for i := 1; i < min(len(rest), maxRegexp); i++ {
		switch {
		case rest[i] == '\\':
			i++
		case rest[i] == '[':
			class = true
		case rest[i] == ']':
			class = false
		case rest[i] == '/' && !class:
			s.emit(String, s.at+i+1)
			return true
		}
	}
	return false
}

func (s *Scanner) number() bool {
	rest := s.rest()
	if !isDigit(rest[0]) && !(rest[0] == '.' && len(rest) > 1 && isDigit(rest[1])) {
		return false
	}
	i := 1
	for i < len(rest) && (IsWordByte(rest[i]) || rest[i] == '.' && i+1 < len(rest) && isDigit(rest[i+1]) ||
		isExponentSign(rest, i)) {
		i++
	}
	if s.lang.Units && i < len(rest) && rest[i] == '%' {
		i++
	}
	s.emit(Number, s.at+i)
	return true
}

func isExponentSign(s string, i int) bool {
	return (s[i] == '+' || s[i] == '-') && (s[i-1] == 'e' || s[i-1] == 'E') && i+1 < len(s) && isDigit(s[i+1]) &&
		!strings.HasPrefix(s, "0x")
}

func (s *Scanner) word() bool {
	rest := s.rest()
	size := s.wordSize(rest)
	if size == 0 {
		return false
	}
	word, after := rest[:size], strings.TrimLeft(rest[size:], " \t")
	end := s.at + size
	if s.lang.Fold {
		word = strings.ToLower(word)
	}
	switch {
	case s.lang.words()[word] != Plain && !s.isMember():
		s.emit(s.lang.words()[word], end)
	case s.lang.WordKeys != "" && strings.HasPrefix(after, s.lang.WordKeys) && s.startsLine():
		s.emit(Key, end)
	case word[0] == '$' || word[0] == '@':
		s.emit(Builtin, end)
	case s.lang.Calls && strings.HasPrefix(rest[size:], "("):
		s.emit(Call, end)
	default:
		s.emit(Plain, end)
	}
	return true
}

// isMember reports whether the word at s.at follows a dot: in x.type it is not a keyword.
func (s *Scanner) isMember() bool {
	return s.at > 0 && s.src[s.at-1] == '.' && !strings.HasSuffix(s.src[:s.at], "..") && s.lang.Calls
}

// startsLine reports whether only blanks and list marks precede s.at.
func (s *Scanner) startsLine() bool {
	return strings.Trim(s.src[:s.at], " \t-?{,;") == "" || s.lang.Units
}

// wordSize returns the length of the word at the start of rest, 0 for none.
func (s *Scanner) wordSize(rest string) int {
	i := 0
	if strings.IndexByte(s.lang.Sigils, rest[0]) >= 0 && len(rest) > 1 {
		i = 1
	}
	start := i
	for i < len(rest) {
		c := rest[i]
		if c < utf8.RuneSelf {
			if !IsWordByte(c) && !(i > start && strings.IndexByte(s.lang.WordBytes, c) >= 0) {
				break
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(rest[i:])
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			break
		}
		i += size
	}
	if i == start || isDigit(rest[start]) && start == 0 {
		return 0
	}
	return i
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsWordByte reports whether c is an ASCII letter, digit or underscore.
func IsWordByte(c byte) bool {
	return c == '_' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
