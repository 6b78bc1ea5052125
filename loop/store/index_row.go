package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/segment"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/spend"
)

// NameForMatch shortens a name or a commit's subject for comparison, because a subject may have been truncated.
func NameForMatch(name string) string {
	const cut = 190
	name = prose.OneLine(name)
	return name[:min(len(name), cut)]
}

type entityKind byte

const (
	kindReview entityKind = 'r'
	kindRun    entityKind = 'R'
)

func (kind entityKind) String() string {
	if kind == kindRun {
		return "run"
	}
	return "review"
}

// entity identifies a run or a review.
type entity struct {
	kind entityKind
	id   string
}

// key returns the entity's key in a segment; ok is false if no row can have it.
func (e entity) key() (key segment.Key, ok bool) {
	key[0] = byte(e.kind)
	return key, copy(key[1:], e.id) == len(e.id) && len(e.id) == segment.KeySize-1
}

// Parts of a row.
const (
	partSummary = iota
	partRefs    // one line per event, in order: clock, writer, commit, late
	partState   // see row.covered
)

// row holds the fields of one run or review that lists filter and sort by.
type row struct {
	entity
	status   string
	sort     int64  // milliseconds since 1970; lists show the highest first
	seq      uint64 // clock of its first event
	created  int64  // milliseconds since 1970
	updated  int64
	closed   int64       // when a review was resolved or cancelled, in milliseconds since 1970; 0 if it is not closed
	need     record.Need // for a review
	critical int         // open critical findings of a review
	waits    bool        // an agent was asked and has not answered
	spent    bool        // agents' calls reported usage
	unasked  bool        // people refuse in a review whose request is not here: see record.Review.WithoutRequest
	events   int         // the number of its events
	covered  int         // how many of its first events are in the newest kept state
	kept     int         // size of that state in bytes
	older    bool        // a lower segment has a row of it too
	whole    bool        // its refs are complete; otherwise those of the rows below come before them
	topic    uint64      // see ReviewSummary.Topic

	entry segment.Entry
}

// begun reports whether the event that begins r is here. Events in another log that name a run may arrive before it.
func (r *row) begun() bool { return r.status != "" }

func (r *row) beginning() begun { return begun{r.id, r.created, r.seq} }

// here reports whether something is known of the run or review: it has begun, or people refuse in it.
func (r *row) here() bool { return r.begun() || r.unasked }

// Shelves group the rows of a segment, so that a list reads only those that it may show.
const (
	shelfNone byte = iota // the first event is not here yet
	shelfRun
	shelfClosed
	shelfWaiting
)

func (r *row) shelf() byte {
	switch {
	case !r.begun():
		return shelfNone
	case r.kind == kindRun:
		return shelfRun
	case record.WaitingStatus(r.status):
		return shelfWaiting
	}
	return shelfClosed
}

// Flags of a row.
const (
	flagWaits = 1 << iota
	flagOlder
	flagWhole
	flagSpent
	flagUnasked
)

func (r *row) flags() (flags byte) {
	for flag, set := range map[byte]bool{flagWaits: r.waits, flagOlder: r.older, flagWhole: r.whole, flagSpent: r.spent,
		flagUnasked: r.unasked} {
		if set {
			flags |= flag
		}
	}
	return flags
}

// Positions of some fields in a head.
const (
	statusAt, statusSize   = 17, 13
	flagsAt                = 39
	coveredAt, coveredSize = 46, 4
)

// head encodes the row for its segment.
func (r *row) head() (h [segment.HeadSize]byte) {
	h[0] = r.shelf()
	binary.BigEndian.PutUint64(h[1:], uint64(r.sort)^1<<63)
	binary.BigEndian.PutUint64(h[9:], r.seq)
	copy(h[statusAt:][:statusSize], r.status)
	binary.BigEndian.PutUint64(h[30:], uint64(r.closed))
	h[38], h[flagsAt] = byte(r.need), r.flags()
	binary.BigEndian.PutUint16(h[40:], uint16(min(r.critical, math.MaxUint16)))
	for i, n := range []int{r.events, r.covered, r.kept} {
		binary.BigEndian.PutUint32(h[42+4*i:], uint32(n))
	}
	binary.BigEndian.PutUint64(h[54:], uint64(r.created))
	binary.BigEndian.PutUint64(h[62:], uint64(r.updated))
	binary.BigEndian.PutUint64(h[70:], r.topic)
	return h
}

func rowsOf(entries []segment.Entry) []row {
	return each.Of(entries, rowOf)
}

