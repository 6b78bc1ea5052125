package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/segment"
	"github.com/git-runr/git-runr/loop/internal/spill"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// indexOf returns an index in memory, with one segment per list of rows.
func indexOf(t *testing.T, lists ...[]segment.Row) *index {
	t.Helper()
	idx := scratchIndex()
	for _, rows := range lists {
		err := idx.stack.Put(false, func(w *segment.Writer) error {
			for _, r := range rows {
				if err := w.Add(r); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return idx
}

// indexRow returns an index row with a summary and events at these clocks.
func indexRow(r row, summary string, clocks ...int) segment.Row {
	var events []record.Event
	for _, c := range clocks {
		events = append(events, eventAt(c, "x", "{}"))
	}
	out := segment.Row{Parts: [segment.Parts][]byte{partSummary: []byte(summary), partRefs: encodeRefs(events)}}
	out.Key, _ = r.key()
	for _, mark := range marksOfSuffix(r.id[len(r.id)-6:]) {
		out.Marks = append(out.Marks, r.kind.mark(mark))
	}
	r.events = len(clocks)
	out.Head = r.head()
	return out
}

// testRows returns the rows of three entities.
func testRows() []segment.Row {
	return []segment.Row{
		indexRow(row{entity: entity{kindReview, "20260107120000-aaaaaa"}, status: "open", sort: 1000, seq: 1},
			`{"review_id":"one"}`, 1),
		indexRow(row{entity: entity{kindRun, "20260107120000-bbbbbb"}, status: "reviewing", sort: 3000, seq: 9},
			`{"run_id":"two"}`, 2, 3, 9),
		indexRow(row{entity: entity{kindReview, "20260108120000-cdefgh"}, status: "resolved", sort: 2000, seq: 4}, `{}`, 4,
			8),
	}
}

func testIndex(t *testing.T) *index { return indexOf(t, testRows()) }

func TestManifestRoundTrip(t *testing.T) {
	want := manifest{
		Tips: gitstore.Tips{oneWriter: "1111111111111111111111111111111111111111",
			twoWriter: "2222222222222222222222222222222222222222"}, Clock: 41,
		Damaged: []damagedRecord{{oneWriter, "3333333333333333333333333333333333333333",
			"5555555555555555555555555555555555555555", "object is missing"}},
		Ahead:    []eventRef{{1 << 50, twoWriter, "4444444444444444444444444444444444444444", 7}},
		Late:     map[string]int64{twoWriter: 7},
		Segments: []string{"index-b.seg", "index-a.seg"},
	}
	data, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeManifest(data); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
	for i := range data {
		if _, err := decodeManifest(data[:i]); err == nil {
			t.Errorf("the first %d of %d bytes are taken for a manifest", i, len(data))
		}
		damaged := slices.Clone(data)
		damaged[i] ^= 1 << (i % 8)
		if _, err := decodeManifest(damaged); err == nil {
			t.Errorf("byte %d may be anything", i)
		}
	}
}

func TestIndexMissing(t *testing.T) {
	idx := openIndex(filepath.Join(t.TempDir(), "nothing"))
	defer idx.close()
	if idx.stack.Depth() != 0 || len(idx.Tips) != 0 || idx.Tips == nil {
		t.Errorf("index %+v", idx)
	}
}

func TestIndexResolve(t *testing.T) {
	idx := testIndex(t)
	for _, test := range []struct {
		kind        entityKind
		typed, want string
	}{
		{kindReview, "20260107120000-aaaaaa", "20260107120000-aaaaaa"},
		{kindReview, "20260107", "20260107120000-aaaaaa"},
		{kindReview, "20260108120000-c", "20260108120000-cdefgh"},
		{kindReview, "cdefgh", "20260108120000-cdefgh"},
		{kindReview, "cdef", "20260108120000-cdefgh"},
		{kindReview, "cdefg", "20260108120000-cdefgh"},
		{kindReview, "efgh", "20260108120000-cdefgh"},
		{kindReview, "defgh", "20260108120000-cdefgh"},
		{kindReview, "latest", "20260108120000-cdefgh"},
		{kindRun, "latest", "20260107120000-bbbbbb"},
		{kindRun, "2", "20260107120000-bbbbbb"},
	} {
		if got, err := idx.resolve(test.kind, test.typed, time.Time{}); got != test.want || err != nil {
			t.Errorf("%c %q: %q, %v, want %q", test.kind, test.typed, got, err, test.want)
		}
	}
}

func TestIndexResolveRefuses(t *testing.T) {
	idx := testIndex(t)
	for _, test := range []struct {
		kind        entityKind
		typed, says string
	}{
		{kindReview, "20260107120000-bbbbbb", `review "20260107120000-bbbbbb" does not exist here`},
		{kindRun, "20260108", `run "20260108" does not exist here`},
		{kindRun, "", `run "" does not exist here`},
		{kindReview, "aaa", `review "aaa" does not exist here`},
		{kindReview, "defg", `review "defg" does not exist here`},
		{kindReview, "fghi", `review "fghi" does not exist here`},
		{kindReview, "bbbb", `review "bbbb" does not exist here`},
		{kindReview, "aaaaaaa", `review "aaaaaaa" does not exist here`},
		{kindReview, "-aaaaaa", `review "-aaaaaa" does not exist here`},
		{kindReview, "202601", `review "202601" is ambiguous: it may be one of 2`},
	} {
		got, err := idx.resolve(test.kind, test.typed, time.Time{})
		if got != "" || !errors.Is(err, gitstore.ErrNotFound) || err.Error() != test.says {
			t.Errorf("%c %q: %q, %v, want %q", test.kind, test.typed, got, err, test.says)
		}
	}
	if _, err := (&index{}).resolve(kindRun, "latest", time.Time{}); err == nil || err.Error() != "there is no run yet" {
		t.Errorf("latest of none: %v", err)
	}
}

func TestIndexLatestIsWhatBeganLast(t *testing.T) {
	idx := indexOf(t, []segment.Row{
		indexRow(row{entity: entity{kindRun, "20260107120000-aaaaaa"}, status: "running", seq: 1, sort: 9000}, "{}"),
		indexRow(row{entity: entity{kindRun, "20260107120000-bbbbbb"}, status: "running", seq: 2, sort: 5}, "{}"),
		indexRow(row{entity: entity{kindRun, "20260107120000-cccccc"}, seq: 3, sort: 9999}, "{}"),
	})
	if got, err := idx.resolve(kindRun, "latest", time.Time{}); got != "20260107120000-bbbbbb" || err != nil {
		t.Errorf("%q, %v: a wall clock decided", got, err)
	}
}

func TestIndexRefsOfDamagedRows(t *testing.T) {
	of := entity{kindRun, "20260107120000-aaaaaa"}
	for _, events := range []string{"1 w\n", "x w id\n", "1 w id more\n", "-1 w id\n"} {
		r := indexRow(row{entity: of}, "{}")
		r.Parts[partRefs] = []byte(events)
		if _, err := indexOf(t, []segment.Row{r}).refs(of, 0); !errors.Is(err, errIndex) ||
			!strings.Contains(err.Error(), "read index") {
			t.Errorf("%q: %v", events, err)
		}
	}
}

func TestIndexRefsFromTheEnd(t *testing.T) {
	of := entity{kindRun, "20260107120000-aaaaaa"}
	at := func(older bool, clocks ...int) []segment.Row {
		return []segment.Row{indexRow(row{entity: of, older: older}, "{}", clocks...)}
	}
	idx := indexOf(t, at(false, 1, 2), at(true, 3), at(true, 4, 5, 6))
	for last, want := range [][]uint64{{1, 2, 3, 4, 5, 6}, {6}, {5, 6}, {4, 5, 6}, {3, 4, 5, 6}, {2, 3, 4, 5, 6},
		{1, 2, 3, 4, 5, 6}} {
		refs, err := idx.refs(of, last)
		var clocks []uint64
		for _, ref := range refs {
			clocks = append(clocks, ref.Clock)
		}
		if err != nil || !slices.Equal(clocks, want) {
			t.Errorf("the last %d: %v, %v, want %v", last, clocks, err, want)
		}
	}
}

// story returns n random events of a few reviews by several writers.
func story(t *testing.T, rng *rand.Rand, n int) []record.Event {
	t.Helper()
	words := []string{"submit rex", "submit ann", "claim ann", "claim bob", "release ann", "resolve ann", "reopen ann",
		"answer ann", "cancel ann"}
	var all []record.Event
	for clock := 1; len(all) < n; clock++ {
		review := fmt.Sprintf("2026010712000%d-aaaaaa", rng.IntN(3))
		e := reviewEventAt(clock, record.EventReviewRequested.Name,
			record.ReviewRequest{Reviewer: "rex", Others: []string{"ann"}, Message: "look"})
		if rng.IntN(8) > 0 {
			e = reviewStep(t, clock, words[rng.IntN(len(words))])
		}
		e.Review, e.Writer = review, []string{oneWriter, twoWriter}[rng.IntN(2)]
		e.ID = gitstore.ID(fmt.Sprintf("%040x", rng.Uint64()))
		all = append(all, e)
	}
	return all
}

// TestIndexIsTheFold: in whatever order and portions events arrive, the index equals the fold of all events, both in
// many segments and joined into one.
func TestIndexIsTheFold(t *testing.T) {
	store, dir := newRepo(t)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 12 {
		written := writeStory(t, store, dir, story(t, rng, 20+rng.IntN(90)))
		want := scratchIndex()
		foldInto(t, store, want, written)
		parts := openIndex(filepath.Join(t.TempDir(), indexName))
		defer parts.close()
		rest := slices.Clone(written)
		if rng.IntN(2) == 0 { // one log arrives after the other
			slices.SortStableFunc(rest, func(a, b record.Event) int { return strings.Compare(a.Writer, b.Writer) })
		}
		for len(rest) > 0 {
			n := min(1+rng.IntN(9), len(rest))
			foldInto(t, store, parts, rest[:n])
			rest = rest[n:]
			if depth := parts.stack.Depth(); depth > 3 && rng.IntN(3) == 0 {
				joinSome(t, parts, 2+rng.IntN(depth-1))
			}
		}
		compareIndexes(t, store, fmt.Sprintf("seed %d, %d segments", seed, parts.stack.Depth()), parts, want)
		joinSome(t, parts, parts.stack.Depth())
		compareIndexes(t, store, fmt.Sprintf("seed %d, joined", seed), parts, want)
	}
}

// writeStory stores events as commits and reads them back.
func writeStory(t *testing.T, s *Store, dir string, events []record.Event) []record.Event {
	t.Helper()
	var out []record.Event
	for _, id := range writeCommits(t, dir, events) {
		entry, err := s.Repo.Entry(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		e, err := record.DecodeEvent(entry)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func foldInto(t *testing.T, s *Store, idx *index, events []record.Event) {
	t.Helper()
	b := &build{store: s, idx: idx}
	for _, e := range events {
		b.add(e)
	}
	if err := b.finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// joinSome joins the topmost n segments.
func joinSome(t *testing.T, idx *index, n int) {
	t.Helper()
	if err := idx.stack.JoinTop(n); err != nil {
		t.Fatal(err)
	}
}

// compareIndexes compares everything that two indexes contain.
func compareIndexes(t *testing.T, s *Store, what string, got, want *index) {
	t.Helper()
	for _, f := range []Filter{{}, {Limit: 1}, {ByNeed: true}, {Newest: true}, {Status: record.WaitingStatus},
		{Waiting: true}, {Status: func(s string) bool { return s == "resolved" }}} {
		a, n, err := listIndex(got, kindReview, f, f.Review)
		b, m, err2 := listIndex(want, kindReview, f, f.Review)
		if err := errors.Join(err, err2); err != nil || n != m || !reflect.DeepEqual(a, b) {
			t.Fatalf("%s: list %+v:\n%d %+v\n%d %+v\n%v", what, f, n, a, m, b, err)
		}
	}
	for _, idx := range []*index{got, want} {
		known, err := idx.latest(kindReview)
		asked := *idx
		asked.Newest = nil
		if scanned, err2 := asked.latest(kindReview); known != scanned || err != nil || err2 != nil {
			t.Fatalf("%s: latest %q, by its rows %q, %v, %v", what, known, scanned, err, err2)
		}
	}
	err := want.scan([]byte{shelfNone, shelfRun, shelfClosed, shelfWaiting}, func(r *row) error {
		events, err := s.readRow(t.Context(), want, r.entity)
		if err != nil {
			return err
		}
		review, _ := record.FoldReview(events)
		refs, err := got.refs(r.entity, 0)
		if err != nil || !reflect.DeepEqual(refs, refsOf(events)) {
			t.Fatalf("%s: %s: refs %v, want %v, %v", what, r.id, refs, refsOf(events), err)
		}
		if id, err := got.resolve(kindReview, r.id[:15], time.Time{}); r.begun() && (err != nil || id != r.id) {
			t.Fatalf("%s: %s is not found by its beginning: %q, %v", what, r.id, id, err)
		}
		for _, letters := range []string{r.id[15:], r.id[15:19], r.id[16:], r.id[17:]} {
			rows, err := got.fitting(r.kind, letters)
			if found := slices.ContainsFunc(rows, func(f row) bool { return f.id == r.id }); r.begun() &&
				(err != nil || !found) {
				t.Fatalf("%s: %s is not found by %s of its letters: %v, %v", what, r.id, letters, rows, err)
			}
		}
		there, err := got.find(r.entity)
		if err != nil || there == nil {
			t.Fatalf("%s: %s is not found, %v", what, r.id, err)
		}
		st, err := s.stateOf(t.Context(), got, there)
		if err != nil || !reflect.DeepEqual(jsonOf(t, st.review), jsonOf(t, review)) {
			t.Fatalf("%s: %s after %d events, %d of them kept:\n%s\n%s\n%v", what, r.id, there.events, there.covered,
				jsonOf(t, st.review), jsonOf(t, review), err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestHexIDs compares the search for ids with a regular expression.
func TestHexIDs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	long := regexp.MustCompile("[0-9a-f]{40,}")
	for range 3000 {
		text := make([]byte, rng.IntN(300))
		for i := range text {
			text[i] = "0123456789abcdefg\" "[rng.IntN(16)]
			if rng.IntN(30) == 0 {
				text[i] = "g\"AF "[rng.IntN(5)]
			}
		}
		var got []string
		hexIDs(text, func(id []byte) { got = append(got, string(id)) })
		if want := long.FindAllString(string(text), -1); !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
	}
}

func refsOf(events []record.Event) []eventRef {
	refs := make([]eventRef, len(events))
	for i, e := range events {
		refs[i] = refOf(e)
	}
	return refs
}

// TestIndexDamagedFiles: if a cache file is cut short, empty, missing or changed at any place, lists stay correct.
func TestIndexDamagedFiles(t *testing.T) {
	store, _ := newRepo(t)
	var want []string
	for range 3 {
		want = append(want, request(t, store).ID)
		listed(t, another(store))
	}
	slices.Reverse(want)
	damage := map[string]func(data []byte) []byte{
		"removed": nil,
		"emptied": func([]byte) []byte { return nil },
		"cut":     func(data []byte) []byte { return data[:len(data)/2] },
		"longer":  func(data []byte) []byte { return append(data, "more"...) },
		"zeroed":  func(data []byte) []byte { return make([]byte, len(data)) },
	}
	for i := range 64 {
		damage[fmt.Sprintf("a bit changed at %d/64", i)] = func(data []byte) []byte {
			data[i*len(data)/64] ^= 1 << (i % 8)
			return data
		}
	}
	for what, change := range damage {
		files, err := filepath.Glob(filepath.Join(filepath.Dir(store.indexPath()), "index*"))
		if err != nil || len(files) < 2 {
			t.Fatalf("files %v, %v", files, err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil || len(data) == 0 {
				continue // joined with another segment, or left over from the round before
			}
			if change == nil {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, change(data), 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := listed(t, another(store)); !slices.Equal(got, want) {
				t.Errorf("%s %s: %v, want %v", filepath.Base(path), what, got, want)
			}
		}
	}
}

// another returns the store as another process opens it, with nothing in memory.
func another(s *Store) *Store { return NewStore(s.Repo, s.Now) }

func listed(t *testing.T, s *Store) (ids []string) {
	t.Helper()
	reviews, _, err := s.Reviews(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reviews {
		ids = append(ids, r.ID)
	}
	return ids
}

// TestIndexOfTheProgramBefore: the cache of an older or newer program is replaced.
func TestIndexOfTheProgramBefore(t *testing.T) {
	store, _ := newRepo(t)
	want := []string{request(t, store).ID}
	if err := os.MkdirAll(filepath.Dir(store.indexPath()), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, before := range []string{"RUNRIDXH\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00{}", "RUNRIDXZ of tomorrow"} {
		if err := os.WriteFile(store.indexPath(), []byte(before), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := listed(t, store); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if m := readManifest(store.indexPath()); len(m.Segments) == 0 || len(m.Tips) == 0 {
			t.Errorf("it was not replaced: %+v", m)
		}
	}
}

// TestGroupsThroughAFile: groups that were spilled to a file are read back unchanged.
func TestGroupsThroughAFile(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var small, large groups
	for i, e := range story(t, rng, 300) {
		e.Late = int64(i % 3)
		small.add(e)
		large.add(e)
		if i%50 == 0 {
			large.Spill()
		}
	}
	defer large.Close()
	if !large.Large() || small.Large() {
		t.Fatal("nothing was written, or what is few")
	}
	read := func(g *groups) map[entity][]record.Event {
		all := map[entity][]record.Event{}
		for part := range spill.Count {
			if err := g.visit(part, func(of entity, events []record.Event) error {
				all[of] = slices.Clone(events)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	a, b := read(&small), read(&large)
	if !reflect.DeepEqual(slices.Sorted(maps.Keys(ids(a))), slices.Sorted(maps.Keys(ids(b)))) || !reflect.DeepEqual(a, b) {
		t.Errorf("in memory %d, through a file %d", len(a), len(b))
	}
}

func ids(m map[entity][]record.Event) map[string]bool {
	all := map[string]bool{}
	for of, events := range m {
		for _, e := range events {
			all[of.id+" "+string(e.ID)] = true
		}
	}
	return all
}

// Requests that wait for a reviewer are found without decoding all summaries.
func TestListOfWhatWaits(t *testing.T) {
	store, _ := newRepo(t)
	ctx := t.Context()
	var ids []string
	for _, text := range []string{"answered", `says "waiting_for": nobody`, "waits"} {
		review, err := store.RequestReview(ctx,
			record.ReviewRequest{Subject: record.Subject{Tree: "t", Title: text}, Message: text, Reviewer: "rex"}, "cli")
		if err == nil && text != "waits" {
			_, err = store.SubmitReview(ctx, review.ID,
				record.Submission{Reviewer: "rex", Tree: "t", Report: record.EmptyReport()}, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, review.ID)
	}
	for range 2 { // from memory, and from the file
		found, total, err := store.Reviews(ctx, Filter{Waiting: true})
		if err != nil || total != 1 || found[0].ID != ids[2] {
			t.Errorf("%d, %+v, %v", total, found, err)
		}
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestIndexDamagedBelowWhatIsNew: if new events are folded onto a damaged row, every way of reading rebuilds the
// cache.
func TestIndexDamagedBelowWhatIsNew(t *testing.T) {
	ctx := t.Context()
	for what, read := range map[string]func(*Store) error{
		"events since": func(s *Store) error { _, _, err := s.EventsSince(ctx, gitstore.Tips{}); return err },
		"count":        func(s *Store) error { _, _, err := s.CountEvents(ctx); return err },
		"check":        func(s *Store) error { _, _, err := s.Check(ctx, false); return err },
		"list":         func(s *Store) error { _, _, err := s.Reviews(ctx, Filter{}); return err },
		"notes":        func(s *Store) error { return s.Project(ctx) },
	} {
		t.Run(what, func(t *testing.T) {
			store, _ := newRepo(t)
			asked := request(t, store)
			listed(t, store)
			if _, err := store.SubmitPerson(ctx, asked.ID,
				record.Person{Actor: "ann", Decision: record.RequestChanges, Message: "no"}); err != nil {
				t.Fatal(err)
			}
			damageSegments(t, store)
			store = another(store)
			if err := read(store); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if got := listed(t, store); !slices.Equal(got, []string{asked.ID}) {
				t.Errorf("listed afterwards: %v", got)
			}
		})
	}
}

// TestIndexIsOpenedOnce: a process reads the cache again only if the tips or the cache changed. Several events that
// are written together save the cache once.
func TestIndexIsOpenedOnce(t *testing.T) {
	store, _ := newRepo(t)
	request(t, store)
	store.Reads = &Reads{}
	listed(t, store)
	before := store.Reads.Bytes.Load()
	if before == 0 {
		t.Error("nothing is counted")
	}
	listed(t, store)
	if n := store.Reads.Bytes.Load() - before; n != 0 {
		t.Errorf("%d bytes are read again", n)
	}
	if err := os.Remove(store.indexPath()); err != nil {
		t.Fatal(err)
	}
	listed(t, store)
	saved := func(want int) {
		t.Helper()
		if m := readManifest(store.indexPath()); m.Events != want {
			t.Errorf("%d events are saved, not %d", m.Events, want)
		}
	}
	saved(1)
	end, inner := store.Together(), store.Together()
	for i := range 3 {
		request(t, store)
		if got := len(listed(t, store)); got != 2+i {
			t.Errorf("%d reviews are listed, not %d", got, 2+i)
		}
	}
	inner()
	saved(1)
	end()
	saved(4)
}

// damageSegments changes the first half of every segment file.
func damageSegments(t *testing.T, s *Store) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(s.indexPath()), indexName+"-*.seg"))
	if err != nil || len(files) == 0 {
		t.Fatalf("segments %v, %v", files, err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(data) / 2 {
			data[i] ^= 0xff
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestListSkips: each page is a part of the whole list in its order, and its total counts the whole list.
func TestListSkips(t *testing.T) {
	store, _ := newRepo(t)
	for i := range 7 {
		asked := request(t, store)
		if i%3 == 0 {
			if _, err := store.SubmitPerson(t.Context(), asked.ID,
				record.Person{Actor: "ann", Decision: record.RequestChanges, Message: "no"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, f := range map[string]Filter{
		"newest first": {}, "by need": {ByNeed: true},
		"chosen":          {Review: func(r record.ReviewSummary) bool { return true }},
		"chosen, by need": {ByNeed: true, Review: func(record.ReviewSummary) bool { return true }},
	} {
		all, _, err := store.Reviews(t.Context(), f)
		if err != nil || len(all) != 7 {
			t.Fatalf("%s: %d reviews, %v", name, len(all), err)
		}
		for skip := range 8 {
			for limit := 1; limit < 9; limit++ {
				page := f
				page.Skip, page.Limit = skip, limit
				got, total, err := store.Reviews(t.Context(), page)
				if err != nil {
					t.Fatal(err)
				}
				want := all[min(skip, 7):min(skip+limit, 7)]
				if total != 7 || !slices.EqualFunc(got, want, func(a, b record.ReviewSummary) bool { return a.ID == b.ID }) {
					t.Errorf("%s: %d after %d: %d of %d, want %d of 7", name, limit, skip, len(got), total, len(want))
				}
			}
		}
	}
}

// TestIndexShort: an ending of an id is no short form if a run and a review share it, or if it is the beginning of
// another id.
func TestIndexShort(t *testing.T) {
	idx := indexOf(t, append(testRows(),
		indexRow(row{entity: entity{kindRun, "20260109120000-aaaaaa"}, status: "running", seq: 12, sort: 5000}, `{}`, 12),
		indexRow(row{entity: entity{kindRun, "20260109120001-202601"}, status: "running", seq: 13, sort: 5000}, `{}`, 13)))
	got, err := idx.short([]string{"20260107120000-aaaaaa", "20260107120000-bbbbbb", "20260108120000-cdefgh",
		"20260109120000-aaaaaa", "20260109120001-202601", "20260109120001-dddddd", "x"})
	want := map[string]string{"20260107120000-bbbbbb": "bbbbbb", "20260108120000-cdefgh": "cdefgh"}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestIndexBranches: the index knows the branches of the newest reviews, in whatever order the reviews arrive.
func TestIndexBranches(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 5))
	type asked struct {
		branch string
		clock  uint64
	}
	var all []asked
	for i := range 3 * branchesMost {
		all = append(all, asked{fmt.Sprintf("b%d", i%(2*branchesMost)), uint64(1 + i)})
	}
	var want []string
	for i := range branchesMost {
		want = append(want, all[len(all)-1-i].branch)
	}
	for range 5 {
		rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		var m manifest
		m.asks("", 1<<40)
		for _, a := range all {
			m.asks(a.branch, a.clock)
		}
		if got := m.newestBranches(); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %q, want %q", seed, got, want)
		}
	}
}

// TestTopic: two summaries have the same topic exactly if no field differs that affects a commit's coverage.
func TestTopic(t *testing.T) {
	of := record.ReviewSummary{Reviewer: "rex", Outcome: record.OutcomeFailed, Commit: "c", Base: "b", Change: "d",
		Kind: record.SubjectCommit, Open: 1, CommentCount: 1,
		Moves: []record.Move{{From: "c", To: "e", State: record.MoveCarried}}}
	for name, c := range map[string]struct {
		change func(*record.ReviewSummary)
		same   bool
	}{
		"id":    {func(s *record.ReviewSummary) { s.ID = "other" }, true},
		"times": {func(s *record.ReviewSummary) { s.CreatedAt, s.SubmittedAt = testEpoch, testEpoch }, true},
		"findings": {func(s *record.ReviewSummary) {
			s.Open, s.CommentCount, s.Verdict, s.LeftOut = 3, 4, reply.CriticalFail, 2
		}, true},
		"settled":  {func(s *record.ReviewSummary) { s.Open = 0 }, false},
		"silent":   {func(s *record.ReviewSummary) { s.CommentCount = 0 }, false},
		"asked":    {func(s *record.ReviewSummary) { s.Asked = "do it" }, false},
		"reviewer": {func(s *record.ReviewSummary) { s.Reviewer = record.Human }, false},
		"outcome":  {func(s *record.ReviewSummary) { s.Outcome = record.OutcomePassed }, false},
		"unshown":  {func(s *record.ReviewSummary) { s.Unshown = true }, false},
		"kind":     {func(s *record.ReviewSummary) { s.Kind = record.SubjectRange }, false},
		"look":     {func(s *record.ReviewSummary) { s.ReviewKind = "security" }, false},
		"base":     {func(s *record.ReviewSummary) { s.Base = "x" }, false},
		"commit":   {func(s *record.ReviewSummary) { s.Commit = "x" }, false},
		"change":   {func(s *record.ReviewSummary) { s.Change = "x" }, false},
		"unseen":   {func(s *record.ReviewSummary) { s.Unseen = []gitstore.ID{"x"} }, false},
		"paths":    {func(s *record.ReviewSummary) { s.Paths = true }, false},
		"gone":     {func(s *record.ReviewSummary) { s.Moves = nil }, false},
		"stale": {func(s *record.ReviewSummary) { s.Moves = []record.Move{{From: "c", To: "e", State: record.MoveStale}} },
			false},
	} {
		other := of
		if c.change(&other); (other.Topic() == of.Topic()) != c.same {
			t.Errorf("%s: the same topic: %t", name, !c.same)
		}
	}
}
