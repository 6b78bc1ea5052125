package entrylog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
	"github.com/git-runr/git-runr/gitstore/testneed"
	"github.com/git-runr/git-runr/gitstore/testtmp"
)

// appendText returns a function that decides to append a message in any case.
func appendText(text string) Decide {
	return func(context.Context, Tips, string) (Record, error) {
		return Record{Author: gitdir.Identity{Name: "A Person", Email: "a@example.com"}, When: time.Unix(1800000000, 999),
			Message: text}, nil
	}
}

func mustAppend(t *testing.T, repo *Store, record Record) Entry {
	t.Helper()
	entry, err := repo.Append(context.Background(), func(context.Context, Tips, string) (Record, error) {
		return record, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

func TestAppend(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			repo, ctx := newTestRepoFormat(t, format), context.Background()
			if writer := repo.Writer(); writer != "" {
				t.Errorf("writer %q before the first write", writer)
			}
			first := mustAppend(t, repo, Record{Author: gitdir.Identity{Name: "A", Email: "a@b"},
				When: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)), Message: "one"})
			if first.Parent != "" || first.Message != "one\n" ||
				!first.When.Equal(time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC)) || first.Author.Name != "A" {
				t.Errorf("first: %+v", first)
			}
			second := mustAppend(t, repo, Record{Author: gitdir.Identity{Name: "A", Email: "a@b"}, Message: "two\n\nbody\n",
				Attachments: map[string][]byte{"review.md": []byte("text"), "checks/test.log": []byte("log")}})
			if second.Parent != first.ID || time.Since(second.When) > time.Minute {
				t.Errorf("second: %+v", second)
			}
			writer := repo.Writer()
			if !isWriter(writer) || first.Writer != writer || second.Writer != writer {
				t.Errorf("writer %q, entries by %q and %q", writer, first.Writer, second.Writer)
			}
			if stored := testGit(t, repo.dir.WorkTree, "config", "--local", "runr.writer"); stored != writer {
				t.Errorf("stored writer %q", stored)
			}
			if tips, err := repo.Tips(ctx); len(tips) != 1 || tips[writer] != second.ID || err != nil {
				t.Errorf("tips %v, %v", tips, err)
			}
			second.Writer = ""
			if got, err := repo.Entry(ctx, second.ID); got != second || err != nil {
				t.Errorf("read %+v, %v", got, err)
			}
			if text, err := repo.Attachment(ctx, second.ID, "checks/test.log"); string(text) != "log" || err != nil {
				t.Errorf("attachment %q, %v", text, err)
			}
			if _, err := repo.Attachment(ctx, second.ID, "checks"); !errors.Is(err, gitdir.ErrNotFound) {
				t.Errorf("attachment that is a directory: %v", err)
			}
			if paths, err := repo.Attachments(ctx, second.ID); !slices.Equal(paths, []string{"checks/test.log", "review.md"}) ||
				err != nil {
				t.Errorf("attachments %v, %v", paths, err)
			}
			if paths, err := repo.Attachments(ctx, first.ID); len(paths) != 0 || err != nil {
				t.Errorf("attachments of the first %v, %v", paths, err)
			}
			if got := testGit(t, repo.dir.WorkTree, "log", "--format=%an %cn %s %ai",
				"refs/runr/log/"+writer); !strings.HasSuffix(got, "A A one 2026-01-02 02:04:05 +0000") {
				t.Errorf("git log:\n%s", got)
			}
			testGit(t, repo.dir.WorkTree, "fsck", "--strict")
		})
	}
}

func TestAppendNothing(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	entry, err := repo.Append(ctx, func(context.Context, Tips, string) (Record, error) {
		return Record{}, gitdir.ErrNoChange
	})
	if !errors.Is(err, gitdir.ErrNoChange) || entry != (Entry{}) {
		t.Errorf("%+v, %v", entry, err)
	}
	if tips, err := repo.Tips(ctx); len(tips) != 0 || err != nil {
		t.Errorf("tips %v, %v", tips, err)
	}
}

func TestAppendRefuses(t *testing.T) {
	repo := newTestRepo(t)
	for name, record := range map[string]Record{
		"NUL":         {Message: "a\x00b"},
		"parent":      {Message: "x", Attachments: map[string][]byte{"../x": nil}},
		"git":         {Message: "x", Attachments: map[string][]byte{"a/.git": nil}},
		"absolute":    {Message: "x", Attachments: map[string][]byte{"/x": nil}},
		"file as dir": {Message: "x", Attachments: map[string][]byte{"a": nil, "a/b": nil}},
	} {
		if entry, err := repo.Append(context.Background(), func(context.Context, Tips, string) (Record, error) {
			return record, nil
		}); err == nil {
			t.Errorf("%s: %+v", name, entry)
		}
	}
	if tips, err := repo.Tips(context.Background()); len(tips) != 0 || err != nil {
		t.Errorf("tips %v, %v", tips, err)
	}
}

