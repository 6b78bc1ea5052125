package entrylog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// Adopted is the result of AdoptLogs.
type Adopted struct {
	Writers  []string    // whose logs moved forward here
	Events   int         // number of new entries
	Rejected []Rejection // logs left unchanged
	// Diverged means that the remote has entries under our own writer's id that are not here: one clone is a copy of
	// the other, was restored from a backup, or somebody pushed to our log. RenewWriter solves it.
	Diverged bool
	Replaced []string // writers whose log took the place of the one that was here
}

// Judge decides what AdoptLogs accepts.
type Judge struct {
	Entry func(Entry) error // of every new entry
	// decides whether a staged log that does not continue the one here may take its place; nil: it may not
	Replaces func(ctx context.Context, writer string, have, staged odb.ID) error
}

// moved records a log that has moved forward or was replaced.
func (a *Adopted) moved(log adoption) {
	if log.replaces {
		a.Replaced = append(a.Replaced, log.writer)
	}
	a.Writers = append(a.Writers, log.writer)
	a.Events += log.events
}

// adoption is a log to move forward here.
type adoption struct {
	writer   string
	new, old odb.ID
	ref      odb.ID // value of its ref here: old, or "" for a retired log
	events   int
	replaces bool // it does not continue the log here
}

// AdoptLogs moves the logs here forward to those that FetchLogs staged, each only if check accepts it. A rejected log
// stays unchanged; the others still move.
func (s *Store) AdoptLogs(ctx context.Context, remote string, check Judge) (Adopted, error) {
	var adopted Adopted
	if err := s.noteHome(remote); err != nil {
		return adopted, err
	}
	to := s.AudienceOf(remote)
	own, err := s.storedWriter(ctx, to)
	if err != nil {
		return adopted, err
	}
	if to == (Audience{}) { // an archive holds logs of one remote only
		if err := s.adoptArchives(ctx, remote, own, check.Entry, &adopted); err != nil {
			return adopted, err
		}
	}
	logs, err := s.stagedLogs(ctx, remote, own)
	if err != nil {
		return adopted, err
	}
	if err := s.ownLog(ctx, remote, own, check, &adopted); err != nil {
		return adopted, fmt.Errorf("take over log %s: %w", own, err)
	}
	if own != "" && !adopted.Diverged {
		if err := s.notePlace(false); err != nil {
			return adopted, err
		}
	}
	forward, err := s.checkAll(ctx, logs, check, &adopted)
	if err != nil {
		return adopted, err
	}
	for _, log := range forward {
		if err := s.noteOrigin(log.writer, remote, log.old != ""); err != nil {
			return adopted, err
		}
	}
	if err := s.moveForward(ctx, forward, &adopted); err != nil || to != (Audience{}) {
		return adopted, err
	}
	return adopted, s.settleArchived(ctx, remote, own)
}

// LeftLogs returns the refs that FetchLogs could not bring, and the staged logs that AdoptLogs would reject, each with
// the reason. It moves nothing.
func (s *Store) LeftLogs(ctx context.Context, remote string, check Judge) ([]Rejection, error) {
	h := &hunt{refused: s.readRefusals(remote)}
	left := Adopted{Rejected: h.rejections()}
	own, err := s.storedWriter(ctx, s.AudienceOf(remote))
	if err != nil {
		return nil, err
	}
	logs, err := s.stagedLogs(ctx, remote, own)
	if err != nil {
		return left.Rejected, err
	}
	_, err = s.checkAll(ctx, logs, check, &left)
	return left.Rejected, err
}

