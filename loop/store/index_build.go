package store

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/segment"
	"github.com/git-runr/git-runr/loop/internal/spill"
	"github.com/git-runr/git-runr/loop/record"
)

// build makes the segment with the changes of new events. It groups the events by run and review, in a file if they
// are many, so that memory use is bounded.
type build struct {
	store  *Store
	idx    *index
	groups groups
	high   []record.Event // events whose clocks are far ahead, oldest first within a log
}

// add adds an event. Events of one log must be added in order.
func (b *build) add(e record.Event) {
	e = b.idx.placed(e)
	if e.Clock > b.idx.Clock+record.MaxAhead || e.Late != 0 {
		b.high = append(b.high, e)
		return
	}
	b.groups.add(e)
}

// finish folds the added events and puts the segment on top of the index.
func (b *build) finish(ctx context.Context) error {
	b.idx.Clock = max(b.idx.Clock, b.groups.clock)
	defer func() { b.idx.Events += b.groups.taken }()
	for _, e := range b.idx.believe(b.high) {
		b.groups.add(e)
	}
	if b.groups.Empty() {
		return nil
	}
	return b.idx.stack.Put(b.groups.Large(), func(w *segment.Writer) error { return b.fold(ctx, w) })
}

// fold folds the groups. For a new index, which needs no reading, it does so in parallel.
func (b *build) fold(ctx context.Context, w *segment.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu      sync.Mutex
		workers sync.WaitGroup
	)
	n := 1
	if b.idx.stack.Depth() == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	places := make(chan struct{}, n)
	for part := range spill.Count {
		places <- struct{}{}
		workers.Go(func() {
			defer func() { <-places }()
			err := b.groups.visit(part, func(of entity, events []record.Event) error {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				r, err := b.store.foldOn(ctx, b.idx, of, events)
				if err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				b.idx.begins(r.row)
				b.idx.asks(r.branch, r.row.seq)
				return w.Add(r.Row)
			})
			if err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// folded is a row to write.
type folded struct {
	segment.Row
	row    *row
	branch string // the branch that the review was requested on
}

// foldOn returns the row of a run or review after fresh events.
func (s *Store) foldOn(ctx context.Context, idx *index, of entity, fresh []record.Event) (folded, error) {
	record.Sort(fresh)
	old, err := idx.find(of)
	if err != nil {
		return folded{}, err
	}
	if old == nil {
		return newRow(of, row{seq: fresh[0].Clock, events: len(fresh), whole: true}, state{kind: of.kind}, fresh)
	}
	last, err := idx.refs(of, 1)
	if err != nil {
		return folded{}, err
	}
	if len(last) > 0 && last[0].before(fresh[0]) {
		st, err := s.stateOf(ctx, idx, old)
		if err != nil {
			return folded{}, err
		}
		return newRow(of, row{seq: old.seq, events: old.events + len(fresh), covered: old.covered, kept: old.kept,
			older: true}, st, fresh)
	}
	before, err := s.readRow(ctx, idx, of)
	if err != nil {
		return folded{}, err
	}
	all := append(before, fresh...)
	record.Sort(all)
	return newRow(of, row{seq: all[0].Clock, events: len(all), older: true, whole: true}, state{kind: of.kind}, all)
}

// newRow returns the row to write for a run or review after events, which come after state st, with refs to them. was
// has the fields that do not follow from these.
func newRow(of entity, was row, st state, events []record.Event) (folded, error) {
	st.apply(events)
	r := was
	r.entity = of
	summary, err := st.describe(&r)
	if err != nil {
		return folded{}, err
	}
	out := folded{row: &r, branch: st.review.Request.Subject.Branch,
		Row: segment.Row{Parts: [segment.Parts][]byte{partSummary: summary, partRefs: encodeRefs(events)}}}
	if r.begun() && was.keepsState(r.events) {
		kept, err := st.encode()
		if err != nil {
			return out, err
		}
		out.Parts[partState], r.covered, r.kept = kept, r.events, len(kept)
	}
	var ok bool
	if out.Key, ok = of.key(); !ok {
		return out, fmt.Errorf("index %q: not an id", of.id)
	}
	out.Head, out.Marks = r.head(), marksOf(&r, summary, events, &st)
	return out, nil
}

// marksOf returns the sorted marks of a row: of all ids in its summary and events, of its own suffix, of a run's name,
// of the review that a review follows, of the verdicts that people gave there, and of how it was closed.
func marksOf(r *row, summary []byte, events []record.Event, st *state) []uint64 {
	_, suffix, _ := strings.Cut(r.id, "-")
	marks := marksOfSuffix(suffix)
	if st.kind == kindRun && st.run.ID != "" {
		marks = append(marks, markOfName(st.run.Name()))
	}
	if follows := st.review.Request.Follows; st.kind == kindReview && follows != "" {
		marks = append(marks, markOfText("follows", follows))
	}
	if len(st.review.Refusers()) > 0 {
		marks = append(marks, markOfDecision(record.RequestChanges))
		if summary := st.review.Summary(); summary.ClosedOver() {
			marks = append(marks, closedOverMark(weekOf(summary.ClosedAt)))
		}
	}
	if len(st.review.Approvers()) > 0 {
		marks = append(marks, markOfDecision(record.Approve))
	}
	add := func(id []byte) {
		if mark, ok := markOf(string(id)); ok {
			marks = append(marks, mark)
		}
	}
	hexIDs(summary, add)
	for _, e := range events {
		hexIDs(e.Payload, add)
	}
	for i, mark := range marks {
		marks[i] = r.kind.mark(mark)
	}
	slices.Sort(marks)
	return slices.Compact(marks)
}

// stateOf returns the folded state of the run or review whose newest row is r, starting from the newest kept state.
func (s *Store) stateOf(ctx context.Context, idx *index, r *row) (state, error) {
	st := state{kind: r.kind}
	if r.covered > 0 {
		rows, err := idx.versions(r.entity, 0)
		if err != nil {
			return st, err
		}
		i := slices.IndexFunc(rows, func(r row) bool { return r.entry.Len(partState) > 0 })
		if i < 0 || rows[i].covered != r.covered {
			return st, fmt.Errorf("read index: state of %s after %d events: %w", r.id, r.covered, errIndex)
		}
		data, err := rows[i].entry.Part(partState)
		if err != nil {
			return st, err
		}
		if st, err = decodeState(r.kind, data); err != nil || r.events == r.covered {
			return st, err
		}
	}
	refs, err := idx.refs(r.entity, r.events-r.covered)
	if err != nil {
		return st, err
	}
	if len(refs) < r.events-r.covered {
		return st, fmt.Errorf("read index: %d events of %s: %w", r.events-r.covered, r.id, errIndex)
	}
	events, lost, err := s.readRefs(ctx, refs)
	for _, d := range lost {
		idx.damage(d)
	}
	record.Sort(events)
	st.apply(events)
	return st, err
}

// groups holds events grouped by run and review, in parts. A part holds all events of some runs and reviews, each
// event prefixed with the id of its run or review.
type groups struct {
	spill.Parts
	clock uint64 // the highest clock
	taken int    // the number of events
	count bool   // only count the events
}

func (g *groups) add(e record.Event) {
	g.clock = max(g.clock, e.Clock)
	if g.taken++; g.count {
		return
	}
	for _, of := range []entity{{kindReview, e.Review}, {kindRun, e.Run}} {
		if of.id != "" {
			h := fnv.New32a()
			_, _ = io.WriteString(h, of.id)
			g.Add(int(h.Sum32()%spill.Count), func(b []byte) []byte {
				return appendEvent(appendText(append(b, byte(of.kind)), of.id), e)
			})
		}
	}
}

// visit visits each run and review of a part. Parts may be visited concurrently.
func (g *groups) visit(number int, visit func(entity, []record.Event) error) error {
	data, err := g.Read(number)
	if err != nil {
		return err
	}
	events := map[entity][]record.Event{}
	for r := (&eventReader{data: data, text: string(data)}); r.at < len(data); {
		kind := entityKind(data[r.at])
		r.at++
		of := entity{kind, r.next()}
		events[of] = append(events[of], r.event())
	}
	for of, list := range events {
		if err := visit(of, list); err != nil {
			return err
		}
	}
	return nil
}

func appendText[T ~string | ~[]byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// appendEvent encodes an event for an eventReader of this process.
func appendEvent(b []byte, e record.Event) []byte {
	var buf [16]byte
	at, _ := e.Timestamp.AppendBinary(buf[:0]) // cannot fail: the time was parsed from text
	plain := uint64(0)
	if e.Plain {
		plain = 1
	}
	for _, n := range []uint64{uint64(e.V), e.Clock, uint64(e.Late), plain} {
		b = binary.AppendUvarint(b, n)
	}
	for _, text := range []string{e.Writer, e.Type, e.Source, e.Run, e.Review, string(e.ID), e.Actor, e.Title} {
		b = appendText(b, text)
	}
	return appendText(appendText(b, at), e.Payload)
}

// eventReader decodes what appendEvent wrote; text is a copy of data.
type eventReader struct {
	data []byte
	text string
	at   int
}

func (r *eventReader) number() uint64 {
	n, size := binary.Uvarint(r.data[r.at:])
	r.at += size
	return n
}

func (r *eventReader) next() string {
	n := int(r.number())
	r.at += n
	return r.text[r.at-n : r.at]
}

func (r *eventReader) event() (e record.Event) {
	e.V, e.Clock, e.Late, e.Plain = int(r.number()), r.number(), int64(r.number()), r.number() == 1
	e.Writer, e.Type, e.Source, e.Run, e.Review, e.ID, e.Actor, e.Title = r.next(), r.next(), r.next(), r.next(), r.next(),
		gitstore.ID(r.next()), r.next(), r.next()
	_ = e.Timestamp.UnmarshalBinary([]byte(r.next()))
	n := int(r.number())
	e.Payload = r.data[r.at:][:n:n]
	r.at += n
	return e
}
