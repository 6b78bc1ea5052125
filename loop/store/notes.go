package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/notes"
	"github.com/git-runr/git-runr/loop/record"
)

// NotesRef is the ref of readable notes on the commits that events are about: see package notes.
const NotesRef = "refs/notes/runr"

// Project updates the notes from the logs.
func (s *Store) Project(ctx context.Context) error { return s.project(ctx, false) }

// RebuildNotes derives all notes from the logs again.
func (s *Store) RebuildNotes(ctx context.Context) error { return s.project(ctx, true) }

func (s *Store) project(ctx context.Context, afresh bool) error {
	return notes.Projection{Repo: s.Repo, Ref: NotesRef, Tips: s.notedTips, Read: s.readSaid, Tell: s.tell}.Project(ctx,
		afresh)
}

// notedTips returns the tips of the logs that notes are made of: those that everybody at the elected remote may see,
// because the notes are pushed there.
func (s *Store) notedTips(ctx context.Context) (gitstore.Tips, error) {
	tips, err := s.tips(ctx)
	if err != nil || s.Repo.OneAudience() {
		return tips, err
	}
	maps.DeleteFunc(tips, func(writer string, _ gitstore.ID) bool {
		return s.Repo.Audience(writer) != (gitstore.Audience{})
	})
	return tips, nil
}

// readSaid adds to said what the logs say beyond known, and returns the logs that have lost records.
func (s *Store) readSaid(ctx context.Context, known, tips gitstore.Tips, said *notes.Said) (lost []string, err error) {
	about := map[string]bool{} // ids of reviews
	scratch, fresh := &index{manifest: manifest{Tips: known}}, &notes.Said{}
	err = s.eachNew(ctx, scratch, tips, func() func(record.Event) {
		fresh = &notes.Said{}
		clear(about)
		return func(e record.Event) {
			fresh.Add(e.Timestamp, record.NotesOf(e))
			if e.Review != "" {
				about[e.Review] = true
			}
		}
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		err = s.dropNotes(ctx, about, fresh)
	}
	said.Join(fresh)
	return each.Of(scratch.Damaged, func(d damagedRecord) string { return d.Writer }), err
}

// dropNotes removes the redacted texts of reviews from the notes and keeps the rest.
func (s *Store) dropNotes(ctx context.Context, reviews map[string]bool, said *notes.Said) error {
	ws, err := s.withdrawals(ctx, reviews)
	if err != nil {
		return err
	}
	for _, w := range ws {
		events, err := s.entityEvents(ctx, kindReview, w.Review())
		if err != nil {
			return err
		}
		for _, run := range w.Runs() {
			about, err := s.entityEvents(ctx, kindRun, run)
			if err != nil && !record.Unknown(err) {
				return err
			}
			events = append(events, about...)
		}
		for _, e := range events {
			was, is := record.NotesOf(e), record.NotesOf(w.Event(e))
			if !slices.Equal(was, is) {
				said.Drop(was)
				said.Add(time.Time{}, is) // they are not new
			}
		}
	}
	return nil
}

// BeginNotes creates the notes ref if it does not exist, because git warns about a missing ref that it should display.
func (s *Store) BeginNotes(ctx context.Context) error {
	if tip, err := s.Repo.Ref(ctx, NotesRef); err != nil || tip != "" {
		return err
	}
	return s.RebuildNotes(ctx)
}

// Note returns a commit's note, or "". It does not update the notes first: a clone may have the notes and not the logs.
func (s *Store) Note(ctx context.Context, commit gitstore.ID) (string, error) {
	notes, err := s.Repo.OpenNotes(ctx, NotesRef)
	if err != nil {
		return "", fmt.Errorf("read notes: %w", err)
	}
	text, err := notes.Get(ctx, commit)
	if err != nil {
		return "", fmt.Errorf("read note on %s: %w", commit.Short(), err)
	}
	return string(text), nil
}
