package record

import (
	"strings"

	"github.com/git-runr/git-runr/loop/internal/notes"
)

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
