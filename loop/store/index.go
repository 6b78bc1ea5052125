package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/gitstore/safefile"
	"github.com/git-runr/git-runr/loop/internal/segment"
	"github.com/git-runr/git-runr/loop/record"
)

// The index is a cache of the folded state. For each run and review it holds a summary, the ids of its events and, for
// a long one, the state after some of them, all as of the log tips that were read. Everything in it can be read again
// from the logs, so it may be deleted at any time.
//
// Its rows are in a stack of segments, files that are written once. A manifest, which is replaced atomically, names the
// segments and says how far the logs were read. So a reader sees either the old or the new state.
const (
	indexMagic    = "RUNRIDXQ" // of the manifest; must change whenever the format of anything in the index changes
	indexName     = "index"
	manifestTries = 3 // how often to open what a manifest names, since others may replace it meanwhile
)

// errIndex means that the cache is unusable and must be rebuilt.
var errIndex = segment.ErrDamaged

// eventRef is an event's position in the order, and its commit.
type eventRef struct {
	Clock  uint64      `json:"clock"`
	Writer string      `json:"writer"`
	ID     gitstore.ID `json:"id"`
	Late   int64       `json:"late,omitempty"`
}

func refOf(e record.Event) eventRef { return eventRef{e.Clock, e.Writer, e.ID, e.Late} }

// before reports whether ref comes before e.
func (ref eventRef) before(e record.Event) bool {
	return record.Event{Clock: ref.Clock, Writer: ref.Writer, ID: ref.ID, Late: ref.Late}.Compare(e) < 0
}

// index is a manifest with its segments.
type index struct {
	manifest
	stack segment.Stack
	info  os.FileInfo // of the manifest when last read or written; nil if there is no file
	store *Store      // the store that keeps it when it is closed; nil: none

	unsaved int // number of events that it has read and that are not saved
}

// damagedRecord is a record that cannot be read here but may come again.
type damagedRecord struct {
	Writer string      `json:"writer"`
	ID     gitstore.ID `json:"id"`
	Entry  gitstore.ID `json:"entry"` // the entry that is damaged, or has a damaged attachment
	Why    string      `json:"why"`
}

func damagedIDs(records []damagedRecord) []gitstore.ID {
	return each.Of(records, func(r damagedRecord) gitstore.ID { return r.ID })
}

// newIndex returns an index of manifest m whose segments are next to path and not opened yet.
func newIndex(path string, m manifest) *index {
	return &index{manifest: m, stack: segment.Stack{Dir: filepath.Dir(path), Name: indexName, Older: hasOlder,
		Join: joinRow}}
}

// scratchIndex returns an empty index that is never saved.
func scratchIndex() *index {
	idx := newIndex("", manifest{Tips: gitstore.Tips{}})
	idx.stack.Dir = "" // nowhere; the current directory would be wrong
	return idx
}

// afresh returns an empty index that replaces idx.
func (idx *index) afresh() *index {
	idx.stack.Close()
	return &index{manifest: manifest{Tips: gitstore.Tips{}, read: idx.read}, stack: idx.stack, store: idx.store}
}

// close returns the index to its store, for the next caller with the same tips.
func (idx *index) close() {
	if idx.store == nil || !idx.store.kept.CompareAndSwap(nil, idx) {
		idx.stack.Close()
	}
}

func (idx *index) damage(d *gitstore.DamagedError) {
	if !slices.Contains(damagedIDs(idx.Damaged), d.ID) {
		idx.Damaged = append(idx.Damaged, damagedRecord{d.Writer, d.ID, cmp.Or(d.Of, d.ID), d.Error()})
	}
}

// LostError says which record, or what attached to it, is missing or damaged here. Another clone may have it.
type LostError struct{ what string }

func (e *LostError) Error() string { return e.what }

// unreadable returns an error for each record that is not among the events.
func (idx *index) unreadable() []error {
	var list []error
	for _, why := range slices.Sorted(slices.Values(idx.Bad)) { // Bad is in order of discovery
		list = append(list, errors.New(why))
	}
	for _, d := range idx.Damaged {
		list = append(list, &LostError{fmt.Sprintf("in the log of %s: %s", d.Writer, d.Why)})
	}
	for _, ref := range idx.Ahead {
		list = append(list, fmt.Errorf("event %s in the log of %s: clock %d is too far ahead of %d to be believed",
			ref.ID.Short(), ref.Writer, ref.Clock, idx.Clock))
	}
	return list
}

// placed returns the event with Late set, its position among events of one clock. Events of a log have to be placed
// oldest first.
func (idx *index) placed(e record.Event) record.Event {
	if e.Clock <= record.LateClock {
		return e
	}
	if idx.Late == nil {
		idx.Late = map[string]int64{}
	}
	e.Late = max(e.Timestamp.UnixMilli(), idx.Late[e.Writer]+1)
	idx.Late[e.Writer] = e.Late
	return e
}

// believe sorts events and returns those whose clocks are at most MaxAhead beyond the ones before; the others are
// recorded as Ahead. The result depends only on which events exist, so clones with the same events agree.
func (idx *index) believe(events []record.Event) []record.Event {
	record.Sort(events)
	idx.Ahead = nil
	for i, e := range events {
		if e.Clock > idx.Clock+record.MaxAhead {
			idx.Ahead = each.Of(events[i:], refOf)
			return events[:i]
		}
		idx.Clock = max(idx.Clock, e.Clock)
	}
	return events
}

