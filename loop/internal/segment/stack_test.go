package segment

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"
)

// stackIn returns a stack whose rows store in the last byte of their heads whether they have
// older ones, and in their first parts the values of their keys so far.
func stackIn(dir string) *Stack {
	return &Stack{
		Dir: dir, Name: "rows", Older: func(head []byte) bool { return head[HeadSize-1] == 1 },
		Join: func(row *Row, older Row) {
			row.Parts[0] = slices.Concat(older.Parts[0], row.Parts[0])
			row.Head[HeadSize-1] = older.Head[HeadSize-1]
		},
	}
}

// stackModel is the expected content of a stack: for each key the newest row, with all values so far.
type stackModel map[Key]Row

// add puts rows on top of both; some keys exist already.
func (m stackModel) add(t *testing.T, st *Stack, rng *rand.Rand, large bool) {
	t.Helper()
	rows := randomRows(rng, 1+rng.IntN(12))
	err := st.Put(large, func(w *Writer) error {
		for _, r := range rows {
			r.Parts[0] = []byte{byte(rng.IntN(256))}
			was, there := m[r.Key]
			r.Head[HeadSize-1] = 0
			if there {
				r.Head[HeadSize-1] = 1
			}
			if err := w.Add(r); err != nil {
				return err
			}
			r.Parts[0], r.Marks, r.Head[HeadSize-1] = slices.Concat(was.Parts[0], r.Parts[0]), slices.Concat(was.Marks, r.Marks),
				0
			m[r.Key] = r
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// check compares the stack's answers with the model.
func (m stackModel) check(t *testing.T, what string, st *Stack) {
	t.Helper()
	var rows []Row
	for _, r := range m {
		rows = append(rows, r)
	}
	rows = sorted(rows)
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(slices.Compare(b.Head[1:OrderSize], a.Head[1:OrderSize]), slices.Compare(b.Key[:], a.Key[:]))
	})
	var scanned, want []Key
	err := st.Scan([]byte{0, 2}, func(e Entry) error { scanned = append(scanned, e.Key()); return nil })
	for _, r := range rows {
		if r.Head[0] != 1 {
			want = append(want, r.Key)
		}
		versions, err := st.Find(r.Key, 0)
		var said []byte
		for _, e := range slices.Backward(versions) {
			part, err := e.Part(0)
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, part...)
		}
		if err != nil || !slices.Equal(said, r.Parts[0]) {
			t.Fatalf("%s: %q says %x, want %x, %v", what, r.Key, said, r.Parts[0], err)
		}
		for _, mark := range r.Marks {
			for _, alone := range []bool{false, true} { // with the map of newest rows, and without it
				if alone {
					st.above = nil
				}
				found, err := st.Newest(map[uint64]bool{mark: true})
				i := slices.IndexFunc(found, func(e Entry) bool { return e.Key() == r.Key })
				if err != nil || i < 0 || found[i].Head()[0] != r.Head[0] || !slices.IsSortedFunc(found, inOrder) {
					t.Fatalf("%s: mark %d: %q is at %d of %d, %v", what, mark, r.Key, i, len(found), err)
				}
			}
			if err := st.findAbove(); err != nil {
				t.Fatal(err)
			}
			m.checkVisits(t, what, st, mark)
		}
	}
	if err != nil || !slices.Equal(scanned, want) {
		t.Fatalf("%s: scanned %q, want %q, %v", what, scanned, want, err)
	}
}

// checkVisits compares VisitMarked with Newest, and lets it stop after each number of rows.
func (m stackModel) checkVisits(t *testing.T, what string, st *Stack, mark uint64) {
	t.Helper()
	marks := map[uint64]bool{mark: true}
	newest, err := st.Newest(marks)
	if err != nil {
		t.Fatal(err)
	}
	keys := func(entries []Entry) (keys []string) {
		for _, e := range entries {
			keys = append(keys, fmt.Sprintf("%s %x", e.Key(), e.Head()))
		}
		return keys
	}
	var all []Entry
	for most := 1; most <= len(newest); most++ {
		var visited []Entry
		err := st.VisitMarked(marks, func(e Entry) (bool, error) {
			visited = append(visited, e)
			return len(visited) < most, nil
		})
		if err != nil || len(visited) != most || !slices.Equal(keys(visited[:len(all)]), keys(all)) {
			t.Fatalf("%s: mark %d: visited %q, %v", what, mark, keys(visited), err)
		}
		all = visited
	}
	got, want := slices.Sorted(slices.Values(keys(all))), slices.Sorted(slices.Values(keys(newest)))
	if !slices.Equal(got, want) {
		t.Fatalf("%s: mark %d: visited %q, want %q", what, mark, got, want)
	}
	if st.Depth() == 1 && !slices.Equal(keys(all), keys(newest)) { // older rows may have other places
		t.Fatalf("%s: mark %d: visited %q, in order %q", what, mark, keys(all), keys(newest))
	}
}

// TestStack: with any number of segments, merged, and reopened, the stack returns for each key
// everything that was put on top, with the newest row's head.
func TestStack(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 3))
	for range 20 {
		what := fmt.Sprintf("seed %d", seed)
		dir, m := t.TempDir(), stackModel{}
		st := stackIn(dir)
		for range 1 + rng.IntN(7) {
			m.add(t, st, rng, rng.IntN(2) == 0)
			st.Keep()
			if st.Depth() > 2 && rng.IntN(3) == 0 {
				if err := st.JoinTop(2); err != nil {
					t.Fatal(err)
				}
				st.Keep()
			}
		}
		m.check(t, what, st)
		m.add(t, st, rng, false)
		if err := st.Settle(); err != nil || st.Depth() > 1 && st.segments[0].Size()+st.segments[1].Size() <= joinSmall {
			t.Fatalf("%s: %d segments, %v", what, st.Depth(), err)
		}
		m.check(t, what+", settled", st)
		if err := st.JoinTop(st.Depth()); err != nil || st.Depth() != 1 {
			t.Fatalf("%s: %d segments, %v", what, st.Depth(), err)
		}
		m.check(t, what+", joined", st)
		names := st.Names()
		st.Keep()
		st.Close()
		again := stackIn(dir)
		if err := again.Open(names); err != nil {
			t.Fatal(err)
		}
		m.check(t, what+", opened", again)
		again.Close()
	}
}

