package entrylog

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// twoRemotes returns a clone of the remote company with a second remote, customer, and one clone of each by a
// colleague and by the customer.
func twoRemotes(t *testing.T) (mine, colleague, customer *Store, there map[string]string) {
	t.Helper()
	company, repos := newRemote(t, 2)
	other := filepath.Join(t.TempDir(), "customer.git")
	testGit(t, company, "clone", "-q", "--bare", company, other)
	dir := filepath.Join(t.TempDir(), "theirs")
	testGit(t, company, "clone", "-q", other, dir)
	testGit(t, repos[0].dir.WorkTree, "remote", "add", "customer", other)
	return openTestRepo(t, repos[0].dir.WorkTree), repos[1], openTestRepo(t, dir),
		map[string]string{"origin": company, "customer": other}
}

func exchangeWith(t *testing.T, repo *Store, remote string) {
	t.Helper()
	ctx := context.Background()
	if _, err := repo.FetchLogs(ctx, remote, testNotes); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.AdoptLogs(ctx, remote, Judge{Entry: accept}); err != nil {
		t.Fatal(err)
	}
	if pushed, err := repo.Push(ctx, remote, "", ""); err != nil || pushed.Log != nil {
		t.Fatal(err, pushed.Log)
	}
}

func writeFor(t *testing.T, repo *Store, to Audience, text string) (writer string) {
	t.Helper()
	e, err := repo.AppendFor(context.Background(), to, func(context.Context, Tips, string) (Record, error) {
		return Record{Message: text, Author: testAgent, When: testWhen}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return e.Writer
}

// logsAt returns the writers whose logs a bare repository has.
func logsAt(t *testing.T, dir string) []string {
	t.Helper()
	tips := logTips(t, openTestRepo(t, dir))
	return slices.Sorted(maps.Keys(tips))
}

func checkLogs(t *testing.T, when, dir string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if have := logsAt(t, dir); !slices.Equal(have, want) {
		t.Errorf("%s: %s has the logs %v, not %v", when, filepath.Base(dir), have, want)
	}
}

// A log is pushed only to its audience's remote, even if remotes are renamed, removed or added.
func TestAudiences(t *testing.T) {
	mine, colleague, customer, there := twoRemotes(t)
	theirs := writeFor(t, colleague, Audience{}, "a colleague")
	exchangeWith(t, colleague, "origin")
	asked := writeFor(t, customer, Audience{}, "the customer")
	exchangeWith(t, customer, "origin")
	home := writeFor(t, mine, Audience{}, "for us")
	named := writeFor(t, mine, Audience{Remote: "customer"}, "for the customer")
	private := writeFor(t, mine, Audience{Private: true}, "for nobody")
	both := func(repo *Store, when string) {
		t.Helper()
		for _, remote := range repo.dir.Remotes() {
			exchangeWith(t, repo, remote)
		}
		checkLogs(t, when, there["origin"], home, theirs)
		checkLogs(t, when, there["customer"], named, asked)
	}
	both(mine, "first")
	both(mine, "again")
	if len(logTips(t, mine)) != 5 {
		t.Errorf("the clone has %v", logTips(t, mine))
	}
	for writer, want := range map[string]Audience{home: {}, theirs: {}, named: {Remote: "customer"},
		asked: {Remote: "customer"}, private: {Private: true}} {
		if have := mine.Audience(writer); have != want {
			t.Errorf("%s is for %q, not %q", writer, have, want)
		}
	}
	dir := mine.dir.WorkTree
	git := func(args ...string) *Store {
		t.Helper()
		testGit(t, dir, args...)
		return openTestRepo(t, dir)
	}
	both(git("config", "--unset", "runr.privateWriter"), "without the private id")
	both(git("config", "runr.remote", "customer"), "another one elected")
	if elected := openTestRepo(t, dir).Elected(); elected != (Audience{Remote: "customer"}) {
		t.Errorf("a new request would be for %q", elected)
	}
	git("config", "--unset", "runr.remote")
	git("remote", "rename", "customer", "kunde")
	both(git("remote", "rename", "origin", "firma"), "renamed")
	if have := openTestRepo(t, dir).Audience(asked); have != (Audience{Remote: "kunde"}) {
		t.Errorf("after renaming, the customer's log is for %q", have)
	}
	git("remote", "remove", "firma")
	both(git("remote", "rename", "kunde", "origin"), "the home remote removed, and another one of its name")
	git("remote", "add", "kunde", there["origin"])
	both(openTestRepo(t, dir), "the two of them exchanged")
	git("remote", "remove", "origin")
	repo := git("remote", "rename", "kunde", "origin")
	both(repo, "the customer removed")
	if have := repo.Audience(asked); have != (Audience{Private: true}) {
		t.Errorf("what is said of a log whose remote is gone is for %q", have)
	}
}

// A remote with a new URL keeps its audience.
func TestAudienceNewURL(t *testing.T) {
	mine, _, _, there := twoRemotes(t)
	home := writeFor(t, mine, Audience{}, "for us")
	exchangeWith(t, mine, "origin")
	moved := filepath.Join(t.TempDir(), "moved.git")
	testGit(t, mine.dir.WorkTree, "init", "-q", "--bare", moved)
	testGit(t, mine.dir.WorkTree, "remote", "set-url", "origin", moved)
	mine = openTestRepo(t, mine.dir.WorkTree)
	exchangeWith(t, mine, "origin")
	exchangeWith(t, mine, "customer")
	checkLogs(t, "moved", moved, home)
	checkLogs(t, "moved", there["customer"])
}

// If the file that records where logs came from is damaged, such logs are pushed only to the home remote, and private
// logs nowhere.
func TestAudienceFaultyFile(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"gone":    os.Remove,
		"empty":   func(path string) error { return os.WriteFile(path, nil, 0o666) },
		"cut":     func(path string) error { return os.Truncate(path, 20) },
		"garbage": func(path string) error { return os.WriteFile(path, []byte("* x\n\x00\n* * *\n"), 0o666) },
		"a directory": func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o777)
		},
	} {
		t.Run(name, func(t *testing.T) {
			mine, colleague, _, there := twoRemotes(t)
			writeFor(t, colleague, Audience{}, "a colleague")
			exchangeWith(t, colleague, "origin")
			exchangeWith(t, mine, "origin")
			private := writeFor(t, mine, Audience{Private: true}, "for nobody")
			writeFor(t, mine, Audience{}, "for us")
			if err := spoil(mine.originsPath()); err != nil {
				t.Fatal(err)
			}
			mine = openTestRepo(t, mine.dir.WorkTree)
			_, _ = mine.FetchLogs(t.Context(), "customer", testNotes)
			_, _ = mine.AdoptLogs(t.Context(), "customer", Judge{Entry: accept})
			_, _ = mine.Push(t.Context(), "customer", "", "")
			checkLogs(t, name, there["customer"])
			_, _ = mine.Push(t.Context(), "origin", "", "")
			if slices.Contains(logsAt(t, there["origin"]), private) {
				t.Error("the private log has left")
			}
		})
	}
}

