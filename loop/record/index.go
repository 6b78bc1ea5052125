package record

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"git-runr/gitstore"
	"git-runr/gitstore/safefile"
	"git-runr/loop/internal/segment"
)

// The index is a cache of the folded state: for each run and review a summary, the ids of
// its events and, of a long one, the state after some of them, as of the tips of the logs that it
// has read. It holds nothing that cannot be read again from the logs, and may be deleted at
// any time.
//
// Its rows are in a stack of segments, files that are written once. A manifest, replaced as a
// whole, names the segments and says how far the logs were read: a reader sees one state or
// the next.
const (
	indexMagic    = "RUNRIDXI" // of the manifest: another form of anything here wants another
	indexName     = "index"
	manifestTries = 3 // to open what a manifest names while others replace it
)

// errIndex is a cache that cannot be used: it is made again.
var errIndex = segment.ErrDamaged

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

// eventRef is where an event stands in the order, and its commit.
type eventRef struct {
	Clock  uint64      `json:"clock"`
	Writer string      `json:"writer"`
	ID     gitstore.ID `json:"id"`
	Late   int64       `json:"late,omitempty"`
}

func refOf(e Event) eventRef { return eventRef{e.Clock, e.Writer, e.ID, e.late} }

// before reports whether e comes after ref.
func (ref eventRef) before(e Event) bool {
	return Event{Clock: ref.Clock, Writer: ref.Writer, ID: ref.ID, late: ref.Late}.compare(e) < 0
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
	closed   int64 // milliseconds since 1970 of a review's resolution or cancellation, 0 while it is not closed
	need     need  // of a review
	critical int   // findings of a review that nobody answered
	waits    bool  // somebody was asked who has not answered
	spent    bool  // an agent's tool told what its calls took
	events   int   // how many it has
	covered  int   // how many of them, the first ones, are in the newest state that was kept
	kept     int   // the size of that state in bytes
	older    bool  // a segment below has a row of it, too
	whole    bool  // its refs are all; else those of the rows below come before them

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
	case WaitingStatus(r.status):
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
		created: time(54), updated: time(62), spent: flag(flagSpent), need: need(h[38]), waits: flag(flagWaits), older: flag(flagOlder), whole: flag(flagWhole),
		critical: int(binary.BigEndian.Uint16(h[40:])), events: number(42), covered: number(coveredAt), kept: number(50),
		entry: entry,
	}
}

