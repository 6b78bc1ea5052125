package entrylog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// ownEntry reports whether these tests appended an entry.
func ownEntry(e Entry) bool { return strings.HasPrefix(e.Message, "event ") }

// appendEvents appends n entries that ownEntry recognizes, a second apart.
func appendEvents(t *testing.T, repo *Store, n int) []odb.ID {
	t.Helper()
	var ids []odb.ID
	for i := range n {
		entry := mustAppend(t, repo, Record{
			Author: gitdir.Identity{Name: "A", Email: "a@b"}, When: time.Unix(int64(1800000000+i), 0),
			Message:     fmt.Sprintf("event %d", i),
			Attachments: map[string][]byte{"note": []byte(fmt.Sprint("attachment ", i))},
		})
		ids = append(ids, entry.ID)
	}
	return ids
}

// logIDs returns the entries of this clone's own log, as its ref has them.
func logIDs(t *testing.T, repo *Store) []odb.ID {
	t.Helper()
	out := testGit(t, repo.dir.WorkTree, "rev-list", "--first-parent", "--reverse", logPrefix+repo.Writer())
	var ids []odb.ID
	for _, line := range strings.Fields(out) {
		ids = append(ids, odb.ID(line))
	}
	return ids
}

// loseObject removes the file of a loose object.
func loseObject(t *testing.T, repo *Store, id odb.ID) {
	t.Helper()
	if err := os.Remove(loosePathOf(repo, id)); err != nil {
		t.Fatal(err)
	}
}

func damageObject(t *testing.T, repo *Store, id odb.ID) {
	t.Helper()
	replaceFile(t, loosePathOf(repo, id), []byte("this is no object"))
}

func loosePathOf(repo *Store, id odb.ID) string {
	return filepath.Join(repo.dir.CommonDir, "objects", string(id[:2]), string(id[2:]))
}

// If somebody moved a log's ref, TakeUpLog continues the log where its writer left it.
func TestTakeUpRewoundLog(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		for _, n := range []int{1, 3, tailEntries + 1} {
			for _, how := range []string{"rewound", "rewound far", "deleted", "elsewhere"} {
				t.Run(fmt.Sprintf("%s/%d/%s", format, n, how), func(t *testing.T) {
					if format == "sha256" && n != 3 {
						t.Skip("the same, in many processes")
					}
					repo, ctx := newTestRepoFormat(t, format), context.Background()
					events := appendEvents(t, repo, n)
					ref, from := logPrefix+repo.Writer(), odb.ID("")
					switch {
					case how == "elsewhere":
						from = testCommits(t, repo, 1)[0]
					case how == "rewound far" && n > 1:
						from = events[0]
					case how != "deleted" && n > 1:
						from = events[n-2]
					}
					if from == "" {
						testGit(t, repo.dir.WorkTree, "update-ref", "-d", ref)
					} else {
						testGit(t, repo.dir.WorkTree, "update-ref", ref, string(from))
					}
					testGit(t, repo.dir.WorkTree, "gc", "-q", "--prune=now")
					repo = openTestRepo(t, repo.dir.WorkTree)
					done, err := repo.TakeUpLog(ctx, ownEntry)
					if err != nil || !done.Moved || done.From != from || done.To != events[n-1] {
						t.Fatalf("%+v, %v", done, err)
					}
					if got := logIDs(t, repo); !slices.Equal(got, events) {
						t.Errorf("log %v, want %v", got, events)
					}
					if how == "elsewhere" && !repo.objects.Has(ctx, from) {
						t.Error("what stood in its place is gone")
					}
					if again, err := repo.TakeUpLog(ctx, ownEntry); again != (TakenUp{}) || err != nil {
						t.Errorf("once more: %+v, %v", again, err)
					}
					next := mustAppend(t, repo, Record{Message: "event next"})
					if next.Parent != events[n-1] {
						t.Errorf("the next is on %s", next.Parent)
					}
					testGit(t, repo.dir.WorkTree, "fsck", "--strict")
				})
			}
		}
	}
}

