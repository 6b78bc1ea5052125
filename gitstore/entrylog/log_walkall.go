package entrylog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// ErrEntangled means that WalkAll cannot tell to which log an entry belongs: two logs share entries, or one is cut
// off, as in a shallow clone. Walk can still read each log alone.
var ErrEntangled = errors.New("the logs are entangled")

// WalkAll visits the entries of all logs from their tips back to the known ones, each log newest first, with the logs
// interleaved in any order. It reads one stream, however many logs there are, and keeps no entries. It skips a log
// whose tip is known, and reads a log of which nothing is known from its beginning.
//
// It returns ErrNotFound or ErrEntangled if a tip does not descend from the known entry, ErrCorrupt for a missing or
// damaged entry, and ErrEntangled if two logs share entries. After these errors the visited entries do not count, some
// of them may have had the wrong writer, and the caller reads each log with Walk and Salvage. An error of visit ends
// the walk and is returned.
func (s *Store) WalkAll(ctx context.Context, tips, known Tips, visit func(Entry) error) error {
	moved := make(Tips, len(tips))
	for writer, tip := range tips {
		if tip == known[writer] {
			continue
		}
		if !s.objects.ValidID(tip) || known[writer] != "" && !s.objects.ValidID(known[writer]) {
			return fmt.Errorf("walk logs: log of %s: %w", writer, notIn(known[writer]))
		}
		moved[writer] = tip
	}
	if err := s.walkNearAll(ctx, moved, known, visit); err != nil || len(moved) == 0 {
		return err
	}
	return s.streamAll(ctx, moved, known, visit)
}

// streamReads is how many entries WalkAll reads one by one before it starts git to stream the rest. If git has to be
// started after all, these reads cost about a third of its start in addition.
const streamReads = 512

// walkNearAll visits the newest entries of logs and leaves in tips the logs that remain to be read, each at its next
// entry.
func (s *Store) walkNearAll(ctx context.Context, tips, known Tips, visit func(Entry) error) error {
	reads := min(s.fewReads()*streamReads/walkReads, streamReads)
	if len(tips) > reads {
		return nil
	}
	for _, writer := range slices.Sorted(maps.Keys(tips)) {
		entries, complete, err := s.walkBack(ctx, tips[writer], known[writer], reads)
		if err != nil {
			return fmt.Errorf("walk logs: %w", err)
		}
		for _, entry := range entries {
			entry.Writer, tips[writer] = writer, entry.Parent
			if err := visit(entry); err != nil {
				return err
			}
		}
		if reads -= len(entries); complete {
			delete(tips, writer)
		}
	}
	return nil
}

// walkedLogs is how many logs one rev-list walks: git keeps their ends in a list and searches it linearly for each
// commit.
const walkedLogs = 1000

// streamAll visits the entries of logs as git lists them.
func (s *Store) streamAll(ctx context.Context, tips, known Tips, visit func(Entry) error) error {
	w := logWalk{known: known, next: make(map[odb.ID]string, len(tips))}
	var lists []string
	for writers := range slices.Chunk(slices.Sorted(maps.Keys(tips)), walkedLogs) {
		var starts strings.Builder
		for _, writer := range writers {
			starts.WriteString(fromTo(tips[writer], known[writer]))
			if err := w.expect(tips[writer], writer); err != nil {
				return fmt.Errorf("walk logs: %w", err)
			}
		}
		lists = append(lists, starts.String())
	}
	var stop error
	err := s.readListed(ctx, lists, nil, func(entry Entry) error {
		if err := w.take(&entry); err != nil {
			return err
		}
		stop = visit(entry)
		return stop
	})
	switch {
	case stop != nil:
		return stop
	case err != nil && s.anyAbsent(ctx, tips, known):
		err = fmt.Errorf("%w: %s", gitdir.ErrNotFound, err)
	case err == nil && len(w.next) > 0:
		err = fmt.Errorf("%w: %d of them end elsewhere", ErrEntangled, len(w.next))
	}
	if err != nil {
		return fmt.Errorf("walk logs: %w", err)
	}
	return nil
}

// anyAbsent reports whether the known entry of one of the logs is missing here.
func (s *Store) anyAbsent(ctx context.Context, tips, known Tips) bool {
	var ids []odb.ID
	for writer := range tips {
		if known[writer] != "" {
			ids = append(ids, known[writer])
		}
	}
	gone, err := s.objects.Absent(ctx, ids)
	return err == nil && len(gone) > 0
}

// logWalk assigns entries to writers: git lists an entry after its child, which names it as parent.
type logWalk struct {
	known Tips
	next  map[odb.ID]string // the writer of the next entry of each log that has not ended
}

func (w *logWalk) expect(id odb.ID, writer string) error {
	if other, taken := w.next[id]; taken {
		return fmt.Errorf("%w: entry %s is in those of %s and %s", ErrEntangled, id, other, writer)
	}
	w.next[id] = writer
	return nil
}

// take sets the writer of an entry, and expects its parent next.
func (w *logWalk) take(entry *Entry) error {
	writer, ok := w.next[entry.ID]
	if !ok {
		return fmt.Errorf("%w: nothing leads to entry %s", ErrEntangled, entry.ID)
	}
	delete(w.next, entry.ID)
	entry.Writer = writer
	switch known := w.known[writer]; entry.Parent {
	case known:
		return nil
	case "":
		return fmt.Errorf("log of %s: %w", writer, notIn(known))
	}
	return w.expect(entry.Parent, writer)
}