// TestStackFiles: files that were not kept are removed with the stack, files that are no longer
// named are swept, and files that another process may be writing stay for a while.
func TestStackFiles(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(4, 4))
	files := func() []string {
		list, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			list[i] = filepath.Base(list[i])
		}
		return list
	}
	st, m := stackIn(dir), stackModel{}
	m.add(t, st, rng, true)
	if len(files()) != 1 || !reflect.DeepEqual(files(), st.Names()) {
		t.Errorf("files %q, names %q", files(), st.Names())
	}
	st.Close()
	if len(files()) != 0 {
		t.Errorf("left %q", files())
	}
	old := time.Now().Add(-2 * leftAfter)
	for name, at := range map[string]time.Time{"rows-old.seg": old, "rows.tmp1": old, "rows-new.seg": {},
		"rows-named.seg": {}, "rows.html": old, "rows-of.go": old} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	if (&Stack{Name: "rows"}).Sweep([]string{"rows-named.seg"}); len(files()) != 6 {
		t.Errorf("without a place something is removed: %q", files())
	}
	stackModel{}.add(t, st, rng, false)
	if err := st.Settle(); err != nil {
		t.Fatal(err)
	}
	st.Keep()
	st.Sweep([]string{"rows-named.seg"})
	if want := slices.Sorted(slices.Values(append(st.Names(), "rows-new.seg", "rows-of.go", "rows.html"))); !slices.Equal(
		files(), want) {
		t.Errorf("files %q, want %q", files(), want)
	}
	st.Close()
	if len(files()) != 4 {
		t.Errorf("what was kept is gone: %q", files())
	}
	if err := stackIn(dir).Open([]string{"../rows.html"}); err == nil {
		t.Error("a file in another place is opened")
	}
}
