// Package segment stores rows in files that are written once and read in place. A reader loads
// only the pages that it needs; each has a checksum, and a damaged page is never used. Changes
// go into a further segment on top of the existing ones; a Stack manages and merges them.
//
// A file consists of a magic string of eight bytes, the parts of its rows in sequence, a table of
// fixed-size entries in row order, the entry numbers sorted by key, the sorted marks of rows with
// their entry numbers, a checksum for each page of all that, and a footer.
package segment

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

const (
	// KeySize is the length of a key in bytes.
	KeySize = 22
	// HeadSize is the length of a head. OrderSize is the length of its beginning, by which rows
	// are sorted.
	HeadSize  = 78
	OrderSize = 17
	// Parts is the number of parts of a row.
	Parts = 3

	magic      = "RUNRSEG1"
	pageSize   = 4096
	entrySize  = KeySize + HeadSize + 8 + 4*Parts + 4
	markSize   = 12
	footerSize = 7*8 + 4
	chunkRows  = 512 // rows that a Cursor reads at once
	cachedMost = 256 // pages
)

// ErrDamaged reports a file whose content is not as it was written.
var ErrDamaged = errors.New("damaged segment")

// sums returns the checksum table, made at its first use, because not every process reads a segment.
var sums = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// Reads counts what is read from segments, for tests that limit the cost of an answer.
type Reads struct {
	Rows  atomic.Int64 // heads visited by a scan or a search by marks
	Parts atomic.Int64 // parts of rows
	Bytes atomic.Int64 // of files
}

// Key identifies a row.
type Key [KeySize]byte

// Row is one row as written. Rows are sorted by the first OrderSize bytes of their heads in
// descending order, then by their keys.
type Row struct {
	Key   Key
	Head  [HeadSize]byte
	Parts [Parts][]byte
	Marks []uint64 // further keys by which the row is found
}

// Entry is a row's entry in the table of a segment.
type Entry struct {
	of *Segment
	b  []byte
}

// Key returns the row's key.
func (e Entry) Key() Key { return Key(e.b) }

// Kind returns the first byte of the row's key.
func (e Entry) Kind() byte { return e.b[0] }

// Head returns the row's head.
func (e Entry) Head() []byte { return e.b[KeySize:][:HeadSize] }

// Len returns the length of a part in bytes.
func (e Entry) Len(part int) int {
	return int(binary.BigEndian.Uint32(e.b[KeySize+HeadSize+8+4*part:]))
}

// compare orders entries by their heads from byte from on, descending, then by their keys.
func compare(from int, a, b []byte) int {
	if c := bytes.Compare(b[KeySize+from:][:OrderSize-from], a[KeySize+from:][:OrderSize-from]); c != 0 {
		return c
	}
	return bytes.Compare(b[:KeySize], a[:KeySize])
}

func (e Entry) at() int64 { return int64(binary.BigEndian.Uint64(e.b[KeySize+HeadSize:])) }

func (e Entry) marks() int {
	return int(binary.BigEndian.Uint32(e.b[KeySize+HeadSize+8+4*Parts:]))
}

// footer holds the offsets of a file's sections from its beginning, and their counts.
type footer struct {
	table, rows, byKey, marks, marked, sums, size int64
}

func (f *footer) fields() []*int64 {
	return []*int64{&f.table, &f.rows, &f.byKey, &f.marks, &f.marked, &f.sums, &f.size}
}

// consistent reports whether f is a possible footer of a file of that size.
func (f footer) consistent(size int64) bool {
	pages := (f.sums + pageSize - 1) / pageSize
	return f.size == size && f.table >= int64(len(magic)) && f.rows >= 0 && f.marked >= 0 && f.rows <= size &&
		f.marked <= size &&
		f.byKey == f.table+f.rows*entrySize && f.marks == f.byKey+4*f.rows && f.sums == f.marks+markSize*f.marked &&
		size == f.sums+4*pages+footerSize
}

// Segment is an open segment for reading. It is used by one goroutine at a time.
type Segment struct {
	source io.ReaderAt
	path   string // of its file, "" in memory
	why    error  // why it is not in the wanted directory, nil if it is
	close  func() error
	reads  *Reads
	foot   footer
	sums   []byte
	pages  map[int64][]byte
}

// Open opens a file and reads its footer. The error is ErrDamaged if the footer is damaged;
// other damage is found when that part is read.
func Open(path string) (*Segment, error) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() { // opening a pipe would block
		return nil, cmp.Or(err, ErrDamaged)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s, err := openFile(file)
	if err != nil {
		file.Close()
	}
	return s, err
}