func TestAppendDecidesAgain(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	first := mustAppend(t, repo, Record{Message: "first"})
	foreign := testCommits(t, repo, 1)[0]
	var seen []odb.ID
	entry, err := repo.Append(ctx, func(_ context.Context, tips Tips, writer string) (Record, error) {
		seen = append(seen, tips[writer])
		if len(seen) == 1 { // somebody's git moves the log meanwhile
			testGit(t, repo.dir.WorkTree, "update-ref", "refs/runr/log/"+writer, string(foreign))
		}
		return Record{Message: "decided"}, nil
	})
	if err != nil || !slices.Equal(seen, []odb.ID{first.ID, first.ID}) || entry.Parent != first.ID {
		t.Errorf("saw %v, appended %+v, %v", seen, entry, err)
	}
}

func TestAppendGivesUp(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	ids := testCommits(t, repo, appendTries+1)
	calls := 0
	_, err := repo.Append(ctx, func(_ context.Context, tips Tips, writer string) (Record, error) {
		calls++
		testGit(t, repo.dir.WorkTree, "update-ref", "refs/runr/log/"+writer, string(ids[calls]))
		return Record{Message: "never"}, nil
	})
	if !errors.Is(err, gitdir.ErrLostRace) || calls != appendTries {
		t.Errorf("after %d calls: %v", calls, err)
	}
}

func TestWriterMadeElsewhere(t *testing.T) {
	repo := newTestRepo(t)
	other := openTestRepo(t, repo.dir.WorkTree) // opened before the writer existed
	first := mustAppend(t, repo, Record{Message: "one"})
	second := mustAppend(t, other, Record{Message: "two"})
	if second.Writer != first.Writer || second.Parent != first.ID {
		t.Errorf("%+v after %+v", second, first)
	}
}

func TestTipsOfForeignNames(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	id := testCommits(t, repo, 1)[0]
	for _, name := range []string{"0123456789ab", "0123456789AB", "0123456789abc", "x", "0123456789a/b", "'; rm -rf"} {
		testGit(t, repo.dir.WorkTree, "update-ref", "refs/runr/log/"+strings.ReplaceAll(name, " ", ""), string(id))
	}
	if tips, err := repo.Tips(ctx); len(tips) != 1 || tips["0123456789ab"] != id || err != nil {
		t.Errorf("tips %v, %v", tips, err)
	}
}

func TestWalk(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		repo, ctx := newTestRepoFormat(t, format), context.Background()
		n := walkReads + 10
		if format == "sha256" {
			n = 5
		}
		var entries []Entry
		for i := range n { // the times run backward, which must have no effect
			entries = append(entries, mustAppend(t, repo,
				Record{When: time.Unix(int64(2000000000-i*100), 0), Message: fmt.Sprintf("number %d\n\n  indented\né\xff\n", i)}))
		}
		check := func(what string, from, to int) {
			t.Helper()
			known := odb.ID("")
			if from > 0 {
				known = entries[from-1].ID
			}
			var got []Entry
			err := repo.Walk(ctx, repo.Writer(), entries[to-1].ID, known, func(e Entry) error {
				got = append(got, e)
				return nil
			})
			if err != nil || !slices.Equal(got, entries[from:to]) {
				t.Errorf("%s %s: from %d to %d: %d entries, %v", format, what, from, to, len(got), err)
			}
		}
		for _, what := range []string{"loose", "packed"} {
			if what == "packed" {
				testGit(t, repo.dir.WorkTree, "gc", "-q", "--prune=now")
			}
			check(what, 0, n)
			check(what, 1, n)
			check(what, n-3, n)
			check(what, n, n)
			check(what, 0, 1)
		}
		stop := errors.New("stop")
		for _, known := range []odb.ID{"", entries[n-2].ID} {
			visits := 0
			err := repo.Walk(ctx, repo.Writer(), entries[n-1].ID, known, func(Entry) error {
				visits++
				return stop
			})
			if err != stop || visits != 1 {
				t.Errorf("%s: stopped after %d visits: %v", format, visits, err)
			}
		}
	}
}

