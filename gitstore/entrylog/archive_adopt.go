package entrylog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"git-runr/gitstore/odb"
	"git-runr/gitstore/refdb"
)

// adoptArchive takes over the archive that FetchLogs has staged: each log in it as
// AdoptLogs does one that has a ref of its own, and then the archive itself. While a log in
// it is refused, the others get refs of their own and the archive stays as it was here.
func (s *Store) adoptArchive(ctx context.Context, remote, own string, check func(Entry) error, adopted *Adopted) error {
	staged, err := s.refs.Ref(ctx, stagedArchive(remote))
	if err != nil || staged == "" {
		return err
	}
	live, local, err := s.logRefs(ctx)
	if err != nil || staged == local {
		return err
	}
	theirs, err := s.archived(ctx, staged)
	if err != nil {
		adopted.reject(archiveRef, err)
		return context.Cause(ctx)
	}
	if local != "" { // one that holds more is pushed, and stays
		if more, err := s.refs.IsAncestor(ctx, staged, local); err == nil && more {
			return nil
		}
	}
	t := &takeover{theirs: theirs, live: live}
	t.ours, _ = s.archived(ctx, local)
	before := len(adopted.Rejected)
	if err := s.checkArchived(ctx, t, own, check, adopted); err != nil {
		return err
	}
	if len(adopted.Rejected) > before {
		return s.moveForward(ctx, t.forward, adopted)
	}
	return s.takeArchive(ctx, t, staged, local, adopted)
}

// takeover is an archive that is looked at.
type takeover struct {
	theirs, ours, live Tips       // in the archive that came, in the one that is here, with a ref here
	forward            []adoption // logs that it has more of
}

func (s *Store) checkArchived(ctx context.Context, t *takeover, own string, check func(Entry) error, adopted *Adopted) error {
	here := maps.Clone(t.ours)
	if here == nil {
		here = Tips{}
	}
	maps.Copy(here, t.live)
	var logs []adoption
	for _, writer := range slices.Sorted(maps.Keys(t.theirs)) {
		a := adoption{writer: writer, new: t.theirs[writer], old: here[writer], ref: t.live[writer]}
		if a.new != a.old && writer != own { // which AdoptLogs looks at
			logs = append(logs, a)
		}
	}
	var err error
	t.forward, err = s.checkAll(ctx, logs, check, adopted)
	return err
}

// takeArchive moves this clone's archive to the one that came. What only the old one held
// gets a ref before.
func (s *Store) takeArchive(ctx context.Context, t *takeover, staged, local odb.ID, adopted *Adopted) error {
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
	err := s.moveRefs(ctx, keep)
	if err == nil {
		err = s.refs.SwapAny(ctx, archiveRef, staged, local)
	}
	if err == nil {
		err = s.moveRefs(ctx, drop)
	}
	if err != nil {
		return fmt.Errorf("take over the archive of logs: %w", err)
	}
	for _, a := range t.forward {
		adopted.moved(a)
	}
	return nil
}

func (s *Store) moveRefs(ctx context.Context, refs []refdb.Moved) error {
	if len(refs) == 0 {
		return nil
	}
	return s.refs.SwapAll(ctx, refs)
}

// settleArchived drops the refs of logs that the archive here holds and the remote has no
// refs for any more: what a killed process has left, and what this clone had before.
func (s *Store) settleArchived(ctx context.Context, remote, own string) error {
	live, archive, err := s.logRefs(ctx)
	if err != nil || archive == "" {
		return err
	}
	held, err := s.archived(ctx, archive)
	if err != nil {
		return nil // a fetch mends it
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
		older := held[writer] == tip
		if !older {
			if older, err = s.comesFrom(ctx, held[writer], tip); err != nil {
				return err
			}
		}
		if older {
			drop = append(drop, refdb.Moved{Name: logPrefix + writer, Old: tip})
		}
	}
	return s.moveRefs(ctx, drop)
}

// wroteHere reports whether a log is one that processes of this clone write: it keeps its
// ref.
func (s *Store) wroteHere(ctx context.Context, writer string) bool {
	kept, err := s.refs.Ref(ctx, keptPrefix+writer)
	if err != nil || kept != "" {
		return true
	}
	_, err = os.Stat(s.tailPath(writer))
	return !errors.Is(err, fs.ErrNotExist)
}