// stagedLogs returns the staged logs of others that differ from those here.
func (s *Store) stagedLogs(ctx context.Context, remote, own string) (logs []adoption, err error) {
	prefix := stagedPrefix(remote)
	staged, err := s.refs.Refs(ctx, prefix)
	if err != nil {
		return nil, err
	}
	live, archive, err := s.logRefs(ctx)
	if err != nil {
		return nil, err
	}
	private, err := s.refs.Refs(ctx, privatePrefix)
	if err != nil {
		return nil, err
	}
	tips := maps.Clone(live)
	if err := s.addArchived(ctx, tips, archive); err != nil {
		return nil, err
	}
	for _, ref := range slices.Sorted(maps.Keys(staged)) {
		a := adoption{writer: strings.TrimPrefix(ref, prefix), new: staged[ref]}
		a.old, a.ref = tips[a.writer], live[a.writer]
		if a.new == a.old || a.writer == own || s.Owns(a.writer) || private[privatePrefix+a.writer] != "" {
			continue
		}
		logs = append(logs, a)
	}
	return logs, nil
}

// ownLog checks whether the remote's log of our own writer has entries that ours does not have, and checks these
// entries.
func (s *Store) ownLog(ctx context.Context, remote, own string, check Judge, adopted *Adopted) error {
	if own == "" {
		return nil
	}
	staged, err := s.SharedTip(ctx, remote, own)
	if err != nil || staged == "" {
		return err
	}
	tip, err := s.refs.Ref(ctx, logPrefix+own)
	if err != nil || tip == staged {
		return err
	}
	common := odb.ID("")
	if tip != "" {
		if older, err := s.refs.IsAncestor(ctx, staged, tip); err == nil && older {
			return nil
		}
		if older, err := s.WasReplaced(own, staged); older || err != nil {
			return err
		}
		replaced := adoption{writer: own, new: staged, old: tip}
		if done, err := s.takeReplacement(ctx, replaced, check, adopted); done || err != nil {
			return err
		}
		common, err = s.refs.MergeBase(ctx, staged, tip)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	events := 0
	if err == nil || errors.Is(err, gitdir.ErrNotFound) {
		events, err = s.walkCounted(ctx, own, staged, common, check.Entry)
	}
	if err != nil {
		adopted.reject(own, err)
		return nil
	}
	adopted.Diverged = true
	if named, _ := s.named(s.AudienceOf(remote)); named != "" { // entries that others recorded under the same name
		adopted.Writers, adopted.Events = append(adopted.Writers, own), adopted.Events+events
	}
	return nil
}

// takeReplacement moves our own log to the staged one if another copy of this clone has replaced it with ReplaceLog,
// and reports whether nothing remains to be done about it. A copy that cannot verify that leaves both logs as they are;
// for a clone that is no copy it is somebody else's log.
func (s *Store) takeReplacement(ctx context.Context, own adoption, check Judge, adopted *Adopted) (bool, error) {
	if check.Replaces == nil {
		return false, nil
	}
	switch err := s.checkReplacement(ctx, &own, check); {
	case errors.Is(err, ErrOtherLog) || err != nil && !s.isCopy():
		return false, context.Cause(ctx)
	case err != nil:
		adopted.reject(own.writer, err)
		return true, nil
	}
	return true, s.withTail(ctx, own.writer, func(tail *logTail) error {
		err := s.restartTail(ctx, tail, own.writer, own.new)
		if err == nil {
			err = s.refs.SwapAny(ctx, logPrefix+own.writer, own.new, own.old)
		}
		if err == nil {
			adopted.moved(own)
		}
		return err
	})
}

func (a *Adopted) reject(writer string, reason error) {
	a.Rejected = append(a.Rejected, Rejection{Writer: writer, Reason: gitdir.CleanLine(reason.Error())})
}

// checkAll returns the logs that may move forward. It reads all in one stream; if one of them does not continue the
// log here, it reads each by itself.
func (s *Store) checkAll(ctx context.Context, logs []adoption, check Judge,
	adopted *Adopted) (good []adoption, err error) {
	tips, known := Tips{}, Tips{}
	for _, a := range logs {
		tips[a.writer], known[a.writer] = a.new, a.old
	}
	events, refused := map[string]int{}, map[string]error{}
	closed, err := s.refs.Refs(ctx, closedPrefix)
	if err != nil {
		return nil, err
	}
	together := s.WalkAll(ctx, tips, known, func(e Entry) error {
		events[e.Writer]++
		if err := check.Entry(e); err != nil { // the oldest, visited last, is kept
			refused[e.Writer] = err
		}
		return nil
	}) == nil
	for _, a := range logs {
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("take over log %s: %w", a.writer, context.Cause(ctx))
		case !together || !isWriter(a.writer) || closed[closedPrefix+a.writer] != "":
			if s.checkAdoption(ctx, &a, check, closed[closedPrefix+a.writer] != "", adopted) {
				good = append(good, a)
			}
		case refused[a.writer] != nil:
			adopted.reject(a.writer, refused[a.writer])
		default:
			a.events = events[a.writer]
			good = append(good, a)
		}
	}
	return good, nil
}