// rowOf decodes an entry of a segment.
func rowOf(entry segment.Entry) row {
	h, key := entry.Head(), entry.Key()
	number := func(at int) int { return int(binary.BigEndian.Uint32(h[at:])) }
	time := func(at int) int64 { return int64(binary.BigEndian.Uint64(h[at:])) }
	flag := func(bit byte) bool { return h[flagsAt]&bit != 0 }
	status, _, _ := bytes.Cut(h[statusAt:][:statusSize], []byte{0})
	return row{
		entity: entity{entityKind(entry.Kind()), string(key[1:])}, status: string(status),
		sort: int64(binary.BigEndian.Uint64(h[1:]) ^ 1<<63), seq: binary.BigEndian.Uint64(h[9:]), closed: time(30),
		created: time(54), updated: time(62), spent: flag(flagSpent), need: record.Need(h[38]), waits: flag(flagWaits),
		older: flag(flagOlder), whole: flag(flagWhole), unasked: flag(flagUnasked),
		critical: int(binary.BigEndian.Uint16(h[40:])), events: number(42), covered: number(coveredAt), kept: number(50),
		topic: binary.BigEndian.Uint64(h[70:]), entry: entry,
	}
}

// hasOlder reports whether the row with that head has another row below it.
func hasOlder(head []byte) bool { return head[flagsAt]&flagOlder != 0 }

// joinRow merges into a row what an older row below it adds.
func joinRow(r *segment.Row, older segment.Row) {
	flags, was := &r.Head[flagsAt], older.Head[flagsAt]
	if *flags&flagWhole == 0 {
		r.Parts[partRefs] = slices.Concat(older.Parts[partRefs], r.Parts[partRefs])
		*flags |= was & flagWhole
	}
	if len(r.Parts[partState]) == 0 && bytes.Equal(r.Head[coveredAt:][:coveredSize],
		older.Head[coveredAt:][:coveredSize]) {
		r.Parts[partState] = older.Parts[partState]
	}
	*flags = *flags&^flagOlder | was&flagOlder
}

// loadLine decodes the summary of a row.
func loadLine[T any](r *row) (line T, err error) {
	summary, err := r.entry.Part(partSummary)
	if err != nil {
		return line, fmt.Errorf("read index: %w", err)
	}
	if err := json.Unmarshal(summary, &line); err != nil {
		return line, fmt.Errorf("read index: %w: %w", errIndex, err)
	}
	return line, nil
}

// state is a folded run or review.
type state struct {
	kind   entityKind
	review record.Review
	run    record.Run
}

// apply folds events that come after those folded before. It skips events that cannot be decoded.
func (st *state) apply(events []record.Event) {
	for _, e := range events {
		if st.kind == kindReview {
			_ = st.review.Apply(e)
		} else {
			_ = st.run.Apply(e)
		}
	}
}

// encode encodes st in the form that decodeState reads.
func (st *state) encode() ([]byte, error) {
	if st.kind == kindReview {
		return st.review.Keep()
	}
	return st.run.Keep()
}

func decodeState(kind entityKind, data []byte) (state, error) {
	st := state{kind: kind}
	var err error
	if kind == kindReview {
		st.review, err = record.RestoreReview(data)
	} else {
		st.run, err = record.RestoreRun(data)
	}
	if err != nil {
		return st, fmt.Errorf("read kept state: %w: %w", errIndex, err)
	}
	return st, nil
}

// describe fills in the row's fields that follow from the state, and returns the encoded summary: of a review whose
// request is not here, what record.Review.WithoutRequest returns.
func (st *state) describe(r *row) ([]byte, error) {
	if st.kind == kindRun {
		s := st.run.Summary()
		r.status, r.sort = string(s.Status), s.CreatedAt.UnixMilli()
		r.created, r.updated, r.spent = s.CreatedAt.UnixMilli(), s.UpdatedAt.UnixMilli(), s.Usage != spend.Usage{}
		return json.Marshal(s)
	}
	s := st.review.Summary()
	if s.ID == "" {
		s = st.review.WithoutRequest().Summary()
		r.unasked = s.ID != ""
	}
	r.status, r.sort, r.closed = string(st.review.Status), s.SortKey().UnixMilli(), max(0, s.ClosedAt.UnixMilli())
	r.need, r.critical, r.waits, r.topic = s.Need(), s.Critical, slices.ContainsFunc(s.Waiting, record.IsAgent), s.Topic()
	r.created, r.updated, r.spent = s.CreatedAt.UnixMilli(), s.UpdatedAt.UnixMilli(), s.Usage != spend.Usage{}
	return json.Marshal(s)
}

// When the state of a run or review is kept in the index: from stateFrom events on, if it is small, or else after
// stateEvery further events. The larger the state, the more events are needed.
const (
	stateFrom   = 16
	stateEvery  = 64
	stateSmall  = 16 << 10
	stateWeight = 64 << 10 // a kept state may have this many bytes for each event read after it
)

// keepsState reports whether to keep the state when r, the row as it was, has grown to events.
func (r *row) keepsState(events int) bool {
	return events > stateFrom && (r.kept <= stateSmall || events-r.covered >= max(stateEvery, r.kept/stateWeight))
}
