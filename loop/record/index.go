package record

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"git-runr/gitstore"
	"git-runr/gitstore/safefile"
)

// The index is a cache of the folded state: for each run and review a summary and
// the ids of its events, keyed by the tips of the logs that it has read. It holds
// nothing that cannot be read again from the logs, and may be deleted at any time.
//
// The file is a prefix (magic, header length, number of rows, length of the heap, checksum
// of what follows up to the heap), a JSON header, a table of fixed-size rows, newest first,
// and a heap that the rows point into, each with a checksum of its part. So a list reads
// the table and the few summaries that it shows, and never a damaged one.
const (
	indexMagic   = "RUNRIDXG"
	indexName    = "index"
	rowSize      = 88
	prefixSize   = len(indexMagic) + 16
	maxIndexSize = 1 << 31
)

// errIndex is a cache that cannot be used: it is made again.
var errIndex = errors.New("damaged index")

type entityKind byte

const (
	kindReview entityKind = 'r'
	kindRun    entityKind = 'R'
)

// eventRef is where an event stands in the order, and its commit.
type eventRef struct {
	Clock  uint64      `json:"clock"`
	Writer string      `json:"writer"`
	ID     gitstore.ID `json:"id"`
	Late   int64       `json:"late,omitempty"`
}

func refOf(e Event) eventRef { return eventRef{e.Clock, e.Writer, e.ID, e.late} }

// row is one run or review. Its summary and events are read from the file when
// they are asked for.
type row struct {
	kind     entityKind
	status   string
	id       string
	sort     int64  // milliseconds since 1970, newest first
	seq      uint64 // clock of its first event: what began last is the latest
	closed   int64  // milliseconds since 1970 of a review's resolution or cancellation, 0 while it is not closed
	need     need   // of a review
	critical int    // findings of a review that nobody answered
	summary  []byte
	events   []byte // one line an event: clock, writer, commit, late

	summaryAt, summaryLen, eventsAt, eventsLen uint32 // in the heap, while not read
	sum                                        uint32 // of summary and events
}

// begun reports whether the event that begins r is here. A log that names a run of
// another log may come first.
func (r *row) begun() bool { return r.status != "" }

// index is the cache in memory.
type index struct {
	Tips    gitstore.Tips    `json:"tips"`
	Clock   uint64           `json:"clock"`             // the highest that is believed of any log
	Late    map[string]int64 `json:"late,omitempty"`    // of the newest event of a writer that has one
	Ahead   []eventRef       `json:"ahead,omitempty"`   // events whose clocks are not believed yet
	Damaged []damagedRecord  `json:"damaged,omitempty"` // records that are missing or damaged here
	bad     []error          // records that were read and say nothing
	rows    []*row
	file    *os.File // for what was not read yet; nil when everything is in memory
	heap    int64
}

// damagedRecord is one that cannot be read here and may come again.
type damagedRecord struct {
	Writer string      `json:"writer"`
	ID     gitstore.ID `json:"id"`
	Entry  gitstore.ID `json:"entry"` // that it is, or is attached to
	Why    string      `json:"why"`
}

