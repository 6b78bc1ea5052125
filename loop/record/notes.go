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
	"git-runr/loop/safetext"
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
func (s *Store) Project(ctx context.Context) error {
	var err error
	for range noteRetries {
		if err = s.project(ctx, false); !errors.Is(err, gitstore.ErrLostRace) {
			break
		}
	}
	return err
}

// RebuildNotes derives all notes from the logs again.
func (s *Store) RebuildNotes(ctx context.Context) error {
	return s.project(ctx, true)
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

func (s *Store) project(ctx context.Context, afresh bool) error {
	tips, err := s.tips(ctx)
	if err != nil {
		return err
	}
	if !afresh {
		err = s.projectNew(ctx, tips)
	}
	damaged := errors.Is(err, gitstore.ErrCorrupt) || errors.Is(err, gitstore.ErrNotFound)
	if afresh || damaged { // a remote's are much the same objects
		if err := s.Repo.ForgetSharedNotes(ctx); err != nil {
			return err
		}
	}
	if afresh || damaged || errors.Is(err, errAfresh) {
		err = s.projectAll(ctx, tips) // the notes speak of logs that are not here, or are damaged
	}
	return err
}

// projectNew adds to the notes what the logs hold beyond them; errAfresh when the notes
// are nobody's to go on from.
func (s *Store) projectNew(ctx context.Context, tips gitstore.Tips) error {
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
	idx := &index{manifest: manifest{Tips: known}}
	fresh, err := s.newEvents(ctx, idx, tips)
	if err != nil {
		return err
	}
	return commitNotes(ctx, notes, idx.soundTips(tips), fresh, newest)
}

// projectAll derives the notes from nothing but the logs.
func (s *Store) projectAll(ctx context.Context, tips gitstore.Tips) error {
	replaces, err := s.Repo.Ref(ctx, NotesRef)
	if err != nil {
		return fmt.Errorf("read notes: %w", err)
	}
	idx := emptyIndex()
	all, err := s.newEvents(ctx, idx, tips)
	if err != nil {
		return err
	}
	return commitNotes(ctx, s.Repo.NewNotes(NotesRef, replaces), idx.soundTips(tips), all, noEvents)
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

func commitNotes(ctx context.Context, notes *gitstore.Notes, tips gitstore.Tips, fresh []Event, newest time.Time) error {
	for _, e := range fresh {
		if e.Timestamp.After(newest) {
			newest = e.Timestamp
		}
	}
	if err := addNotes(ctx, notes, fresh); err != nil {
		return err
	}
	_, err := notes.Commit(ctx, notesMessage(tips, newest), newest)
	return err
}

// addNotes puts the lines of events on the commits that they speak of.
func addNotes(ctx context.Context, notes *gitstore.Notes, events []Event) error {
	lines := map[gitstore.ID][]string{}
	for _, e := range events {
		for _, l := range notesOf(e) {
			if !notes.CanHold(l.commit) { // an event from elsewhere may say anything
				continue
			}
			lines[l.commit] = append(lines[l.commit], l.at.UTC().Format(noteTime)+" "+safetext.Line(l.text))
		}
	}
	for commit, added := range lines {
		old, err := notes.Get(ctx, commit)
		if err != nil {
			return fmt.Errorf("read note on %s: %w", commit.Short(), err)
		}
		all := append(strings.FieldsFunc(string(old), func(r rune) bool { return r == '\n' }), added...)
		slices.Sort(all)
		text := strings.Join(slices.Compact(all), "\n") + "\n"
		if err := notes.Set(ctx, commit, []byte(text)); err != nil {
			return fmt.Errorf("write note on %s: %w", commit.Short(), err)
		}
	}
	return nil
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
