package entrylog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// newRemote returns a bare repository and clones of it, all with one commit.
func newRemote(t *testing.T, clones int) (bare string, repos []*Store) {
	t.Helper()
	first := newTestRepo(t)
	bare = filepath.Join(t.TempDir(), "remote.git")
	testGit(t, first.dir.WorkTree, "clone", "-q", "--bare", first.dir.WorkTree, bare)
	for range clones {
		dir := filepath.Join(t.TempDir(), "clone")
		testGit(t, first.dir.WorkTree, "clone", "-q", bare, dir)
		repos = append(repos, openTestRepo(t, dir))
	}
	return bare, repos
}

func accept(Entry) error { return nil }

func write(t *testing.T, repo *Store, text string) odb.ID {
	t.Helper()
	return mustAppend(t, repo, Record{Message: text, Author: testAgent, When: testWhen}).ID
}

func syncLogs(t *testing.T, repo *Store) Adopted {
	t.Helper()
	ctx := context.Background()
	if fetched := fetchLogs(t, repo); len(fetched.Refused)+len(fetched.Locks) > 0 {
		t.Fatalf("%+v", fetched)
	}
	adopted, err := repo.AdoptLogs(ctx, "origin", Judge{Entry: accept})
	if err != nil {
		t.Fatal(err)
	}
	if pushed := pushLogs(t, repo); pushed.Log != nil {
		t.Fatal(pushed.Log)
	}
	return adopted
}

func fetchLogs(t *testing.T, repo *Store) Fetched {
	t.Helper()
	fetched, err := repo.FetchLogs(context.Background(), "origin", testNotes)
	if err != nil {
		t.Fatal(err)
	}
	return fetched
}