// A writer that is named in the environment has one log per audience, and another process knows each log's audience.
func TestAudienceNamed(t *testing.T) {
	mine, _, _, there := twoRemotes(t)
	t.Setenv(writerVar, "ci/build")
	home := writeFor(t, mine, Audience{}, "for us")
	named := writeFor(t, mine, Audience{Remote: "customer"}, "for the customer")
	private := writeFor(t, mine, Audience{Private: true}, "for nobody")
	if home == named || named == private {
		t.Fatal("one log for two audiences")
	}
	os.Unsetenv(writerVar)
	mine = openTestRepo(t, mine.dir.WorkTree)
	exchangeWith(t, mine, "origin")
	exchangeWith(t, mine, "customer")
	checkLogs(t, "named", there["origin"], home)
	checkLogs(t, "named", there["customer"], named)
	if mine.Audience(private) != (Audience{Private: true}) || logTips(t, mine)[private] == "" {
		t.Error("the private log is not known as that")
	}
}

// An archive at one remote does not add to this clone's own log for another one.
func TestArchiveAddsNothingToOurLogs(t *testing.T) {
	mine, colleague, _, _ := twoRemotes(t)
	writeFor(t, mine, Audience{}, "for us")
	named := writeFor(t, mine, Audience{Remote: "customer"}, "for the customer")
	exchangeWith(t, mine, "origin")
	tip := logTips(t, mine)[named]
	dir := colleague.dir.WorkTree
	testGit(t, dir, "fetch", "-q", mine.dir.WorkTree, logPrefix+named)
	tree := testGit(t, dir, "rev-parse", string(tip)+"^{tree}")
	forged := odb.ID(testGit(t, dir, "commit-tree", "-p", string(tip), "-m", "forged", tree))
	foreignArchive(t, colleague, archiveTitle+": logs\n\n"+archiveVersion+"1\n"+archiveNewest+"2026-03-04T05:06:07Z\n"+
		archiveLog+named+" "+string(forged)+"\n", forged)
	exchangeWith(t, mine, "origin")
	if got := logTips(t, mine)[named]; got != tip {
		t.Errorf("the log ends at %s instead of %s", got, tip)
	}
}