func damagedIDs(records []damagedRecord) []gitstore.ID {
	ids := make([]gitstore.ID, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	return ids
}

func emptyIndex() *index { return &index{Tips: gitstore.Tips{}} }

// damage notes a record that cannot be read, once.
func (idx *index) damage(d *gitstore.DamagedError) {
	if !slices.Contains(damagedIDs(idx.Damaged), d.ID) {
		idx.Damaged = append(idx.Damaged, damagedRecord{d.Writer, d.ID, cmp.Or(d.Of, d.ID), d.Error()})
	}
}

// soundTips are those of tips whose logs were read without a loss. Who goes by them
// reads the others again, until nothing is missing.
func (idx *index) soundTips(tips gitstore.Tips) gitstore.Tips {
	sound := maps.Clone(tips)
	for _, d := range idx.Damaged {
		delete(sound, d.Writer)
	}
	return sound
}

// unreadable are the records that are not among the events, and why.
func (idx *index) unreadable() []error {
	list := slices.Clone(idx.bad)
	for _, d := range idx.Damaged {
		list = append(list, fmt.Errorf("in the log of %s: %s", d.Writer, d.Why))
	}
	for _, ref := range idx.Ahead {
		list = append(list, fmt.Errorf("event %s in the log of %s: clock %d is too far ahead of %d to be believed", ref.ID.Short(), ref.Writer, ref.Clock, idx.Clock))
	}
	return list
}

// placed gives an event its place among those of one clock. Events of a log are to be
// placed oldest first.
func (idx *index) placed(e Event) Event {
	if e.Clock <= lateClock {
		return e
	}
	if idx.Late == nil {
		idx.Late = map[string]int64{}
	}
	e.late = max(e.Timestamp.UnixMilli(), idx.Late[e.Writer]+1)
	idx.Late[e.Writer] = e.late
	return e
}

// believe gives the events, in order, whose clocks are at most maxAhead beyond those
// before them, and notes the others. It depends on nothing but what events there are,
// so that all clones that have the same believe the same.
func (idx *index) believe(events []Event) []Event {
	Sort(events)
	idx.Ahead = nil
	for i, e := range events {
		if e.Clock > idx.Clock+maxAhead {
			for _, ahead := range events[i:] {
				idx.Ahead = append(idx.Ahead, refOf(ahead))
			}
			return events[:i]
		}
		idx.Clock = max(idx.Clock, e.Clock)
	}
	return events
}

// isAhead reports whether the clock of e is not believed yet.
func (idx *index) isAhead(e Event) bool {
	return slices.ContainsFunc(idx.Ahead, func(ref eventRef) bool { return ref.ID == e.ID })
}

// openIndex reads the header and the table. A missing or damaged file is an empty
// index, for everything in it can be read again.
func openIndex(path string) *index {
	file, err := os.Open(path)
	if err != nil {
		return emptyIndex()
	}
	idx, err := readIndex(file)
	if err != nil {
		file.Close()
		return emptyIndex()
	}
	return idx
}

func readIndex(file *os.File) (*index, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	prefix := make([]byte, prefixSize)
	if _, err := file.ReadAt(prefix, 0); err != nil || string(prefix[:len(indexMagic)]) != indexMagic {
		return nil, fmt.Errorf("not an index of this version")
	}
	headerLen := int64(binary.BigEndian.Uint32(prefix[len(indexMagic):]))
	rows := int64(binary.BigEndian.Uint32(prefix[len(indexMagic)+4:]))
	heap := int64(prefixSize) + headerLen + rows*rowSize
	if heap+int64(binary.BigEndian.Uint32(prefix[len(indexMagic)+8:])) != info.Size() || info.Size() > maxIndexSize {
		return nil, fmt.Errorf("truncated index")
	}
	body := make([]byte, headerLen+rows*rowSize)
	if _, err := file.ReadAt(body, int64(prefixSize)); err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(prefix[len(indexMagic)+12:]) {
		return nil, errIndex
	}
	idx := &index{file: file, heap: heap, rows: make([]*row, 0, rows)}
	if err := json.Unmarshal(body[:headerLen], idx); err != nil {
		return nil, err
	}
	table := body[headerLen:]
	text, slab := string(table), make([]row, rows) // one of each for all rows: there may be many
	for i := range slab {
		slab[i].decode(table[i*rowSize:][:rowSize], text[i*rowSize:][:rowSize])
		idx.rows = append(idx.rows, &slab[i])
	}
	return idx, nil
}

// decode reads an entry of the table; text is the same bytes.
func (r *row) decode(b []byte, text string) {
	at := func(from int) uint32 { return binary.BigEndian.Uint32(b[from:]) }
	*r = row{
		kind: entityKind(b[0]), status: strings.TrimRight(text[1:14], "\x00"), id: strings.TrimRight(text[14:40], "\x00"), sort: int64(binary.BigEndian.Uint64(b[40:])), seq: binary.BigEndian.Uint64(b[64:]),
		need: need(b[84]), critical: int(binary.BigEndian.Uint16(b[86:])),
		summaryAt: at(48), summaryLen: at(52), eventsAt: at(56), eventsLen: at(60), sum: at(72), closed: int64(binary.BigEndian.Uint64(b[76:])),
	}
}

// parts are r's summary and events with their checksum. What was not read is taken
// out of old, the heap that it is in, with the checksum that it has.
func (r *row) parts(old []byte) (summary, events []byte, sum uint32, err error) {
	if r.summary != nil {
		return r.summary, r.events, checksum(r.summary, r.events), nil
	}
	for _, end := range []uint64{uint64(r.summaryAt) + uint64(r.summaryLen), uint64(r.eventsAt) + uint64(r.eventsLen)} {
		if end > uint64(len(old)) {
			return nil, nil, 0, errIndex
		}
	}
	return old[r.summaryAt:][:r.summaryLen], old[r.eventsAt:][:r.eventsLen], r.sum, nil
}

// encode fills in b, r's entry of the table. Its parts go to the end of out, whose
// heap begins at heap.
func (r *row) encode(b, out, old []byte, heap int) ([]byte, error) {
	summary, events, sum, err := r.parts(old)
	if err != nil {
		return out, err
	}
	b[0] = byte(r.kind)
	copy(b[1:14], r.status)
	copy(b[14:40], r.id)
	binary.BigEndian.PutUint64(b[40:], uint64(r.sort))
	binary.BigEndian.PutUint64(b[64:], r.seq)
	binary.BigEndian.PutUint32(b[72:], sum)
	binary.BigEndian.PutUint64(b[76:], uint64(r.closed))
	b[84] = byte(r.need)
	binary.BigEndian.PutUint16(b[86:], uint16(min(r.critical, math.MaxUint16)))
	at := len(out) - heap
	for i, n := range []int{at, len(summary), at + len(summary), len(events)} {
		binary.BigEndian.PutUint32(b[48+4*i:], uint32(n))
	}
	return append(append(out, summary...), events...), nil
}

// load reads r's summary and events from the file.
func (idx *index) load(r *row) error {
	if r.summary != nil {
		return nil
	}
	var err error
	if r.summary, err = idx.heapAt(r.summaryAt, r.summaryLen); err != nil {
		return err
	}
	if r.events, err = idx.heapAt(r.eventsAt, r.eventsLen); err != nil {
		return err
	}
	if checksum(r.summary, r.events) != r.sum {
		r.summary, r.events = nil, nil
		return errIndex
	}
	return nil
}

func checksum(parts ...[]byte) uint32 {
	sum := uint32(0)
	for _, part := range parts {
		sum = crc32.Update(sum, crc32.IEEETable, part)
	}
	return sum
}

func (idx *index) heapAt(at, n uint32) ([]byte, error) {
	b := make([]byte, n)
	if _, err := idx.file.ReadAt(b, idx.heap+int64(at)); err != nil {
		return nil, fmt.Errorf("%w: %w", errIndex, err)
	}
	return b, nil
}

// wholeHeap is the heap of the file, none when everything is in memory.
func (idx *index) wholeHeap() ([]byte, error) {
	if idx.file == nil {
		return nil, nil
	}
	info, err := idx.file.Stat()
	if err != nil {
		return nil, err
	}
	old := make([]byte, info.Size()-idx.heap)
	if _, err := idx.file.ReadAt(old, idx.heap); err != nil {
		return nil, fmt.Errorf("%w: %w", errIndex, err)
	}
	return old, nil
}

func (idx *index) close() {
	if idx.file != nil {
		idx.file.Close()
	}
}

// save writes the index as a whole, so that a reader sees the old or the new one.
func (idx *index) save(path string) error {
	slices.SortFunc(idx.rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(b.sort, a.sort), cmp.Compare(b.seq, a.seq), strings.Compare(b.id, a.id))
	})
	out, err := idx.encode()
	if err != nil {
		return err
	}
	return safefile.WriteFile(path, out, 0o666)
}

