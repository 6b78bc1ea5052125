package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"git-runr/gitstore"
)

// testIndex is an index of three entities, in memory.
func testIndex() *index {
	refs := func(clocks ...int) []byte {
		var events []Event
		for _, c := range clocks {
			events = append(events, eventAt(c, "x", "{}"))
		}
		return encodeRefs(events)
	}
	return &index{
		Tips: gitstore.Tips{oneWriter: "1111111111111111111111111111111111111111", twoWriter: "2222222222222222222222222222222222222222"}, Clock: 41,
		Damaged: []damagedRecord{{oneWriter, "3333333333333333333333333333333333333333", "5555555555555555555555555555555555555555", "object is missing"}},
		Ahead:   []eventRef{{1 << 50, twoWriter, "4444444444444444444444444444444444444444", 7}}, Late: map[string]int64{twoWriter: 7},
		rows: []*row{
			{kind: kindReview, status: "open", id: "20260107120000-aaaaaa", sort: 1000, seq: 1, summary: []byte(`{"review_id":"one"}`), events: refs(1)},
			{kind: kindRun, status: "reviewing", id: "20260107120000-bbbbbb", sort: 3000, seq: 9, summary: []byte(`{"run_id":"two"}`), events: refs(2, 3, 9)},
			{kind: kindReview, status: "resolved", id: "20260108120000-cccccc", sort: 2000, seq: 4, summary: []byte(`{}`), events: refs(4, 8)},
		},
	}
}

// content is all that an index says, with every row read.
type content struct {
	tips    gitstore.Tips
	clock   uint64
	damaged []damagedRecord
	ahead   []eventRef
	late    map[string]int64
	rows    []row
	refs    [][]eventRef
}

func contentOf(idx *index) (content, error) {
	c := content{tips: idx.Tips, clock: idx.Clock, damaged: idx.Damaged, ahead: idx.Ahead, late: idx.Late}
	for _, r := range idx.rows {
		refs, err := idx.refs(r)
		if err != nil {
			return c, err
		}
		plain := *r
		plain.summaryAt, plain.summaryLen, plain.eventsAt, plain.eventsLen, plain.sum = 0, 0, 0, 0, 0
		c.rows, c.refs = append(c.rows, plain), append(c.refs, refs)
	}
	return c, nil
}

// saveTestIndex writes the index and gives the file's bytes and what it says.
func saveTestIndex(t *testing.T) (path string, data []byte, want content) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "cache", "index")
	idx := testIndex()
	if err := idx.save(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want, err = contentOf(idx); err != nil {
		t.Fatal(err)
	}
	return path, data, want
}

func TestIndexRoundTrip(t *testing.T) {
	path, data, want := saveTestIndex(t)
	idx := openIndex(path)
	defer idx.close()
	got, err := contentOf(idx)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
	order := []string{idx.rows[0].id, idx.rows[1].id, idx.rows[2].id}
	if !slices.Equal(order, []string{"20260107120000-bbbbbb", "20260108120000-cccccc", "20260107120000-aaaaaa"}) {
		t.Errorf("order %v, want the newest first", order)
	}
	if r := idx.find(kindRun, "20260107120000-bbbbbb"); r == nil || r.status != "reviewing" || string(r.summary) != `{"run_id":"two"}` {
		t.Errorf("found %+v", r)
	}
	if r := idx.find(kindReview, "20260107120000-bbbbbb"); r != nil {
		t.Errorf("found a review that is a run: %+v", r)
	}
	// What was read from the file and saved again, rows not yet loaded, is the same file.
	again := openIndex(path)
	defer again.close()
	if err := again.save(path); err != nil {
		t.Fatal(err)
	}
	if saved, err := os.ReadFile(path); err != nil || !bytes.Equal(saved, data) {
		t.Errorf("saved again: %d bytes, was %d, %v", len(saved), len(data), err)
	}
}

func TestIndexMissing(t *testing.T) {
	idx := openIndex(filepath.Join(t.TempDir(), "nothing"))
	defer idx.close()
	if len(idx.rows) != 0 || len(idx.Tips) != 0 || idx.Tips == nil {
		t.Errorf("index %+v", idx)
	}
}

// checkDamaged opens a damaged file: it must be as if it were not there, or right.
// noticed allows for damage that is found, and said, when a row is read.
func checkDamaged(t *testing.T, path, what string, data []byte, want content, noticed bool) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if why := panics(func() {
		idx := openIndex(path)
		defer idx.close()
		got, err := contentOf(idx)
		if len(idx.Tips) == 0 && len(idx.rows) == 0 {
			return
		}
		if err != nil && noticed {
			return
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: neither empty nor right: %v", what, err)
		}
	}); why != nil {
		t.Errorf("%s: %v", what, why)
	}
}

func TestIndexTruncated(t *testing.T) {
	path, data, want := saveTestIndex(t)
	for n := range len(data) {
		checkDamaged(t, path, fmt.Sprintf("first %d of %d bytes", n, len(data)), data[:n], want, false)
	}
	checkDamaged(t, path, "bytes after the end", append(slices.Clone(data), "more"...), want, false)
}

