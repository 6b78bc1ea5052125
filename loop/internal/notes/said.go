package notes

import (
	"maps"
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

// Heard is what was read of logs already, by the log. The zero Heard is empty.
type Heard struct {
	logs  map[string]*Said
	spans map[string]span // of the logs of which all is there from one entry to another
}

type span struct{ from, to gitstore.ID }

// Add notes the lines of an entry of a log.
func (h *Heard) Add(writer string, at time.Time, lines []Line) {
	if h.logs == nil {
		h.logs = map[string]*Said{}
	}
	if h.logs[writer] == nil {
		h.logs[writer] = &Said{}
	}
	h.logs[writer].Add(at, lines)
}

// Covers says that all entries of a log after from up to to were added.
func (h *Heard) Covers(writer string, from, to gitstore.ID) {
	if h.spans == nil {
		h.spans = map[string]span{}
	}
	if before, more := h.spans[writer]; more && before.to == from {
		from = before.from
	}
	h.spans[writer] = span{from, to}
}

// Between is what a log says after one entry up to another; nil when that was not heard.
func (h *Heard) Between(writer string, from, to gitstore.ID) *Said {
	if h == nil || h.spans[writer] != (span{from, to}) {
		return nil
	}
	if h.logs[writer] == nil { // nothing that can be read
		return &Said{}
	}
	return h.logs[writer]
}

// Lacking gives tips as far as a reader that has read up to known needs more than what was
// heard; ok is false where nothing was heard, or something that is not of what it lacks.
func (h *Heard) Lacking(known, tips gitstore.Tips) (rest gitstore.Tips, ok bool) {
	rest = maps.Clone(tips)
	for writer := range h.logs {
		if h.Between(writer, known[writer], tips[writer]) == nil {
			return nil, false
		}
	}
	for writer := range h.spans {
		if h.Between(writer, known[writer], tips[writer]) == nil {
			return nil, false
		}
		leave(rest, known, writer)
	}
	return rest, len(h.spans) > 0
}

// leave takes what a log has beyond known out of rest.
func leave(rest, known gitstore.Tips, writer string) {
	if rest[writer] = known[writer]; known[writer] == "" {
		delete(rest, writer)
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
