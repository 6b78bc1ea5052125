package entrylog

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

const year = 365 * day

// wroteAt writes a log of one entry by a clone that then disappears, and returns the entry.
func wroteAt(t *testing.T, bare, writer string, at time.Time) Entry {
	t.Helper()
	repo := cloneAs(t, bare, writer)
	syncLogs(t, repo)
	entry := mustAppend(t, repo, Record{Message: writer, Author: testAgent, When: at})
	syncLogs(t, repo)
	return entry
}

func cloneAs(t *testing.T, bare, writer string) *Store {
	t.Helper()
	dir := cloneOf(t, bare).dir.WorkTree
	testGit(t, dir, "config", writerKey, writer)
	return openTestRepo(t, dir)
}

func syncSince(t *testing.T, repo *Store, since time.Time) Adopted {
	t.Helper()
	fetched, err := repo.FetchSince(t.Context(), "origin", "", since)
	if err != nil || len(fetched.Refused) > 0 {
		t.Fatal(fetched, err)
	}
	adopted, err := repo.AdoptLogs(t.Context(), "origin", func(Entry) error { return nil })
	if err == nil {
		_, err = repo.Push(t.Context(), "origin", "", "")
	}
	if err != nil {
		t.Fatal(err)
	}
	return adopted
}

// oldAndNew returns a remote with two archived logs, one of two years ago and one of now.
func oldAndNew(t *testing.T) (bare string, full *Store, old, new Entry) {
	t.Helper()
	bare, clones := newRemote(t, 1)
	old = wroteAt(t, bare, "00000000000a", testWhen.Add(-2*year))
	new = wroteAt(t, bare, "00000000000b", testWhen)
	syncLogs(t, clones[0])
	if done := retire(t, clones[0], testWhen.Add(day), 1); done != (Retired{Logs: 2, Refs: 2}) {
		t.Fatalf("%+v", done)
	}
	return bare, clones[0], old, new
}

func TestOldArchivesAreLeft(t *testing.T) {
	bare, full, old, new := oldAndNew(t)
	dir := filepath.Join(t.TempDir(), "part")
	testGit(t, bare, "clone", "-q", "--no-local", bare, dir) // without --no-local git copies all objects
	part := openTestRepo(t, dir)
	for _, want := range []int{1, 0} {
		if got := syncSince(t, part, testWhen.Add(-year)); got.Events != want {
			t.Errorf("%+v", got)
		}
		if got := logTips(t, part); !maps.Equal(got, Tips{"00000000000b": new.ID}) {
			t.Errorf("%v", got)
		}
		if left, err := part.Unfetched(t.Context(), ""); !slices.Equal(left, []string{monthOf(old.When)}) || err != nil {
			t.Errorf("left: %v, %v", left, err)
		}
		if _, err := part.Entry(t.Context(), old.ID); !errors.Is(err, gitdir.ErrNotFound) {
			t.Error("the old entry came")
		}
	}
	if got := syncLogs(t, part); got.Events != 1 || logTips(t, part)["00000000000a"] != old.ID {
		t.Errorf("all: %+v", got)
	}
	more := wroteAt(t, bare, "00000000000d", old.When) // a log that was fetched is followed further
	syncLogs(t, full)
	retire(t, full, testWhen.Add(day), 1)
	if syncSince(t, part, testWhen); logTips(t, part)["00000000000d"] != more.ID {
		t.Error("a month that is here is not followed")
	}
	if left, err := part.Unfetched(t.Context(), ""); len(left) > 0 || err != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A clone does not start a second log under an id whose log is in an archive that the clone left out. It fetches
// archives that may hold its own log, which depends on the age of its id.
func TestOwnLogInOldArchive(t *testing.T) {
	bare, full, old, _ := oldAndNew(t)
	back := cloneAs(t, bare, old.Writer)
	mustAppend(t, back, Record{Message: "before it knows", Author: testAgent, When: testWhen})
	if got := syncSince(t, back, testWhen.Add(-year)); !got.Diverged {
		t.Fatalf("%+v", got)
	}
	syncLogs(t, full)
	if got := logTips(t, full)[old.Writer]; got != old.ID {
		t.Errorf("it ends at %s", got)
	}
	fresh := cloneOf(t, bare) // with an id of its own
	mustAppend(t, fresh, Record{Message: "first", Author: testAgent, When: testWhen})
	syncSince(t, fresh, testWhen.Add(-year))
	if left, err := fresh.Unfetched(t.Context(), "origin"); len(left) != 1 || err != nil {
		t.Errorf("a new id brings everything: %v, %v", left, err)
	}
	path := fresh.writerMadePath()
	replaceFile(t, path, []byte(fresh.Writer()+" 2020-01-01T00:00:00Z\n"))
	testGit(t, bare, "update-ref", "-d", logPrefix+fresh.Writer())
	syncSince(t, fresh, testWhen.Add(-year))
	if left, err := fresh.Unfetched(t.Context(), "origin"); len(left) != 0 || err != nil {
		t.Errorf("an id that is as old as they are: %v, %v", left, err)
	}
}

// A clone that left out an archive neither deletes nor restores a ref of a log that was retired into it.
func TestRetiredIntoWhatIsLeft(t *testing.T) {
	bare, full, _, _ := oldAndNew(t)
	again := wroteAt(t, bare, "00000000000c", testWhen.Add(-2*year))
	part := cloneOf(t, bare)
	syncSince(t, part, testWhen.Add(-year))
	if done := retire(t, part, testWhen.Add(day), 1); done != (Retired{}) {
		t.Errorf("%+v", done)
	}
	syncLogs(t, full)
	if done := retire(t, full, testWhen.Add(day), 1); done != (Retired{Logs: 1, Refs: 1}) {
		t.Fatalf("%+v", done)
	}
	want := remoteRefs(t, bare)
	for range 2 {
		syncSince(t, part, testWhen.Add(-year))
		if got := remoteRefs(t, bare); got != want {
			t.Errorf("the remote has %q", got)
		}
		if got := logTips(t, part)["00000000000c"]; got != again.ID {
			t.Errorf("it is at %q here", got)
		}
	}
}

// If a retired log continues with a clock that is behind, its older state in the archive does not hide the new
// entries.
func TestMonthNeverGoesBack(t *testing.T) {
	bare, full, _, new := oldAndNew(t)
	next := wroteAt(t, bare, new.Writer, testWhen.Add(-year))
	if next.Parent != new.ID {
		t.Fatalf("%+v", next)
	}
	syncLogs(t, full)
	if done := retire(t, full, testWhen.Add(day), 1); done != (Retired{Logs: 1, Refs: 1}) {
		t.Fatalf("%+v", done)
	}
	fresh := cloneOf(t, bare)
	syncLogs(t, fresh)
	if got := logTips(t, fresh)[new.Writer]; got != next.ID {
		t.Errorf("it ends at %s", got)
	}
	if _, err := os.Stat(filepath.Join(bare, archivesPrefix, monthOf(next.When))); err == nil {
		t.Error("it is in an older month")
	}
}
