package segment

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
)

// Writer writes a segment: rows in any order, each key once. It keeps a table entry for each in memory.
type Writer struct {
	out     *bufio.Writer
	pages   *pageSums
	at      int64
	entries [][]byte
	marks   []marked
	err     error // the first error
}

// marked is a mark of a row.
type marked struct {
	mark uint64
	row  uint32
}

// NewWriter returns a Writer to out.
func NewWriter(out io.Writer) *Writer {
	pages := &pageSums{}
	w := &Writer{pages: pages, out: bufio.NewWriterSize(io.MultiWriter(out, pages), 1<<16)}
	w.write([]byte(magic))
	return w
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
	w.at += int64(len(b))
}

// Add writes one row.
func (w *Writer) Add(r Row) error {
	e := make([]byte, 0, entrySize)
	e = append(append(e, r.Key[:]...), r.Head[:]...)
	e = binary.BigEndian.AppendUint64(e, uint64(w.at))
	for _, part := range r.Parts {
		e = binary.BigEndian.AppendUint32(e, uint32(len(part)))
		w.write(part)
	}
	e = binary.BigEndian.AppendUint32(e, uint32(len(r.Marks)))
	for _, mark := range r.Marks {
		w.write(binary.BigEndian.AppendUint64(nil, mark))
		w.marks = append(w.marks, marked{mark, uint32(len(w.entries))})
	}
	w.entries = append(w.entries, e)
	return w.err
}

// Close writes the tables. It does not close the output.
func (w *Writer) Close() (size int64, err error) {
	foot := footer{table: w.at, rows: int64(len(w.entries)), marked: int64(len(w.marks))}
	places := w.writeTable()
	foot.byKey = w.at
	w.writeByKey()
	foot.marks = w.at
	w.writeMarks(places)
	foot.sums = w.at
	if w.err == nil {
		w.err = w.out.Flush()
	}
	tail := w.pages.end()
	foot.size = foot.sums + int64(len(tail)) + footerSize
	for _, field := range foot.fields() {
		tail = binary.BigEndian.AppendUint64(tail, uint64(*field))
	}
	w.write(binary.BigEndian.AppendUint32(tail, crc32.Checksum(tail, sums())))
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return foot.size, w.err
}

// writeTable writes the entries in row order, and returns the position of each added entry.
func (w *Writer) writeTable() (places []uint32) {
	order := numbers(len(w.entries))
	slices.SortFunc(order, func(a, b uint32) int { return compare(0, w.entries[a], w.entries[b]) })
	places = make([]uint32, len(order))
	sorted := make([][]byte, len(order))
	for place, added := range order {
		places[added], sorted[place] = uint32(place), w.entries[added]
		w.write(sorted[place])
	}
	w.entries = sorted
	return places
}

func numbers(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	return list
}

func (w *Writer) writeByKey() {
	order := numbers(len(w.entries))
	slices.SortFunc(order, func(a, b uint32) int { return slices.Compare(w.entries[a][:KeySize], w.entries[b][:KeySize]) })
	for _, place := range order {
		w.write(binary.BigEndian.AppendUint32(nil, place))
	}
}

func (w *Writer) writeMarks(places []uint32) {
	for i := range w.marks {
		w.marks[i].row = places[w.marks[i].row]
	}
	slices.SortFunc(w.marks, func(a, b marked) int {
		return cmp.Or(cmp.Compare(a.mark, b.mark), cmp.Compare(a.row, b.row))
	})
	for _, m := range w.marks {
		w.write(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, m.mark), m.row))
	}
}

// pageSums computes the checksum of each page written to it.
type pageSums struct {
	sums  []byte
	sum   uint32
	taken int
}

func (p *pageSums) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		some := min(len(b), pageSize-p.taken)
		p.sum, p.taken, b = crc32.Update(p.sum, sums(), b[:some]), p.taken+some, b[some:]
		if p.taken == pageSize {
			p.flush()
		}
	}
	return n, nil
}

func (p *pageSums) flush() {
	p.sums = binary.BigEndian.AppendUint32(p.sums, p.sum)
	p.sum, p.taken = 0, 0
}

// end returns the checksums of all pages; the last page may be short.
func (p *pageSums) end() []byte {
	if p.taken > 0 {
		p.flush()
	}
	return p.sums
}
