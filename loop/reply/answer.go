package reply

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-runr/git-runr/loop/internal/markdown"
	"github.com/git-runr/git-runr/loop/prose"
)

// answer is a reviewer's answer while it is being read.
type answer struct {
	nonce   string
	md      markdown.Text
	lines   []readLine // the classified lines of md
	found   []candidate
	loose   []Finding // from objects that are not a report
	read    []int     // lines that belong to a report
	broken  bool      // an intended report could not be read
	refused bool      // the words beside a pass refuse
	tallied bool      // the answer counts critical findings
	log     *markdown.Warnings
}

// candidate is a report found in an answer, on the lines [from, to].
type candidate struct {
	Report
	from, to int
	unread   string // an unknown field of its object that may hold findings
}

// rest returns the text without the lines that belong to a report.
func (a *answer) rest() markdown.Text {
	rest := a.md
	rest.Lines = slices.Clone(a.md.Lines)
	for _, i := range a.read {
		rest.Lines[i].Kind = markdown.LineTaken
	}
	return rest
}

// speaks reports whether the lines [from, to) contain words of the author.
func (a *answer) speaks(from, to int) bool {
	return slices.ContainsFunc(a.md.Lines[from:max(from, to)], func(l markdown.Line) bool { return !l.Silent() })
}

// isAnswer reports whether the lines [from, to] are the author's answer, and not part of a
// sentence or introduced by one. A titled report may follow any line.
func (a *answer) isAnswer(from, to int, titled bool) bool {
	if a.md.Lines[from].Enclosed {
		return false
	}
	above := from - 1
	for above > 0 && a.md.Lines[above].Blank() {
		above--
	}
	if above >= 0 {
		l := a.md.Lines[above]
		level, _ := l.HeadingOrBold()
		told := l.Kind == markdown.LineText && level == 0 && endsInColon(l.Text) && !announces(l.Text)
		joined := above == from-1 && level == 0 &&
			(l.Kind == markdown.LineQuote || l.Kind == markdown.LineText && !endsSentence(l.Text))
		if told || !titled && joined && !announces(l.Text) {
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

// endsSentence reports whether the line below text begins a new sentence: text ends in a
// stop, is an item or has a label.
func endsSentence(text string) bool {
	_, _, listed := markdown.CutBullet(text)
	last := lastRune(strings.TrimRightFunc(text, func(r rune) bool {
		return markdown.IsDecor(r) || strings.ContainsRune(")\"'", r)
	}))
	return listed || strings.ContainsRune(".!?…", last) || markdown.Labelled(text) != "" || strings.TrimSpace(text) == ""
}

// answerWords and answerNouns are the words of a line that announces the answer: "Here is
// my review of the change:", "BEGIN_JSON".
var (
	answerWords = prose.WordSet(
		`here is are my the this final full complete of as in and below follows following requested i structured change changes commit patch pr begin_json`)
	answerNouns = prose.WordSet(
		`review report verdict result results answer json output summary decision conclusion assessment response begin_json`)
)

func announces(text string) bool {
	words := wordsOf(text)
	return hasWord(words, answerNouns) && !slices.ContainsFunc(words, func(w string) bool {
		return !answerWords.Has(w) && !answerNouns.Has(w)
	})
}

// maxSummary limits the summary taken from an answer, in bytes.
const maxSummary = 4000
