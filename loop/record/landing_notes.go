package record

import (
	"context"
	"slices"

	"git-runr/gitstore"
	"git-runr/loop/internal/notes"
)

// A commit that lands on a branch which moved, or squashed, is another one than was
// reviewed. What was said of the reviewed one goes along: it stands in the event of the
// landing, so that every clone puts the same on the commit that landed.

// carriedTypes are the events whose notes go along: what became of the work, not what
// stopped it on the way.
var carriedTypes = []string{
	EventRoundCompleted.Name, EventRunCompleted.Name, EventRunIntervened.Name, EventReviewSubmitted.Name, EventReviewResolved.Name, EventReviewReopened.Name,
}

// Limits of what goes along; the newest counts.
const (
	maxCarried = 200
	maxSayings = 20
)

// Carried are the commits of run that landed as others, with what was said of them.
// The branch has moved already: that something cannot be read is no reason to fail.
func (s *Store) Carried(ctx context.Context, run Run, landed Landed) []Carried {
	spec := gitstore.LandSpec{Result: run.Commit, Base: run.Plan.Base, Squash: landed.Squash}
	moved, err := s.Repo.LandedAs(ctx, spec, gitstore.Landed{Commit: landed.Commit, Old: landed.Onto})
	if err != nil || len(moved) == 0 {
		return nil
	}
	var carried []Carried
	said := map[gitstore.ID][]Saying{}
	if !landed.Stale { // else it is not what was spoken of
		said = s.saidOf(ctx, run, moved)
	}
	for _, m := range moved[max(0, len(moved)-maxCarried):] {
		lines := said[m.From]
		carried = append(carried, Carried{m.From, m.To, lines[max(0, len(lines)-maxSayings):]})
	}
	return carried
}

// saidOf is what run and reviews of its commits said of those that moved, by commit.
func (s *Store) saidOf(ctx context.Context, run Run, moved []gitstore.Moved) map[gitstore.ID][]Saying {
	events, _ := s.RunEvents(ctx, run.ID)
	reviews, _, _ := s.Reviews(ctx, Filter{Review: func(r ReviewSummary) bool {
		return slices.ContainsFunc(moved, func(m gitstore.Moved) bool { return m.From == r.Commit })
	}})
	for _, review := range reviews {
		of, _ := s.ReviewEvents(ctx, review.ID)
		events = append(events, of...)
	}
	Sort(events)
	said := map[gitstore.ID][]Saying{}
	for _, e := range events {
		if lines := sayingsOf(e); len(lines) > 0 {
			commit, _ := NoteOf(e)
			said[commit] = append(said[commit], lines...)
		}
	}
	return said
}

// carriedNotes are the lines that a landing puts on the commits that landed.
func carriedNotes(e Event, landed Landed) []notes.Line {
	var lines []notes.Line
	from := map[gitstore.ID]gitstore.ID{}
	for _, c := range landed.Carried[:min(len(landed.Carried), maxCarried)] {
		from[c.To] = c.From
		for _, said := range c.Said[:min(len(c.Said), maxSayings)] {
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