// Without the tail, the log is restored as far as the clone's own ref keeps it.
func TestTakeUpWithoutTail(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	events := appendEvents(t, repo, tailEntries+1)
	if err := os.Remove(repo.tailPath(repo.Writer())); err != nil {
		t.Fatal(err)
	}
	testGit(t, repo.dir.WorkTree, "update-ref", logPrefix+repo.Writer(), string(events[0]))
	if done, err := repo.TakeUpLog(ctx, ownEntry); !done.Moved || err != nil {
		t.Errorf("%+v, %v", done, err)
	}
	if got := logIDs(t, repo); !slices.Equal(got, events[:tailEntries]) {
		t.Errorf("log %v", got)
	}
}

// Append takes up a log by itself, even if nothing was read before.
func TestAppendOnRewoundLog(t *testing.T) {
	repo := newTestRepo(t)
	events := appendEvents(t, repo, 3)
	testGit(t, repo.dir.WorkTree, "update-ref", logPrefix+repo.Writer(), string(events[0]))
	if next := mustAppend(t, repo, Record{Message: "event next"}); next.Parent != events[2] {
		t.Errorf("it is on %s, not on %s", next.Parent, events[2])
	}
}

// If an older program, which writes no tail, continued the log, the log is left alone.
func TestTakeUpLogThatWentOn(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	events := appendEvents(t, repo, 2)
	tree := testGit(t, repo.dir.WorkTree, "rev-parse", string(events[1])+"^{tree}")
	older := testGit(t, repo.dir.WorkTree, "commit-tree", "-p", string(events[1]), "-m", "event of an older program", tree)
	testGit(t, repo.dir.WorkTree, "update-ref", logPrefix+repo.Writer(), older)
	if done, err := repo.TakeUpLog(ctx, ownEntry); done.Moved || err != nil {
		t.Errorf("%+v, %v", done, err)
	}
	if got := logIDs(t, repo); !slices.Equal(got, append(events, odb.ID(older))) {
		t.Errorf("log %v", got)
	}
	if kept, err := repo.refs.Ref(ctx, keptPrefix+repo.Writer()); kept != odb.ID(older) || err != nil {
		t.Errorf("kept %s, %v", kept, err)
	}
}

// Entries that gc deleted are written again, if their writer was killed before it could check them.
func TestTakeUpWhatGCTook(t *testing.T) {
	for _, lost := range [][]int{{2}, {1}, {0, 1, 2}} {
		repo, ctx := newTestRepo(t), context.Background()
		events := appendEvents(t, repo, 3)
		for _, i := range lost {
			entry, err := repo.Entry(ctx, events[i])
			if err != nil {
				t.Fatal(err)
			}
			loseObject(t, repo, entry.ID)
			loseObject(t, repo, entry.Tree)
		}
		repo = openTestRepo(t, repo.dir.WorkTree)
		if lost[len(lost)-1] == 2 { // else the next writer finds it
			if done, err := repo.TakeUpLog(ctx, ownEntry); done.Entries != len(lost) || done.Moved || err != nil {
				t.Errorf("%v: %+v, %v", lost, done, err)
			}
		}
		next := mustAppend(t, repo, Record{Message: "event next"})
		if got := logIDs(t, repo); !slices.Equal(got, append(events, next.ID)) {
			t.Errorf("%v: log %v", lost, got)
		}
		testGit(t, repo.dir.WorkTree, "fsck", "--strict")
		testGit(t, repo.dir.WorkTree, "gc", "-q", "--prune=now")
	}
}

// If the newest entry is lost for good, the log ends at the newest entry that is left, even if no ref points to it.
// Afterwards the user's gc works again.
func TestTakeUpLostTip(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		for _, kept := range []bool{false, true} {
			repo, ctx := newTestRepoFormat(t, format), context.Background()
			n := 4
			if kept {
				n = tailEntries + 3
			}
			if kept && format == "sha256" {
				continue
			}
			events := appendEvents(t, repo, n)
			os.Remove(repo.tailPath(repo.Writer())) // as an older program leaves it
			loseObject(t, repo, events[n-1])
			unfinished := testGit(t, repo.dir.WorkTree, "commit-tree", "-p", string(events[0]), "-m", "event of a killed writer",
				testGit(t, repo.dir.WorkTree, "rev-parse", string(events[0])+"^{tree}"))
			repo = openTestRepo(t, repo.dir.WorkTree)
			if _, err := repo.Append(ctx, appendText("event next")); !errors.Is(err, gitdir.ErrCorrupt) {
				t.Errorf("append on a lost tip: %v", err)
			}
			done, err := repo.TakeUpLog(ctx, ownEntry)
			if err != nil || !done.Moved || !done.Missing || done.From != events[n-1] || done.To != events[n-2] {
				t.Errorf("%+v, %v; want %s", done, err, events[n-2])
			}
			if got := logIDs(t, repo); !slices.Equal(got, events[:n-1]) {
				t.Errorf("log %v, want %v without %s", got, events[:n-1], unfinished)
			}
			testGit(t, repo.dir.WorkTree, "gc", "-q", "--prune=now")
			mustAppend(t, repo, Record{Message: "event next"})
			testGit(t, repo.dir.WorkTree, "fsck", "--strict")
		}
	}
}

