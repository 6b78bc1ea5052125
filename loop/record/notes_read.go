package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"git-runr/gitstore"
	"git-runr/loop/safetext"
)

// Heard is what events say in notes, by the log that they are in, and with Index what the
// index wants of them. Whoever reads new events anyway collects it, so that notes and index
// need not read them again. The zero Heard is empty.
type Heard struct {
	Index bool

	logs   map[string]*noteLines
	spans  map[string]span // of the logs of which all is there from one entry to another
	groups groups
	bad    []string // why records were read that say nothing
	spoilt bool     // the index cannot go by it
}

type span struct{ from, to gitstore.ID }

// noteLines is what events say, in no order.
type noteLines struct {
	lines  map[gitstore.ID][]string // by commit
	newest time.Time                // event
}

// Add notes what an event says.
func (y *Heard) Add(e Event) {
	if y.logs == nil {
		y.logs, y.spans = map[string]*noteLines{}, map[string]span{}
	}
	if y.logs[e.Writer] == nil {
		y.logs[e.Writer] = &noteLines{}
	}
	y.logs[e.Writer].add(e)
	switch {
	case e.Clock > lateClock: // its place depends on those before it in its log
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

// Covers says that all entries of a log after from up to to were added.
func (y *Heard) Covers(writer string, from, to gitstore.ID) {
	if y.spans == nil {
		y.logs, y.spans = map[string]*noteLines{}, map[string]span{}
	}
	if before, more := y.spans[writer]; more && before.to == from {
		from = before.from
	}
	y.spans[writer] = span{from, to}
}

// between is what a log says after one entry up to another; nil when that was not collected.
func (y *Heard) between(writer string, from, to gitstore.ID) *noteLines {
	if y == nil || y.spans[writer] != (span{from, to}) {
		return nil
	}
	if y.logs[writer] == nil { // nothing that can be read
		return &noteLines{}
	}
	return y.logs[writer]
}

func (a *noteLines) add(e Event) {
	if a.lines == nil {
		a.lines = map[gitstore.ID][]string{}
	}
	if e.Timestamp.After(a.newest) {
		a.newest = e.Timestamp
	}
	for _, l := range notesOf(e) {
		a.lines[l.commit] = append(a.lines[l.commit], l.at.UTC().Format(noteTime)+" "+safetext.Line(l.text))
	}
}

func (a *noteLines) join(b *noteLines) {
	if a.lines == nil {
		a.lines = map[gitstore.ID][]string{}
	}
	if b.newest.After(a.newest) {
		a.newest = b.newest
	}
	for commit, lines := range b.lines {
		a.lines[commit] = append(a.lines[commit], lines...)
	}
}

// readSaid gives what the logs say beyond known, with the tips of those that were read
// without a loss. What y has of it is not read again.
func (s *Store) readSaid(ctx context.Context, known, tips gitstore.Tips, y *Heard) (*noteLines, gitstore.Tips, error) {
	for writer := range known {
		if tips[writer] == "" {
			return nil, nil, fmt.Errorf("%w: log of %s", errAfresh, writer)
		}
	}
	all, sound, rest := &noteLines{}, gitstore.Tips{}, gitstore.Tips{}
	for writer, tip := range tips {
		sound[writer] = tip
		if known[writer] == tip {
			continue
		}
		if log := y.between(writer, known[writer], tip); log != nil {
			all.join(log)
		} else {
			rest[writer] = tip
		}
	}
	r := &saidReader{Store: s}
	err := s.Repo.WalkAll(ctx, rest, known, r.take)
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err != nil { // which one it is about is seen log by log
		r = &saidReader{Store: s}
		err = r.each(ctx, known, rest, sound)
	}
	r.warn()
	all.join(&r.noteLines)
	return all, sound, err
}

// saidReader reads logs for notes.
type saidReader struct {
	*Store
	noteLines
	bad map[gitstore.ID]error // records that say nothing
}

func (r *saidReader) take(entry gitstore.Entry) error {
	event, err := DecodeEvent(entry)
	if err == nil {
		r.add(event)
		return nil
	}
	if r.bad == nil {
		r.bad = map[gitstore.ID]error{}
	}
	r.bad[entry.ID] = err
	return nil
}

func (r *saidReader) warn() {
	for id, err := range r.bad {
		if r.Warn != nil {
			r.Warn(id, err.Error())
		}
	}
}

// each reads log by log. A log that has lost something is read as far as it can be, and
// taken out of sound: it is read again until nothing is missing.
func (r *saidReader) each(ctx context.Context, known, tips, sound gitstore.Tips) error {
	for writer, tip := range tips {
		err := r.Repo.Walk(ctx, writer, tip, known[writer], r.take)
		gone := errors.Is(err, gitstore.ErrCorrupt)
		if known[writer] != "" && (gone || errors.Is(err, gitstore.ErrNotFound)) {
			return fmt.Errorf("%w: log of %s: %w", errAfresh, writer, err)
		}
		if gone {
			var damaged []*gitstore.DamagedError
			if damaged, err = r.Repo.Salvage(ctx, writer, tip, isEntry, r.take); len(damaged) > 0 {
				delete(sound, writer)
			}
		}
		if err != nil {
			return fmt.Errorf("read log of %s: %w", writer, err)
		}
	}
	return nil
}

// addSaid puts lines on the commits that they are about.
func addSaid(ctx context.Context, notes *gitstore.Notes, a *noteLines) error {
	for commit, added := range a.lines {
		if !notes.CanHold(commit) { // an event from elsewhere may say anything
			continue
		}
		old, err := notes.Get(ctx, commit)
		if err != nil {
			return fmt.Errorf("read note on %s: %w", commit.Short(), err)
		}
		if err := notes.Set(ctx, commit, joinLines(old, added)); err != nil {
			return fmt.Errorf("write note on %s: %w", commit.Short(), err)
		}
	}
	return nil
}

// joinLines is a note with lines more, each once.
func joinLines(old []byte, added []string) []byte {
	all := slices.Concat(splitLines(old), added)
	slices.Sort(all)
	var text []byte
	for _, line := range slices.Compact(all) {
		text = append(append(text, line...), '\n')
	}
	return text
}
