// Package markdown says of each line of a text whether its author speaks in it, and finds
// the sections, labels and JSON objects in it, as agents write them and not as a standard does.
package markdown

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/prose"
)

// MaxParsed is how much of an answer is read: far above any real one.
const MaxParsed = 4 << 20

// maxParseWarnings keeps a hostile answer from filling the report with warnings.
const maxParseWarnings = 50

// Warnings collects what could not be read as it stood.
type Warnings struct {
	lines []string
	more  int
}

// Add keeps a warning. From the 51st on they are only counted.
func (l *Warnings) Add(warning string) {
	if len(l.lines) >= maxParseWarnings {
		l.more++
		return
	}
	l.lines = append(l.lines, warning)
}

// All is never nil.
func (l *Warnings) All() []string {
	out := append([]string{}, l.lines...)
	if l.more > 0 {
		out = append(out, "more warnings were left out")
	}
	return out
}

// Clean makes an agent's output readable: one kind of line end, valid UTF-8,
// no byte order mark, no terminal colours, at most MaxParsed bytes.
func Clean(text string, log *Warnings) (clean string, whole bool) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = withoutColours(strings.TrimPrefix(text, "\uFEFF"))
	if len(text) > MaxParsed {
		log.Add("the answer is longer than 4 MiB: the rest was not read")
	}
	return prose.Cut(text, MaxParsed), len(text) <= MaxParsed
}

// withoutColours takes out the escape sequences by which terminals colour text.
func withoutColours(s string) string {
	before, rest, found := strings.Cut(s, "\x1b[")
	if !found {
		return s
	}
	var b strings.Builder
	for found {
		b.WriteString(before)
		rest = strings.TrimLeft(rest, "0123456789;")
		if rest != "" && (rest[0] == 'm' || rest[0] == 'K') {
			rest = rest[1:]
		}
		before, rest, found = strings.Cut(rest, "\x1b[")
	}
	b.WriteString(before)
	return b.String()
}

// lineEnds are what some programs end a line at beside "\n" and "\r\n", and some do not.
const lineEnds = "\r\v\f\u0085\u2028\u2029"

// Printable is clean with U+2028 for each of lineEnds, and U+FFFD for the other
// control characters: they part words, as a character that nobody can read does.
func Printable(clean string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(lineEnds, r):
			return '\u2028'
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			return utf8.RuneError
		}
		return r
	}, clean)
}

type lineKind byte

const (
	LineText    lineKind = iota
	LineFence            // opens or closes a code fence
	LineCode             // inside a fence
	lineDiff             // inside a hunk of a diff that stands without a fence
	LineQuote            // blockquote, or an element of a prompt that was said again
	LineComment          // HTML comment
	LineTaken            // already read as part of a report
)

// Line is one line of Markdown and how much its words count: only a LineText
// line is the author speaking.
type Line struct {
	Text string
	Kind lineKind
	Info string // of the fence that the line opens
	// Torn: the line begins behind one of lineEnds, so only some programs show it as one.
	Torn bool
}

// Blank reports whether the line holds white space only.
func (l Line) Blank() bool { return strings.TrimSpace(l.Text) == "" }

// Silent reports whether l is not part of what the author says.
func (l Line) Silent() bool { return l.Blank() || l.Kind == LineQuote || l.Kind == LineComment }

// Text is a text, line by line.
type Text struct {
	Lines []Line
	// unclosed: a fence or comment runs to the end. What it hides may matter.
	Unclosed bool
	Torn     bool // some lines are
}

// Read splits text into lines. An answer that is one single fence
// (models wrap whole answers in one) is read as what it holds; quotations beside it
// are not the answer.
func Read(text string) Text {
	md := Split(text)
	first, last := md.Bounds()
	if last-first < 2 || md.Lines[first].Kind != LineFence || md.Lines[last].Kind != LineFence || !wrapsText(md.Lines[first].Info) {
		return md
	}
	var inner []string
	for _, l := range md.Lines[first+1 : last] {
		if l.Kind != LineCode {
			return md
		}
		inner = append(inner, l.Text)
	}
	return Split(strings.Join(inner, "\n"))
}

func wrapsText(info string) bool {
	switch strings.ToLower(info) {
	case "", "md", "markdown", "text", "txt":
		return true
	}
	return false
}

// Bounds is the first and the last line that is neither blank nor quoted.
func (md Text) Bounds() (first, last int) {
	last = len(md.Lines) - 1
	for first < last && md.Lines[first].Silent() {
		first++
	}
	for last > first && md.Lines[last].Silent() {
		last--
	}
	return first, last
}

// IndentOf is the width of the white space before s.
func IndentOf(s string) int {
	width := 0
	for _, r := range s {
		switch r {
		case ' ':
			width++
		case '\t':
			width += 4
		default:
			return width
		}
	}
	return width
}

// CutBullet takes a list mark ("- ", "* ", "+ ", "• ", "◦ ", "1. ", "1) ", "(1) ", "a) ") off a line.
func CutBullet(text string) (indent int, rest string, ok bool) {
	s := strings.TrimLeft(text, " \t")
	indent = IndentOf(text)
	number := strings.TrimPrefix(s, "(")
	digits := len(number) - len(strings.TrimLeft(number, "0123456789"))
	switch {
	case digits > 0 && digits < 5 && len(number) > digits && (number[digits] == '.' || number[digits] == ')'):
		rest = number[digits+1:]
	case len(number) > 1 && unicode.IsLetter(rune(number[0])) && number[1] == ')':
		rest = number[2:]
	case strings.HasPrefix(s, "•"):
		return indent, strings.TrimSpace(s[len("•"):]), true
	case strings.IndexAny(s, "-*+◦▪●○■‣–→") == 0:
		_, size := utf8.DecodeRuneInString(s)
		rest = s[size:]
	default:
		return indent, s, false
	}
	if rest == "" || (rest[0] != ' ' && rest[0] != '\t') {
		return indent, s, false
	}
	return indent, strings.TrimSpace(rest), true
}

// Number is 0 for what cannot be one.
func Number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || n > 1<<30 {
		return 0
	}
	return n
}
