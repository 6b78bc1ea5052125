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
	if tips, newest := ReadMessage("somebody else's notes\n"); len(tips) != 0 || !newest.IsZero() ||
		Own("somebody else's notes\n") {
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

// TestProject: a log that has lost something is read again until it has not.
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
			said.Add(epoch, []Line{{head, epoch, "read\x1b"}, {"no commit", epoch, "nowhere"}})
			return lost, nil
		},
	}
	for range 3 {
		if err := p.Project(ctx, false); err != nil {
			t.Fatal(err)
		}
		lost = nil
	}
	if want := []gitstore.Tips{{one: "1", two: "2"}, {one: "1", two: "2"}}; !reflect.DeepEqual(reads, want) {
		t.Errorf("read %v, want %v", reads, want)
	}
	notes, err := repo.OpenNotes(ctx, p.Ref)
	if err != nil {
		t.Fatal(err)
	}
	const want = "2026-01-07T12:00:00.000Z read\\x1b\n"
	if text, err := notes.Get(ctx, head); string(text) != want || err != nil {
		t.Errorf("%q, %v, want %q", text, err, want)
	}
	if tips, newest := ReadMessage(notes.Message()); !maps.Equal(tips, gitstore.Tips{one: "1", two: "2"}) ||
		!newest.Equal(epoch) {
		t.Errorf("up to %v, %v", tips, newest)
	}
}
