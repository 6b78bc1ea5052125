package tui

import (
	"slices"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/worddiff"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/syntax"
	"github.com/git-runr/git-runr/loop/unidiff"
)

// maxCode is the maximum length in bytes of a shown line of code.
const maxCode = 1 << 14

// shade says how to colour a line of a hunk: its tokens, and the byte ranges that differ from the line that it
// replaced.
type shade struct {
	tokens []syntax.Token
	marks  [][2]int
}

// shades returns the colours of a hunk's lines, by index. They are computed when the first line is drawn. A hunk may
// begin inside a comment, which shades cannot know.
func shades(name string, h unidiff.Hunk) func(line int) shade {
	all := sync.OnceValue(func() []shade {
		language, marks := syntax.Coloured(name), worddiff.Marks(h)
		before, after := syntax.NewScanner(language), syntax.NewScanner(language)
		before.Parts, after.Parts = true, true
		made := make([]shade, len(h.Lines))
		for i, l := range h.Lines {
			text := prose.Cut(l.Text, maxCode)
			if l.Kind != '+' {
				made[i].tokens = slices.Clone(before.Line(text))
			}
			if l.Kind != '-' {
				made[i].tokens = slices.Clone(after.Line(text))
			}
			made[i].marks = marks[i]
		}
		return made
	})
	return func(line int) shade { return all()[line] }
}

// code returns a line for display. An added or removed line keeps its colour, whatever it contains.
func code(l unidiff.Line, s shade) string {
	text := prose.Cut(l.Text, maxCode)
	var b strings.Builder
	from, at, with := 0, 0, kindColour(l.Kind)
	for _, t := range append(slices.Clip(s.tokens), syntax.Token{End: len(text)}) {
		for end := min(t.End, len(text)); at < end; {
			next, marked := worddiff.Piece(s.marks, at, end)
			attributes := kindColour(l.Kind) + kindStyle(t.Kind, l.Kind == ' ')
			if marked {
				attributes += reverse
			}
			if attributes != with {
				b.WriteString(styled(with, text[from:at]))
				from, with = at, attributes
			}
			at = next
		}
	}
	b.WriteString(styled(with, text[from:]))
	if l.NoEOL {
		b.WriteString(styled(faint, " (no line feed at the end)"))
	}
	return b.String()
}

// kindStyle styles words, strings and comments: with colours only if the line has no colour for its change.
func kindStyle(kind syntax.Kind, colours bool) string {
	switch {
	case kind == syntax.Comment:
		return faint
	case kind == syntax.Keyword && !colours, kind == syntax.Heading:
		return bold
	case !colours:
		return ""
	case kind == syntax.Keyword:
		return magenta
	case kind == syntax.String:
		return yellow
	case kind == syntax.Number || kind == syntax.Builtin || kind == syntax.Key:
		return cyan
	}
	return ""
}