func openFile(file *os.File) (*Segment, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	s, err := New(file, info.Size())
	if err != nil {
		return nil, err
	}
	s.path, s.close = file.Name(), file.Close
	return s, nil
}

// New reads the footer of a segment of size bytes.
func New(source io.ReaderAt, size int64) (*Segment, error) {
	s := &Segment{source: source, close: func() error { return nil }, reads: &Reads{}, pages: map[int64][]byte{}}
	tail := make([]byte, footerSize)
	if size < footerSize {
		return nil, ErrDamaged
	}
	if _, err := source.ReadAt(tail, size-footerSize); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for i, field := range s.foot.fields() {
		*field = int64(binary.BigEndian.Uint64(tail[8*i:]))
	}
	if !s.foot.consistent(size) {
		return nil, ErrDamaged
	}
	rest := make([]byte, size-s.foot.sums)
	if _, err := source.ReadAt(rest, s.foot.sums); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	checked := rest[:len(rest)-4]
	if crc32.Checksum(checked, sums()) != binary.BigEndian.Uint32(rest[len(checked):]) {
		return nil, ErrDamaged
	}
	s.sums = rest[:len(rest)-footerSize]
	return s, nil
}

// Close closes the file.
func (s *Segment) Close() error { return s.close() }

// Len returns the number of rows.
func (s *Segment) Len() int { return int(s.foot.rows) }

// Size returns the size of the file in bytes.
func (s *Segment) Size() int64 { return s.foot.size }

// read returns n bytes at off.
func (s *Segment) read(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off+n > s.foot.sums {
		return nil, ErrDamaged
	}
	first, last := off/pageSize, (off+max(n, 1)-1)/pageSize
	data, err := s.pagesOf(first, last)
	if err != nil {
		return nil, err
	}
	return data[off-first*pageSize:][:n:n], nil
}

// pagesOf returns the pages from first to last. Up to two pages, as random reads need, are cached.
func (s *Segment) pagesOf(first, last int64) ([]byte, error) {
	if last > first+1 {
		return s.readPages(first, last)
	}
	page, err := s.page(first)
	if err != nil || first == last {
		return page, err
	}
	next, err := s.page(last)
	return slices.Concat(page, next), err
}

// page returns one page, and caches it.
func (s *Segment) page(number int64) ([]byte, error) {
	if page, ok := s.pages[number]; ok {
		return page, nil
	}
	page, err := s.readPages(number, number)
	if err != nil {
		return nil, err
	}
	if len(s.pages) >= cachedMost {
		clear(s.pages)
	}
	s.pages[number] = page
	return page, nil
}

func (s *Segment) readPages(first, last int64) ([]byte, error) {
	data := make([]byte, min((last+1)*pageSize, s.foot.sums)-first*pageSize)
	s.reads.Bytes.Add(int64(len(data)))
	if _, err := s.source.ReadAt(data, first*pageSize); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for i := first; i <= last; i++ {
		page := data[(i-first)*pageSize:]
		if crc32.Checksum(page[:min(len(page), pageSize)], sums()) != binary.BigEndian.Uint32(s.sums[4*i:]) {
			return nil, ErrDamaged
		}
	}
	return data, nil
}

// Entry returns the i-th row.
func (s *Segment) Entry(i int) (Entry, error) {
	b, err := s.read(s.foot.table+int64(i)*entrySize, entrySize)
	return Entry{s, b}, err
}

// Part returns a part of the row.
func (e Entry) Part(part int) ([]byte, error) {
	at := e.at()
	for i := range part {
		at += int64(e.Len(i))
	}
	e.of.reads.Parts.Add(1)
	return e.of.read(at, int64(e.Len(part)))
}

// Row returns the whole row.
func (e Entry) Row() (r Row, err error) {
	r.Key, r.Head = e.Key(), [HeadSize]byte(e.Head())
	end := e.at()
	for i := range r.Parts {
		if r.Parts[i], err = e.Part(i); err != nil {
			return r, err
		}
		end += int64(e.Len(i))
	}
	marks, err := e.of.read(end, 8*int64(e.marks()))
	if err != nil {
		return r, err
	}
	r.Marks = make([]uint64, e.marks())
	for i := range r.Marks {
		r.Marks[i] = binary.BigEndian.Uint64(marks[8*i:])
	}
	return r, nil
}

// search returns the first of n items that is not less.
func search(n int64, less func(i int64) (bool, error)) (at int, err error) {
	at = sort.Search(int(n), func(i int) bool {
		if err != nil {
			return true
		}
		var l bool
		l, err = less(int64(i))
		return !l
	})
	return at, err
}

