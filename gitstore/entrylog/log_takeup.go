package entrylog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// TakenUp says what was put right about this clone's own log; the zero TakenUp when
// nothing had to be.
type TakenUp struct {
	Entries int    // that were missing, and were written again
	Moved   bool   // the ref was moved from From to To
	From    odb.ID // where it stood; "" when it was deleted
	To      odb.ID // where its writer had left it, or what is left of that
	Missing bool   // what From names is missing, and is not to be found here
}

// TakeUpLog makes sure that this clone's own log ends where its writer left it:
// entries that a fetch over the ref took away are taken up again, and objects that gc
// took from a writer that was killed are written again. A log whose newest entry is
// lost ends at the newest that is left. When all is well, as nearly always, that
// costs two small reads. A repository that cannot be written stays as it is.
func (s *Store) TakeUpLog(ctx context.Context, of Recognize) (TakenUp, error) {
	var all TakenUp
	for _, writer := range s.Own() {
		if s.logStands(ctx, writer) {
			continue
		}
		done, err := s.takeUpLocked(ctx, writer, of)
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

func (s *Store) takeUpLocked(ctx context.Context, writer string, of Recognize) (TakenUp, error) {
	unlock, err := s.dir.Lock(ctx, "log")
	if err != nil {
		return TakenUp{}, err
	}
	defer unlock()
	tail, err := s.openTail(writer)
	if err != nil {
		return TakenUp{}, err
	}
	defer tail.file.Close()
	return s.takeUp(ctx, tail, writer, of)
}

// logStands reports whether the log ends where its writer left it. It takes no lock:
// what a writer does at the same time is looked at once more. Where the ref stands as it
// did when this process looked last, the tail need not be read again.
func (s *Store) logStands(ctx context.Context, writer string) bool {
	for range 3 {
		have, err := s.refs.Ref(ctx, s.logRef(writer))
		if err == nil && have != "" && s.stood.Load() == have {
			return s.objects.Has(ctx, have)
		}
		last, before, tailErr := s.tailEnd(writer)
		if last == "" && tailErr == nil {
			last, tailErr = s.refs.Ref(ctx, keptPrefix+writer)
			before = last
		}
		if err != nil || tailErr != nil {
			return true // whoever reads the log will say what is wrong
		}
		if last == "" || have == last || have == before {
			s.stood.Store(have)
			return have == "" || s.objects.Has(ctx, have)
		}
	}
	return false
}

// takeUp is TakeUpLog for the one who holds the log's lock.
func (s *Store) takeUp(ctx context.Context, tail *logTail, writer string, of Recognize) (done TakenUp, err error) {
	have, err := s.refs.Ref(ctx, s.logRef(writer))
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
		err = s.moveLog(ctx, writer, to, have)
	}
	if err == nil && (tail.last() == nil || tail.last().id != to) {
		err = s.restartTail(ctx, tail, writer, to)
	}
	return done, err
}

// settle decides about an entry whose writer did not live to say whether the ref moved.
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

// logEnd is where the log has to end: where its ref stands, when that is what its
// writer left or comes from it.
func (s *Store) logEnd(ctx context.Context, tail *logTail, writer string, have odb.ID, of Recognize) (odb.ID, error) {
	left, err := s.leftAt(ctx, tail, writer)
	if err == nil && have == "" && left == "" { // a writer that comes back goes on from where it was retired
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
	if further, err := s.refs.IsAncestor(ctx, left, have); err != nil || !further {
		return left, context.Cause(ctx)
	}
	return have, nil
}

// leftAt is the newest entry that the writer is known to have written.
func (s *Store) leftAt(ctx context.Context, tail *logTail, writer string) (odb.ID, error) {
	if last := tail.last(); last != nil {
		return last.id, nil
	}
	return s.refs.Ref(ctx, keptPrefix+writer)
}

// newestEntry is where a log ends whose newest entry is missing: at the newest entry
// that is left here, if it comes from the one that the clone kept, else at that.
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

// moveLog moves the log's ref back. What stood in its place, and is not a part of the
// log, is kept from gc.
func (s *Store) moveLog(ctx context.Context, writer string, to, from odb.ID) error {
	if from != "" && to != "" && s.objects.Has(ctx, from) {
		if part, err := s.refs.IsAncestor(ctx, from, to); err != nil || !part {
			if err := s.Pin(ctx, "what stood in the place of log "+writer, from); err != nil {
				return err
			}
		}
	}
	return s.refs.SwapAnyNow(ctx, s.logRef(writer), to, from)
}

// restartTail begins the tail at an entry that the clone's own ref keeps.
func (s *Store) restartTail(ctx context.Context, tail *logTail, writer string, at odb.ID) error {
	kept, err := s.refs.Ref(ctx, keptPrefix+writer)
	if err == nil && kept != at {
		err = s.refs.SwapAnyNow(ctx, keptPrefix+writer, at, kept)
	}
	if err != nil || tail.size == 0 {
		return err
	}
	return tail.clear()
}

// restoreTail writes again what of the tail is missing, and counts it.
func (s *Store) restoreTail(ctx context.Context, tail *logTail) (int, error) {
	var ids []odb.ID
	for _, record := range tail.records {
		ids = append(ids, record.id)
	}
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

// keepTail gives what the tail holds to the clone's own ref when it has grown long,
// at a moment when no gc runs: then every object that a ref needs is certain.
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
