// Package markdown marks which lines of a text are the author's own words, and finds sections,
// labels and JSON objects. It follows the habits of agents rather than a Markdown standard.
package markdown

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/gitstore/lazyre"
	"github.com/git-runr/git-runr/loop/prose"
)

// MaxParsed is the number of bytes of an answer that are read, far above any real answer.
const MaxParsed = 4 << 20

// maxParseWarnings limits the warnings that a hostile answer can cause.
const maxParseWarnings = 50

// Warnings collects remarks about text that could not be read as written.
type Warnings struct {
	lines []string
	more  int
}

// Add stores a warning; from the 51st on it only counts them.
func (l *Warnings) Add(warning string) {
	if len(l.lines) >= maxParseWarnings {
		l.more++
		return
	}
	l.lines = append(l.lines, warning)
}

// All returns the warnings; the result is never nil.
func (l *Warnings) All() []string {
	out := append([]string{}, l.lines...)
	if l.more > 0 {
		out = append(out, "more warnings were left out")
	}
	return out
}

// Clean normalises an agent's output: one kind of line end, valid UTF-8, no byte order mark,
// no terminal colours, at most MaxParsed bytes. whole is false if the text was cut.
func Clean(text string, log *Warnings) (clean string, whole bool) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = colours().ReplaceAllLiteralString(strings.TrimPrefix(text, "\uFEFF"), "")
	if len(text) > MaxParsed {
		log.Add("the answer is longer than 4 MiB: the rest was not read")
	}
	return prose.Cut(text, MaxParsed), len(text) <= MaxParsed
}

// colours matches the escape sequences for colours.
var colours = lazyre.Compile(`\x1b\[[0-9;]*[mK]?`)

// lineEnds are the characters besides "\n" and "\r\n" at which only some programs end a line.
const lineEnds = "\r\v\f\u0085\u2028\u2029"

// Printable replaces each of lineEnds by U+2028 and every other control character by U+FFFD,
// which separates words as an unreadable character does.
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
	lineDiff             // inside a hunk of a diff without a fence
	LineQuote            // blockquote, or a repeated element of a prompt
	LineComment          // HTML comment
	LineTaken            // read as part of a report already
)

// Line is one line of Markdown and its kind. Only a LineText line is the author's own words.
type Line struct {
	Text string
	Kind lineKind
	Info string // info string of the fence that the line opens
	// Torn: the line begins after one of lineEnds, so only some programs show it as a line.
	Torn bool
	// Enclosed: the line is in HTML that opens on a line above and closes below, and is not shown or is code: a comment
	// that begins within a line, <pre>, <code>.
	Enclosed bool
}

// Alone reports whether a fence that l opens is a block of the text itself, and not a part of a list, of code by its
// indentation or of HTML.
func (l Line) Alone() bool {
	_, _, listed := CutBullet(l.Text)
	return !listed && !l.Enclosed && IndentOf(l.Text) < 2
}

// Blank reports whether the line holds white space only.
func (l Line) Blank() bool { return strings.TrimSpace(l.Text) == "" }

// Silent reports whether l is blank or not the author's words.
func (l Line) Silent() bool { return l.Blank() || l.Kind == LineQuote || l.Kind == LineComment }

// Quotes reports whether l is a quotation, code or a diff: words that somebody else may have said.
func (l Line) Quotes() bool {
	return l.Kind == LineCode || l.Kind == lineDiff ||
		l.Kind == LineQuote && strings.HasPrefix(strings.TrimSpace(l.Text), ">")
}

// Text is a text as classified lines.
type Text struct {
	Lines []Line
	// Unclosed: a fence or comment runs to the end, and may hide something important.
	Unclosed bool
}

// Read splits text into lines. If the answer is one single fence, as models sometimes wrap a
// whole answer, it reads the content of the fence, and the quotations beside it.
func Read(text string) Text {
	md := Split(text)
	first, last := md.Bounds()
	if last-first < 2 || md.Lines[first].Kind != LineFence || md.Lines[last].Kind != LineFence ||
		!slices.Contains([]string{"", "md", "markdown", "text", "txt"}, strings.ToLower(md.Lines[first].Info)) {
		return md
	}
	var inner []string
	for i, l := range md.Lines {
		switch {
		case i == first, i == last:
			l.Text = ""
		case i > first && i < last && l.Kind != LineCode:
			return md
		}
		inner = append(inner, l.Text)
	}
	return Split(strings.Join(inner, "\n"))
}

// Bounds returns the first and the last line that is neither blank nor quoted.
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

// IndentOf returns the width of the white space before s; a tab counts 4.
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

var bullet = lazyre.Compile(`^(?:•|(?:\(?[0-9]{1,4}[.)]|\(?[A-Za-z]\)|[-*+◦▪●○■‣–→])[ \t])`)

// CutBullet cuts a list mark ("- ", "* ", "+ ", "• ", "◦ ", "1. ", "1) ", "(1) ", "a) ") off a line.
func CutBullet(text string) (indent int, rest string, ok bool) {
	s := strings.TrimLeft(text, " \t")
	mark := bullet().FindString(s)
	if rest = s[len(mark):]; mark != "" {
		rest = strings.TrimSpace(rest)
	}
	return IndentOf(text), rest, mark != ""
}

// Number parses digits; it returns 0 for anything that is not a plausible number.
func Number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil || n > 1<<30 {
		return 0
	}
	return n
}