// statuses are all that a row may have.
var statuses = []string{
	string(ReviewOpen), string(ReviewSubmitted), string(ReviewClaimed), string(ReviewResolved), string(ReviewCancelled),
	string(RunRunning), string(RunReviewing), string(RunStopped), string(RunCompleted), string(RunSkipped), string(RunAborted),
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

// manifest is what is read of an index at once.
type manifest struct {
	Tips     gitstore.Tips    `json:"tips"`
	Clock    uint64           `json:"clock"`             // the highest that is believed of any log
	Late     map[string]int64 `json:"late,omitempty"`    // of the newest event of a writer that has one
	Ahead    []eventRef       `json:"ahead,omitempty"`   // events whose clocks are not believed yet
	Damaged  []damagedRecord  `json:"damaged,omitempty"` // records that are missing or damaged here
	Bad      []string         `json:"bad,omitempty"`     // why records were read that say nothing
	Newest   map[string]begun `json:"newest,omitempty"`  // of each kind what began last
	Events   int              `json:"events"`            // that were taken in: those that Store.Events gives
	Segments []string         `json:"segments"`          // names of files, the newest first
	read     uint32           // checksum of the file, 0 without one
}

// begun is what began at a clock: one run or review, or "", when the rows have to be asked.
type begun struct {
	ID    string `json:"id"`
	Clock uint64 `json:"clock"`
}

// begins takes in that r began, which may have become earlier than it was.
func (m *manifest) begins(r *row) {
	kind := string(r.kind)
	newest, known := m.Newest[kind]
	switch {
	case !r.begun():
		return
	case !known || r.seq > newest.Clock:
		newest = begun{r.id, r.seq}
	case newest.ID == r.id && r.seq < newest.Clock, newest.ID != r.id && r.seq == newest.Clock:
		newest.ID = ""
	}
	if m.Newest == nil {
		m.Newest = map[string]begun{}
	}
	m.Newest[kind] = newest
}

// index is a manifest with its segments.
type index struct {
	manifest
	stack segment.Stack
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

// newIndex is a manifest without its segments, whose place is beside path.
func newIndex(path string, m manifest) *index {
	return &index{m, segment.Stack{Dir: filepath.Dir(path), Name: indexName, Older: hasOlder, Join: joinRow}}
}

// scratchIndex is one of nothing, that is not saved.
func scratchIndex() *index {
	idx := newIndex("", manifest{Tips: gitstore.Tips{}})
	idx.stack.Dir = "" // which is no place, and not the current directory
	return idx
}

// afresh is an index of nothing that takes the place of idx.
func (idx *index) afresh() *index {
	idx.close()
	return &index{manifest{Tips: gitstore.Tips{}, read: idx.read}, idx.stack}
}

func (idx *index) close() { idx.stack.Close() }

// damage notes a record that cannot be read, once.
func (idx *index) damage(d *gitstore.DamagedError) {
	if !slices.Contains(damagedIDs(idx.Damaged), d.ID) {
		idx.Damaged = append(idx.Damaged, damagedRecord{d.Writer, d.ID, cmp.Or(d.Of, d.ID), d.Error()})
	}
}

// unreadable are the records that are not among the events, and why.
func (idx *index) unreadable() []error {
	var list []error
	for _, why := range slices.Sorted(slices.Values(idx.Bad)) { // which are noted as they come
		list = append(list, errors.New(why))
	}
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

// readManifest reads what is in the file. A missing or damaged one is that of an empty index,
// for everything can be read again.
func readManifest(path string) manifest {
	data, err := safefile.ReadFile(path)
	if err != nil {
		return manifest{Tips: gitstore.Tips{}}
	}
	m, err := decodeManifest(data)
	if err != nil {
		m = manifest{Tips: gitstore.Tips{}}
	}
	m.read = crc32.ChecksumIEEE(data)
	return m
}

func decodeManifest(data []byte) (m manifest, err error) {
	body, ok := bytes.CutPrefix(data, []byte(indexMagic))
	if !ok || len(body) < 4 || crc32.ChecksumIEEE(body[4:]) != binary.BigEndian.Uint32(body) {
		return m, errIndex
	}
	if err := json.Unmarshal(body[4:], &m); err != nil {
		return m, fmt.Errorf("%w: %w", errIndex, err)
	}
	return m, nil
}

// badMost is how many records that say nothing are named by an index that was saved.
const badMost = 200

func (m manifest) encode() ([]byte, error) {
	if n := len(m.Bad); n > badMost {
		m.Bad = append(m.Bad[:badMost:badMost], fmt.Sprintf("and at least %d records more: git runr fsck names them", n-badMost))
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32([]byte(indexMagic), crc32.ChecksumIEEE(body)), body...), nil
}

// openIndex reads the manifest and opens its segments. What is missing or damaged of it
// makes an empty index.
func openIndex(path string) *index {
	for range manifestTries {
		idx := newIndex(path, readManifest(path))
		err := idx.stack.Open(idx.Segments)
		if err == nil {
			return idx
		}
		idx.close()
		if !errors.Is(err, fs.ErrNotExist) { // else somebody has joined it with others meanwhile
			break
		}
	}
	return newIndex(path, manifest{Tips: gitstore.Tips{}, read: readManifest(path).read})
}

// find is the row of e, nil when there is none.
func (idx *index) find(e entity) (*row, error) {
	rows, err := idx.versions(e, 1)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// versions are the rows of e in all segments, the newest first, at most so many; all for 0.
func (idx *index) versions(e entity, most int) ([]row, error) {
	key, ok := e.key()
	if !ok {
		return nil, nil
	}
	entries, err := idx.stack.Find(key, most)
	return rowsOf(entries), err
}

// refs are the events of e in order, the last so many of them; all for 0.
func (idx *index) refs(e entity, last int) ([]eventRef, error) {
	rows, err := idx.versions(e, 0)
	if err != nil {
		return nil, err
	}
	lines := []string{}
	for i := range rows {
		text, err := rows[i].entry.Part(partRefs)
		if err != nil {
			return nil, err
		}
		lines = slices.Concat(slices.Collect(strings.Lines(lastLines(string(text), last))), lines)
		if rows[i].whole || last > 0 && len(lines) >= last {
			break
		}
	}
	if last > 0 {
		lines = lines[max(len(lines)-last, 0):]
	}
	refs := make([]eventRef, len(lines))
	for i, line := range lines {
		if refs[i], err = parseRef(strings.Fields(line)); err != nil {
			return nil, fmt.Errorf("read index: event %q: %w", line, errIndex)
		}
	}
	return refs, nil
}

// lastLines is the end of text with so many lines; all of it for 0.
func lastLines(text string, lines int) string {
	at := len(text)
	for ; lines > 0 && at > 0; lines-- {
		at = strings.LastIndexByte(text[:at-1], '\n') + 1
		if lines == 1 {
			return text[at:]
		}
	}
	return text
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

// scan visits the rows of shelves, what is newest first, without their ids. A row is the
// visitor's until it returns.
func (idx *index) scan(shelves []byte, visit func(*row) error) error {
	var r row
	return idx.stack.Scan(shelves, func(entry segment.Entry) error {
		r.read(entry)
		return visit(&r)
	})
}

// markOf is by which rows are found that speak of a commit or of anything else with such an id.
func markOf(id string) (mark uint64, ok bool) {
	var b [8]byte
	if len(id) < 2*len(b) {
		return 0, false
	}
	_, err := hex.Decode(b[:], []byte(id[:2*len(b)]))
	return binary.BigEndian.Uint64(b[:]), err == nil
}

// idLength is the length of the shortest id, in hexadecimal digits.
const idLength = 40

// markOfText is the mark of what is no id.
func markOfText(what, text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, what+"\x00"+text)
	return h.Sum64()
}

// fewestLetters are those of an id's suffix by which it is found.
const fewestLetters = 4

// marksOfLetters are by which a run or review is found by the first or the last letters of its id's
// suffix; none of fewer than fewestLetters.
func marksOfLetters(letters string) []uint64 {
	if len(letters) < fewestLetters {
		return nil
	}
	return []uint64{markOfText("first", letters[:fewestLetters]), markOfText("last", letters[len(letters)-fewestLetters:])}
}

// fitsLetters reports whether letters are the first or the last of an id's suffix, and enough of them.
func fitsLetters(id, letters string) bool {
	_, suffix, _ := strings.Cut(id, "-")
	return len(letters) >= fewestLetters && (strings.HasPrefix(suffix, letters) || strings.HasSuffix(suffix, letters))
}

// markOfName is by which a run is found that works on something of that name.
func markOfName(name string) uint64 { return markOfText("name", NameForMatch(name)) }

// hexIDs gives each run of hexadecimal digits in text that is as long as an id.
func hexIDs(text []byte, visit func(id []byte)) {
	digit := func(i int) bool {
		c := text[i]
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
	}
	for from := 0; from+idLength <= len(text); {
		end := from + idLength // of digits, if all from from on are
		for i := end - 1; i >= from; i-- {
			if !digit(i) {
				from, end = i+1, 0
				break
			}
		}
		if end == 0 {
			continue
		}
		for end < len(text) && digit(end) {
			end++
		}
		visit(text[from:end])
		from = end
	}
}

// marked are the runs and reviews that have one of ids, or of which an event names one, the
// newest first.
func (idx *index) marked(ids map[string]bool) ([]row, error) {
	marks := map[uint64]bool{}
	var keys []segment.Key
	for id := range ids {
		if mark, ok := markOf(id); ok {
			marks[mark] = true
		}
		for _, kind := range []entityKind{kindReview, kindRun} {
			if key, ok := (entity{kind, id}).key(); ok {
				keys = append(keys, key)
			}
		}
	}
	return idx.withMarks(marks, keys...)
}

// withMarks are the rows that have one of the marks, or one of the keys, the newest first.
func (idx *index) withMarks(marks map[uint64]bool, keys ...segment.Key) ([]row, error) {
	entries, err := idx.stack.Newest(marks, keys...)
	return rowsOf(entries), err
}

// begunBefore is the order in which runs and reviews were begun.
func begunBefore(a, b row) int { return cmp.Or(cmp.Compare(a.seq, b.seq), strings.Compare(a.id, b.id)) }

// resolve is the full id of what a person typed: an id, a unique prefix, letters of its suffix or latest.
func (idx *index) resolve(kind entityKind, typed string, now time.Time) (string, error) {
	exact, err := idx.find(entity{kind, typed})
	if err != nil || exact != nil && exact.begun() {
		return typed, err
	}
	if typed == Latest {
		if id, err := idx.latest(kind); err != nil || id != "" {
			return id, err
		}
	}
	rows, err := idx.fitting(kind, typed)
	if err != nil {
		return "", err
	}
	if len(rows) == 1 {
		return rows[0].id, nil
	}
	refused := notFound(kind, typed)
	if refused.Among, err = meant(rows, now); err != nil {
		return "", err
	}
	if exact != nil {
		refused.Where = "here: its beginning is in a log that did not come yet, git runr sync fetches it"
	}
	return "", refused
}

// latest is what began last, "" when there is nothing.
func (idx *index) latest(kind entityKind) (string, error) {
	if newest := idx.Newest[string(kind)]; newest.ID != "" {
		return newest.ID, nil
	}
	latest := row{}
	err := idx.scan(shelvesOf(kind), func(r *row) error {
		if latest.id == "" || r.seq > latest.seq {
			latest = *r
			latest.name()
		}
		return nil
	})
	return latest.id, err
}

// fitting are those whose id begins with what was typed, or whose suffix begins or ends with it, the
// newest first.
func (idx *index) fitting(kind entityKind, typed string) ([]row, error) {
	if typed == "" {
		return nil, nil
	}
	keys, err := idx.stack.Beginning(append([]byte{byte(kind)}, typed...))
	if err != nil {
		return nil, err
	}
	marks := map[uint64]bool{}
	for _, mark := range marksOfLetters(typed) {
		marks[mark] = true
	}
	rows, err := idx.withMarks(marks, keys...)
	var fits []row
	for _, r := range rows {
		if r.kind == kind && r.begun() && (strings.HasPrefix(r.id, typed) || fitsLetters(r.id, typed)) {
			fits = append(fits, r)
		}
	}
	return fits, err
}

// shelvesOf are those on which all of a kind are that have begun.
func shelvesOf(kind entityKind) []byte {
	if kind == kindRun {
		return []byte{shelfRun}
	}
	return []byte{shelfWaiting, shelfClosed}
}
