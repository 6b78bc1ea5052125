package notes

import (
	"context"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
)

const one, two = "aaaaaaaaaaaa", "bbbbbbbbbbbb" // writers

var epoch = time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC)

func TestMessage(t *testing.T) {
	tips := gitstore.Tips{one: "1111", two: "2222"}
	newest := epoch.Add(1234 * time.Millisecond)
	message := Message(tips, newest)
	gotTips, gotNewest := ReadMessage(message)
	if !reflect.DeepEqual(gotTips, tips) || !gotNewest.Equal(newest) || !Own(message) {
		t.Errorf("read %v, %v", gotTips, gotNewest)
	}
	if tips, newest := ReadMessage("somebody else's notes\n"); len(tips) != 0 || !newest.IsZero() || Own("somebody else's notes\n") {
		t.Errorf("of other notes: %v, %v", tips, newest)
	}
}

func TestJoinLines(t *testing.T) {
	for _, test := range []struct {
		old, want string
		added     []string
	}{
		{"", "", nil},
		{"", "a\nb\n", []string{"b", "a"}},
		{"b\n\nd", "a\nb\nd\n", []string{"d", "a", "a"}},
	} {
		if got := string(joinLines([]byte(test.old), test.added, nil)); got != test.want {
			t.Errorf("%q and %q: %q, want %q", test.old, test.added, got, test.want)
		}
	}
}

// TestHeard: received lines of a log are used only if they cover exactly the part that the notes lack.
func TestHeard(t *testing.T) {
	var h Heard
	if _, ok := h.Lacking(nil, gitstore.Tips{one: "3"}); ok {
		t.Error("something was heard of nothing")
	}
	h.Add(one, epoch, []Line{{"c", epoch, "said\x1b"}})
	h.Covers(one, "", "1")
	h.Covers(one, "1", "2")
	if said := h.Between(one, "", "2"); said == nil || !reflect.DeepEqual(said.lines, map[gitstore.ID][]string{"c": {`2026-01-07T12:00:00.000Z said\x1b`}}) || !said.newest.Equal(epoch) {
		t.Errorf("said %+v", said)
	}
	if h.Between(one, "1", "2") != nil || h.Between(one, "", "1") != nil || h.Between(two, "", "1") != nil {
		t.Error("a part is taken for another")
	}
	for _, test := range []struct {
		known, tips, rest gitstore.Tips // nil: the received part is not the missing part
	}{
		{gitstore.Tips{}, gitstore.Tips{one: "2"}, gitstore.Tips{}},
		{gitstore.Tips{two: "7"}, gitstore.Tips{one: "2", two: "8"}, gitstore.Tips{two: "8"}},
		{gitstore.Tips{one: "1"}, gitstore.Tips{one: "2"}, nil},
		{gitstore.Tips{}, gitstore.Tips{one: "3"}, nil},
	} {
		rest, ok := h.Lacking(test.known, test.tips)
		if ok != (test.rest != nil) || !maps.Equal(rest, test.rest) {
			t.Errorf("from %v to %v: %v, %t, want %v", test.known, test.tips, rest, ok, test.rest)
		}
	}
	h.Add(two, epoch, nil)
	if _, ok := h.Lacking(gitstore.Tips{}, gitstore.Tips{one: "2", two: "8"}); ok {
		t.Error("a part of a log is taken for all of it")
	}
}

// TestProject: a log whose lines were received is not read again. A log that has lost something is read again.
func TestProject(t *testing.T) {
	ctx, dir := t.Context(), testrepo.New(t)
	repo, err := gitstore.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	head, err := repo.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var reads []gitstore.Tips
	lost := []string{two}
	p := Projection{
		Repo: repo, Ref: "refs/notes/test",
		Tips: func(context.Context) (gitstore.Tips, error) { return gitstore.Tips{one: "1", two: "2"}, nil },
		Read: func(_ context.Context, _, tips gitstore.Tips, said *Said) ([]string, error) {
			reads = append(reads, tips)
			said.Add(epoch, []Line{{head, epoch, "read"}, {"no commit", epoch, "nowhere"}})
			return lost, nil
		},
	}
	var h Heard
	h.Add(one, epoch.Add(time.Hour), []Line{{head, epoch, "heard"}})
	h.Covers(one, "", "1")
	for range 3 {
		if err := p.Project(ctx, false, &h); err != nil {
			t.Fatal(err)
		}
		lost = nil
	}
	if want := []gitstore.Tips{{two: "2"}, {one: "1", two: "2"}}; !reflect.DeepEqual(reads, want) {
		t.Errorf("read %v, want %v", reads, want)
	}
	notes, err := repo.OpenNotes(ctx, p.Ref)
	if err != nil {
		t.Fatal(err)
	}
	const want = "2026-01-07T12:00:00.000Z heard\n2026-01-07T12:00:00.000Z read\n"
	if text, err := notes.Get(ctx, head); string(text) != want || err != nil {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
	if tips, newest := ReadMessage(notes.Message()); !maps.Equal(tips, gitstore.Tips{one: "1", two: "2"}) || !newest.Equal(epoch.Add(time.Hour)) {
		t.Errorf("up to %v, %v", tips, newest)
	}
}