func (s *Segment) number(off int64) (int, error) {
	b, err := s.read(off, 4)
	if err != nil {
		return 0, err
	}
	n := binary.BigEndian.Uint32(b)
	if int64(n) >= s.foot.rows {
		return 0, ErrDamaged
	}
	return int(n), nil
}

// byKey returns the i-th row in the order of keys.
func (s *Segment) byKey(i int64) (Entry, error) {
	n, err := s.number(s.foot.byKey + 4*i)
	if err != nil {
		return Entry{}, err
	}
	return s.Entry(n)
}

// Beginning visits the rows whose keys begin with prefix, in the order of keys, until visit
// returns false.
func (s *Segment) Beginning(prefix []byte, visit func(Entry) (more bool)) error {
	from, err := search(s.foot.rows, func(i int64) (bool, error) {
		e, err := s.byKey(i)
		return err == nil && bytes.Compare(e.b[:KeySize], prefix) < 0, err
	})
	if err != nil {
		return err
	}
	for i := int64(from); i < s.foot.rows; i++ {
		e, err := s.byKey(i)
		if err != nil || !bytes.HasPrefix(e.b[:KeySize], prefix) || !visit(e) {
			return err
		}
	}
	return nil
}

// Find returns the row of a key; ok is false if there is none.
func (s *Segment) Find(key Key) (found Entry, ok bool, err error) {
	err = s.Beginning(key[:], func(e Entry) bool { found, ok = e, true; return false })
	return found, ok, err
}

// marked returns the numbers of the rows with one of the marks, each once, in row order.
func (s *Segment) marked(marks map[uint64]bool) (numbers []int, err error) {
	for mark := range marks {
		if numbers, err = s.appendMarked(numbers, mark); err != nil {
			return nil, err
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

// Marked visits the rows with one of the marks, each once, in row order.
func (s *Segment) Marked(marks map[uint64]bool, visit func(Entry) error) error {
	numbers, err := s.marked(marks)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		e, err := s.Entry(n)
		if err != nil {
			return err
		}
		s.reads.Rows.Add(1)
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// appendMarked appends the numbers of the rows with a mark.
func (s *Segment) appendMarked(numbers []int, mark uint64) ([]int, error) {
	at := func(i int64) int64 { return s.foot.marks + markSize*i }
	value := func(i int64) (uint64, error) {
		b, err := s.read(at(i), 8)
		if err != nil {
			return 0, err
		}
		return binary.BigEndian.Uint64(b), nil
	}
	from, err := search(s.foot.marked, func(i int64) (bool, error) { v, err := value(i); return v < mark, err })
	if err != nil {
		return numbers, err
	}
	for i := int64(from); i < s.foot.marked; i++ {
		v, err := value(i)
		if err != nil || v != mark {
			return numbers, err
		}
		n, err := s.number(at(i) + 8)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// Shelf returns the rows whose heads begin with the byte shelf, in row order.
func (s *Segment) Shelf(shelf byte) (*Cursor, error) {
	bound := func(below byte) (int, error) { // the first row whose shelf is at most below
		return search(s.foot.rows, func(i int64) (bool, error) {
			e, err := s.Entry(int(i))
			return err == nil && e.Head()[0] > below, err
		})
	}
	from, err := bound(shelf)
	if err != nil {
		return nil, err
	}
	to := s.Len()
	if shelf > 0 {
		if to, err = bound(shelf - 1); err != nil {
			return nil, err
		}
	}
	return &Cursor{s: s, next: from, end: to}, nil
}

// All yields all rows in order.
func (s *Segment) All() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for c := (&Cursor{s: s, end: s.Len()}); ; {
			if e, ok, err := c.Next(); !ok && err == nil || !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Cursor iterates over rows in order.
type Cursor struct {
	s         *Segment
	next, end int
	chunk     []byte // entries, beginning with number first
	first     int
}

// Next returns the next row; ok is false after the last.
func (c *Cursor) Next() (e Entry, ok bool, err error) {
	if c.next >= c.end {
		return Entry{}, false, nil
	}
	if c.next >= c.first+len(c.chunk)/entrySize {
		n := min(chunkRows, c.end-c.next)
		if c.chunk, err = c.s.read(c.s.foot.table+int64(c.next)*entrySize, int64(n)*entrySize); err != nil {
			return Entry{}, false, err
		}
		c.first = c.next
	}
	e = Entry{c.s, c.chunk[(c.next-c.first)*entrySize:][:entrySize]}
	c.next++
	c.s.reads.Rows.Add(1)
	return e, true, nil
}
