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

// maxCode is how much of a line of code is shown, in bytes.
const maxCode = 1 << 14

// shade is how a line of a hunk is coloured: its tokens, and what of it is not in the line that it took
// the place of, from byte to byte.
type shade struct {
	tokens []syntax.Token
	marks  [][2]int
}

// shades are those of a hunk's lines, by index; they are made when the first line is seen. A hunk may
// begin inside of a comment, of which nothing is known.
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

// code is a line as it is shown. What was added or removed keeps its colour, whatever stands in it.
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

// kindStyle sets off words, strings and comments: by colours where none says what was changed.
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
