package store

import (
	"context"
	"fmt"
	"maps"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/notes"
	"github.com/git-runr/git-runr/loop/record"
)

// NotesRef carries readable lines on the commits that events speak of: see package notes.
const NotesRef = "refs/notes/runr"

// Project brings the notes up to the logs.
func (s *Store) Project(ctx context.Context) error { return s.project(ctx, false, nil) }

// ProjectRead is Project where some of what the logs say was collected already.
func (s *Store) ProjectRead(ctx context.Context, y *Heard) error {
	return s.project(ctx, false, &y.Heard)
}

// RebuildNotes derives all notes from the logs again.
func (s *Store) RebuildNotes(ctx context.Context) error { return s.project(ctx, true, nil) }

func (s *Store) project(ctx context.Context, afresh bool, heard *notes.Heard) error {
	return notes.Projection{Repo: s.Repo, Ref: NotesRef, Tips: s.notedTips, Read: s.readSaid, Tell: s.tell}.Project(ctx, afresh, heard)
}

// notedTips returns the logs that notes are made of: those that everybody at the elected remote may see, for notes are pushed there.
func (s *Store) notedTips(ctx context.Context) (gitstore.Tips, error) {
	tips, err := s.tips(ctx)
	if err != nil || s.Repo.OneAudience() {
		return tips, err
	}
	maps.DeleteFunc(tips, func(writer string, _ gitstore.ID) bool { return s.Repo.Audience(writer) != (gitstore.Audience{}) })
	return tips, nil
}

// readSaid adds to said what the logs say beyond known, and names those that have lost something.
func (s *Store) readSaid(ctx context.Context, known, tips gitstore.Tips, said *notes.Said) (lost []string, err error) {
	scratch, fresh := &index{manifest: manifest{Tips: known}}, &notes.Said{}
	err = s.eachNew(ctx, scratch, tips, func() func(record.Event) {
		fresh = &notes.Said{}
		return func(e record.Event) { fresh.Add(e.Timestamp, record.NotesOf(e)) }
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	said.Join(fresh)
	for _, d := range scratch.Damaged {
		lost = append(lost, d.Writer)
	}
	return lost, err
}

// BeginNotes makes the notes where there are none: git warns of a ref that it is to
// show and does not find.
func (s *Store) BeginNotes(ctx context.Context) error {
	if tip, err := s.Repo.Ref(ctx, NotesRef); err != nil || tip != "" {
		return err
	}
	return s.RebuildNotes(ctx)
}

// Note is the text of a commit's note, "" when there is none. It is brought up to no
// log: a clone may have the notes and not the logs.
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

// Heard is what events say in notes, by the log that they are in, and with Index what the
// index wants of them. Whoever reads new events anyway collects it, so that notes and index
// need not read them again. The zero Heard is empty.
type Heard struct {
	Index bool
	notes.Heard

	groups groups
	bad    []string // why records were read that say nothing
	spoilt bool     // the index cannot go by it
}

// Add notes what an event says.
func (y *Heard) Add(e record.Event) {
	y.Heard.Add(e.Writer, e.Timestamp, record.NotesOf(e))
	switch {
	case e.Clock > record.LateClock: // its place depends on those before it in its log
		y.spoilt = true
	case y.Index:
		y.groups.add(e)
	}
}

// Spoil says that something was added twice: the index has to read by itself.
func (y *Heard) Spoil() { y.spoilt = true }

// AddBad notes why a record says nothing.
func (y *Heard) AddBad(err error) { y.bad = append(y.bad, err.Error()) }

// Close drops what was collected.
func (y *Heard) Close() {
	y.groups.Close()
	*y = Heard{Index: y.Index}
}