// If no entry of a log is left, a new log is started.
func TestTakeUpLogOfNothing(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	events := appendEvents(t, repo, 1)
	os.Remove(repo.tailPath(repo.Writer()))
	loseObject(t, repo, events[0])
	repo = openTestRepo(t, repo.dir.WorkTree)
	if done, err := repo.TakeUpLog(ctx, ownEntry); !done.Missing || done.To != "" || err != nil {
		t.Errorf("%+v, %v", done, err)
	}
	mustAppend(t, repo, Record{Message: "event next"})
	testGit(t, repo.dir.WorkTree, "fsck", "--strict")
}

// If a writer is killed at any point, its entry is either complete in the log or not in it.
func TestTailOfKilledWriter(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	events := appendEvents(t, repo, 2)
	ref := logPrefix + repo.Writer()
	for _, moved := range []bool{false, true} {
		entry, objects, err := repo.writeEntry(ctx, events[len(events)-1],
			Record{Message: "event killed", When: time.Unix(1900000000, 0)})
		if err != nil {
			t.Fatal(err)
		}
		tail, err := repo.openTail(repo.Writer())
		if err != nil {
			t.Fatal(err)
		}
		if err := tail.add(entry, objects); err != nil {
			t.Fatal(err)
		}
		tail.file.Close()
		if moved {
			testGit(t, repo.dir.WorkTree, "update-ref", ref, string(entry.ID))
			events = append(events, entry.ID)
		}
		if !repo.logStands(ctx, repo.Writer(), "") {
			t.Errorf("moved %v: somebody has to repair it", moved)
		}
		next := mustAppend(t, repo, Record{Message: "event after"})
		events = append(events, next.ID)
		if got := logIDs(t, repo); !slices.Equal(got, events) {
			t.Errorf("moved %v: log %v, want %v", moved, got, events)
		}
	}
}

// The whole records of a tail that was cut short are used.
func TestTailCutShort(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	events := appendEvents(t, repo, 3)
	path := repo.tailPath(repo.Writer())
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		records, size := decodeTail(whole[:n])
		if len(records) > 2 || size > int64(n) {
			t.Fatalf("of %d bytes: %d records in %d", n, len(records), size)
		}
		for i, record := range records {
			if record.id != events[i] || !record.moved || len(record.objects) != 3 {
				t.Fatalf("of %d bytes: record %d is %+v", n, i, record)
			}
		}
	}
	for _, n := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
		replaceFile(t, path, whole[:n])
		if done, err := repo.TakeUpLog(ctx, ownEntry); done.Moved || err != nil {
			t.Errorf("%d bytes: %+v, %v", n, done, err)
		}
		if got := logIDs(t, repo); !slices.Equal(got, events) {
			t.Errorf("%d bytes: log %v", n, got)
		}
	}
}

func FuzzTail(f *testing.F) {
	record := tailRecord{id: "aa", moved: true,
		objects: odb.Batch{{Kind: "tree"}, {Kind: "commit", Data: []byte("tree x\n")}}}
	f.Add(append(record.encode(), record.encode()...))
	f.Add([]byte("+ a - 99999999999\n"))
	f.Add([]byte("+ a - 8\nblob -1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, size := decodeTail(data)
		if size > int64(len(data)) {
			t.Fatalf("%d bytes of %d", size, len(data))
		}
		var again []byte
		for _, record := range records {
			again = append(again, record.encode()...)
		}
		more, n := decodeTail(again)
		if len(more) != len(records) || n != int64(len(again)) {
			t.Errorf("%d records are %d when they are written again", len(records), len(more))
		}
	})
}
