package store

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/git-runr/git-runr/loop/internal/segment"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
)

// NameForMatch is a name, or the subject of a commit, as far as two are compared: a subject
// may have been cut.
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

// entity names a run or a review.
type entity struct {
	kind entityKind
	id   string
}

// key is e's in a segment; ok is false where no row can have it.
func (e entity) key() (key segment.Key, ok bool) {
	key[0] = byte(e.kind)
	return key, copy(key[1:], e.id) == len(e.id) && len(e.id) == segment.KeySize-1
}

// Parts of a row.
const (
	partSummary = iota
	partRefs    // one line an event, in order: clock, writer, commit, late
	partState   // see row.covered
)

// row is what lists go by of one run or review.
type row struct {
	entity
	status   string
	sort     int64  // milliseconds since 1970, newest first
	seq      uint64 // clock of its first event: what began last is the latest
	created  int64  // milliseconds since 1970
	updated  int64
	closed   int64       // milliseconds since 1970 of a review's resolution or cancellation, 0 while it is not closed
	need     record.Need // of a review
	critical int         // findings of a review that nobody answered
	waits    bool        // an agent was asked who has not answered
	spent    bool        // an agent's tool told what its calls took
	events   int         // how many it has
	covered  int         // how many of them, the first ones, are in the newest state that was kept
	kept     int         // the size of that state in bytes
	older    bool        // a segment below has a row of it, too
	whole    bool        // its refs are all; else those of the rows below come before them
	topic    uint64      // see ReviewSummary.topic

	entry segment.Entry
}

// begun reports whether the event that begins r is here. A log that names a run of
// another log may come first.
func (r *row) begun() bool { return r.status != "" }

// Shelves: where rows stand in a segment, so that a list reads those that it may show.
const (
	shelfNone byte = iota // its beginning is not here yet
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
)

func (r *row) flags() (flags byte) {
	for flag, set := range map[byte]bool{flagWaits: r.waits, flagOlder: r.older, flagWhole: r.whole, flagSpent: r.spent} {
		if set {
			flags |= flag
		}
	}
	return flags
}

// Where things stand in a head that are looked for in it.
const (
	statusAt, statusSize   = 17, 13
	flagsAt                = 39
	coveredAt, coveredSize = 46, 4
)

// head is r in its segment.
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

// rowOf reads the entry of a segment.
func rowOf(entry segment.Entry) (r row) {
	r.read(entry)
	r.name()
	return r
}

// rowsOf reads entries.
func rowsOf(entries []segment.Entry) []row {
	rows := make([]row, len(entries))
	for i, entry := range entries {
		rows[i] = rowOf(entry)
	}
	return rows
}

// name fills in the id, which a scan leaves out: most rows are only counted.
func (r *row) name() {
	key := r.entry.Key()
	r.id = string(key[1:])
}

// read reads all but the id.
func (r *row) read(entry segment.Entry) {
	h := entry.Head()
	number := func(at int) int { return int(binary.BigEndian.Uint32(h[at:])) }
	time := func(at int) int64 { return int64(binary.BigEndian.Uint64(h[at:])) }
	flag := func(bit byte) bool { return h[flagsAt]&bit != 0 }
	status, _, _ := bytes.Cut(h[statusAt:][:statusSize], []byte{0})
	*r = row{
		entity: entity{kind: entityKind(entry.Kind())}, status: statusText(status),
		sort: int64(binary.BigEndian.Uint64(h[1:]) ^ 1<<63), seq: binary.BigEndian.Uint64(h[9:]), closed: time(30),
		created: time(54), updated: time(62), spent: flag(flagSpent), need: record.Need(h[38]), waits: flag(flagWaits), older: flag(flagOlder), whole: flag(flagWhole),
		critical: int(binary.BigEndian.Uint16(h[40:])), events: number(42), covered: number(coveredAt), kept: number(50),
		topic: binary.BigEndian.Uint64(h[70:]), entry: entry,
	}
}

// statuses are all that a row may have.
var statuses = []string{
	string(record.ReviewOpen), string(record.ReviewSubmitted), string(record.ReviewClaimed), string(record.ReviewResolved), string(record.ReviewCancelled),
	string(record.RunRunning), string(record.RunReviewing), string(record.RunStopped), string(record.RunCompleted), string(record.RunSkipped), string(record.RunAborted),
}

// statusText is a status without a copy of its own.
func statusText(b []byte) string {
	for _, s := range statuses {
		if string(b) == s {
			return s
		}
	}
	return string(b)
}

// hasOlder reports whether a row with that head has another below it.
func hasOlder(head []byte) bool { return head[flagsAt]&flagOlder != 0 }

// joinRow adds to a row what one below it has beyond it.
func joinRow(r *segment.Row, older segment.Row) {
	flags, was := &r.Head[flagsAt], older.Head[flagsAt]
	if *flags&flagWhole == 0 {
		r.Parts[partRefs] = slices.Concat(older.Parts[partRefs], r.Parts[partRefs])
		*flags |= was & flagWhole
	}
	if len(r.Parts[partState]) == 0 && bytes.Equal(r.Head[coveredAt:][:coveredSize], older.Head[coveredAt:][:coveredSize]) {
		r.Parts[partState] = older.Parts[partState]
	}
	*flags = *flags&^flagOlder | was&flagOlder
}

// loadLine reads the summary of one row.
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
