package entrylog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/safefile"
)

// DamagedError is an object of a log that cannot be read: it is missing, or its content does not match its id.
// errors.Is matches it with ErrCorrupt.
type DamagedError struct {
	Writer string // whose log it is, or ""
	ID     odb.ID
	Of     odb.ID // the entry that it is attached to, or "" if it is an entry itself
	Err    error  // ErrNotFound is in its chain when the object is missing
}

func (e *DamagedError) Error() string {
	what := "record " + string(e.ID)
	if e.Of != "" {
		what = fmt.Sprintf("object %s, attached to %s,", e.ID, e.Of.Short())
	}
	if errors.Is(e.Err, gitdir.ErrNotFound) {
		return what + " is missing"
	}
	return what + " is damaged"
}

// Is reports ErrCorrupt, so that a missing object of a log is not mistaken for a thing that never existed.
func (e *DamagedError) Is(target error) bool { return target == gitdir.ErrCorrupt }

// ReportDamage records entries that cannot be read completely, for the next call of Damaged. It ignores errors of
// writing the record: a later read finds the damage again.
func (s *Store) ReportDamage(entries ...odb.ID) {
	known := s.readDamage()
	before := len(known)
	for _, id := range entries {
		if _, noted := known[id]; !noted && s.objects.ValidID(id) {
			known[id] = time.Time{}
		}
	}
	if len(known) > before {
		_ = s.writeDamage(known)
	}
}

// noteDamage returns err, an error of reading entry, unchanged. It records the entry if the entry or one of its files
// is damaged or missing.
func (s *Store) noteDamage(ctx context.Context, entry odb.ID, err error) error {
	if err != nil && ctx.Err() == nil && s.readEntryWhole(ctx, entry) != nil {
		s.ReportDamage(entry)
	}
	return err
}

// Damaged reports whether a recorded entry is still unreadable and due for another attempt to fetch it. It forgets
// entries that can be read again.
func (s *Store) Damaged(ctx context.Context) bool {
	known := s.readDamage()
	if len(known) == 0 {
		return false
	}
	due := false
	for id, again := range known {
		if s.readEntryWhole(ctx, id) == nil {
			delete(known, id)
		} else if time.Now().After(again) {
			due = true
		}
	}
	_ = s.writeDamage(known)
	return due
}

func (s *Store) damagePath() string { return filepath.Join(s.dir.StateDir(), "damaged") }

// readDamage returns the recorded entries, each with the time of the next attempt to fetch it.
func (s *Store) readDamage() map[odb.ID]time.Time {
	known := map[odb.ID]time.Time{}
	text, err := safefile.ReadFile(s.damagePath())
	if err != nil {
		return known
	}
	for line := range strings.Lines(string(text)) {
		id, again, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if s.objects.ValidID(odb.ID(id)) {
			known[odb.ID(id)], _ = time.Parse(time.RFC3339, again)
		}
	}
	return known
}

func (s *Store) writeDamage(known map[odb.ID]time.Time) error {
	if len(known) == 0 {
		return gitdir.RemoveIfThere(s.damagePath())
	}
	var text strings.Builder
	for _, id := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&text, "%s %s\n", id, known[id].UTC().Format(time.RFC3339))
	}
	return safefile.WriteFile(s.damagePath(), []byte(text.String()), 0o666)
}

// readEntryWhole reads one entry and its files.
func (s *Store) readEntryWhole(ctx context.Context, id odb.ID) error {
	commit, err := s.objects.ReadCommit(ctx, id)
	if err != nil {
		return err
	}
	return s.walkTree(ctx, commit.Tree, map[odb.ID]bool{}, s.checkReadable)
}

// walkTree reads a tree and the trees below it, and visits their files. It skips what is in seen, and adds to it.
func (s *Store) walkTree(ctx context.Context, tree odb.ID, seen map[odb.ID]bool,
	file func(context.Context, odb.ID) error) error {
	if seen[tree] {
		return nil
	}
	entries, err := s.objects.ReadTree(ctx, tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Mode == odb.ModeCommit || seen[e.ID]:
		case e.IsTree():
			err = s.walkTree(ctx, e.ID, seen, file)
		default:
			err = file(ctx, e.ID)
		}
		if err != nil {
			return err
		}
		seen[e.ID] = true
	}
	seen[tree] = true
	return nil
}

// checkReadable returns the error of reading an object, or nil if the object is only too large.
func (s *Store) checkReadable(ctx context.Context, id odb.ID) error {
	_, _, err := s.objects.Read(ctx, id)
	if errors.Is(err, gitdir.ErrTooLarge) {
		return nil
	}
	return err
}

// isDamage reports whether err means that an object cannot be read.
func isDamage(err error) bool {
	return errors.Is(err, gitdir.ErrNotFound) || errors.Is(err, gitdir.ErrCorrupt) || errors.Is(err, gitdir.ErrTooLarge) ||
		errors.As(err, new(*gitdir.GitError))
}
