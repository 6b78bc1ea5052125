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

// ErrEntangled is logs of which WalkAll cannot tell whose an entry is: two of them share
// entries, or one is cut off, as in a shallow clone. Walk reads each for itself.
var ErrEntangled = errors.New("the logs are entangled")

// WalkAll visits the entries of all logs from their tips back to those that are known,
// each log newest first, and the logs in any order among one another: in one stream,
// however many logs there are, and keeping nothing of it. A log that is at what is known
// is not read; one of which nothing is known is read from its beginning.
//
// It is ErrNotFound or ErrEntangled when a tip does not come from what is known, ErrCorrupt
// for an entry that is missing or damaged, and ErrEntangled when two logs share entries,
// which may also be visited as entries of both: then what was visited does not count, and
// the caller reads log by log with Walk and Salvage. An error from visit ends the walk
// and is returned.
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

// streamReads is how many entries WalkAll reads one by one before git streams the rest to it: a
// third of what starting git costs is lost where git is started all the same.
const streamReads = 512

// walkNearAll visits the newest entries of logs, and leaves in tips what remains of them.
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

// walkedLogs is how many logs one rev-list goes through: it keeps their ends in a list
// that it searches from the start for each commit.
const walkedLogs = 1000

// streamAll is WalkAll by git.
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

// anyAbsent reports whether an entry that is known of one of the logs is not here.
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

// logWalk tells whose an entry is: git lists it after the one that names it its parent.
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

// take gives an entry its writer, and expects the one before it.
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
