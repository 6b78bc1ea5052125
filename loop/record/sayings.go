package record

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/notes"
)

// A commit that is squashed, or lands on a branch that moved, becomes another commit than the reviewed one. The
// event of the landing carries the reviewed commit's notes, so that every clone writes them on the landed commit.

// carriedTypes are the events whose notes are carried: results of the work, not stops on the way.
var carriedTypes = []string{
	EventRoundCompleted.Name, EventRunCompleted.Name, EventRunIntervened.Name, EventReviewSubmitted.Name,
	EventReviewChecked.Name, EventReviewResolved.Name, EventReviewReopened.Name,
}

// Limits of carried notes; the newest are kept.
const (
	MaxCarried = 200 // commits
	MaxSayings = 20  // lines of each commit
)

// SayingsOf returns the newest carried lines of events, which must be in order, by commit.
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

// NewestSayings returns the newest carried lines of events, which must be in order, for all commits together.
func NewestSayings(events []Event) []Saying {
	return newestSayings(slices.Concat(each.Of(events, sayingsOf)...))
}

func newestSayings(said []Saying) []Saying { return said[max(0, len(said)-MaxSayings):] }

// carriedNotes returns the lines that a landing adds to the notes of the landed commits.
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
		if to != landed.Commit { // landedNote writes this line for landed.Commit
			lines = append(lines, notes.Line{Commit: to, At: e.Timestamp, Text: landedText(e, landed, from)})
		}
	}
	return lines
}

// sayingsOf returns the lines of an event's note, if notes of its type are carried.
func sayingsOf(e Event) []Saying {
	if !slices.Contains(carriedTypes, e.Type) {
		return nil
	}
	return each.Of(NotesOf(e), func(line notes.Line) Saying { return Saying{line.At, line.Text} })
}

// movedNotes returns the lines that a move adds to notes. Their time comes from the code, so that clones that notice
// the same move write the same line.
func movedNotes(e Event, m Move) []notes.Line {
	line := func(on gitstore.ID, format string, args ...any) []notes.Line {
		return []notes.Line{{Commit: on, At: m.When, Text: "review " + e.Review + fmt.Sprintf(format, args...)}}
	}
	switch m.State {
	case MoveCarried:
		lines := line(m.To, " carried from %s: the same change", m.From.Short())
		for _, said := range m.Said[:min(len(m.Said), MaxSayings)] {
			lines = append(lines, notes.Line{Commit: m.To, At: said.At, Text: said.Text})
		}
		return lines
	case MoveStale:
		again := ""
		if m.Again != "" {
			again = ", asked again as " + m.Again
		}
		return line(m.To, " of %s is stale: this is another change%s", m.From.Short(), again)
	case MoveGone:
		return line(m.From, ": the code is gone, "+NoBranch+" has it")
	}
	return nil
}

// NotesOf returns the lines that an event adds to the notes of commits. It depends on the event alone, so that the
// notes do not depend on the order in which events arrived.
func NotesOf(e Event) []notes.Line {
	var lines []notes.Line
	if commit, text := NoteOf(e); commit != "" {
		for line := range strings.Lines(text) {
			lines = append(lines, notes.Line{Commit: commit, At: e.Timestamp, Text: strings.TrimRight(line, "\n")})
		}
	}
	if e.Type == EventReviewMoved.Name {
		if m, err := EventReviewMoved.Payload(e); err == nil {
			lines = append(lines, movedNotes(e, m)...)
		}
	}
	if e.Type == EventRunLanded.Name {
		if landed, err := EventRunLanded.Payload(e); err == nil {
			lines = append(lines, carriedNotes(e, landed)...)
		}
	}
	return lines
}
