package reply

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/internal/markdown"
)

// answer is a reviewer's answer while it is read.
type answer struct {
	nonce   string
	md      markdown.Text
	lines   []readLine // those of md, and what they are
	found   []candidate
	loose   []Finding // that stand in objects which are no report
	read    []int     // lines that a report was made of
	broken  bool      // what meant to be a report could not be read
	refused bool      // the words beside a pass refuse
	tallied bool      // it counts critical findings
	log     *markdown.Warnings
}

// candidate is a report that stands in an answer, on the lines [from, to].
type candidate struct {
	Report
	from, to int
	unread   string // the field of an object that may hold faults and is not known
}

// rest is the text without the lines that a report was made of.
func (a *answer) rest() markdown.Text {
	rest := a.md
	rest.Lines = slices.Clone(a.md.Lines)
	for _, i := range a.read {
		rest.Lines[i].Kind = markdown.LineTaken
	}
	return rest
}

// speaks reports whether the author says something in the lines [from, to).
func (a *answer) speaks(from, to int) bool {
	return slices.ContainsFunc(a.md.Lines[from:max(from, to)], func(l markdown.Line) bool { return !l.Silent() })
}

// isAnswer reports whether the lines [from, to] are what the author answers, and not
// a part of a sentence or what a sentence tells of. A title may stand below any line.
func (a *answer) isAnswer(from, to int, titled bool) bool {
	above := from - 1
	for above > 0 && a.md.Lines[above].Blank() {
		above--
	}
	if above >= 0 {
		l := a.md.Lines[above]
		level, _ := l.HeadingOrBold()
		told := l.Kind == markdown.LineText && endsInColon(l.Text)
		begins := strings.TrimSpace(l.Text) == "BEGIN_JSON" // runr's mark above an answer
		if level == 0 && !begins && (told || !titled && above == from-1) {
			return false
		}
	}
	below := to + 1
	for below < len(a.md.Lines)-1 && a.md.Lines[below].Blank() {
		below++
	}
	if below >= len(a.md.Lines) || titled && below > to+1 {
		return true
	}
	l := a.md.Lines[below]
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(l.Text))
	return l.Kind != markdown.LineText || !unicode.IsLower(first) || markdown.Labelled(l.Text) != ""
}

// maxSummary is how much of an unreadable answer is kept, in bytes.
const maxSummary = 4000
