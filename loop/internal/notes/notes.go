// Package notes derives git notes from logs: readable lines on the commits that entries are about. The tree of the
// notes depends only on the entries, so all clones with the same entries have the same tree, to the byte. Each write is
// a commit on top of the one before, so that pushing and fetching notes with plain git is a fast-forward. The caller
// knows how to read lines from an entry.
package notes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/safetext"
)

// timeForm is a time format that sorts as text. Git joins notes in that order.
const timeForm = "2006-01-02T15:04:05.000Z"

// title begins the message of every notes commit of this program. Trailers of the message hold the version of the
// notes, and how far each log was read. Notes of another version, or without one, are derived again from the logs
// alone.
const (
	title     = "git-runr notes\n"
	version   = "Runr-Notes: 2"
	newestKey = "Runr-Newest: "
	tipKey    = "Runr-Tip: "
)

// retries is how often a write of the notes is tried again after a lost race. Losing all of them costs nothing: the
// next projection adds what is missing.
const retries = 5

// Projection describes the notes and the logs that they are derived from.
type Projection struct {
	Repo *gitstore.Repo
	Ref  string
	Tips func(context.Context) (gitstore.Tips, error)
	// Read adds to said the lines of the log entries after known. It returns the logs that lost entries as lost: these
	// are read again until nothing is missing.
	Read func(ctx context.Context, known, tips gitstore.Tips, said *Said) (lost []string, err error)
	// Tell prints what was damaged, and where notes are that somebody else wrote.
	Tell func(format string, args ...any)
}

// Project updates the notes from the logs. With afresh it derives all of them again.
func (p Projection) Project(ctx context.Context, afresh bool) (err error) {
	for range retries {
		if err = p.project(ctx, afresh); !errors.Is(err, gitstore.ErrLostRace) {
			break
		}
	}
	return err
}

func (p Projection) project(ctx context.Context, afresh bool) error {
	tips, err := p.Tips(ctx)
	if err != nil {
		return err
	}
	if !afresh {
		err = p.projectNew(ctx, tips)
	}
	if afresh || errors.Is(err, gitstore.ErrCorrupt) || errors.Is(err, gitstore.ErrNotFound) {
		return p.projectAll(ctx, tips)
	}
	return err
}

// projectNew adds the lines of new log entries to the notes. It derives the notes again if there are none, if somebody
// else wrote them, or if they mention logs that are not here.
func (p Projection) projectNew(ctx context.Context, tips gitstore.Tips) error {
	notes, err := p.Repo.OpenNotes(ctx, p.Ref)
	if err != nil {
		return fmt.Errorf("read notes: %w", err)
	}
	known, newest := ReadMessage(notes.Message())
	if maps.Equal(known, tips) && (len(tips) > 0 || notes.Message() == "") {
		return nil
	}
	gone := func(writer string) bool { return tips[writer] == "" }
	if len(known) == 0 || slices.ContainsFunc(slices.Collect(maps.Keys(known)), gone) {
		p.tellForeign(notes)
		notes.Clear()
		known, newest = nil, noEntries
	}
	return p.add(ctx, notes, known, tips, newest)
}

// projectAll derives the notes from the logs alone, on top of the previous notes as far as these can be read.
func (p Projection) projectAll(ctx context.Context, tips gitstore.Tips) error {
	notes, damaged, err := p.Repo.RenewNotes(ctx, p.Ref)
	if err != nil {
		return fmt.Errorf("read notes: %w", err)
	}
	for _, id := range damaged {
		p.Tell("%s of %s was damaged in this clone; the notes are made again from the logs", id.Short(), p.Ref)
	}
	p.tellForeign(notes)
	return p.add(ctx, notes, nil, tips, noEntries)
}

// tellForeign prints where the replaced notes of somebody else are.
func (p Projection) tellForeign(notes *gitstore.Notes) {
	if was := notes.Was(); was.ID != "" && !Own(was.Message) {
		p.Tell("%s is made from the logs alone: what somebody else wrote there is kept: git show %s", p.Ref, was.ID.Short())
	}
}

// noEntries is the time of notes without entries.
var noEntries = time.Unix(0, 0).UTC()