func pushLogs(t *testing.T, repo *Store) Pushed {
	t.Helper()
	pushed, err := repo.Push(context.Background(), "origin", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return pushed
}

func logTips(t *testing.T, repo *Store) Tips {
	t.Helper()
	tips, err := repo.Tips(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tips
}

func TestSyncConverges(t *testing.T) {
	_, clones := newRemote(t, 3)
	for round, order := range [][]int{{0, 1, 2}, {2, 2, 0}, {1, 0, 2}} {
		for _, i := range order {
			write(t, clones[i], fmt.Sprintf("round %d clone %d", round, i))
			syncLogs(t, clones[i])
		}
	}
	for range 2 {
		for _, repo := range clones {
			syncLogs(t, repo)
		}
	}
	want := logTips(t, clones[0])
	if len(want) != 3 {
		t.Fatalf("logs %v", want)
	}
	for i, repo := range clones {
		if got := logTips(t, repo); !maps.Equal(got, want) {
			t.Errorf("clone %d: %v, want %v", i, got, want)
		}
	}
	events := 0
	for writer, tip := range want {
		if err := clones[1].Walk(context.Background(), writer, tip, "", func(Entry) error {
			events++
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	if events != 9 {
		t.Errorf("%d events", events)
	}
}

func TestSyncWithNothing(t *testing.T) {
	bare, clones := newRemote(t, 1)
	if got := syncLogs(t, clones[0]); len(got.Writers) != 0 || got.Diverged {
		t.Errorf("%+v", got)
	}
	if refs := testGit(t, bare, "for-each-ref", "refs/runr"); refs != "" {
		t.Errorf("pushed %s", refs)
	}
}

// Sync moves only logs, whatever is configured for fetch and push: no branches, no tags, no FETCH_HEAD, and nothing
// local.
func TestSyncMovesOnlyLogs(t *testing.T) {
	bare, clones := newRemote(t, 2)
	a, b := clones[0], clones[1]
	write(t, a, "a")
	syncLogs(t, a)
	testGit(t, bare, "update-ref", "refs/heads/news", "main")
	testGit(t, bare, "tag", "v2", "main")

	write(t, b, "b")
	testGit(t, b.dir.WorkTree, "update-ref", "refs/runr-local/secret", "HEAD")
	testGit(t, b.dir.WorkTree, "tag", "-am", "mine", "mine")
	for key, value := range map[string]string{
		"fetch.prune": "true", "remote.origin.prune": "true", "fetch.pruneTags": "true", "remote.origin.tagOpt": "--tags",
		"remote.origin.mirror": "true",
		"push.followTags":      "true", "push.default": "matching", "push.pushOption": "x", "push.recurseSubmodules": "check",
		"remote.origin.push": "+refs/*:refs/*",
	} {
		testGit(t, b.dir.WorkTree, "config", key, value)
	}
	testGit(t, b.dir.WorkTree, "config", "--add", "remote.origin.fetch", "+refs/runr/*:refs/runr/*")
	hook := "#!/bin/sh\ntouch '" + filepath.Join(t.TempDir(), "fired") + "'; exit 1\n"
	if err := os.WriteFile(filepath.Join(b.dir.GitDir, "hooks", "pre-push"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	b = openTestRepo(t, b.dir.WorkTree)
	local := testGit(t, b.dir.WorkTree, "for-each-ref", "refs/heads", "refs/tags", "refs/remotes", "refs/runr-local")
	remote := testGit(t, bare, "for-each-ref", "refs/heads", "refs/tags")
	syncLogs(t, b)
	if got := testGit(t, b.dir.WorkTree, "for-each-ref", "refs/heads", "refs/tags", "refs/remotes",
		"refs/runr-local"); got != local {
		t.Errorf("local refs\n%s\nwere\n%s", got, local)
	}
	if got := testGit(t, bare, "for-each-ref", "refs/heads", "refs/tags"); got != remote {
		t.Errorf("remote refs\n%s\nwere\n%s", got, remote)
	}
	if got := testGit(t, bare, "for-each-ref", "--format=%(refname)", "refs/runr",
		"refs/runr-local"); strings.Count(got, "refs/runr/log/") != 2 || strings.Contains(got, "local") {
		t.Errorf("remote has %s", got)
	}
	if exists(filepath.Join(b.dir.GitDir, "FETCH_HEAD")) {
		t.Error("FETCH_HEAD was written")
	}
	if len(logTips(t, b)) != 2 {
		t.Errorf("logs %v", logTips(t, b))
	}
}

func TestAdoptChecksEveryEntry(t *testing.T) {
	_, clones := newRemote(t, 2)
	a, b := clones[0], clones[1]
	ctx := context.Background()
	write(t, a, "good")
	syncLogs(t, a)
	syncLogs(t, b)
	before := logTips(t, b)
	write(t, a, "bad")
	write(t, a, "good again")
	syncLogs(t, a)
	fetchLogs(t, b)
	var seen []string
	adopted, err := b.AdoptLogs(ctx, "origin", Judge{Entry: func(e Entry) error {
		seen = append(seen, strings.TrimSpace(e.Message))
		switch strings.TrimSpace(e.Message) {
		case "bad":
			return errors.New("bad\x1b[31m entry")
		case "good again":
			return errors.New("it stands on a bad one")
		}
		return nil
	}})
	if err != nil || len(adopted.Writers) != 0 || len(adopted.Rejected) != 1 ||
		adopted.Rejected[0].Reason != "bad [31m entry" {
		t.Errorf("%+v, %v", adopted, err)
	}
	if slices.Sort(seen); !slices.Equal(seen, []string{"bad", "good again"}) {
		t.Errorf("checked %q", seen)
	}
	if !maps.Equal(logTips(t, b), before) {
		t.Error("the log moved")
	}
	if adopted := syncLogs(t, b); adopted.Events != 2 || len(adopted.Writers) != 1 {
		t.Errorf("afterwards %+v", adopted)
	}
}

// If a remote rewinds or rewrites a log, replaces it by another object or gives it an invalid name, the log here does
// not change.
func TestAdoptForwardOnly(t *testing.T) {
	bare, clones := newRemote(t, 2)
	a, b := clones[0], clones[1]
	ctx := context.Background()
	write(t, a, "one")
	write(t, a, "two")
	syncLogs(t, a)
	syncLogs(t, b)
	before := logTips(t, b)
	for name, c := range map[string]struct {
		script   string
		rejected int
	}{
		"rewound":         {`git update-ref refs/runr/log/$W refs/runr/log/$W~`, 0},
		"rewritten":       {`git update-ref refs/runr/log/$W $(git commit-tree -p refs/runr/log/$W~ -m other $(git mktree </dev/null))`, 1},
		"merged":          {`git update-ref refs/runr/log/$W $(git commit-tree -p $(git commit-tree -m root $(git mktree </dev/null)) -p refs/runr/log/$W -m other $(git mktree </dev/null))`, 1},
		"unrelated":       {`git update-ref refs/runr/log/$W main`, 1},
		"blob":            {`git update-ref refs/runr/log/$W $(echo x | git hash-object -w --stdin)`, 1},
		"tag":             {`git -c user.name=x -c user.email=x tag -am x t $(git commit-tree -p refs/runr/log/$W -m new $(git mktree </dev/null)); git update-ref refs/runr/log/$W t`, 1},
		"deleted":         {`git update-ref -d refs/runr/log/$W`, 0},
		"name too long":   {`git update-ref refs/runr/log/${W}0 refs/runr/log/$W`, 1},
		"name in depth":   {`git update-ref refs/runr/log/x/$W refs/runr/log/$W`, 1},
		"name in capital": {`git update-ref refs/runr/log/ABCDEF012345 refs/runr/log/$W`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			shell(t, bare, "export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x; W="+
				a.Writer()+"; "+c.script)
			fetchLogs(t, b)
			adopted, err := b.AdoptLogs(ctx, "origin", Judge{Entry: accept})
			if err != nil || len(adopted.Rejected) != c.rejected || len(adopted.Writers) != 0 || adopted.Diverged {
				t.Errorf("%+v, %v", adopted, err)
			}
			if !maps.Equal(logTips(t, b), before) {
				t.Error("a log moved")
			}
			const clear = "git for-each-ref --format='delete %(refname)' refs/runr refs/runr-remotes | git update-ref --stdin"
			shell(t, bare, clear+"; git update-ref refs/runr/log/"+a.Writer()+" "+string(before[a.Writer()]))
			shell(t, b.dir.WorkTree, strings.Replace(clear, "refs/runr ", "", 1))
		})
	}
}

// Objects that git would not check out are refused when they arrive, and their log is named.
func TestFetchChecksObjects(t *testing.T) {
	bare, clones := newRemote(t, 1)
	ctx := context.Background()
	remote := openTestRepo(t, bare)
	blob, err := remote.objects.Write(ctx, "blob", []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := remote.objects.Write(ctx, "tree", []byte("100644 .git\x00"+string(unhex(t, blob))))
	if err != nil {
		t.Fatal(err)
	}
	evil, err := remote.objects.WriteCommit(ctx,
		odb.Commit{Tree: tree, Author: testAgent, Committer: testAgent, AuthorWhen: testWhen, CommitterWhen: testWhen})
	if err != nil {
		t.Fatal(err)
	}
	testGit(t, bare, "update-ref", "refs/runr/log/0123456789ab", string(evil))
	fetched := fetchLogs(t, clones[0])
	if len(fetched.Refused) != 1 || fetched.Refused[0].Writer != "0123456789ab" ||
		!strings.Contains(fetched.Refused[0].Reason, ".git") {
		t.Errorf("got %+v", fetched)
	}
}

// copyClone returns a copy of a clone with its configuration and writer id.
func copyClone(t *testing.T, repo *Store) *Store {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(repo.dir.WorkTree)); err != nil {
		t.Fatal(err)
	}
	return openTestRepo(t, dir)
}

func TestCopiedCloneIsNoticed(t *testing.T) {
	_, clones := newRemote(t, 2)
	a, c := clones[0], clones[1]
	ctx := context.Background()
	write(t, a, "before the copy")
	b := copyClone(t, a)
	shared := a.Writer()
	write(t, a, "by the original")
	tail := write(t, b, "by the copy")
	syncLogs(t, a)

	fetchLogs(t, b)
	adopted, err := b.AdoptLogs(ctx, "origin", Judge{Entry: accept})
	if err != nil || !adopted.Diverged || len(adopted.Rejected) != 0 {
		t.Fatalf("%+v, %v", adopted, err)
	}
	if pushed := pushLogs(t, b); !errors.Is(pushed.Log, gitdir.ErrLostRace) {
		t.Errorf("pushed all the same: %v", pushed.Log)
	}
	id, closed, err := b.RenewWriter(ctx, "origin")
	if err != nil || closed || id == shared || b.Writer() != id || openTestRepo(t, b.dir.WorkTree).Writer() != id {
		t.Fatalf("writer %q, %v", id, err)
	}
	if tips := logTips(t, b); len(tips) != 1 || tips[shared] != logTips(t, a)[shared] {
		t.Errorf("logs %v", tips)
	}
	kept, err := b.refs.Refs(ctx, divergedPrefix)
	if err != nil || kept[divergedPrefix+shared+"/"+string(tail)] != tail {
		t.Errorf("kept %v, %v", kept, err)
	}
	write(t, b, "by the copy, again")
	for _, repo := range []*Store{b, a, c} {
		if got := syncLogs(t, repo); got.Diverged {
			t.Errorf("still diverged: %+v", got)
		}
	}
	for _, repo := range []*Store{a, c} {
		if !maps.Equal(logTips(t, repo), logTips(t, b)) || len(logTips(t, repo)) != 2 {
			t.Errorf("logs %v, want %v", logTips(t, repo), logTips(t, b))
		}
	}
}

// What somebody else pushed to a clone's own log is not adopted there, whether it continues the log, has left it, or
// has nothing in common with it. Others adopt it.
func TestPushedByAnother(t *testing.T) {
	for name, forge := range map[string]string{"continued": "2", "left": "1", "unrelated": "0"} {
		t.Run(name, func(t *testing.T) {
			bare, clones := newRemote(t, 2)
			a, ctx := clones[0], t.Context()
			write(t, a, "one")
			syncLogs(t, a)
			if forge == "2" {
				write(t, a, "two")
				syncLogs(t, a)
			}
			own, only := a.Writer(), odb.ID("")
			common := logTips(t, a)[own]
			if forge != "2" {
				only = write(t, a, "only here")
			}
			parent := "-p " + string(common)
			if forge == "0" {
				parent, common = "", ""
			}
			shell(t, bare, "git update-ref refs/runr/log/"+own+" $(git -c user.name=m -c user.email=m commit-tree "+parent+
				" -m forged $(git mktree </dev/null))")
			fetchLogs(t, a)
			adopted, err := a.AdoptLogs(ctx, "origin", Judge{Entry: accept})
			if err != nil || !adopted.Diverged {
				t.Fatalf("%+v, %v", adopted, err)
			}
			id, closed, err := a.RenewWriter(ctx, "origin")
			if err != nil || !closed || id == own {
				t.Fatalf("writer %q, closed %v, %v", id, closed, err)
			}
			if tip := logTips(t, a)[own]; tip != common {
				t.Errorf("the log ends at %q instead of %q", tip, common)
			}
			kept, err := a.refs.Refs(ctx, divergedPrefix)
			if err != nil || only != "" && kept[divergedPrefix+own+"/"+string(only)] != only {
				t.Errorf("kept %v, %v", kept, err)
			}
			write(t, a, "in the new log")
			for range 2 {
				got := syncLogs(t, a)
				if got.Diverged || len(got.Rejected) != 1 || got.Rejected[0].Writer != own || logTips(t, a)[own] != common {
					t.Errorf("synced: %+v", got)
				}
			}
			if got := syncLogs(t, clones[1]); got.Events == 0 || logTips(t, clones[1])[own] == common {
				t.Errorf("in another clone: %+v", got)
			}
			if err := a.AcceptCopy(ctx); err != nil {
				t.Fatal(err)
			}
			if got := syncLogs(t, a); len(got.Rejected) != 0 || logTips(t, a)[own] != logTips(t, clones[1])[own] {
				t.Errorf("accepted: %+v", got)
			}
		})
	}
}

// A clone that was restored from a backup is behind its own log, and gets a new writer id.
func TestRestoredClone(t *testing.T) {
	_, clones := newRemote(t, 1)
	a := clones[0]
	write(t, a, "one")
	backup := copyClone(t, a)
	write(t, a, "two")
	syncLogs(t, a)
	ctx := context.Background()
	fetchLogs(t, backup)
	adopted, err := backup.AdoptLogs(ctx, "origin", Judge{Entry: func(Entry) error { return errors.New("refused") }})
	if err != nil || adopted.Diverged || len(adopted.Rejected) != 1 {
		t.Errorf("with entries that are refused: %+v, %v", adopted, err)
	}
	if adopted, err = backup.AdoptLogs(ctx, "origin", Judge{Entry: accept}); err != nil || !adopted.Diverged {
		t.Fatalf("%+v, %v", adopted, err)
	}
	if _, _, err := backup.RenewWriter(ctx, "origin"); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(logTips(t, backup), logTips(t, a)) {
		t.Errorf("logs %v, want %v", logTips(t, backup), logTips(t, a))
	}
	if kept, _ := backup.refs.Refs(ctx, divergedPrefix); len(kept) != 0 {
		t.Errorf("kept %v", kept)
	}
}

// An emptied remote gets all logs from the first clone that has new entries.
func TestPushToEmptiedRemote(t *testing.T) {
	bare, clones := newRemote(t, 2)
	for i, repo := range clones {
		write(t, repo, fmt.Sprint(i))
		syncLogs(t, repo)
	}
	syncLogs(t, clones[0])
	shell(t, bare, "git for-each-ref --format='delete %(refname)' refs/runr | git update-ref --stdin")
	write(t, clones[0], "news")
	syncLogs(t, clones[0])
	if got := testGit(t, bare, "for-each-ref", "refs/runr/log"); strings.Count(got, "\n") != 1 {
		t.Errorf("remote has %s", got)
	}
}

// notesOnto returns the commit to push: a clone's notes on top of the remote's commit.
func notesOnto(t *testing.T, repo *Store) odb.ID {
	t.Helper()
	ctx := context.Background()
	tip, err := repo.refs.Ref(ctx, testNotes)
	if err != nil {
		t.Fatal(err)
	}
	mine, err := repo.objects.ReadCommit(ctx, tip)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := repo.SharedNotes(ctx, "origin")
	if err != nil {
		t.Fatal(err)
	}
	var parents []odb.ID
	if theirs.ID != "" {
		parents = []odb.ID{theirs.ID}
	}
	id, err := repo.NotesCommit(ctx, mine.Tree, parents, "notes\n", testWhen)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestPushNotes(t *testing.T) {
	bare, clones := newRemote(t, 2)
	a, b := clones[0], clones[1]
	ctx := context.Background()
	testGit(t, a.dir.WorkTree, "notes", "--ref=runr", "add", "-m", "a")
	testGit(t, b.dir.WorkTree, "notes", "--ref=runr", "add", "-m", "b")
	fetchLogs(t, b)
	early := notesOnto(t, b)
	for i, repo := range []*Store{a, b} {
		fetchLogs(t, repo)
		if pushed, err := repo.Push(ctx, "origin", testNotes, notesOnto(t, repo)); err != nil || pushed.Notes != nil {
			t.Fatalf("clone %d: %+v, %v", i, pushed, err)
		}
	}
	if got := testGit(t, bare, "notes", "--ref=runr", "show", "main"); got != "b" {
		t.Errorf("remote has %q", got)
	}
	if got := testGit(t, bare, "rev-list", "--count", testNotes); got != "2" {
		t.Errorf("%s commits", got)
	}
	if pushed, err := b.Push(ctx, "origin", testNotes, early); err != nil || !errors.Is(pushed.Notes, gitdir.ErrLostRace) {
		t.Errorf("what was made before somebody else pushed: %+v, %v", pushed, err)
	}
	if _, err := a.Push(ctx, "origin", "refs/heads/main", early); err == nil {
		t.Error("a branch was pushed")
	}
}

// refuseBy makes a remote refuse pushes with a pre-receive hook.
func refuseBy(t *testing.T, bare, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(bare, "hooks", "pre-receive"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// An error quotes the remote's refusal, with a limit.
func TestPushRefused(t *testing.T) {
	bare, clones := newRemote(t, 1)
	write(t, clones[0], "x")
	refuseBy(t, bare,
		`printf 'No pushes on Fridays.\n\n=====\n\033[31mAsk Ann\033[0m\n%s\n' "$(head -c 3000 /dev/zero | tr '\0' z)"
for i in 1 2 3 4 5 6 7 8 9; do echo "more $i"; done; exit 1`)
	fetchLogs(t, clones[0])
	err := pushLogs(t, clones[0]).Log
	var refused *RefusedError
	if !errors.As(err, &refused) || !errors.Is(err, gitdir.ErrRemote) || errors.Is(err, gitdir.ErrLostRace) {
		t.Fatalf("got %v", err)
	}
	if refused.Reason != "pre-receive hook declined" || refused.Ref != logPrefix+clones[0].Writer() ||
		refused.Remote != "origin" {
		t.Errorf("%+v", refused)
	}
	if said := refused.Said; len(said) != saidLines || said[0] != "No pushes on Fridays." ||
		said[1] != "[31mAsk Ann [0m" || len(said[2]) > saidRunes+len("…") || said[3] != "more 1" {
		t.Errorf("said %q", said)
	}
}

// TestPushDenied: gitolite's answer to a user without write access counts as a refusal, not as an unreachable remote.
func TestPushDenied(t *testing.T) {
	err := remoteError("origin", &gitdir.GitError{Status: 128, Stderr: "FATAL: W any project ann DENIED by fallthru\n" +
		"(or you mis-spelled the reponame)\nfatal: Could not read from remote repository.\n"})
	if !isRefusal(err) {
		t.Errorf("%v is not a refusal", err)
	}
}

// A remote that refuses the notes still gets the log, even if it refuses pushes as a whole.
func TestPushRefusedInPart(t *testing.T) {
	bare, clones := newRemote(t, 1)
	write(t, clones[0], "x")
	testGit(t, clones[0].dir.WorkTree, "notes", "--ref=runr", "add", "-m", "a")
	refuseBy(t, bare, `while read old new ref; do case $ref in refs/notes/*) echo no notes here; exit 1; esac; done`)
	fetchLogs(t, clones[0])
	pushed, err := clones[0].Push(context.Background(), "origin", testNotes, notesOnto(t, clones[0]))
	var refused *RefusedError
	if err != nil || pushed.Log != nil || !errors.As(pushed.Notes, &refused) ||
		!slices.Equal(refused.Said, []string{"no notes here"}) {
		t.Fatalf("%+v, %v", pushed, err)
	}
	if got := testGit(t, bare, "for-each-ref", "--format=%(refname)", "refs/runr",
		"refs/notes"); got != logPrefix+clones[0].Writer() {
		t.Errorf("remote has %s", got)
	}
}

func TestRemoteOutOfReach(t *testing.T) {
	_, clones := newRemote(t, 1)
	testGit(t, clones[0].dir.WorkTree, "remote", "set-url", "origin", "/no/such/place")
	ctx := context.Background()
	write(t, clones[0], "x")
	_, fetched := clones[0].FetchLogs(ctx, "origin", "")
	_, pushed := clones[0].Push(ctx, "origin", "", "")
	for name, err := range map[string]error{"fetch": fetched, "push": pushed} {
		if !errors.Is(err, gitdir.ErrRemote) || isRefusal(err) || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), "/no/such/place") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := clones[0].FetchLogs(ctx, "/no/such/place", ""); !errors.Is(err, gitdir.ErrNotFound) {
		t.Errorf("a path for a name: %v", err)
	}
}

// Messages of git, ssh and servers, and whether they mean that the remote was reached and refused.
func TestRemoteSaysNo(t *testing.T) {
	for said, no := range map[string]bool{
		"fatal: '/x' does not appear to be a git repository\nfatal: Could not read from remote repository.\n\n" +
			"Please make sure you have the correct access rights\nand the repository exists.\n": false,
		"ssh: connect to host h port 22: Connection refused\r\nfatal: Could not read from remote repository.\n\n" +
			"Please make sure you have the correct access rights\nand the repository exists.\n": false,
		"fatal: unable to access 'https://h/x/': Could not resolve host: h\n": false,
		"fatal: unable to access 'https://h/x/': The requested URL returned error: " +
			"503\n": false,
		"ERROR: Permission to a/b.git denied to c.\n" +
			"fatal: Could not read from remote repository.\n": true,
		"ERROR: The repository you are pushing to is locked.\n" +
			"fatal: Could not read from remote repository.\n": true,
		"git@h: Permission denied (publickey).\r\n" +
			"fatal: Could not read from remote repository.\n": true,
		"remote: Permission to a/b.git denied to c.\n" +
			"fatal: unable to access 'https://h/a/b.git/': The requested URL returned error: 403\n": true,
		"fatal: could not read Username for 'https://h': terminal prompts disabled\n":          true,
		"fatal: remote error: access denied or repository not exported: /x\n":                  true,
		"remote: Repository not found.\nfatal: repository 'https://h/x/' not found\n":          true,
		"remote: HTTP Basic: Access denied\nfatal: Authentication failed for 'https://h/x/'\n": true,
	} {
		err := remoteError("origin", &gitdir.GitError{Status: 128, Stderr: said})
		if isRefusal(err) != no || !errors.Is(err, gitdir.ErrRemote) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", said, err)
		}
	}
}

func TestElectRemote(t *testing.T) {
	for _, c := range []struct {
		name, elected string
		have          []string
		given, set    string
	}{
		{name: "given", have: []string{"origin", "x"}, given: "x", elected: "x"},
		{name: "configured", have: []string{"origin", "x/y"}, set: "x/y", elected: "x/y"},
		{name: "origin", have: []string{"a", "origin"}, elected: "origin"},
		{name: "the only one", have: []string{"a"}, elected: "a"},
		{name: "none"},
		{name: "several", have: []string{"a", "b"}},
		{name: "unknown", have: []string{"a"}, given: "b"},
		{name: "path", have: []string{"a"}, given: "/tmp"},
		{name: "option", have: []string{"a"}, given: "--upload-pack=x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := &Store{elects: new(atomic.Pointer[string]),
				dir: &gitdir.Dir{Place: &gitdir.Place{Config: gitdir.Config{"runr.remote": {c.set}}}}}
			for _, name := range c.have {
				repo.dir.Config["remote."+name+".url"] = []string{"u"}
			}
			got, err := repo.ElectRemote(c.given)
			if c.elected == "" &&
				(!errors.Is(err, gitdir.ErrNotFound) ||
					len(c.have) > 0 && !strings.Contains(err.Error(), strings.Join(c.have, ", "))) {
				t.Errorf("got %v", err)
			}
			if c.elected != "" && (err != nil || got != c.elected) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestFirstComplaint(t *testing.T) {
	for said, want := range map[string]string{
		"": "exit status 128",
		"fatal: '/x' does not appear to be a git repository\nfatal: Could not read from remote repository.\n\n" +
			"Please make sure": "'/x' does not appear to be a git repository",
		"remote: Repository not found.\n" +
			"fatal: repository 'https://h/x/' not found\n": "repository 'https://h/x/' not found",
		"warning: redirecting\nssh: connect to host h port 22: Connection refused\r\n" +
			"fatal: Could not read\n": "ssh: connect to host h port 22: Connection refused",
		"fatal: unable to access 'https://me:secret@h/x': \x1b[31mno\n": "unable to access 'https://h/x':  [31mno",
	} {
		if got := firstComplaint(&gitdir.GitError{Status: 128, Stderr: said}); got != want {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
}

func TestParsePushed(t *testing.T) {
	out := "To /x\n*\tabc:refs/notes/a\t[new reference]\n!\tabc:refs/notes/b\t[rejected] (stale info)\n" +
		"=\tabc:refs/c\t[up to date]\nDone\n"
	want := []pushed{{'*', "refs/notes/a", "[new reference]", nil}, {'!', "refs/notes/b", "[rejected] (stale info)", nil},
		{'=', "refs/c", "[up to date]", nil}}
	if got := parsePushed(out); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}