// encode is the file's content.
func (idx *index) encode() ([]byte, error) {
	old, err := idx.wholeHeap()
	if err != nil {
		return nil, err
	}
	header, err := json.Marshal(idx)
	if err != nil {
		return nil, err
	}
	table := prefixSize + len(header)
	heap := table + len(idx.rows)*rowSize
	out := make([]byte, heap, heap+len(old)+len(old)/64+4096) // it grows a little each time
	for i, r := range idx.rows {
		if out, err = r.encode(out[table+i*rowSize:][:rowSize], out, old, heap); err != nil {
			return nil, err
		}
	}
	copy(out, indexMagic)
	copy(out[prefixSize:], header)
	sum := int(crc32.ChecksumIEEE(out[prefixSize:heap]))
	for i, n := range []int{len(header), len(idx.rows), len(out) - heap, sum} {
		binary.BigEndian.PutUint32(out[len(indexMagic)+4*i:], uint32(n))
	}
	return out, nil
}

// find is the row of id, nil when there is none.
func (idx *index) find(kind entityKind, id string) *row {
	for _, r := range idx.rows {
		if r.kind == kind && r.id == id {
			return r
		}
	}
	return nil
}

// refs are the events of r, in no particular order.
func (idx *index) refs(r *row) ([]eventRef, error) {
	if err := idx.load(r); err != nil {
		return nil, err
	}
	var refs []eventRef
	for line := range strings.Lines(string(r.events)) {
		ref, err := parseRef(strings.Fields(line))
		if err != nil {
			return nil, fmt.Errorf("read index: event %q", line)
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

func parseRef(fields []string) (ref eventRef, err error) {
	if len(fields) != 3 && len(fields) != 4 {
		return ref, errIndex
	}
	if len(fields) == 4 {
		if ref.Late, err = strconv.ParseInt(fields[3], 10, 64); err != nil {
			return ref, err
		}
	}
	ref.Writer, ref.ID = fields[1], gitstore.ID(fields[2])
	ref.Clock, err = strconv.ParseUint(fields[0], 10, 64)
	return ref, err
}

func encodeRefs(events []Event) []byte {
	var b []byte
	for _, e := range events {
		b = fmt.Appendf(b, "%d %s %s", e.Clock, e.Writer, e.ID)
		if e.late != 0 {
			b = fmt.Appendf(b, " %d", e.late)
		}
		b = append(b, '\n')
	}
	return b
}
