package entrylog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

const day = 24 * time.Hour

var testMonth = monthOf(testWhen)

var testArchiveRef = archivesPrefix + testMonth

// comeAndGo makes n clones that write one entry each and disappear. It returns their tips.
func comeAndGo(t *testing.T, bare string, n int) Tips {
	t.Helper()
	tips := Tips{}
	for i := range n {
		dir := filepath.Join(t.TempDir(), "job")
		testGit(t, bare, "clone", "-q", bare, dir)
		testGit(t, dir, "config", writerKey, fmt.Sprintf("%012x", i+1))
		repo := openTestRepo(t, dir)
		tips[repo.Writer()] = mustAppend(t, repo,
			Record{Message: fmt.Sprint("job ", i), Author: testAgent, When: testWhen.Add(time.Duration(i) * time.Second)}).ID
		syncLogs(t, repo)
	}
	return tips
}

func retire(t *testing.T, repo *Store, before time.Time, least int) Retired {
	t.Helper()
	done, err := repo.Retire(t.Context(), "origin", RetireRule{Before: before, Least: least})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// remoteRefs returns our refs on a remote, without the common prefix of their names.
func remoteRefs(t *testing.T, bare string) string {
	t.Helper()
	return strings.ReplaceAll(testGit(t, bare, "for-each-ref", "--format=%(refname)", "refs/runr"), "refs/runr/", "")
}

func TestRetire(t *testing.T) {
	bare, clones := newRemote(t, 2)
	a, b := clones[0], clones[1]
	want := comeAndGo(t, bare, 3)
	want[a.ensureTestWriter(t)] = write(t, a, "a lives")
	syncLogs(t, a)
	syncLogs(t, b)
	for _, few := range []Retired{retire(t, a, testWhen, 1), retire(t, a, testWhen.Add(day), 4)} {
		if few != (Retired{}) {
			t.Fatalf("too few or too new: %+v", few)
		}
	}
	if done := retire(t, a, testWhen.Add(2*time.Second), 2); done != (Retired{Logs: 2, Refs: 2}) {
		t.Fatalf("%+v", done)
	}
	if done := retire(t, a, testWhen.Add(day), 1); done != (Retired{Logs: 1, Refs: 1}) {
		t.Fatalf("%+v", done)
	}
	if got := remoteRefs(t, bare); got != "archives/"+testMonth+"\nlog/"+a.Writer() {
		t.Errorf("the remote has %q", got)
	}
	syncLogs(t, b)
	fresh := cloneOf(t, bare)
	syncLogs(t, fresh)
	for _, repo := range []*Store{a, b, fresh} {
		if got := logTips(t, repo); !maps.Equal(got, want) {
			t.Errorf("%v instead of %v", got, want)
		}
		if live, _, err := repo.logRefs(t.Context()); len(live) != 1 || err != nil {
			t.Errorf("refs here: %v, %v", live, err)
		}
		cached, err := os.ReadFile(repo.archiveCachePath(testMonth))
		if err != nil {
			t.Fatal(err)
		}
		replaceFile(t, repo.archiveCachePath(testMonth),
			bytes.Replace(cached, []byte("\n000000000002 "), []byte("\n00000000000f "), 1))
		again := openTestRepo(t, repo.dir.WorkTree)
		if got := logTips(t, again); !maps.Equal(got, want) {
			t.Errorf("with a damaged cache: %v", got)
		}
		if got := syncLogs(t, again); got.Events != 0 {
			t.Errorf("again: %+v", got)
		}
	}
	if got := remoteRefs(t, bare); got != "archives/"+testMonth+"\nlog/"+a.Writer() {
		t.Errorf("after all have synced the remote has %q", got)
	}
}

func (s *Store) ensureTestWriter(t *testing.T) string {
	t.Helper()
	id, err := s.EnsureWriter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func cloneOf(t *testing.T, bare string) *Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	testGit(t, bare, "clone", "-q", bare, dir)
	return openTestRepo(t, dir)
}

// A writer whose log was retired continues from its tip, in the clone that wrote it and in another clone with its id.
func TestRetiredWriterComesBack(t *testing.T) {
	bare, clones := newRemote(t, 2)
	back, other := clones[0], clones[1]
	first := write(t, back, "first")
	syncLogs(t, back)
	syncLogs(t, other)
	retire(t, other, testWhen.Add(day), 1)
	syncLogs(t, back)
	if got := remoteRefs(t, bare); got != "archives/"+testMonth {
		t.Fatalf("the remote has %q", got)
	}
	again := cloneOf(t, bare)
	testGit(t, again.dir.WorkTree, "config", writerKey, back.Writer())
	again = openTestRepo(t, again.dir.WorkTree)
	syncLogs(t, again)
	second := mustAppend(t, again, Record{Message: "second", Author: testAgent, When: testWhen})
	if second.Parent != first {
		t.Fatalf("it goes on from %q", second.Parent)
	}
	syncLogs(t, again)
	if got := remoteRefs(t, bare); got != "archives/"+testMonth+"\nlog/"+back.Writer() {
		t.Errorf("the remote has %q", got)
	}
	syncLogs(t, other)
	if got := logTips(t, other); got[back.Writer()] != second.ID {
		t.Errorf("%v", got)
	}
	if done := retire(t, other, testWhen.Add(day), 1); done != (Retired{Logs: 1, Refs: 1}) {
		t.Errorf("%+v", done)
	}
	fresh := cloneOf(t, bare)
	if got := syncLogs(t, fresh); got.Events != 2 || logTips(t, fresh)[back.Writer()] != second.ID {
		t.Errorf("%+v", got)
	}
}

// If two clones retire logs at once, the second gets ErrLostRace and has to fetch again. No log is lost.
func TestRetireAtOnce(t *testing.T) {
	bare, clones := newRemote(t, 2)
	want := comeAndGo(t, bare, 4)
	for _, repo := range clones {
		syncLogs(t, repo)
	}
	retire(t, clones[0], testWhen.Add(2*time.Second), 1)
	_, err := clones[1].Retire(t.Context(), "origin", RetireRule{Before: testWhen.Add(day)})
	if !errors.Is(err, gitdir.ErrLostRace) {
		t.Fatalf("%v", err)
	}
	syncLogs(t, clones[1])
	if done := retire(t, clones[1], testWhen.Add(day), 1); done != (Retired{Logs: 2, Refs: 2}) {
		t.Errorf("%+v", done)
	}
	for _, repo := range append(clones, cloneOf(t, bare)) {
		syncLogs(t, repo)
		if got := logTips(t, repo); !maps.Equal(got, want) {
			t.Errorf("%v instead of %v", got, want)
		}
	}
	if got := remoteRefs(t, bare); got != "archives/"+testMonth {
		t.Errorf("the remote has %q", got)
	}
}

// The next clone completes a retirement that was interrupted, or whose refs were pushed again by a program that does
// not know archives.
func TestRetireIsFinished(t *testing.T) {
	bare, clones := newRemote(t, 2)
	want := comeAndGo(t, bare, 2)
	for _, repo := range clones {
		syncLogs(t, repo)
	}
	retire(t, clones[0], testWhen.Add(day), 1)
	for writer, tip := range want { // restore the refs of before
		testGit(t, bare, "update-ref", logPrefix+writer, string(tip))
	}
	back := cloneOf(t, bare)
	testGit(t, back.dir.WorkTree, "config", writerKey, "000000000001")
	back = openTestRepo(t, back.dir.WorkTree)
	syncLogs(t, back)
	want["000000000001"] = write(t, back, "it came back")
	syncLogs(t, back)
	syncLogs(t, clones[1])
	if done := retire(t, clones[1], testWhen, 100); done != (Retired{Refs: 1}) {
		t.Errorf("%+v", done)
	}
	if got := remoteRefs(t, bare); got != "archives/"+testMonth+"\nlog/000000000001" {
		t.Errorf("the remote has %q", got)
	}
	syncLogs(t, clones[0])
	for _, repo := range clones {
		if got := logTips(t, repo); !maps.Equal(got, want) {
			t.Errorf("%v instead of %v", got, want)
		}
	}
}

// A ref that is behind the archived tip, left by a program that does not know archives, is not moved forward.
func TestRetiredRefThatIsBehind(t *testing.T) {
	bare, clones := newRemote(t, 2)
	a, b := clones[0], clones[1]
	first := write(t, a, "first")
	second := write(t, a, "second")
	syncLogs(t, a)
	syncLogs(t, b)
	retire(t, b, testWhen.Add(day), 1)
	testGit(t, bare, "update-ref", logPrefix+a.Writer(), string(first))
	for _, repo := range clones {
		syncLogs(t, repo)
		if got := testGit(t, bare, "rev-parse", logPrefix+a.Writer()); repo == b && got != string(first) {
			t.Errorf("the remote's is at %s", got)
		}
		if got := logTips(t, repo); got[a.Writer()] != second {
			t.Errorf("%v", got)
		}
		testGit(t, bare, "update-ref", logPrefix+a.Writer(), string(first))
	}
	syncLogs(t, b)
	if done := retire(t, b, testWhen, 1); done != (Retired{Refs: 1}) {
		t.Errorf("%+v", done)
	}
	if got := remoteRefs(t, bare); got != "archives/"+testMonth {
		t.Errorf("the remote has %q", got)
	}
}

// A clone that writes under several names keeps the refs of all of them, because it finds its own logs by these refs.
func TestRetireUnderAnotherName(t *testing.T) {
	bare, clones := newRemote(t, 1)
	repo := clones[0]
	t.Setenv(writerVar, "one")
	first := write(t, repo, "as one")
	one := repo.Writer()
	syncLogs(t, repo)
	t.Setenv(writerVar, "two")
	syncLogs(t, repo)
	if done := retire(t, repo, testWhen.Add(day), 1); done != (Retired{Logs: 1, Refs: 1}) {
		t.Errorf("%+v", done)
	}
	syncLogs(t, repo)
	if got, err := repo.refs.Ref(t.Context(), logPrefix+one); got != first || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	t.Setenv(writerVar, "one")
	if next := mustAppend(t, repo, Record{Message: "again", Author: testAgent, When: testWhen}); next.Parent != first {
		t.Errorf("it goes on from %q", next.Parent)
	}
	syncLogs(t, repo)
	if got := remoteRefs(t, bare); got != "archives/"+testMonth+"\nlog/"+one {
		t.Errorf("the remote has %q", got)
	}
}

// The entries of a damaged log are searched among all commits, except the known logs of other writers, retired logs
// included.
func TestSalvageKnowsRetiredLogs(t *testing.T) {
	bare, clones := newRemote(t, 1)
	theirs := comeAndGo(t, bare, 1)["000000000001"]
	repo := clones[0]
	own := write(t, repo, "ours")
	syncLogs(t, repo)
	retire(t, repo, testWhen.Add(day), 1)
	found, err := repo.findEntries(t.Context(), repo.Writer(), func(Entry) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	if _, there := found.left[own]; !there {
		t.Error("our own entry is not found")
	}
	if _, there := found.left[theirs]; there {
		t.Error("that of a retired log is taken for ours")
	}
}

// If a log's ref moves while the log is retired, the ref stays.
func TestRetireLeavesWhatMoves(t *testing.T) {
	bare, clones := newRemote(t, 1)
	tips := comeAndGo(t, bare, 1)
	repo := clones[0]
	syncLogs(t, repo)
	moved := testCommits(t, repo, 1)[0]
	testGit(t, repo.dir.WorkTree, "push", "-q", "-f", "origin", string(moved)+":"+logPrefix+"000000000001")
	if done := retire(t, repo, testWhen.Add(day), 1); done != (Retired{Logs: 1}) {
		t.Errorf("%+v", done)
	}
	if got := remoteRefs(t, bare); got != "archives/"+testMonth+"\nlog/000000000001" {
		t.Errorf("the remote has %q", got)
	}
	if got := logTips(t, repo); !maps.Equal(got, tips) {
		t.Errorf("%v", got)
	}
}

// Many logs are split into several archives, oldest first.
func TestArchivesAreCut(t *testing.T) {
	bare, clones := newRemote(t, 1)
	repo := clones[0]
	var refs strings.Builder
	for i, id := range testCommits(t, repo, archiveLogs+10) {
		fmt.Fprintf(&refs, "create %s%012x %s\n", logPrefix, i, id)
	}
	shell(t, repo.dir.WorkTree, "git update-ref --stdin <<'E'\n"+refs.String()+
		"E\ngit push -q origin 'refs/runr/log/*:refs/runr/log/*'")
	want := logTips(t, repo)
	syncLogs(t, repo)
	some, err := repo.Retire(t.Context(), "origin", RetireRule{Before: testWhen, Most: archiveLogs})
	if err != nil || some != (Retired{Logs: archiveLogs, Refs: archiveLogs}) {
		t.Fatalf("%+v, %v", some, err)
	}
	if done := retire(t, repo, testWhen, 1); done != (Retired{Logs: 10, Refs: 10}) {
		t.Fatalf("%+v", done)
	}
	for rev, says := range map[string]string{archivesPrefix + "1970-01": "10 logs",
		archivesPrefix + "1970-01^": fmt.Sprint(archiveLogs, " logs")} {
		if got := testGit(t, bare, "log", "-1", "--format=%s", rev); got != archiveTitle+": "+says {
			t.Errorf("%s: %q", rev, got)
		}
	}
	fresh := cloneOf(t, bare)
	syncLogs(t, fresh)
	if got := logTips(t, fresh); !maps.Equal(got, want) {
		t.Errorf("%d logs instead of %d", len(got), len(want))
	}
	testGit(t, bare, "fsck", "--strict")
}

// foreignArchive writes an archive commit as anybody could, and pushes it to the remote.
func foreignArchive(t *testing.T, repo *Store, message string, parents ...odb.ID) odb.ID {
	t.Helper()
	tree, err := repo.objects.WriteTree(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	id, err := repo.objects.WriteCommit(t.Context(),
		odb.Commit{Tree: tree, Parents: parents, Author: testAgent, Committer: testAgent,
			AuthorWhen: testWhen, CommitterWhen: testWhen, Message: message})
	if err != nil {
		t.Fatal(err)
	}
	testGit(t, repo.dir.WorkTree, "push", "-q", "-f", "origin", string(id)+":"+testArchiveRef)
	return id
}

func TestHostileArchives(t *testing.T) {
	const writer, good = "00000000000a", "00000000000b"
	head := archiveTitle + ": logs\n\n" + archiveVersion + "1\n" + archiveNewest + "2026-03-04T05:06:07Z\n"
	tests := []struct {
		name    string
		message func(tip, stray odb.ID) string
		reason  string
	}{
		{"a newer format", func(odb.ID, odb.ID) string { return strings.Replace(head, "1\n", "2\nwhatever\n", 1) },
			"format 2, this program reads up to 1"},
		{"no archive", func(odb.ID, odb.ID) string { return "hello" }, "is not an archive of logs"},
		{"other parents", func(tip, stray odb.ID) string {
			return head + archiveLog + writer + " " + string(stray) + "\n" + archiveLog + good + " " + string(tip) + "\n"
		}, "its parents are not the logs that it names"},
		{"too few", func(tip, _ odb.ID) string { return head }, "its parents are not the logs that it names"},
		{"a writer twice", func(tip, stray odb.ID) string {
			return head + archiveLog + writer + " " + string(tip) + "\n" + archiveLog + writer + " " + string(stray) + "\n"
		}, "is in it twice"},
		{"no writer", func(tip, stray odb.ID) string { return head + archiveLog + "../x " + string(tip) + "\n" },
			"names no log"},
		{"no time", func(tip, stray odb.ID) string { return strings.Replace(head, "2026", "the year", 1) }, "its time is"},
		{"a log that is refused", func(tip, stray odb.ID) string {
			return head + archiveLog + good + " " + string(tip) + "\n" + archiveLog + writer + " " + string(stray) + "\n"
		}, "refused as a test"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, clones := newRemote(t, 2)
			foe, repo := clones[0], clones[1]
			tip := mustAppend(t, foe, Record{Message: "good", Author: testAgent, When: testWhen}).ID
			stray := testCommits(t, foe, 1)[0]
			foreignArchive(t, foe, tt.message(tip, stray), tip, stray)
			for range 2 {
				fetchLogs(t, repo)
				got, err := repo.AdoptLogs(t.Context(), "origin", Judge{Entry: func(e Entry) error {
					if e.ID == stray {
						return errors.New("refused as a test")
					}
					return nil
				}})
				if err != nil || len(got.Rejected) != 1 || !strings.Contains(got.Rejected[0].Reason, tt.reason) {
					t.Fatalf("%+v, %v", got, err)
				}
				if here, _ := repo.refs.Ref(t.Context(), testArchiveRef); here != "" {
					t.Error("it was taken over")
				}
				if tips := logTips(t, repo); tips[writer] != "" ||
					strings.Contains(tt.reason, "refused as") != (tips[good] == tip) {
					t.Errorf("%v", tips)
				}
				if done, err := repo.Retire(t.Context(), "origin", RetireRule{Before: testWhen.Add(day)}); err != nil ||
					done != (Retired{}) {
					t.Errorf("it was gone on from: %+v, %v", done, err)
				}
			}
		})
	}
}

// An archive neither moves a log backward nor removes one.
func TestArchiveTakesNothingBack(t *testing.T) {
	bare, clones := newRemote(t, 3)
	a, b := clones[0], clones[2]
	first := write(t, a, "first")
	syncLogs(t, a)
	second := write(t, a, "second")
	syncLogs(t, a)
	want := comeAndGo(t, bare, 1)
	want[a.Writer()] = second
	syncLogs(t, b)
	retire(t, b, testWhen.Add(day), 1)
	testGit(t, bare, "update-ref", "-d", testArchiveRef) // removes all of its logs as well
	foreignArchive(t, a, archive{newest: testWhen, logs: []archivedLog{{a.Writer(), first}}}.message(), first)
	for range 2 {
		for _, repo := range []*Store{b, a} {
			if got := syncLogs(t, repo); len(got.Rejected) > 0 {
				t.Errorf("%+v", got)
			}
			if got := logTips(t, repo); got[a.Writer()] != second {
				t.Errorf("%v", got)
			}
		}
	}
	fresh := cloneOf(t, bare)
	syncLogs(t, fresh)
	if got := logTips(t, fresh); !maps.Equal(got, want) {
		t.Errorf("%v instead of %v", got, want)
	}
}

// An emptied or new remote gets the archive, and no ref of an archived log.
func TestArchiveGoesToAnEmptyRemote(t *testing.T) {
	bare, clones := newRemote(t, 1)
	want := comeAndGo(t, bare, 3)
	repo := clones[0]
	syncLogs(t, repo)
	retire(t, repo, testWhen.Add(day), 1)
	testGit(t, bare, "update-ref", "-d", testArchiveRef)
	syncLogs(t, repo)
	if got := remoteRefs(t, bare); got != "archives/"+testMonth {
		t.Errorf("the remote has %q", got)
	}
	if got := logTips(t, repo); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

// Objects that an archive lost are fetched again. Other logs can be read meanwhile.
func TestDamagedArchive(t *testing.T) {
	for _, itself := range []bool{true, false} {
		bare, clones := newRemote(t, 1)
		want := comeAndGo(t, bare, 2)
		repo := clones[0]
		syncLogs(t, repo)
		retire(t, repo, testWhen.Add(day), 1)
		own := write(t, repo, "ours")
		lost := want["000000000002"]
		shell(t, repo.dir.WorkTree,
			"mv .git/objects/pack/*.pack pack && rm -f .git/objects/pack/* && git unpack-objects -q <pack")
		if itself {
			lost = testArchive(t, repo)
		}
		if err := errors.Join(os.Remove(repo.objects.LoosePath(lost)),
			os.Remove(repo.archiveCachePath(testMonth))); err != nil {
			t.Fatal(err)
		}
		repo = openTestRepo(t, repo.dir.WorkTree)
		if got := logTips(t, repo); got[repo.Writer()] != own {
			t.Errorf("%v", got)
		}
		if itself && !repo.Damaged(t.Context()) {
			t.Error("it was not noticed")
		}
		if done, err := repo.Refetch(t.Context(), "origin"); len(done.Writers) != 1 || len(done.Missing) > 0 || err != nil {
			t.Errorf("%+v, %v", done, err)
		}
		if got := logTips(t, repo); len(got) != 3 {
			t.Errorf("%v", got)
		}
	}
}

func testArchive(t *testing.T, repo *Store) odb.ID {
	t.Helper()
	id, err := repo.refs.Ref(context.Background(), testArchiveRef)
	if id == "" || err != nil {
		t.Fatal(id, err)
	}
	return id
}

// FuzzArchive: a message that can be parsed has the same content after it is written and parsed again.
func FuzzArchive(f *testing.F) {
	id := odb.ID(strings.Repeat("a1", 20))
	f.Add(archive{newest: testWhen, logs: []archivedLog{{"00000000000a", id}}}.message(), false)
	f.Add(archive{before: id, newest: testWhen,
		logs: []archivedLog{{"00000000000a", id}, {"00000000000b", id[:39] + "2"}}}.message(), true)
	f.Add("git-runr archive\n\nRunr-Archive: 99\n", false)
	f.Fuzz(func(t *testing.T, message string, chained bool) {
		c := odb.Commit{ID: id, Message: message}
		if chained {
			c.Parents = append(c.Parents, id)
		}
		_, said, _ := strings.Cut(message, archiveNewest)
		for line := range strings.Lines(said) {
			if rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), archiveLog); ok {
				_, tip, _ := strings.Cut(rest, " ")
				c.Parents = append(c.Parents, odb.ID(tip))
			}
		}
		a, err := decodeArchive(c)
		if err != nil {
			return
		}
		c.Message = a.message()
		again, err := decodeArchive(c)
		if err != nil || again.before != a.before || !again.newest.Equal(a.newest) ||
			fmt.Sprint(again.logs) != fmt.Sprint(a.logs) {
			t.Errorf("%+v, then %+v, %v", a, again, err)
		}
		if (a.before != "") != chained {
			t.Errorf("before: %q", a.before)
		}
	})
}

const year = 365 * day

// wroteAt is a log of one entry, by a clone that is gone then.
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

// oldAndNew is a remote with an archived log of two years ago and one of now, which is new.
func oldAndNew(t *testing.T) (bare string, full *Store, new Entry) {
	t.Helper()
	bare, clones := newRemote(t, 1)
	wroteAt(t, bare, "00000000000a", testWhen.Add(-2*year))
	new = wroteAt(t, bare, "00000000000b", testWhen)
	syncLogs(t, clones[0])
	if done := retire(t, clones[0], testWhen.Add(day), 1); done != (Retired{Logs: 2, Refs: 2}) {
		t.Fatalf("%+v", done)
	}
	return bare, clones[0], new
}

// A log that comes back with a clock that is behind is not hidden by what is archived of it.
func TestMonthNeverGoesBack(t *testing.T) {
	bare, full, new := oldAndNew(t)
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
