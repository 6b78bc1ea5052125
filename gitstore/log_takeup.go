package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
)

// TakenUp says what was put right about this clone's own log; the zero TakenUp when
// nothing had to be.
type TakenUp struct {
	Entries int  // that were missing, and were written again
	Moved   bool // the ref was moved from From to To
	From    ID   // where it stood; "" when it was deleted
	To      ID   // where its writer had left it, or what is left of that
	Missing bool // what From names is missing, and is not to be found here
}

// Recognize reports whether a commit is an entry of the log of its Writer. This
// package does not know what messages say; it asks when it looks for entries that
// nothing leads to any more.
type Recognize func(Entry) bool

// TakeUpLog makes sure that this clone's own log ends where its writer left it:
// entries that a fetch over the ref took away are taken up again, and objects that gc
// took from a writer that was killed are written again. A log whose newest entry is
// lost ends at the newest that is left. When all is well, as nearly always, that
// costs two small reads. A repository that cannot be written stays as it is.
func (r *Repo) TakeUpLog(ctx context.Context, of Recognize) (TakenUp, error) {
	writer := r.Writer()
	if writer == "" || r.logStands(ctx, writer) {
		return TakenUp{}, nil
	}
	done, err := r.takeUpLocked(ctx, writer, of)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("take up the log of this clone: %w", err)
	}
	return done, err
}

func (r *Repo) takeUpLocked(ctx context.Context, writer string, of Recognize) (TakenUp, error) {
	unlock, err := r.Lock(ctx, "log")
	if err != nil {
		return TakenUp{}, err
	}
	defer unlock()
	tail, err := r.openTail(writer)
	if err != nil {
		return TakenUp{}, err
	}
	defer tail.close()
	return r.takeUp(ctx, tail, writer, of)
}

// logStands reports whether the log ends where its writer left it. It takes no lock:
// what a writer does at the same time is looked at once more.
func (r *Repo) logStands(ctx context.Context, writer string) bool {
	for range 3 {
		have, err := r.Ref(ctx, logPrefix+writer)
		last, before, tailErr := r.tailEnd(writer)
		if last == "" && tailErr == nil {
			last, tailErr = r.Ref(ctx, keptPrefix+writer)
			before = last
		}
		if err != nil || tailErr != nil {
			return true // whoever reads the log will say what is wrong
		}
		if last == "" || have == last || have == before {
			return have == "" || r.hasObject(ctx, have)
		}
	}
	return false
}

// takeUp is TakeUpLog for the one who holds the log's lock.
func (r *Repo) takeUp(ctx context.Context, tail *logTail, writer string, of Recognize) (done TakenUp, err error) {
	have, err := r.Ref(ctx, logPrefix+writer)
	if err != nil {
		return done, err
	}
	if err := tail.settle(have); err != nil {
		return done, err
	}
	if done.Entries, err = r.restoreTail(ctx, tail); err != nil {
		return done, err
	}
	to, err := r.logEnd(ctx, tail, writer, have, of)
	if err != nil {
		return done, err
	}
	if to != have {
		done.Moved, done.From, done.To = true, have, to
		done.Missing = have != "" && !r.hasObject(ctx, have)
		err = r.moveLog(ctx, writer, to, have)
	}
	if err == nil && (tail.last() == nil || tail.last().id != to) {
		err = r.restartTail(ctx, tail, writer, to)
	}
	return done, err
}

// settle decides about an entry whose writer did not live to say whether the ref moved.
func (t *logTail) settle(have ID) error {
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
func (r *Repo) logEnd(ctx context.Context, tail *logTail, writer string, have ID, of Recognize) (ID, error) {
	left, err := r.leftAt(ctx, tail, writer)
	if err != nil || have == "" {
		return left, err
	}
	if !r.hasObject(ctx, have) {
		return r.newestEntry(ctx, writer, have, left, of)
	}
	if left == "" || have == left {
		return have, nil
	}
	if further, err := r.IsAncestor(ctx, left, have); err != nil || !further {
		return left, context.Cause(ctx)
	}
	return have, nil
}

// leftAt is the newest entry that the writer is known to have written.
func (r *Repo) leftAt(ctx context.Context, tail *logTail, writer string) (ID, error) {
	if last := tail.last(); last != nil {
		return last.id, nil
	}
	return r.Ref(ctx, keptPrefix+writer)
}

// newestEntry is where a log ends whose newest entry is missing: at the newest entry
// that is left here, if it comes from the one that the clone kept, else at that.
func (r *Repo) newestEntry(ctx context.Context, writer string, missing, left ID, of Recognize) (ID, error) {
	if of == nil {
		return "", fmt.Errorf("%w: %s, the newest entry of this clone's log, is missing", ErrCorrupt, missing)
	}
	found, err := r.findEntries(ctx, writer, of)
	if err != nil {
		return "", err
	}
	newest := found.newestEnd()
	if left == "" || newest == "" {
		return cmp.Or(newest, left), nil
	}
	if further, err := r.IsAncestor(ctx, left, newest); err != nil || !further {
		return left, context.Cause(ctx)
	}
	return newest, nil
}

// moveLog moves the log's ref back. What stood in its place, and is not a part of the
// log, is kept from gc.
func (r *Repo) moveLog(ctx context.Context, writer string, to, from ID) error {
	if from != "" && to != "" && r.hasObject(ctx, from) {
		if part, err := r.IsAncestor(ctx, from, to); err != nil || !part {
			if err := r.Pin(ctx, "what stood in the place of log "+writer, from); err != nil {
				return err
			}
		}
	}
	return r.swapRefNow(ctx, logPrefix+writer, to, from)
}

// restartTail begins the tail at an entry that the clone's own ref keeps.
func (r *Repo) restartTail(ctx context.Context, tail *logTail, writer string, at ID) error {
	kept, err := r.Ref(ctx, keptPrefix+writer)
	if err == nil && kept != at {
		err = r.swapRefNow(ctx, keptPrefix+writer, at, kept)
	}
	if err != nil || tail.size == 0 {
		return err
	}
	return tail.clear()
}

// restoreTail writes again what of the tail is missing, and counts it.
func (r *Repo) restoreTail(ctx context.Context, tail *logTail) (int, error) {
	var ids []ID
	for _, record := range tail.records {
		ids = append(ids, record.id)
	}
	missing, err := r.absent(ctx, ids)
	if err != nil || len(missing) == 0 {
		return 0, err
	}
	var gone objectBatch
	for _, record := range tail.records {
		if !slices.Contains(missing, record.id) {
			continue
		}
		for _, object := range record.objects {
			gone.add(r, object.kind, object.data)
		}
	}
	if err := r.storeBatch(ctx, gone); err != nil {
		return 0, fmt.Errorf("write again what gc has deleted: %w", err)
	}
	return len(missing), nil
}