func TestWalkFromElsewhere(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	foreign := testCommits(t, repo, 1)[0]
	var entries []Entry
	for i := range 2*walkReads + 10 {
		entries = append(entries, mustAppend(t, repo, Record{Message: fmt.Sprint(i)}))
	}
	last := len(entries) - 1
	missing := odb.ID(strings.Repeat("ab", 20))
	for _, c := range []struct {
		name       string
		tip, known odb.ID
	}{
		{"short, unrelated", entries[3].ID, foreign},
		{"long, unrelated", entries[last].ID, foreign},
		{"short, missing", entries[3].ID, missing},
		{"long, missing", entries[last].ID, missing},
		{"short, newer than the tip", entries[3].ID, entries[last].ID},
		{"long, newer than the tip", entries[last-1].ID, entries[last].ID},
		{"not an id", entries[last].ID, "HEAD"},
		{"tip missing", missing, ""},
	} {
		err := repo.Walk(ctx, repo.Writer(), c.tip, c.known, func(e Entry) error {
			t.Errorf("%s: visited %s", c.name, e.ID)
			return nil
		})
		want := gitdir.ErrNotFound
		if c.name == "tip missing" {
			want = gitdir.ErrCorrupt
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	err := repo.Walk(ctx, repo.Writer(), entries[last].ID, "", func(Entry) error {
		cancel()
		return nil
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestWalkIgnoresReplacements(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	first := mustAppend(t, repo, Record{Message: "first"})
	second := mustAppend(t, repo, Record{Message: "second"})
	testGit(t, repo.dir.WorkTree, "replace", string(first.ID), string(testCommits(t, repo, 1)[0]))
	testGit(t, repo.dir.WorkTree, "replace", "--graft", string(second.ID))
	for _, reads := range []string{"few", "many"} {
		var got []Entry
		visit := func(e Entry) error {
			got = append(got, e)
			return nil
		}
		err := repo.Walk(ctx, repo.Writer(), second.ID, "", visit)
		if reads == "many" {
			got = nil
			err = repo.walkStream(ctx, repo.Writer(), second.ID, "", visit)
		}
		if err != nil || !slices.Equal(got, []Entry{first, second}) {
			t.Errorf("%s: %v, %v", reads, got, err)
		}
	}
}

func TestPin(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	ids := testCommits(t, repo, 3)
	for _, id := range []odb.ID{ids[0], ids[0], ids[1]} {
		if err := repo.Pin(ctx, "review-1", id); err != nil {
			t.Fatal(err)
		}
	}
	testGit(t, repo.dir.WorkTree, "gc", "-q", "--prune=now")
	repo = openTestRepo(t, repo.dir.WorkTree)
	if !repo.objects.Has(ctx, ids[1]) || repo.objects.Has(ctx, ids[2]) {
		t.Errorf("pinned is there: %v; not pinned: %v", repo.objects.Has(ctx, ids[1]), repo.objects.Has(ctx, ids[2]))
	}
	for _, bad := range []odb.ID{ids[2], "", odb.ID(testGit(t, repo.dir.WorkTree, "rev-parse", "HEAD^{tree}"))} {
		if err := repo.Pin(ctx, "review-2", bad); !errors.Is(err, gitdir.ErrNotFound) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestSignedAppend(t *testing.T) {
	testneed.Program(t, "ssh-keygen")
	repo, ctx := newTestRepo(t), context.Background()
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", key).
		CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	allowed := filepath.Join(t.TempDir(), "allowed")
	if err := os.WriteFile(allowed, []byte("a@example.com "+string(public)), 0o600); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"gpg.format": "ssh", "user.signingKey": key + ".pub",
		"gpg.ssh.allowedSignersFile": allowed, "commit.gpgSign": "true"} {
		testGit(t, repo.dir.WorkTree, "config", key, value)
	}
	for _, sign := range []string{"", "false", "true"} {
		if sign != "" {
			testGit(t, repo.dir.WorkTree, "config", "runr.sign", sign)
		}
		repo = openTestRepo(t, repo.dir.WorkTree)
		entry, err := repo.Append(ctx, appendText("signed\n\nbody"))
		if err != nil {
			t.Fatal(err)
		}
		if entry.Message != "signed\n\nbody\n" || entry.When.Unix() != 1800000000 || entry.Author.Name != "A Person" {
			t.Errorf("%+v", entry)
		}
		_, err = repo.dir.Git(ctx, "verify-commit", string(entry.ID))
		if (err == nil) != (sign != "false") {
			t.Errorf("runr.sign %q: verify: %v", sign, err)
		}
	}
}

// TestAppendProcess is the body of one process of TestAppendConcurrently.
func TestAppendProcess(t *testing.T) {
	dir := os.Getenv("RUNR_TEST_APPEND")
	if dir == "" {
		t.Skip("only as a child process")
	}
	repo := openTestRepo(t, dir)
	for line := bufio.NewScanner(os.Stdin); line.Scan(); {
		entry, err := repo.Append(context.Background(), appendText(line.Text()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("acknowledged", entry.ID)
	}
}

func TestAppendConcurrently(t *testing.T) {
	const processes = 8
	each := 50
	if !testtmp.Long() {
		each = 20
	}
	repo := newTestRepo(t)
	stop := keepGitBusy(t, repo)
	var children []*exec.Cmd
	var outputs []*strings.Builder
	for p := range processes {
		var lines strings.Builder
		for i := range each {
			fmt.Fprintf(&lines, "process %d entry %d\n", p, i)
		}
		child := exec.Command(os.Args[0], "-test.run=^TestAppendProcess$")
		child.Env = append(os.Environ(), "RUNR_TEST_APPEND="+repo.dir.WorkTree)
		child.Stdin = strings.NewReader(lines.String())
		output := &strings.Builder{}
		child.Stdout, child.Stderr = output, output
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		children, outputs = append(children, child), append(outputs, output)
	}
	acknowledged := map[odb.ID]bool{}
	for i, child := range children {
		if err := child.Wait(); err != nil {
			t.Errorf("process %d: %v\n%s", i, err, outputs[i])
		}
		for line := range strings.Lines(outputs[i].String()) {
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), "acknowledged "); ok {
				acknowledged[odb.ID(id)] = true
			}
		}
	}
	stop()
	checkConcurrentLog(t, repo, acknowledged, processes*each)
}

// checkConcurrentLog checks that every acknowledged entry is in one chain exactly once.
func checkConcurrentLog(t *testing.T, repo *Store, acknowledged map[odb.ID]bool, want int) {
	t.Helper()
	repo = openTestRepo(t, repo.dir.WorkTree)
	tips, err := repo.Tips(context.Background())
	if err != nil || len(tips) != 1 || len(acknowledged) != want {
		t.Fatalf("%d of %d acknowledged, tips %v, %v", len(acknowledged), want, tips, err)
	}
	seen := map[string]bool{}
	previous := odb.ID("")
	err = repo.Walk(context.Background(), repo.Writer(), tips[repo.Writer()], "", func(e Entry) error {
		if e.Parent != previous || !acknowledged[e.ID] || seen[e.Message] {
			t.Errorf("entry %s %q after %s: parent %s, acknowledged %v", e.ID, e.Message, previous, e.Parent, acknowledged[e.ID])
		}
		previous, seen[e.Message] = e.ID, true
		return nil
	})
	if err != nil || len(seen) != want {
		t.Errorf("%d of %d entries, %v", len(seen), want, err)
	}
	testGit(t, repo.dir.WorkTree, "fsck", "--strict", "--no-dangling")
}

// keepGitBusy runs gc and pack-refs until it is stopped. Either may fail when it meets a ref or an object that is
// moving; only the final state is checked.
func keepGitBusy(t *testing.T, repo *Store) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	succeeded := make(chan int, 1)
	go func() {
		good := 0
		for i := 0; ctx.Err() == nil; i++ {
			args := []string{"pack-refs", "--all", "--prune"}
			if i%3 == 2 {
				args = []string{"gc", "-q", "--prune=now"}
			}
			cmd := exec.Command("git", args...)
			cmd.Dir = repo.dir.WorkTree
			if cmd.Run() == nil {
				good++
			}
			time.Sleep(10 * time.Millisecond)
		}
		succeeded <- good
	}()
	return func() {
		cancel()
		if good := <-succeeded; good < 3 {
			t.Errorf("git was busy %d times only", good)
		}
	}
}

// TestStoredEntry fixes the bytes of an entry, because other versions read them.
func TestStoredEntry(t *testing.T) {
	repo := newTestRepoFormat(t, "sha1")
	testGit(t, repo.dir.WorkTree, "config", "runr.writer", "3f9c0a12be47")
	repo = openTestRepo(t, repo.dir.WorkTree)
	author := gitdir.Identity{Name: "A Person", Email: "a@example.com"}
	first := mustAppend(t, repo, Record{Author: author, When: time.Unix(1767323045, 0), Message: "one"})
	mustAppend(t, repo, Record{Author: author, When: time.Unix(1767323046, 0), Message: "two\n\n{}\n\nKey: value\n",
		Attachments: map[string][]byte{"a/b": []byte("c")}})
	got := testGit(t, repo.dir.WorkTree, "cat-file", "commit", "refs/runr/log/3f9c0a12be47")
	want := "tree " + testGit(t, repo.dir.WorkTree, "rev-parse", "refs/runr/log/3f9c0a12be47^{tree}") + "\n" +
		"parent " + string(first.ID) + "\n" +
		"author A Person <a@example.com> 1767323046 +0000\n" +
		"committer A Person <a@example.com> 1767323046 +0000\n" +
		"\n" +
		"two\n\n{}\n\nKey: value"
	if got != want {
		t.Errorf("stored:\n%s\nwant:\n%s", got, want)
	}
	if first.Tree != "4b825dc642cb6eb9a060e54bf8d69288fbee4904" {
		t.Errorf("empty tree %s", first.Tree)
	}
}
