package segment

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Stack is segments one above the other: the rows of one key, from the newest down to the first
// that has nothing older below it, are one thing. What changed is put on top, and joined with
// those below that are not much larger, so that what is written does not grow with what is there.
// Its caller keeps the names of the files.
type Stack struct {
	Dir, Name string                    // files are called Name-….seg; without a Dir they are temporary
	Older     func(head []byte) bool    // whether a segment below has a row of the same key
	Join      func(row *Row, older Row) // adds to a row and its head what the next older one has beyond it, but for its marks

	segments []*Segment  // the newest first
	top      *Segment    // the one on top, while nobody keeps its name
	reads    *Reads      // counts what is read; nil: nobody does
	above    map[Key]int // in which segment the newest row is of what is in several; nil while nobody asked
}

// A stack is kept short: one on top is joined with those below that are less than joinFactor
// times as large, or while all of them are no larger than joinSmall bytes.
const (
	joinFactor = 4
	joinSmall  = 64 << 10
)

// Open opens the segments of those names, the newest first, in a stack that is empty.
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

// Count adds to reads what was read to open the segments, and what is read from here on.
func (st *Stack) Count(reads *Reads) {
	st.reads = reads
	for _, s := range st.segments {
		s.reads = reads
		reads.Bytes.Add(s.foot.size - s.foot.sums)
	}
}

// Depth is the number of segments.
func (st *Stack) Depth() int { return len(st.segments) }

// Names are those of the segments' files, the newest first; "" for one that is not in its place.
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

// Keep says that somebody keeps the names: Close leaves all files.
func (st *Stack) Keep() { st.top = nil }

// Close closes the segments, and removes what was put on top and not kept. It leaves an empty stack.
func (st *Stack) Close() {
	for _, s := range st.segments {
		s.Close()
	}
	st.dropTop()
	st.segments, st.above = nil, nil
}

func (st *Stack) dropTop() {
	if st.top != nil && st.top.path != "" {
		_ = os.Remove(st.top.path)
	}
	st.top = nil
}

// Put puts what fill writes on top: in memory, or where it is large in a file.
func (st *Stack) Put(large bool, fill func(*Writer) error) error { return st.replace(0, large, fill) }

// replace puts what fill writes in the place of the topmost n.
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

// put puts what k has taken in the place of the topmost n.
func (st *Stack) put(n int, k *sink, size int64) error {
	top, err := k.open(size)
	if err != nil {
		return err
	}
	top.reads = st.reads
	for _, s := range st.segments[:n] {
		s.Close()
	}
	st.dropTop()
	st.segments = slices.Replace(st.segments, 0, n, top)
	st.top, st.above = top, nil
	return nil
}

// Settle joins the topmost segments and sees that all are in their place.
func (st *Stack) Settle() error {
	if st.top == nil {
		return nil
	}
	n, size := 1, st.segments[0].Size()
	for ; n < len(st.segments); n++ {
		if below := st.segments[n].Size(); below >= joinFactor*size && below+size > joinSmall {
			break
		}
		size += st.segments[n].Size()
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

// JoinTop makes one of the topmost n, in a file. One alone is copied as it is.
func (st *Stack) JoinTop(n int) error {
	if n == 1 {
		k, size := newSink(st.Dir, st.Name, true), st.segments[0].Size()
		if _, err := io.Copy(k, io.NewSectionReader(st.segments[0].source, 0, size)); err != nil {
			k.drop()
			return err
		}
		return st.put(1, k, size)
	}
	return st.replace(n, true, func(w *Writer) error {
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
				if err == nil && st.Older(entry.Head()) {
					seen[entry.Key()] = true
					err = st.joinOlder(&row, st.segments[i+1:n])
				}
				if err == nil {
					err = w.Add(row)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// joinOlder adds to a row what those of the same key in the segments below have beyond it.
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

// leftAfter is how long a segment that nobody names may be somebody's who is at work.
const leftAfter = time.Hour

// Sweep removes the files that were named before and are no more, and what a killed process left.
func (st *Stack) Sweep(before []string) {
	named := st.Names()
	entries, _ := os.ReadDir(st.Dir) // of "" there are none
	for _, entry := range entries {
		name := entry.Name()
		ours := strings.HasPrefix(name, st.Name+"-") && strings.HasSuffix(name, ".seg") || strings.HasPrefix(name, st.Name+".tmp")
		if !ours || slices.Contains(named, name) {
			continue
		}
		info, err := entry.Info()
		if slices.Contains(before, name) || err == nil && time.Since(info.ModTime()) > leftAfter {
			_ = os.Remove(filepath.Join(st.Dir, name)) // the next one tries again
		}
	}
}

// Find are the rows of a key, the newest first, at most so many; all for 0.
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

// Beginning are the keys that begin with prefix.
func (st *Stack) Beginning(prefix []byte) (keys []Key, err error) {
	for _, s := range st.segments {
		err := s.Beginning(prefix, func(e Entry) bool { keys = append(keys, e.Key()); return true })
		if err != nil {
			return nil, st.wrap(err)
		}
	}
	return keys, nil
}

// hit is a row that has a mark, in the segment at a place of the stack.
type hit struct {
	at    int
	entry Entry
}

// fewHits is how many rows are searched one by one for a newer row of the same key. For more of them
// all segments but the lowest are read once.
const fewHits = 64

// Newest are the newest rows that have one of the marks, or one of the keys, each once, in their order.
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
		if st.above == nil || several && in < h.at { // a newer row may stand for it, which may not have the mark
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

// Scan visits the newest rows that are on shelves, in the order of what follows their shelves in
// their heads. An entry is the visitor's until it returns.
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

// inOrder is the order of rows whatever shelves they are on.
func inOrder(a, b Entry) int { return compare(1, a.b, b.b) }

// scanEnd is how far a shelf of a segment was read in a scan.
type scanEnd struct {
	at       int // of the segment
	cursor   *Cursor
	entry    Entry
	ok, held bool
}

// fill holds the next row that no newer one stands for.
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

// findAbove notes which rows stand for others in segments below.
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
