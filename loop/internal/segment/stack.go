package segment

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Stack is a list of segments, the newest on top. The rows of one key, from the newest down to
// the first without older ones below it, together form one item. Changes go on top and are merged
// with the segments below that are not much larger, so that the cost of a write does not grow
// with the stored amount. The caller stores the names of the files.
type Stack struct {
	Dir, Name string                 // files are named Name-….seg; without a Dir they are temporary
	Older     func(head []byte) bool // whether a segment below has a row of the same key
	// adds to a row and its head what only the next older row has; the Stack itself adds the marks
	Join func(row *Row, older Row)

	segments []*Segment  // newest first
	unkept   int         // the number of topmost segments whose names the caller has not stored
	reads    *Reads      // counts what is read; nil: not counted
	above    map[Key]int // for keys in several segments, the segment of the newest row; nil until needed
}

// A stack is kept short: the topmost segment is merged with those below that are less than
// joinFactor times as large, or while their sum is at most joinSmall bytes.
const (
	joinFactor = 4
	joinSmall  = 64 << 10

	maxInMemory = 8 << 20 // bytes; a larger merged segment that was not kept is a file
)

// Open opens the named segments, the newest first. The stack must be empty.
func (st *Stack) Open(names []string) error {
	for _, name := range names {
		if filepath.Base(name) != name {
			return ErrDamaged
		}
		s, err := Open(filepath.Join(st.Dir, name))
		if err != nil {
			return err
		}
		st.segments = append(st.segments, s)
	}
	return nil
}

// Count adds to reads what was read to open the segments, and what is read from now on.
func (st *Stack) Count(reads *Reads) {
	st.reads = reads
	for _, s := range st.segments {
		s.reads = reads
		reads.Bytes.Add(s.foot.size - s.foot.sums)
	}
}

// Depth returns the number of segments.
func (st *Stack) Depth() int { return len(st.segments) }

// Names returns the names of the segments' files, the newest first; "" for one outside of Dir.
func (st *Stack) Names() (names []string) {
	for _, s := range st.segments {
		name := ""
		if s.path != "" && filepath.Dir(s.path) == st.Dir {
			name = filepath.Base(s.path)
		}
		names = append(names, name)
	}
	return names
}

// Keep records that the caller has stored the names, so that Close leaves all files.
func (st *Stack) Keep() { st.unkept = 0 }

// Close closes the segments, and removes files that were not kept. The stack is empty afterwards.
func (st *Stack) Close() {
	st.closeTop(len(st.segments))
	st.segments, st.above, st.unkept = nil, nil, 0
}

// closeTop closes the topmost n segments, and removes those of their files that were not kept.
func (st *Stack) closeTop(n int) {
	for i, s := range st.segments[:n] {
		s.Close()
		if i < st.unkept && s.path != "" {
			_ = os.Remove(s.path)
		}
	}
}

// Put adds what fill writes as the topmost segment: in memory, or in a file if large is set. It merges it with the
// segments below that were not kept and are not much larger.
func (st *Stack) Put(large bool, fill func(*Writer) error) error {
	if err := st.replace(0, large, fill); err != nil {
		return err
	}
	n, size := 1, st.segments[0].Size()
	for ; n < st.unkept && st.segments[n].Size() < joinFactor*size; n++ {
		size += st.segments[n].Size()
	}
	if n == 1 {
		return nil
	}
	return st.joinTop(n, size > maxInMemory)
}

// replace replaces the topmost n segments by what fill writes.
func (st *Stack) replace(n int, large bool, fill func(*Writer) error) error {
	k := newSink(st.Dir, st.Name, large)
	w := NewWriter(k)
	if err := fill(w); err != nil {
		k.drop()
		return err
	}
	size, err := w.Close()
	if err != nil {
		k.drop()
		return err
	}
	return st.put(n, k, size)
}

// put replaces the topmost n segments by the content of k.
func (st *Stack) put(n int, k *sink, size int64) error {
	top, err := k.open(size)
	if err != nil {
		return err
	}
	top.reads = cmp.Or(st.reads, top.reads)
	st.closeTop(n)
	st.segments = slices.Replace(st.segments, 0, n, top)
	st.unkept, st.above = max(st.unkept-n, 0)+1, nil
	return nil
}

// Settle merges the topmost segments, at least those that were not kept, and ensures that the result is a file in Dir.
func (st *Stack) Settle() error {
	if st.unkept == 0 {
		return nil
	}
	n, size := 1, st.segments[0].Size()
	for ; n < len(st.segments); n++ {
		below := st.segments[n].Size()
		if n >= st.unkept && below >= joinFactor*size && below+size > joinSmall {
			break
		}
		size += below
	}
	if n > 1 || st.Names()[0] == "" {
		if err := st.JoinTop(n); err != nil {
			return fmt.Errorf("write %s: %w", st.Name, err)
		}
	}
	if st.Names()[0] == "" {
		return fmt.Errorf("write %s: %w", st.Name, st.segments[0].why)
	}
	return nil
}

