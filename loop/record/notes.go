package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"git-runr/gitstore"
)

// NotesRef carries readable lines on the commits that events speak of. It is a
// projection of the logs: its one commit has no parent and depends on the events
// alone, so every clone that has the same events has the same notes, to the byte.
const NotesRef = "refs/notes/runr"

// noteTime sorts as text, which is how git joins notes.
const noteTime = "2006-01-02T15:04:05.000Z"

// Trailers of the notes' commit: the version of what is derived, and how far a log was
// read. Notes of another version, or without one, are derived again from nothing.
const (
	notesVersion = "Runr-Notes: 2"
	notesTip     = "Runr-Tip: "
)

// noteRetries bounds how often a lost race for the notes is run again. Losing all
// of them costs nothing: the next event projects what is missing.
const noteRetries = 5

// Project brings the notes up to the logs.
func (s *Store) Project(ctx context.Context) error { return s.ProjectRead(ctx, nil) }

// ProjectRead is Project where some of what the logs say was collected already; nil for none.
func (s *Store) ProjectRead(ctx context.Context, y *Heard) error {
	var err error
	for range noteRetries {
		if err = s.project(ctx, false, y); !errors.Is(err, gitstore.ErrLostRace) {
			break
		}
	}
	return err
}

// RebuildNotes derives all notes from the logs again.
func (s *Store) RebuildNotes(ctx context.Context) error {
	return s.project(ctx, true, nil)
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

func (s *Store) project(ctx context.Context, afresh bool, y *Heard) error {
	tips, err := s.tips(ctx)
	if err != nil {
		return err
	}
	if !afresh {
		err = s.projectNew(ctx, tips, y)
	}
	damaged := errors.Is(err, gitstore.ErrCorrupt) || errors.Is(err, gitstore.ErrNotFound)
	if afresh || damaged { // a remote's are much the same objects
		if err := s.Repo.ForgetSharedNotes(ctx); err != nil {
			return err
		}
	}
	if afresh || damaged || errors.Is(err, errAfresh) {
		err = s.projectAll(ctx, tips, y) // the notes speak of logs that are not here, or are damaged
	}
	return err
}

// projectNew adds to the notes what the logs hold beyond them; errAfresh when the notes
// are nobody's to go on from.
func (s *Store) projectNew(ctx context.Context, tips gitstore.Tips, y *Heard) error {
	notes, err := s.Repo.OpenNotes(ctx, NotesRef)
	if err != nil {
		return fmt.Errorf("read notes: %w", err)
	}
	known, newest := ReadNotesMessage(notes.Message())
	switch {
	case maps.Equal(known, tips) && (len(tips) > 0 || notes.Message() == ""):
		return nil
	case len(known) == 0: // the first time, or somebody else wrote the ref
		return errAfresh
	}
	fresh, sound, err := s.readSaid(ctx, known, tips, y)
	if err != nil {
		return err
	}
	return commitNotes(ctx, notes, sound, fresh, newest)
}

// projectAll derives the notes from nothing but the logs.
func (s *Store) projectAll(ctx context.Context, tips gitstore.Tips, y *Heard) error {
	replaces, err := s.Repo.Ref(ctx, NotesRef)
	if err != nil {
		return fmt.Errorf("read notes: %w", err)
	}
	all, sound, err := s.readSaid(ctx, nil, tips, y)
	if err != nil {
		return err
	}
	return commitNotes(ctx, s.Repo.NewNotes(NotesRef, replaces), sound, all, noEvents)
}

// noEvents is the time of notes that speak of nothing.
var noEvents = time.Unix(0, 0).UTC()

// EmptyNotes writes the commit of notes that speak of nothing: what init begins with,
// and what the first notes on a remote stand on, so that a plain fetch of them into a
// clone that has nothing yet is a fast-forward.
func (s *Store) EmptyNotes(ctx context.Context) (gitstore.Commit, error) {
	tree, err := s.Repo.EmptyTree(ctx)
	if err != nil {
		return gitstore.Commit{}, err
	}
	id, err := s.Repo.NotesCommit(ctx, tree, nil, notesMessage(nil, noEvents), noEvents)
	return gitstore.Commit{ID: id, Tree: tree}, err
}

func commitNotes(ctx context.Context, notes *gitstore.Notes, tips gitstore.Tips, fresh *noteLines, newest time.Time) error {
	if fresh.newest.After(newest) {
		newest = fresh.newest
	}
	if err := addSaid(ctx, notes, fresh); err != nil {
		return err
	}
	_, err := notes.Commit(ctx, notesMessage(tips, newest), newest)
	return err
}

func splitLines(text []byte) []string {
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// notesTitle begins the message of every commit of notes that this program makes.
const notesTitle = "git-runr notes\n"

func notesMessage(tips gitstore.Tips, newest time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, notesTitle+"\nDerived from refs/runr/log; rebuilt by git runr fsck --rebuild.\n\n%s\nRunr-Newest: %s\n", notesVersion, newest.UTC().Format(noteTime))
	for _, writer := range slices.Sorted(maps.Keys(tips)) {
		fmt.Fprintf(&b, "%s%s %s\n", notesTip, writer, tips[writer])
	}
	return b.String()
}

// OwnNotes reports whether this program made the commit of notes that has the message.
func OwnNotes(message string) bool { return strings.HasPrefix(message, notesTitle) }

// ReadNotesMessage is how far each log was read for notes, by the message of their commit, and
// when the newest event was; the zero values where that does not say.
func ReadNotesMessage(message string) (gitstore.Tips, time.Time) {
	tips := gitstore.Tips{}
	var newest time.Time
	if !strings.Contains(message, "\n"+notesVersion+"\n") {
		return tips, newest
	}
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if at, ok := strings.CutPrefix(line, "Runr-Newest: "); ok {
			newest, _ = time.Parse(noteTime, at)
		}
		if tip, ok := strings.CutPrefix(line, notesTip); ok {
			writer, id, _ := strings.Cut(tip, " ")
			tips[writer] = gitstore.ID(id)
		}
	}
	return tips, newest
}

// noteLine is one line on a commit.
type noteLine struct {
	commit gitstore.ID
	at     time.Time
	text   string
}

// notesOf are the lines that an event puts on commits. It looks at nothing but the
// event, so that the notes do not depend on the order in which events came.
func notesOf(e Event) []noteLine {
	var lines []noteLine
	if commit, text := NoteOf(e); commit != "" {
		for line := range strings.Lines(text) {
			lines = append(lines, noteLine{commit, e.Timestamp, strings.TrimRight(line, "\n")})
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