// checkAdoption reports whether a log may move forward. A closed log may not: see closedPrefix.
func (s *Store) checkAdoption(ctx context.Context, a *adoption, check Judge, closed bool,
	adopted *Adopted) bool {
	err := errors.New("its name is not a writer's")
	if isWriter(a.writer) {
		a.events, err = s.checkLog(ctx, a.writer, a.new, a.old, check.Entry)
	}
	if errors.Is(err, ErrOtherLog) && check.Replaces != nil {
		err = s.checkReplacement(ctx, a, check)
	}
	if errors.Is(err, ErrOtherLog) {
		err = fmt.Errorf("%w%s", err, s.namedHere(a.writer))
	}
	if err == nil && closed {
		err = errors.New("it is this clone's own log, which ended here, and another writer pushed to it; if that was a " +
			"copy or a backup of this clone: git runr sync --copied")
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, errOlder) {
		adopted.reject(a.writer, err)
	}
	return err == nil
}

// checkReplacement decides about a log that does not continue the one here. Entries beyond those here are new.
func (s *Store) checkReplacement(ctx context.Context, a *adoption, check Judge) error {
	if err := check.Replaces(ctx, a.writer, a.old, a.new); err != nil {
		return err
	}
	here, err := s.walkCounted(ctx, a.writer, a.old, "", func(Entry) error { return nil })
	if err != nil {
		return err
	}
	at := 0
	_, err = s.walkCounted(ctx, a.writer, a.new, "", func(e Entry) error {
		if at++; at <= here {
			return nil
		}
		return check.Entry(e)
	})
	a.replaces, a.events = true, at-here
	return err
}

// moveAtOnce is the number of logs from which one git process moves them together, in a tenth of the time.
const moveAtOnce = 50

// moveForward moves logs that were checked.
func (s *Store) moveForward(ctx context.Context, logs []adoption, adopted *Adopted) error {
	moves := each.Of(logs, func(a adoption) refdb.Moved {
		return refdb.Moved{Name: logPrefix + a.writer, New: a.new, Old: a.ref}
	})
	together := len(logs) >= moveAtOnce && s.refs.SwapAll(ctx, moves) == nil
	for _, a := range logs {
		if !together {
			err := s.refs.SwapAny(ctx, logPrefix+a.writer, a.new, a.ref)
			if errors.Is(err, gitdir.ErrBusy) || errors.Is(err, gitdir.ErrConflict) || errors.Is(err, gitdir.ErrLostRace) {
				adopted.reject(a.writer, err)
				continue
			}
			if err != nil {
				return fmt.Errorf("take over log %s: %w", a.writer, err)
			}
		}
		adopted.moved(a)
	}
	return nil
}

// errOlder means that the staged log is contained in the one here.
var errOlder = errors.New("older than the log that is here")

// ErrOtherLog means that the staged log neither continues nor replaces the one here.
var ErrOtherLog = errors.New("it does not continue the log that is here")

// checkLog counts and checks the entries that a staged log has beyond tip.
func (s *Store) checkLog(ctx context.Context, writer string, staged, tip odb.ID,
	check func(Entry) error) (events int, err error) {
	events, err = s.walkCounted(ctx, writer, staged, tip, check)
	if !errors.Is(err, gitdir.ErrNotFound) || tip == "" || events > 0 {
		return events, err
	}
	older, err := s.refs.IsAncestor(ctx, staged, tip)
	if err != nil {
		return 0, err
	}
	if older {
		return 0, errOlder
	}
	return 0, ErrOtherLog
}