func TestIndexFlipped(t *testing.T) {
	path, data, want := saveTestIndex(t)
	for i := range data {
		damaged := slices.Clone(data)
		damaged[i] ^= 1 << (i % 8)
		checkDamaged(t, path, fmt.Sprintf("byte %d of %d", i, len(data)), damaged, want, true)
	}
}

func TestIndexResolve(t *testing.T) {
	idx := testIndex()
	for _, test := range []struct {
		kind        entityKind
		typed, want string
	}{
		{kindReview, "20260107120000-aaaaaa", "20260107120000-aaaaaa"},
		{kindReview, "20260107", "20260107120000-aaaaaa"},
		{kindReview, "20260108120000-c", "20260108120000-cccccc"},
		{kindReview, "cccccc", "20260108120000-cccccc"},
		{kindReview, "latest", "20260108120000-cccccc"},
		{kindRun, "latest", "20260107120000-bbbbbb"},
		{kindRun, "2", "20260107120000-bbbbbb"},
	} {
		if got, err := idx.resolve(test.kind, test.typed); got != test.want || err != nil {
			t.Errorf("%c %q: %q, %v, want %q", test.kind, test.typed, got, err, test.want)
		}
	}
}

func TestIndexResolveRefuses(t *testing.T) {
	idx := testIndex()
	for _, test := range []struct {
		kind        entityKind
		typed, says string
	}{
		{kindReview, "20260107120000-bbbbbb", `review "20260107120000-bbbbbb" does not exist here`},
		{kindRun, "20260108", `run "20260108" does not exist here`},
		{kindRun, "", `run "" does not exist here`},
		{kindReview, "aaaaa", `review "aaaaa" does not exist here`},
		{kindReview, "-aaaaaa", `review "-aaaaaa" does not exist here`},
		{kindReview, "202601", `review "202601" is ambiguous: 20260107120000-aaaaaa, 20260108120000-cccccc`},
	} {
		got, err := idx.resolve(test.kind, test.typed)
		if got != "" || !errors.Is(err, gitstore.ErrNotFound) || err.Error() != test.says {
			t.Errorf("%c %q: %q, %v, want %q", test.kind, test.typed, got, err, test.says)
		}
	}
	if _, err := (&index{}).resolve(kindRun, "latest"); err == nil || err.Error() != "there is no run yet" {
		t.Errorf("latest of none: %v", err)
	}
}

func TestIndexResolveTakesAnIDBeforeAPrefix(t *testing.T) {
	idx := &index{rows: []*row{{kind: kindRun, status: "running", id: "20260107120000-aaaaaa2", seq: 2}, {kind: kindRun, status: "running", id: "20260107120000-aaaaaa", seq: 1}}}
	if got, err := idx.resolve(kindRun, "20260107120000-aaaaaa"); got != "20260107120000-aaaaaa" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestIndexLatestIsWhatBeganLast(t *testing.T) {
	idx := &index{rows: []*row{{kind: kindRun, status: "running", id: "old", seq: 1, sort: 9000}, {kind: kindRun, status: "running", id: "new", seq: 2, sort: 5}, {kind: kindRun, id: "not begun", seq: 3, sort: 9999}}}
	if got, err := idx.resolve(kindRun, "latest"); got != "new" || err != nil {
		t.Errorf("%q, %v: a wall clock decided", got, err)
	}
}

func TestIndexRefsOfDamagedRows(t *testing.T) {
	for _, events := range []string{"1 w\n", "x w id\n", "1 w id more\n", "-1 w id\n"} {
		if _, err := (&index{}).refs(&row{summary: []byte("{}"), events: []byte(events)}); err == nil || !strings.Contains(err.Error(), "read index") {
			t.Errorf("%q: %v", events, err)
		}
	}
}

func TestRowFold(t *testing.T) {
	events := reviewEvents(t, "submit rex", "claim ann")
	r := &row{kind: kindReview, id: testReview}
	slices.Reverse(events)
	if err := r.fold(events); err != nil {
		t.Fatal(err)
	}
	if r.status != "claimed" || r.seq != 1 || r.sort != testEpoch.UnixMilli()+2*60_000 || !strings.Contains(string(r.summary), `"claimed_by":"ann"`) {
		t.Errorf("row %+v, summary %s", r, r.summary)
	}
	if lines := strings.Split(strings.TrimSpace(string(r.events)), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "1 "+oneWriter+" ") {
		t.Errorf("events %q", r.events)
	}
}

// What waits for a reviewer is found without decoding the rest.
func TestListOfWhatWaits(t *testing.T) {
	store, _ := newRepo(t)
	ctx := t.Context()
	var ids []string
	for _, text := range []string{"answered", `says "waiting_for": nobody`, "waits"} {
		review, err := store.RequestReview(ctx, ReviewRequest{Subject: Subject{Tree: "t", Title: text}, Message: text, Reviewer: "rex"}, "cli")
		if err == nil && text != "waits" {
			_, err = store.SubmitReview(ctx, review.ID, Submission{Reviewer: "rex", Tree: "t", Report: EmptyReport()}, "")
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
