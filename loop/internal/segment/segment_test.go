package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// randomRows returns rows with random content, each key once.
func randomRows(rng *rand.Rand, n int) []Row {
	rows, used := []Row{}, map[Key]bool{}
	for len(rows) < n {
		var r Row
		copy(r.Key[:], fmt.Sprintf("%c%020d", "rw"[rng.IntN(2)], rng.IntN(4*n+1)))
		if used[r.Key] {
			continue
		}
		used[r.Key] = true
		r.Head[0] = byte(rng.IntN(3))
		binary.BigEndian.PutUint16(r.Head[7:], uint16(rng.IntN(n+1)))
		r.Head[HeadSize-1] = byte(rng.IntN(256))
		for i := range r.Parts {
			r.Parts[i] = bytes.Repeat([]byte{byte(rng.IntN(256))}, rng.IntN(rng.IntN(9000)+1))
		}
		r.Marks = []uint64{}
		for range rng.IntN(4) {
			r.Marks = append(r.Marks, uint64(rng.IntN(2*n+1)))
		}
		rows = append(rows, r)
	}
	return rows
}

func written(t testing.TB, rows []Row) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := NewWriter(&buf)
	for _, r := range rows {
		if err := w.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if size, err := w.Close(); err != nil || size != int64(buf.Len()) {
		t.Fatalf("size %d of %d, %v", size, buf.Len(), err)
	}
	return buf.Bytes()
}

func opened(t testing.TB, data []byte) *Segment {
	t.Helper()
	s, err := New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// all reads every row in order.
func all(s *Segment) (rows []Row, err error) {
	for e, err := range s.All() {
		if err != nil {
			return rows, err
		}
		r, err := e.Row()
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func sorted(rows []Row) []Row {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b Row) int {
		if c := bytes.Compare(b.Head[:OrderSize], a.Head[:OrderSize]); c != 0 {
			return c
		}
		return bytes.Compare(b.Key[:], a.Key[:])
	})
	return rows
}

func TestSegment(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, n := range []int{0, 1, 2, 30, 700, 1500} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			rows := randomRows(rng, n)
			s := opened(t, written(t, rows))
			want := sorted(rows)
			if got, err := all(s); err != nil || len(got) != n || n > 0 && !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: %d rows, %v", seed, len(got), err)
			}
			checkShelves(t, s, want)
			checkFinding(t, s, want, rng)
		})
	}
}

func checkShelves(t *testing.T, s *Segment, want []Row) {
	t.Helper()
	for shelf := range byte(4) {
		c, err := s.Shelf(shelf)
		if err != nil {
			t.Fatal(err)
		}
		var got []Key
		for {
			e, ok, err := c.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			got = append(got, e.Key())
		}
		var keys []Key
		for _, r := range want {
			if r.Head[0] == shelf {
				keys = append(keys, r.Key)
			}
		}
		if !slices.Equal(got, keys) {
			t.Errorf("shelf %d: %d rows, want %d", shelf, len(got), len(keys))
		}
	}
}

func checkFinding(t *testing.T, s *Segment, want []Row, rng *rand.Rand) {
	t.Helper()
	byMark := map[uint64][]Key{}
	for _, r := range want {
		e, ok, err := s.Find(r.Key)
		if err != nil || !ok || e.Key() != r.Key {
			t.Fatalf("%s is not found: %v", r.Key, err)
		}
		for _, mark := range slices.Compact(slices.Sorted(slices.Values(r.Marks))) {
			byMark[mark] = append(byMark[mark], r.Key)
		}
		prefix := r.Key[:1+rng.IntN(KeySize-1)]
		var got, fits []Key
		if err := s.Beginning(prefix, func(e Entry) bool { got = append(got, e.Key()); return true }); err != nil {
			t.Fatal(err)
		}
		for _, o := range want {
			if bytes.HasPrefix(o.Key[:], prefix) {
				fits = append(fits, o.Key)
			}
		}
		slices.SortFunc(fits, func(a, b Key) int { return bytes.Compare(a[:], b[:]) })
		if !slices.Equal(got, fits) {
			t.Fatalf("beginning with %q: %d, want %d", prefix, len(got), len(fits))
		}
	}
	for mark := range uint64(2*len(want) + 2) {
		var got []Key
		err := s.Marked(map[uint64]bool{mark: true}, func(e Entry) error { got = append(got, e.Key()); return nil })
		if err != nil || !slices.Equal(got, byMark[mark]) {
			t.Fatalf("mark %d: %d rows, want %d, %v", mark, len(got), len(byMark[mark]), err)
		}
	}
	if _, ok, err := s.Find(Key{'z'}); ok || err != nil {
		t.Errorf("what is not there is found: %v", err)
	}
}

// checkDamaged reads a possibly damaged file: it must be rejected or read correctly.
func checkDamaged(t testing.TB, what string, data []byte, want []Row) {
	t.Helper()
	s, err := New(bytes.NewReader(data), int64(len(data)))
	var got []Row
	if err == nil {
		got, err = all(s)
	}
	if err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: other rows are read", what)
	}
	if err != nil && !errors.Is(err, ErrDamaged) {
		t.Errorf("%s: %v", what, err)
	}
	if s == nil {
		return
	}
	for _, r := range want[:min(len(want), 3)] {
		e, ok, err := s.Find(r.Key)
		if err == nil && (!ok || !bytes.Equal(e.Head(), r.Head[:])) {
			t.Errorf("%s: %s is not found", what, r.Key)
		}
	}
}

func TestDamagedIsNeverRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := randomRows(rng, 40)
	data, want := written(t, rows), sorted(rows)
	for range 3000 {
		i := rng.IntN(len(data))
		damaged := slices.Clone(data)
		damaged[i] ^= 1 << rng.IntN(8)
		checkDamaged(t, fmt.Sprintf("byte %d of %d", i, len(data)), damaged, want)
		checkDamaged(t, fmt.Sprintf("the first %d bytes of %d", i, len(data)), data[:i], want)
	}
	checkDamaged(t, "bytes after the end", append(slices.Clone(data), "more"...), want)
}

// FuzzNew: any bytes are rejected or read, without a panic.
func FuzzNew(f *testing.F) {
	f.Add(written(f, randomRows(rand.New(rand.NewPCG(1, 2)), 3)), uint8(3))
	f.Add([]byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, shelf uint8) {
		s, err := New(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		_, _ = all(s)
		_, _ = s.Shelf(shelf)
		_, _, _ = s.Find(Key{shelf})
		_ = s.Marked(map[uint64]bool{uint64(shelf): true}, func(Entry) error { return nil })
	})
}

func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "segment")
	rows := randomRows(rand.New(rand.NewPCG(2, 2)), 5)
	if err := os.WriteFile(path, written(t, rows), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := all(s); err != nil || !reflect.DeepEqual(got, sorted(rows)) || s.Len() != 5 {
		t.Errorf("%d rows, %v", len(got), err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Open(path + "-not"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
