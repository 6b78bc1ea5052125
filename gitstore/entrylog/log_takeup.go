package entrylog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// TakenUp is what TakeUpLog repaired in this clone's own log; the zero value means nothing.
type TakenUp struct {
	Entries int    // missing ones that were written again
	Moved   bool   // the ref was moved from From to To
	From    odb.ID // where the ref was; "" if it was deleted
	To      odb.ID // where its writer had left it, or the newest entry left of that
	Missing bool   // From is missing and could not be restored
}

// TakeUpLog makes sure that this clone's own log ends where its writer left it. It restores entries that a fetch over
// the ref removed, and objects that gc removed after a writer was killed. A log whose newest entry is lost ends at the
// newest one left. If nothing is wrong, this costs two small reads. It leaves a read-only repository as it is.
func (s *Store) TakeUpLog(ctx context.Context, of Recognize) (TakenUp, error) {
	return s.takeUpOwn(ctx, nil, of)
}

// SoundTips returns Tips after TakeUpLog. If nothing is wrong, it reads the refs once.
func (s *Store) SoundTips(ctx context.Context, of Recognize) (Tips, TakenUp, error) {
	refs, err := s.allLogRefs(ctx)
	if err != nil {
		return nil, TakenUp{}, err
	}
	done, err := s.takeUpOwn(ctx, refs, of)
	if err == nil && done != (TakenUp{}) {
		refs, err = s.allLogRefs(ctx)
	}
	if err != nil {
		return nil, done, err
	}
	tips, err := s.tipsOf(ctx, refs)
	return tips, done, err
}

// takeUpOwn is TakeUpLog. refs are the refs of logs as they were just read, or nil.
func (s *Store) takeUpOwn(ctx context.Context, refs map[string]odb.ID, of Recognize) (TakenUp, error) {
	var all TakenUp
	for _, writer := range s.Own() {
		if s.logStands(ctx, writer, refs[s.logRef(writer)]) {
			continue
		}
		var done TakenUp
		err := s.withTail(ctx, writer, func(tail *logTail) (err error) {
			done, err = s.takeUp(ctx, tail, writer, "", of)
			return err
		})
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			continue
		}
		if err != nil {
			return done, fmt.Errorf("take up the log of this clone: %w", err)
		}
		if done != (TakenUp{}) {
			all = done
		}
	}
	return all, nil
}

// logStands reports whether the log ends where its writer left it. It takes no lock; if a writer is active meanwhile,
// it looks again. If the ref is where this process last saw it, it does not read the tail. seen is where the ref was
// just seen, or "".
func (s *Store) logStands(ctx context.Context, writer string, seen odb.ID) bool {
	for range 3 {
		have, err := s.seenAt(ctx, writer, seen)
		if err == nil && have != "" && s.stood.Load() == have {
			return s.objects.Has(ctx, have)
		}
		last, before, tailErr := s.tailEnd(writer)
		if last == "" && tailErr == nil {
			last, tailErr = s.refs.Ref(ctx, keptPrefix+writer)
			before = last
		}
		if err != nil || tailErr != nil {
			return true // a reader of the log will report the error
		}
		if last == "" || have == last || have == before {
			s.stood.Store(have)
			return have == "" || s.objects.Has(ctx, have)
		}
		seen = ""
	}
	return false
}

// seenAt returns the ref of a log: seen if it is not "", else the ref as it is now.
func (s *Store) seenAt(ctx context.Context, writer string, seen odb.ID) (odb.ID, error) {
	if seen != "" {
		return seen, nil
	}
	return s.refs.Ref(ctx, s.logRef(writer))
}

// takeUp is TakeUpLog for the holder of the log's lock. seen is where the holder just saw the log's ref, or "".
func (s *Store) takeUp(ctx context.Context, tail *logTail, writer string, seen odb.ID,
	of Recognize) (done TakenUp, err error) {
	have, err := s.seenAt(ctx, writer, seen)
	if err != nil {
		return done, err
	}
	if err := tail.settle(have); err != nil {
		return done, err
	}
	if done.Entries, err = s.restoreTail(ctx, tail); err != nil {
		return done, err
	}
	to, err := s.logEnd(ctx, tail, writer, have, of)
	if err != nil {
		return done, err
	}
	if to != have {
		done.Moved, done.From, done.To = true, have, to
		done.Missing = have != "" && !s.objects.Has(ctx, have)
		if err = s.moveLog(ctx, writer, to, have); err == nil && done.Missing {
			err = s.writePlace("lost its end") // what the remote has beyond it was this clone's
		}
	}
	if err == nil && (tail.last() == nil || tail.last().id != to) {
		err = s.restartTail(ctx, tail, writer, to)
	}
	return done, err
}

// settle decides about the newest entry if its writer was killed before it recorded whether the ref moved.
func (t *logTail) settle(have odb.ID) error {
	last := t.last()
	switch {
	case last == nil || last.moved:
		return nil
	case have == last.parent:
		return t.drop()
	}
	return t.confirm()
}

