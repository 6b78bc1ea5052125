package record

import (
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/notes"
)

// A commit that lands on a branch which moved, or squashed, is another one than was
// reviewed. What was said of the reviewed one goes along: it stands in the event of the
// landing, so that every clone puts the same on the commit that landed.

// carriedTypes are the events whose notes go along: what became of the work, not what
// stopped it on the way.
var carriedTypes = []string{
	EventRoundCompleted.Name, EventRunCompleted.Name, EventRunIntervened.Name, EventReviewSubmitted.Name, EventReviewChecked.Name, EventReviewResolved.Name, EventReviewReopened.Name,
}

// Limits of what goes along; the newest counts.
const (
	MaxCarried = 200 // commits
	MaxSayings = 20  // of each
)

// SayingsOf is what events, in order, say of commits that goes along: the newest of it, by commit.
func SayingsOf(events []Event) map[gitstore.ID][]Saying {
	said := map[gitstore.ID][]Saying{}
	for _, e := range events {
		if lines := sayingsOf(e); len(lines) > 0 {
			commit, _ := NoteOf(e)
			said[commit] = newestSayings(append(said[commit], lines...))
		}
	}
	return said
}

// NewestSayings returns what events, in order, say of any commit that goes along: the newest of it.
func NewestSayings(events []Event) []Saying {
	var said []Saying
	for _, e := range events {
		said = append(said, sayingsOf(e)...)
	}
	return newestSayings(said)
}

func newestSayings(said []Saying) []Saying { return said[max(0, len(said)-MaxSayings):] }

// carriedNotes are the lines that a landing puts on the commits that landed.
func carriedNotes(e Event, landed Landed) []notes.Line {
	var lines []notes.Line
	from := map[gitstore.ID]gitstore.ID{}
	for _, c := range landed.Carried[:min(len(landed.Carried), MaxCarried)] {
		from[c.To] = c.From
		for _, said := range c.Said[:min(len(c.Said), MaxSayings)] {
			lines = append(lines, notes.Line{Commit: c.To, At: said.At, Text: said.Text})
		}
	}
	for to, from := range from {
		if to != landed.Commit { // that one says it already
			lines = append(lines, notes.Line{Commit: to, At: e.Timestamp, Text: landedText(e, landed, from)})
		}
	}
	return lines
}
