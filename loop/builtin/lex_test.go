package builtin

import (
	"context"
	"testing"

	"github.com/git-runr/git-runr/loop/syntax"
)

// A part of a file may begin inside a string, so a quote ends with its line and cannot hide later findings.
func TestTakeApartBeginsAnywhere(t *testing.T) {
	f := newText("a.rb", "it's the end of a text\nbyebug\n")
	wantFound(t, review(f), "warning debug 2")
}

func TestTakeApartStrings(t *testing.T) {
	lines := takeApart(context.Background(), syntax.Reviewed("a.py"), newText("a.py", "x = '''a\nb\nc''' + 'd' # e\n"))
	for i, want := range []struct {
		code, comment    string
		inString, opened bool
	}{
		{"x = '   ", "        ", false, true},
		{" ", " ", true, true},
		{"     + '      ", "           # e", true, false},
	} {
		l := lines[i]
		if l.code != want.code || l.comment != want.comment || l.inString != want.inString || l.leftOpen != want.opened {
			t.Errorf("line %d: %q, %q, %v, %v", i+1, l.code, l.comment, l.inString, l.leftOpen)
		}
	}
}