// Empty writes a notes commit without notes. The first notes on a remote are built on it, so that fetching them with
// plain git into a new clone is a fast-forward.
func Empty(ctx context.Context, repo *gitstore.Repo) (gitstore.Commit, error) {
	tree, err := repo.EmptyTree(ctx)
	if err != nil {
		return gitstore.Commit{}, err
	}
	id, err := repo.NotesCommit(ctx, tree, nil, Message(nil, noEntries), noEntries)
	return gitstore.Commit{ID: id, Tree: tree}, err
}

// add adds the lines of log entries after known to notes that were read up to known.
func (p Projection) add(ctx context.Context, notes *gitstore.Notes, known, tips gitstore.Tips, newest time.Time) error {
	said, sound := &Said{newest: newest}, maps.Clone(tips)
	lost, err := p.Read(ctx, known, tips, said)
	if err != nil {
		return err
	}
	for _, writer := range lost {
		delete(sound, writer)
	}
	if err := write(ctx, notes, said); err != nil {
		return err
	}
	_, err = notes.Commit(ctx, Message(sound, said.newest), said.newest)
	return err
}

// write adds lines to the notes of the commits that they are about.
func write(ctx context.Context, notes *gitstore.Notes, said *Said) error {
	for commit, added := range said.lines {
		if !notes.CanHold(commit) { // an entry of another clone may name any commit
			continue
		}
		old, err := notes.Get(ctx, commit)
		if err != nil {
			return fmt.Errorf("read note on %s: %w", commit.Short(), err)
		}
		if err := notes.Set(ctx, commit, joinLines(old, added, said.gone)); err != nil {
			return fmt.Errorf("write note on %s: %w", commit.Short(), err)
		}
	}
	return nil
}

// Message returns the message for a commit of notes that were read up to tips.
func Message(tips gitstore.Tips, newest time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, title+"\nDerived from refs/runr/log; rebuilt by git runr fsck --rebuild.\n\n%s\n%s%s\n", version,
		newestKey, newest.UTC().Format(timeForm))
	for _, writer := range slices.Sorted(maps.Keys(tips)) {
		fmt.Fprintf(&b, "%s%s %s\n", tipKey, writer, tips[writer])
	}
	return b.String()
}

// Own reports whether a notes commit with this message was made by this program.
func Own(message string) bool { return strings.HasPrefix(message, title) }

// ReadMessage returns how far each log was read for notes, and the time of the newest entry, from the message of the
// notes commit. It returns zero values if the message does not have them.
func ReadMessage(message string) (gitstore.Tips, time.Time) {
	tips := gitstore.Tips{}
	var newest time.Time
	if !strings.Contains(message, "\n"+version+"\n") {
		return tips, newest
	}
	for line := range strings.Lines(message) {
		line = strings.TrimSpace(line)
		if at, ok := strings.CutPrefix(line, newestKey); ok {
			newest, _ = time.Parse(timeForm, at)
		}
		if tip, ok := strings.CutPrefix(line, tipKey); ok {
			writer, id, _ := strings.Cut(tip, " ")
			tips[writer] = gitstore.ID(id)
		}
	}
	return tips, newest
}

// Line is one line of a commit's note.
type Line struct {
	Commit gitstore.ID
	At     time.Time
	Text   string
}

// Said is a set of note lines from log entries. The zero Said is empty.
type Said struct {
	lines  map[gitstore.ID][]string // by commit
	gone   map[string]bool          // lines to remove
	newest time.Time                // time of the newest entry
}

// Add adds the lines of an entry with its time.
func (a *Said) Add(at time.Time, lines []Line) {
	if at.After(a.newest) {
		a.newest = at
	}
	for _, l := range lines {
		a.put(l.Commit, l.At.UTC().Format(timeForm)+" "+safetext.Line(l.Text))
	}
}

// Drop removes lines, also from notes that already have them.
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

func (a *Said) put(commit gitstore.ID, lines ...string) {
	if a.lines == nil {
		a.lines = map[gitstore.ID][]string{}
	}
	a.lines[commit] = append(a.lines[commit], lines...)
}

// Join adds the content of b.
func (a *Said) Join(b *Said) {
	if b.newest.After(a.newest) {
		a.newest = b.newest
	}
	for commit, lines := range b.lines {
		a.put(commit, lines...)
	}
	if a.gone == nil {
		a.gone = map[string]bool{}
	}
	maps.Copy(a.gone, b.gone)
}

// joinLines returns a note with added lines, without duplicates and without the lines in gone.
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
