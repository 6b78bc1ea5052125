package entrylog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/refdb"
)

// Adopted is what AdoptLogs took over.
type Adopted struct {
	Writers  []string    // whose logs moved forward here
	Moved    []MovedLog  // the same, and what of
	Events   int         // how many entries came
	Rejected []Rejection // logs that were left as they were
	// Diverged: the remote has entries under our own writer's id that are not here.
	// This clone, or the other, is a copy, or was restored. RenewWriter puts it right.
	Diverged bool
}

// MovedLog is a log that goes on after one entry, "" from its beginning, up to another.
type MovedLog struct {
	Writer   string
	From, To odb.ID
}

// moved notes a log that has moved forward.
func (a *Adopted) moved(log adoption) {
	a.Writers = append(a.Writers, log.writer)
	a.Moved = append(a.Moved, MovedLog{log.writer, log.old, log.new})
	a.Events += log.events
}

// adoption is a log that is to move forward here.
type adoption struct {
	writer   string
	new, old odb.ID
	ref      odb.ID // where its ref is here: old, "" for a log that is retired
	events   int
}

// AdoptLogs takes over the logs that FetchLogs has staged: each one only forward,
// and only when check accepts every new entry. A log that fails stays as it was
// here, the others are taken over all the same.
func (s *Store) AdoptLogs(ctx context.Context, remote string, check func(Entry) error) (Adopted, error) {
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
		if err := s.adoptArchives(ctx, remote, own, check, &adopted); err != nil {
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

// LeftLogs are what FetchLogs could not bring of a remote, and the logs that it has staged and AdoptLogs
// leaves as they are, each with why. Nothing is moved.
func (s *Store) LeftLogs(ctx context.Context, remote string, check func(Entry) error) ([]Rejection, error) {
	h := &hunt{refused: s.readRefusals(remote)}
	left := Adopted{Rejected: h.rejections()}
	own, err := s.storedWriter(ctx, s.AudienceOf(remote))
	if err != nil {
		return nil, err
	}
	logs, err := s.stagedLogs(ctx, remote, own)
	if err == nil {
		_, err = s.checkAll(ctx, logs, check, &left)
	}
	return left.Rejected, err
}

// stagedLogs are the logs of others that are staged and not here as they are there.
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

// ownLog looks whether the remote's log of our own writer has what ours has not, and
// checks that.
func (s *Store) ownLog(ctx context.Context, remote, own string, check func(Entry) error, adopted *Adopted) error {
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
		common, err = s.refs.MergeBase(ctx, staged, tip)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	events := 0
	if err == nil || errors.Is(err, gitdir.ErrNotFound) {
		events, err = s.walkCounted(ctx, own, staged, common, check)
	}
	if err != nil {
		adopted.reject(own, err)
		return nil
	}
	adopted.Diverged = true
	if named, _ := s.named(s.AudienceOf(remote)); named != "" { // what others recorded under the same name
		adopted.Writers, adopted.Events = append(adopted.Writers, own), adopted.Events+events
	}
	return nil
}

func (a *Adopted) reject(writer string, reason error) {
	a.Rejected = append(a.Rejected, Rejection{Writer: writer, Reason: gitdir.CleanLine(reason.Error())})
}

// checkAll gives those of the logs that may be taken over. All are read in one stream; where
// one of them does not go on from what is here, each is read by itself.
func (s *Store) checkAll(ctx context.Context, logs []adoption, check func(Entry) error, adopted *Adopted) (good []adoption, err error) {
	tips, known := Tips{}, Tips{}
	for _, a := range logs {
		tips[a.writer], known[a.writer] = a.new, a.old
	}
	events, refused := map[string]int{}, map[string]error{}
	together := s.WalkAll(ctx, tips, known, func(e Entry) error {
		events[e.Writer]++
		if err := check(e); err != nil { // the oldest, which comes last, is named
			refused[e.Writer] = err
		}
		return nil
	}) == nil
	for _, a := range logs {
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("take over log %s: %w", a.writer, context.Cause(ctx))
		case !together || !isWriter(a.writer):
			if s.checkAdoption(ctx, &a, check, adopted) {
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

// checkAdoption reports whether a log may be taken over.
func (s *Store) checkAdoption(ctx context.Context, a *adoption, check func(Entry) error, adopted *Adopted) bool {
	err := errors.New("its name is not a writer's")
	if isWriter(a.writer) {
		a.events, err = s.checkLog(ctx, a.writer, a.new, a.old, check)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, errOlder) {
		adopted.reject(a.writer, err)
	}
	return err == nil
}

// moveAtOnce is from how many logs on git moves them together, in a tenth of the time.
const moveAtOnce = 50

// moveForward moves logs that were checked.
func (s *Store) moveForward(ctx context.Context, logs []adoption, adopted *Adopted) error {
	var moves []refdb.Moved
	for _, a := range logs {
		moves = append(moves, refdb.Moved{Name: logPrefix + a.writer, New: a.new, Old: a.ref})
	}
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

// errOlder is a log that this clone has more of.
var errOlder = errors.New("older than the log that is here")

// checkLog counts and checks the entries that a staged log has beyond tip.
func (s *Store) checkLog(ctx context.Context, writer string, staged, tip odb.ID, check func(Entry) error) (events int, err error) {
	events, err = s.walkCounted(ctx, writer, staged, tip, check)
	if !errors.Is(err, gitdir.ErrNotFound) || tip == "" || events > 0 {
		return events, err
	}
	older, err := s.refs.IsAncestor(ctx, staged, tip)
	if err == nil && older {
		err = errOlder
	} else if err == nil {
		err = errors.New("it does not continue the log that is here" + s.namedHere(writer))
	}
	return 0, err
}

// namedHere says what to type where this clone has written a log under a name that it has no
// more: what it wrote goes to the remote under that name alone.
func (s *Store) namedHere(writer string) string {
	if _, err := os.Stat(s.tailPath(writer)); err != nil {
		return ""
	}
	return ", and this clone has written to it: git runr sync pushes that with the GIT_RUNR_WRITER under which it was written"
}

// walkCounted is Walk, and counts the entries.
func (s *Store) walkCounted(ctx context.Context, writer string, tip, known odb.ID, check func(Entry) error) (events int, err error) {
	err = s.Walk(ctx, writer, tip, known, func(e Entry) error {
		events++
		return check(e)
	})
	return events, err
}

// RenewWriter gives this clone a new id as a writer, after AdoptLogs found that
// another clone writes under the same one. The new writer has no log yet, and the old
// one's is the remote's from now on. What only this clone had recorded under the old
// id is kept as a whole under refs/runr-local/diverged/, for the caller to record
// again: an entry names its writer, so it cannot just be put into another's log. A writer
// that was given a name shares its log on purpose: it goes on from the remote's, under the
// same id. The id is returned.
func (s *Store) RenewWriter(ctx context.Context, remote string) (string, error) {
	unlock, err := s.dir.Lock(ctx, "log")
	if err != nil {
		return "", fmt.Errorf("renew writer: %w", err)
	}
	defer unlock()
	to := s.AudienceOf(remote)
	old, err := s.storedWriter(ctx, to)
	if err == nil && old == "" {
		err = fmt.Errorf("this clone has not written yet: %w", gitdir.ErrNotFound)
	}
	if err == nil {
		err = s.leaveLog(ctx, remote, old)
	}
	if err != nil {
		return "", fmt.Errorf("renew writer %s: %w", old, err)
	}
	if named, _ := s.named(to); named != "" {
		return named, nil
	}
	return s.newWriter(ctx, to)
}

// leaveLog keeps our log and gives its name to the remote's. That comes before the
// new id: a process that is killed in between has lost nothing, and the next sync
// finds the same again as soon as somebody writes.
func (s *Store) leaveLog(ctx context.Context, remote, old string) error {
	ours, err := s.refs.Ref(ctx, logPrefix+old)
	if err != nil {
		return err
	}
	theirs, err := s.SharedTip(ctx, remote, old)
	if err != nil || theirs == "" || ours == theirs {
		return err
	}
	if ours != "" {
		contained, err := s.refs.IsAncestor(ctx, ours, theirs)
		if err != nil {
			return err
		}
		if !contained {
			if err := s.refs.Keep(ctx, divergedPrefix+old+"/"+string(ours), ours); err != nil {
				return err
			}
		}
	}
	tail, err := s.openTail(old)
	if err != nil {
		return err
	}
	defer tail.file.Close()
	if err := s.restartTail(ctx, tail, old, theirs); err != nil { // else the log would be taken up again where it was
		return err
	}
	return s.refs.SwapAny(ctx, logPrefix+old, theirs, ours)
}
