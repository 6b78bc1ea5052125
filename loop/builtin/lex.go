package builtin

import (
	"context"
	"strings"

	"github.com/git-runr/git-runr/loop/syntax"
)

// codeLine is a line of the new content, split into code and comment. Both are as long as
// Text; the rest is blank.
type codeLine struct {
	Line
	added    bool
	code     string
	comment  string
	inString bool // the line begins inside a string
	leftOpen bool // the line ends inside a string
}

// takeApart splits the lines that the diff shows, in order. The gaps between hunks are
// unknown, so each run of lines is assumed to begin in code. It ends early when ctx does.
func takeApart(ctx context.Context, lang *syntax.Language, f File) []codeLine {
	lines := make([]codeLine, 0, len(f.Added)+len(f.Context))
	var scan *syntax.Scanner
	a, c := f.Added, f.Context
	for len(a)+len(c) > 0 && ctx.Err() == nil {
		var l codeLine
		if len(c) == 0 || (len(a) > 0 && a[0].Number < c[0].Number) {
			l, a = codeLine{Line: a[0], added: true}, a[1:]
		} else {
			l, c = codeLine{Line: c[0]}, c[1:]
		}
		if n := len(lines); n == 0 || lines[n-1].Number+1 != l.Number {
			scan = syntax.NewScanner(lang)
			scan.Parts = true
		}
		l.scan(scan)
		lines = append(lines, l)
	}
	return lines
}

// scan splits the line. The first byte of a string stays in the code, so that a rule can see
// that an argument is a string.
func (l *codeLine) scan(scan *syntax.Scanner) {
	l.inString = scan.Open() == syntax.String
	code, comment := blanks(len(l.Text)), blanks(len(l.Text))
	begin := 0
	for _, t := range scan.Line(l.Text) {
		switch {
		case t.Kind == syntax.Comment:
			copy(comment[begin:t.End], l.Text[begin:])
		case t.Kind != syntax.String:
			copy(code[begin:t.End], l.Text[begin:])
		case begin > 0 || !l.inString:
			code[begin] = l.Text[begin]
		}
		begin = t.End
	}
	l.code, l.comment = string(code), string(comment)
	l.leftOpen = scan.Open() == syntax.String
}

func blanks(n int) []byte { return []byte(strings.Repeat(" ", n)) }