// isAhead reports whether the clock of e is not believed yet.
func (idx *index) isAhead(e record.Event) bool {
	return slices.ContainsFunc(idx.Ahead, func(ref eventRef) bool { return ref.ID == e.ID })
}

// openIndex reads the manifest and opens its segments. If anything is missing or damaged it returns an empty index.
func openIndex(path string) *index {
	for range manifestTries {
		info, _ := os.Stat(path)
		idx := newIndex(path, readManifest(path))
		idx.info = info
		err := idx.stack.Open(idx.Segments)
		if err == nil {
			return idx
		}
		idx.close()
		if !errors.Is(err, fs.ErrNotExist) { // if missing, somebody has merged it with others meanwhile
			break
		}
	}
	return newIndex(path, manifest{Tips: gitstore.Tips{}, read: readManifest(path).read})
}

func (idx *index) find(e entity) (*row, error) {
	rows, err := idx.versions(e, 1)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// versions returns the rows of e in all segments, newest first, at most most of them; 0 means all.
func (idx *index) versions(e entity, most int) ([]row, error) {
	key, ok := e.key()
	if !ok {
		return nil, nil
	}
	entries, err := idx.stack.Find(key, most)
	return rowsOf(entries), err
}

// refs returns the events of e in order, only the last few if last is not 0.
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
		lines = slices.Concat(slices.Collect(strings.Lines(string(text))), lines)
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

func encodeRefs(events []record.Event) []byte {
	var b []byte
	for _, e := range events {
		b = fmt.Appendf(b, "%d %s %s", e.Clock, e.Writer, e.ID)
		if e.Late != 0 {
			b = fmt.Appendf(b, " %d", e.Late)
		}
		b = append(b, '\n')
	}
	return b
}

// scan visits the rows on shelves, newest first. The row is valid only until visit returns.
func (idx *index) scan(shelves []byte, visit func(*row) error) error {
	var r row
	return idx.stack.Scan(shelves, func(entry segment.Entry) error {
		r = rowOf(entry)
		return visit(&r)
	})
}

// manifest is the part of an index that is read in one go.
type manifest struct {
	Tips    gitstore.Tips    `json:"tips"`
	Clock   uint64           `json:"clock"`             // the highest believed clock of any log
	Late    map[string]int64 `json:"late,omitempty"`    // Late of each writer's newest event that has one
	Ahead   []eventRef       `json:"ahead,omitempty"`   // events whose clocks are not believed yet
	Damaged []damagedRecord  `json:"damaged,omitempty"` // records missing or damaged here
	Bad     []string         `json:"bad,omitempty"`     // why records are unreadable
	Newest  map[string]begun `json:"newest,omitempty"`  // of each kind, what began last
	// Branches maps the branches that reviews were requested on to the clock at which the newest review began.
	Branches map[string]uint64 `json:"branches,omitempty"`
	Events   int               `json:"events"`   // the number of events
	Segments []string          `json:"segments"` // file names, newest first
	read     uint32            // checksum of the file; 0 without a file
}

// begun is the run or review that began at a time; ID is "" if the rows have to be searched.
type begun struct {
	ID    string `json:"id"`
	At    int64  `json:"at"`    // milliseconds since 1970
	Clock uint64 `json:"clock"` // decides between equal times
}

func (b begun) compare(other begun) int {
	return cmp.Or(cmp.Compare(b.At, other.At), cmp.Compare(b.Clock, other.Clock))
}

// begins records that r began. Late events may make its beginning earlier than it was.
func (m *manifest) begins(r *row) {
	kind := string(r.kind)
	newest, known := m.Newest[kind]
	this := r.beginning()
	switch later := this.compare(newest); {
	case !r.begun():
		return
	case !known || later > 0:
		newest = this
	case newest.ID == r.id && later < 0, newest.ID != r.id && later == 0:
		newest.ID = ""
	}
	if m.Newest == nil {
		m.Newest = map[string]begun{}
	}
	m.Newest[kind] = newest
}

// branchesMost is how many branches the index keeps: those with the newest reviews.
const branchesMost = 100

// asks records that a review of a branch began at a clock. The resulting set of branches does not depend on the
// order of the calls.
func (m *manifest) asks(branch string, clock uint64) {
	if branch == "" || clock <= m.Branches[branch] {
		return
	}
	if m.Branches == nil {
		m.Branches = map[string]uint64{}
	}
	m.Branches[branch] = clock
	if len(m.Branches) > branchesMost {
		delete(m.Branches, m.newestBranches()[branchesMost])
	}
}

// newestBranches returns the branches, that of the newest review first.
func (m *manifest) newestBranches() []string {
	return slices.SortedFunc(maps.Keys(m.Branches), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Branches[b], m.Branches[a]), strings.Compare(a, b))
	})
}

// readManifest reads the manifest. For a missing or damaged file it returns an empty one, since all can be read again
// from the logs.
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

// badMost is how many unreadable records a saved index lists.
const badMost = 200

func (m manifest) encode() ([]byte, error) {
	if n := len(m.Bad); n > badMost {
		m.Bad = append(m.Bad[:badMost:badMost],
			fmt.Sprintf("and at least %d records more: git runr fsck names them", n-badMost))
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32([]byte(indexMagic), crc32.ChecksumIEEE(body)), body...), nil
}