// namedHere returns a hint if this clone wrote a log under a name that it no longer has: only a sync under that name
// pushes it.
func (s *Store) namedHere(writer string) string {
	if _, err := os.Stat(s.tailPath(writer)); err != nil {
		return ""
	}
	return ", and this clone has written to it: git runr sync pushes that with the GIT_RUNR_WRITER under which it was " +
		"written"
}

// walkCounted is Walk and counts the entries.
func (s *Store) walkCounted(ctx context.Context, writer string, tip, known odb.ID,
	check func(Entry) error) (events int, err error) {
	err = s.Walk(ctx, writer, tip, known, func(e Entry) error {
		events++
		return check(e)
	})
	return events, err
}

// RenewWriter gives this clone a new writer id after AdoptLogs found that another writer pushed to its log. The
// new writer has no log yet. If this clone is a copy, the old log is the remote's from now on. Otherwise somebody else
// pushed to our log: it ends where this clone wrote last, and is closed. Entries that the remote does not have are kept
// under refs/runr-local/diverged/, for the caller to record again: an entry names its writer, so it cannot be moved to
// another log. A writer with a given name shares its log on purpose: it keeps its id and continues from the remote's
// log. RenewWriter returns the id, and whether it closed the old log.
func (s *Store) RenewWriter(ctx context.Context, remote string) (id string, closed bool, err error) {
	unlock, err := s.dir.Lock(ctx, "log")
	if err != nil {
		return "", false, fmt.Errorf("renew writer: %w", err)
	}
	defer unlock()
	to := s.AudienceOf(remote)
	old, err := s.storedWriter(ctx, to)
	named, _ := s.named(to)
	closed = named == "" && !s.isCopy()
	if err == nil {
		err = s.leaveLog(ctx, remote, old, closed)
	}
	if err != nil {
		return "", false, fmt.Errorf("renew writer %s: %w", old, err)
	}
	if named != "" {
		return named, false, nil
	}
	id, err = s.newWriter(ctx, to)
	return id, closed, err
}

// leaveLog saves our log and moves its ref to the remote's, or, to close it, to the last entry that both have. It runs
// before the new id is made: if the process is killed in between, nothing is lost, and the next sync finds the same
// situation. It returns ErrNotFound if old is "".
func (s *Store) leaveLog(ctx context.Context, remote, old string, closed bool) error {
	if old == "" {
		return fmt.Errorf("this clone has not written yet: %w", gitdir.ErrNotFound)
	}
	ours, err := s.refs.Ref(ctx, logPrefix+old)
	if err != nil {
		return err
	}
	theirs, err := s.SharedTip(ctx, remote, old)
	if err != nil || theirs == "" || ours == theirs {
		return err
	}
	if closed && ours != "" {
		if err := s.refs.Keep(ctx, closedPrefix+old, ours); err != nil {
			return err
		}
		theirs, err = s.refs.MergeBase(ctx, ours, theirs)
		if err != nil && !errors.Is(err, gitdir.ErrNotFound) {
			return err
		}
	}
	contained := ours == "" || ours == theirs
	if !contained && theirs != "" {
		if contained, err = s.refs.IsAncestor(ctx, ours, theirs); err != nil {
			return err
		}
	}
	if !contained {
		if err := s.refs.Keep(ctx, divergedPrefix+old+"/"+string(ours), ours); err != nil {
			return err
		}
	}
	tail, err := s.openTail(old)
	if err != nil {
		return err
	}
	defer tail.file.Close()
	if err := s.restartTail(ctx, tail, old, theirs); err != nil { // else TakeUpLog would restore our old log
		return err
	}
	return s.refs.SwapAny(ctx, logPrefix+old, theirs, ours)
}
