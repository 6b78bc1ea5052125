package notes

import (
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Line is one line on a commit.
type Line struct {
	Commit gitstore.ID
	At     time.Time
	Text   string
}

// Said is what entries of logs say on commits, in no order. The zero Said is empty.
type Said struct {
	lines  map[gitstore.ID][]string // by commit
	gone   map[string]bool          // lines that were taken back
	newest time.Time                // entry
}

// Add notes the lines of an entry of that time.
func (a *Said) Add(at time.Time, lines []Line) {
	if at.After(a.newest) {
		a.newest = at
	}
	for _, l := range lines {
		a.put(l.Commit, l.At.UTC().Format(timeForm)+" "+safetext.Line(l.Text))
	}
}

// Drop takes lines back, also from notes that have them already.
func (a *Said) Drop(lines []Line) {
	if a.gone == nil {
		a.gone = map[string]bool{}
	}
	for _, l := range lines {
		line := l.At.UTC().Format(timeForm) + " " + safetext.Line(l.Text)
		a.gone[line] = true
		a.put(l.Commit) // its note is written again
	}
}

// Keep adds lines that were not new when they were read.
func (a *Said) Keep(lines []Line) { a.Add(time.Time{}, lines) }

func (a *Said) put(commit gitstore.ID, lines ...string) {
	if a.lines == nil {
		a.lines = map[gitstore.ID][]string{}
	}
	a.lines[commit] = append(a.lines[commit], lines...)
}

// Join adds what b has.
func (a *Said) Join(b *Said) {
	if b.newest.After(a.newest) {
		a.newest = b.newest
	}
	for commit, lines := range b.lines {
		a.put(commit, lines...)
	}
	for line := range b.gone {
		if a.gone == nil {
			a.gone = map[string]bool{}
		}
		a.gone[line] = true
	}
}

// joinLines is a note with lines more, each once, and without those that are gone.
func joinLines(old []byte, added []string, gone map[string]bool) []byte {
	all := slices.Concat(strings.FieldsFunc(string(old), func(r rune) bool { return r == '\n' }), added)
	slices.Sort(all)
	var text []byte
	for _, line := range slices.Compact(all) {
		if gone[line] {
			continue
		}
		text = append(append(text, line...), '\n')
	}
	return text
}
