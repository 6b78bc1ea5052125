package notes

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/safetext"
)

// Line is one line of a commit's note.
type Line struct {
	Commit gitstore.ID
	At     time.Time
	Text   string
}

// Said is a set of note lines from log entries. The zero Said is empty.
type Said struct {
	lines  map[gitstore.ID][]string // by commit
	gone   map[string]bool          // lines to remove
	newest time.Time                // time of the newest entry
}

// Add adds the lines of an entry with its time.
func (a *Said) Add(at time.Time, lines []Line) {
	if at.After(a.newest) {
		a.newest = at
	}
	for _, l := range lines {
		a.put(l.Commit, l.At.UTC().Format(timeForm)+" "+safetext.Line(l.Text))
	}
}

// Drop removes lines, also from notes that already have them.
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

// Keep adds lines that are not new.
func (a *Said) Keep(lines []Line) { a.Add(time.Time{}, lines) }

func (a *Said) put(commit gitstore.ID, lines ...string) {
	if a.lines == nil {
		a.lines = map[gitstore.ID][]string{}
	}
	a.lines[commit] = append(a.lines[commit], lines...)
}

// Join adds the content of b.
func (a *Said) Join(b *Said) {
	if b.newest.After(a.newest) {
		a.newest = b.newest
	}
	for commit, lines := range b.lines {
		a.put(commit, lines...)
	}
	if a.gone == nil {
		a.gone = map[string]bool{}
	}
	maps.Copy(a.gone, b.gone)
}

// joinLines returns a note with added lines, without duplicates and without the lines in gone.
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