// logEnd returns where the log must end: at its ref, if that is what its writer left or a descendant of it. An
// agent may have added what follows the newest entry of the tail; then the log ends there.
func (s *Store) logEnd(ctx context.Context, tail *logTail, writer string, have odb.ID, of Recognize) (odb.ID, error) {
	left, err := s.refs.Ref(ctx, keptPrefix+writer) // the newest entry that the writer is known to have written
	if last := tail.last(); last != nil {
		left, err = last.id, nil
	}
	if err == nil && have == "" && left == "" { // a returning writer continues its retired log
		tips, err := s.Tips(ctx)
		return tips[writer], err
	}
	if err != nil || have == "" {
		return left, err
	}
	if !s.objects.Has(ctx, have) {
		return s.newestEntry(ctx, writer, have, left, of)
	}
	if left == "" || have == left {
		return have, nil
	}
	if further, err := s.refs.IsAncestor(ctx, left, have); err != nil || !further ||
		tail.last() != nil && s.Guarded != nil && s.Guarded(ctx, s.logRef(writer), have) {
		return left, context.Cause(ctx)
	}
	return have, nil
}

// foreignPrefix is the prefix of refs at what was found in the place of a log of this clone, <writer>/<commit>.
const foreignPrefix = "refs/runr-local/foreign/"

// ForeignTo returns the ref of the log in whose place the commit of ref was found. ok is false if ref is another.
func (s *Store) ForeignTo(ref string) (log string, ok bool) {
	at, ok := strings.CutPrefix(ref, foreignPrefix)
	return s.logRef(path.Dir(at)), ok
}

// HasForeign reports whether ref is a log of this clone and tip adds entries to it that this program did not write.
// If it is not known what it wrote last, nothing is foreign.
func (s *Store) HasForeign(ctx context.Context, ref string, tip odb.ID) bool {
	writer := path.Base(ref)
	if tip == "" || !s.Owns(writer) || ref != s.logRef(writer) {
		return false
	}
	last, before, err := s.tailEnd(writer)
	if err != nil || last == "" || tip == last || tip == before {
		return false
	}
	adds, err := s.refs.IsAncestor(ctx, before, tip)
	return err == nil && adds
}

// newestEntry returns the end of a log whose newest entry is missing: the newest entry found here if it descends from
// left, which the clone kept, else left.
func (s *Store) newestEntry(ctx context.Context, writer string, missing, left odb.ID, of Recognize) (odb.ID, error) {
	if of == nil {
		return "", fmt.Errorf("%w: %s, the newest entry of this clone's log, is missing", gitdir.ErrCorrupt, missing)
	}
	found, err := s.findEntries(ctx, writer, of)
	if err != nil {
		return "", err
	}
	newest := found.newestEnd()
	if left == "" || newest == "" {
		return cmp.Or(newest, left), nil
	}
	if further, err := s.refs.IsAncestor(ctx, left, newest); err != nil || !further {
		return left, context.Cause(ctx)
	}
	return newest, nil
}

// moveLog moves the log's ref back. It first keeps the commit that the ref was at if that is not part of the log.
func (s *Store) moveLog(ctx context.Context, writer string, to, from odb.ID) error {
	if from != "" && to != "" && s.objects.Has(ctx, from) {
		if part, err := s.refs.IsAncestor(ctx, from, to); err != nil || !part {
			if err := s.refs.Keep(ctx, foreignPrefix+writer+"/"+string(from), from); err != nil {
				return err
			}
		}
	}
	return s.refs.SwapAnyNow(ctx, s.logRef(writer), to, from)
}

// restartTail begins the tail at an entry, which the clone's own ref keeps from now on.
func (s *Store) restartTail(ctx context.Context, tail *logTail, writer string, at odb.ID) error {
	kept, err := s.refs.Ref(ctx, keptPrefix+writer)
	if err == nil && kept != at {
		err = s.refs.SwapAnyNow(ctx, keptPrefix+writer, at, kept)
	}
	if err != nil || tail.size == 0 {
		return err
	}
	tail.records, tail.size = nil, 0
	return tail.file.Truncate(0)
}

// restoreTail writes the missing objects of the tail again and counts the restored entries.
func (s *Store) restoreTail(ctx context.Context, tail *logTail) (int, error) {
	ids := each.Of(tail.records, func(record tailRecord) odb.ID { return record.id })
	missing, err := s.objects.Absent(ctx, ids)
	if err != nil || len(missing) == 0 {
		return 0, err
	}
	var gone odb.Batch
	for _, record := range tail.records {
		if !slices.Contains(missing, record.id) {
			continue
		}
		for _, object := range record.objects {
			gone.Add(s.objects, object.Kind, object.Data)
		}
	}
	if err := s.objects.StoreBatch(ctx, gone, odb.Synced); err != nil {
		return 0, fmt.Errorf("write again what gc has deleted: %w", err)
	}
	return len(missing), nil
}

// keepTail moves the clone's own ref to the end of a tail that has grown long. It does so while no gc runs, so that
// every object the ref needs is sure to exist.
func (s *Store) keepTail(ctx context.Context, tail *logTail, writer string) error {
	if s.dir.GcRuns() {
		return nil
	}
	if err := s.refs.ReleaseKept(ctx); err != nil {
		return err
	}
	if len(tail.records) < tailEntries && tail.size < tailSize {
		return nil
	}
	return s.restartTail(ctx, tail, writer, tail.last().id)
}