// JoinTop merges the topmost n segments into one file. A single one is copied unchanged.
func (st *Stack) JoinTop(n int) error { return st.joinTop(n, true) }

// joinTop is JoinTop, but merges into memory if large is not set.
func (st *Stack) joinTop(n int, large bool) error {
	if n == 1 {
		k, size := newSink(st.Dir, st.Name, true), st.segments[0].Size()
		if _, err := io.Copy(k, io.NewSectionReader(st.segments[0].source, 0, size)); err != nil {
			k.drop()
			return err
		}
		return st.put(1, k, size)
	}
	return st.replace(n, large, func(w *Writer) error {
		seen := map[Key]bool{}
		for i, s := range st.segments[:n] {
			for entry, err := range s.All() {
				if err != nil {
					return err
				}
				if seen[entry.Key()] {
					continue
				}
				row, err := entry.Row()
				if err != nil {
					return err
				}
				if st.Older(entry.Head()) {
					seen[entry.Key()] = true
					if err := st.joinOlder(&row, st.segments[i+1:n]); err != nil {
						return err
					}
				}
				if err := w.Add(row); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// joinOlder adds to a row what the rows of the same key in the segments below have in addition.
func (st *Stack) joinOlder(row *Row, below []*Segment) error {
	for _, s := range below {
		entry, ok, err := s.Find(row.Key)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		older, err := entry.Row()
		if err != nil {
			return err
		}
		st.Join(row, older)
		row.Marks = append(row.Marks, older.Marks...)
		if !st.Older(older.Head[:]) {
			break
		}
	}
	slices.Sort(row.Marks)
	row.Marks = slices.Compact(row.Marks)
	return nil
}

// leftAfter is the age at which an unnamed segment is no longer in use by another process.
const leftAfter = time.Hour

// Sweep removes the files in before that are no longer named, and files that a killed process left.
func (st *Stack) Sweep(before []string) {
	named := st.Names()
	entries, _ := os.ReadDir(st.Dir) // none for ""
	for _, entry := range entries {
		name := entry.Name()
		ours := strings.HasPrefix(name, st.Name+"-") && strings.HasSuffix(name, ".seg") ||
			strings.HasPrefix(name, st.Name+".tmp")
		if !ours || slices.Contains(named, name) {
			continue
		}
		info, err := entry.Info()
		if slices.Contains(before, name) || err == nil && time.Since(info.ModTime()) > leftAfter {
			_ = os.Remove(filepath.Join(st.Dir, name)) // the next call tries again
		}
	}
}

// Find returns the rows of a key, the newest first, at most that many; 0 is no limit.
func (st *Stack) Find(key Key, most int) (rows []Entry, err error) {
	for _, s := range st.segments {
		entry, found, err := s.Find(key)
		if err != nil {
			return nil, st.wrap(err)
		}
		if !found {
			continue
		}
		if rows = append(rows, entry); !st.Older(entry.Head()) || len(rows) == most {
			break
		}
	}
	return rows, nil
}

func (st *Stack) wrap(err error) error {
	if err != nil {
		err = fmt.Errorf("read %s: %w", st.Name, err)
	}
	return err
}

// Beginning returns the keys that begin with prefix.
func (st *Stack) Beginning(prefix []byte) (keys []Key, err error) {
	for _, s := range st.segments {
		err := s.Beginning(prefix, func(e Entry) bool { keys = append(keys, e.Key()); return true })
		if err != nil {
			return nil, st.wrap(err)
		}
	}
	return keys, nil
}

// hit is a row with one of the marks, and the index of its segment.
type hit struct {
	at    int
	entry Entry
}

// fewHits is the number of rows up to which each is checked separately for a newer row of the same
// key. With more, all segments but the lowest are read once.
const fewHits = 64

// Newest returns the newest rows with one of the marks or keys, each once, in order.
func (st *Stack) Newest(marks map[uint64]bool, keys ...Key) (rows []Entry, err error) {
	var hits []hit
	for i, s := range st.segments {
		err := s.Marked(marks, func(e Entry) error { hits = append(hits, hit{i, e}); return nil })
		if err != nil {
			return nil, st.wrap(err)
		}
	}
	if len(hits) > fewHits {
		if err := st.findAbove(); err != nil {
			return nil, st.wrap(err)
		}
	}
	for _, h := range hits {
		in, several := st.above[h.entry.Key()]
		if st.above == nil || several && in < h.at { // a newer row may replace it, and may lack the mark
			keys = append(keys, h.entry.Key())
			continue
		}
		rows = append(rows, h.entry)
	}
	seen := map[Key]bool{}
	if len(keys) > 0 {
		for _, e := range rows {
			seen[e.Key()] = true
		}
	}
	for _, key := range keys {
		if seen[key] {
			continue
		}
		seen[key] = true
		newest, err := st.Find(key, 1)
		if err != nil {
			return nil, err
		}
		rows = append(rows, newest...)
	}
	slices.SortFunc(rows, inOrder)
	return rows, nil
}

// VisitMarked visits the rows that Newest returns for the marks, one by one, until visit returns false. It reads only
// what it visits.
func (st *Stack) VisitMarked(marks map[uint64]bool, visit func(Entry) (more bool, err error)) error {
	ends, err := st.markEnds(marks)
	if err != nil {
		return st.wrap(err)
	}
	seen := map[Key]bool{}
	for len(ends) > 0 {
		next := slices.MinFunc(ends, func(a, b *markEnd) int { return inOrder(a.entry, b.entry) })
		if key := next.entry.Key(); !seen[key] {
			seen[key] = true
			newest, err := st.Find(key, 1) // it may lack the mark
			if err != nil {
				return err
			}
			if more, err := visit(newest[0]); err != nil || !more {
				return err
			}
		}
		left, err := next.advance()
		if err != nil {
			return st.wrap(err)
		}
		if !left {
			ends = slices.DeleteFunc(ends, func(end *markEnd) bool { return end == next })
		}
	}
	return nil
}

// markEnd is the position among the marked rows of one shelf of a segment.
type markEnd struct {
	segment *Segment
	numbers []int // of the rows after entry, in order
	entry   Entry
}

// markEnds returns the beginnings of the marked rows, by segment and shelf.
func (st *Stack) markEnds(marks map[uint64]bool) (ends []*markEnd, err error) {
	for _, s := range st.segments {
		numbers, err := s.marked(marks)
		for err == nil && len(numbers) > 0 {
			end := &markEnd{segment: s, numbers: numbers}
			if _, err = end.advance(); err != nil {
				return nil, err
			}
			shelf, same := end.entry.Head()[0], 0
			same, err = search(int64(len(numbers)), func(i int64) (bool, error) {
				e, err := s.Entry(numbers[i])
				return err == nil && e.Head()[0] == shelf, err
			})
			end.numbers, numbers = numbers[1:same], numbers[same:]
			ends = append(ends, end)
		}
		if err != nil {
			return nil, err
		}
	}
	return ends, nil
}

// advance reads the next row. left is false if there is none.
func (m *markEnd) advance() (left bool, err error) {
	if len(m.numbers) == 0 {
		return false, nil
	}
	m.entry, err = m.segment.Entry(m.numbers[0])
	m.numbers = m.numbers[1:]
	m.segment.reads.Rows.Add(1)
	return true, err
}

// Scan visits the newest rows on the shelves, ordered by their heads after the shelf byte. An
// entry is valid until visit returns.
func (st *Stack) Scan(shelves []byte, visit func(Entry) error) error {
	if err := st.findAbove(); err != nil {
		return st.wrap(err)
	}
	var ends []*scanEnd
	for i, s := range st.segments {
		for _, shelf := range shelves {
			cursor, err := s.Shelf(shelf)
			if err != nil {
				return st.wrap(err)
			}
			ends = append(ends, &scanEnd{at: i, cursor: cursor})
		}
	}
	for {
		var next *scanEnd
		for _, end := range ends {
			if err := end.fill(st.above); err != nil {
				return st.wrap(err)
			}
			if end.ok && (next == nil || inOrder(end.entry, next.entry) < 0) {
				next = end
			}
		}
		if next == nil {
			return nil
		}
		next.held = false
		if err := visit(next.entry); err != nil {
			return err
		}
	}
}

// inOrder orders rows regardless of their shelves.
func inOrder(a, b Entry) int { return compare(1, a.b, b.b) }

// scanEnd is the position of a scan in one shelf of one segment.
type scanEnd struct {
	at       int // index of the segment
	cursor   *Cursor
	entry    Entry
	ok, held bool
}

// fill reads the next row that no newer row replaces.
func (s *scanEnd) fill(above map[Key]int) (err error) {
	for !s.held {
		s.entry, s.ok, err = s.cursor.Next()
		if err != nil {
			return err
		}
		s.held = true
		if s.ok && len(above) > 0 {
			in, several := above[s.entry.Key()]
			s.held = !several || in >= s.at
		}
	}
	return nil
}

// findAbove records which rows replace rows in segments below.
func (st *Stack) findAbove() error {
	if st.above != nil {
		return nil
	}
	above := map[Key]int{}
	for i, s := range st.segments[:max(len(st.segments)-1, 0)] {
		for entry, err := range s.All() {
			if err != nil {
				return err
			}
			if _, seen := above[entry.Key()]; !seen && st.Older(entry.Head()) {
				above[entry.Key()] = i
			}
		}
	}
	st.above = above
	return nil
}
