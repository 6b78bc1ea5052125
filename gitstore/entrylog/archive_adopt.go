package entrylog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// adoptArchives accepts the archives that FetchLogs staged: first each log in them, checked as AdoptLogs checks a log
// with its own ref, then the archives themselves. If a log in them is rejected, the others get refs of their own and
// the archives here stay unchanged.
func (s *Store) adoptArchives(ctx context.Context, remote, own string, check func(Entry) error,
	adopted *Adopted) error {
	staged, err := s.sharedArchives(ctx, remote)
	if err != nil || len(staged) == 0 {
		return err
	}
	live, here, err := s.logRefs(ctx)
	if err != nil {
		return err
	}
	t := &takeover{live: live}
	after := maps.Clone(here)
	for _, month := range slices.Sorted(maps.Keys(staged)) {
		if s.bringsMore(ctx, month, staged[month], here[month], adopted) {
			t.archives = append(t.archives, refdb.Moved{Name: archivesPrefix + month, New: staged[month], Old: here[month]})
			after[month] = staged[month]
		}
	}
	if len(t.archives) == 0 {
		return context.Cause(ctx)
	}
	t.theirs, _ = s.archived(ctx, after)
	t.ours, _ = s.archived(ctx, here)
	before := len(adopted.Rejected)
	if err := s.checkArchived(ctx, t, own, check, adopted); err != nil {
		return err
	}
	if len(adopted.Rejected) > before {
		return s.moveForward(ctx, t.forward, adopted)
	}
	return s.takeArchives(ctx, t, adopted)
}

// bringsMore reports whether the staged archive of a month replaces the one here. It does not if the one here contains
// the staged one; that one is pushed later.
func (s *Store) bringsMore(ctx context.Context, month string, staged, here odb.ID, adopted *Adopted) bool {
	if staged == here {
		return false
	}
	if _, err := s.archivedIn(ctx, month, staged); err != nil {
		adopted.reject(archivesPrefix+month, err)
		return false
	}
	if here == "" {
		return true
	}
	more, err := s.refs.IsAncestor(ctx, staged, here)
	return err != nil || !more
}

// takeover is the set of changes that staged archives bring.
type takeover struct {
	theirs, ours, live Tips          // in the archives after the takeover, in the archives here, with a ref here
	forward            []adoption    // logs that gain entries
	archives           []refdb.Moved // archives to move
}

func (s *Store) checkArchived(ctx context.Context, t *takeover, own string, check func(Entry) error,
	adopted *Adopted) error {
	here := Tips{}
	maps.Copy(here, t.ours)
	maps.Copy(here, t.live)
	var logs []adoption
	for _, writer := range slices.Sorted(maps.Keys(t.theirs)) {
		a := adoption{writer: writer, new: t.theirs[writer], old: here[writer], ref: t.live[writer]}
		if a.new != a.old && writer != own && !s.Owns(writer) { // AdoptLogs handles our own logs
			logs = append(logs, a)
		}
	}
	var err error
	t.forward, err = s.checkAll(ctx, logs, Judge{Entry: check}, adopted)
	return err
}

// takeArchives moves this clone's archives to the staged ones. Logs that only the old archives held get refs of their
// own first.
func (s *Store) takeArchives(ctx context.Context, t *takeover, adopted *Adopted) error {
	var keep, drop []refdb.Moved
	newer := map[string]bool{}
	for _, a := range t.forward {
		newer[a.writer] = true
		if a.ref != "" {
			drop = append(drop, refdb.Moved{Name: logPrefix + a.writer, Old: a.ref})
		}
	}
	for writer, tip := range t.ours {
		if t.live[writer] == "" && t.theirs[writer] != tip && !newer[writer] {
			keep = append(keep, refdb.Moved{Name: logPrefix + writer, New: tip})
		}
	}
	err := s.refs.SwapAll(ctx, keep)
	if err == nil {
		err = s.refs.SwapAll(ctx, t.archives)
	}
	if err == nil {
		err = s.refs.SwapAll(ctx, drop)
	}
	if err != nil {
		return fmt.Errorf("take over archives of logs: %w", err)
	}
	for _, a := range t.forward {
		adopted.moved(a)
	}
	return nil
}

// settleArchived deletes the refs of logs that the archives here hold and for which the remote has no refs any more:
// leftovers of a killed process, and refs this clone had before.
func (s *Store) settleArchived(ctx context.Context, remote, own string) error {
	live, here, err := s.logRefs(ctx)
	if err != nil || len(here) == 0 {
		return err
	}
	held, err := s.archived(ctx, here)
	if err != nil {
		return nil // a fetch repairs it
	}
	staged, _, err := s.sharedTips(ctx, remote)
	if err != nil {
		return err
	}
	var drop []refdb.Moved
	for writer, tip := range live {
		if held[writer] == "" || staged[writer] != "" || writer == own || s.wroteHere(ctx, writer) {
			continue
		}
		older, err := s.refs.IsAncestor(ctx, tip, held[writer])
		if err != nil {
			return err
		}
		if older {
			drop = append(drop, refdb.Moved{Name: logPrefix + writer, Old: tip})
		}
	}
	return s.refs.SwapAll(ctx, drop)
}

// wroteHere reports whether processes of this clone write a log; such a log keeps its ref.
func (s *Store) wroteHere(ctx context.Context, writer string) bool {
	kept, err := s.refs.Ref(ctx, keptPrefix+writer)
	if err != nil || kept != "" {
		return true
	}
	_, err = os.Stat(s.tailPath(writer))
	return !errors.Is(err, fs.ErrNotExist)
}
