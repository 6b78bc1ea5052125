package refdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

// testCommits creates n commits that no ref points to.
func testCommits(t *testing.T, repo *Store, n int) []odb.ID {
	t.Helper()
	tree, err := repo.objects.WriteTree(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var ids []odb.ID
	for i := range n {
		id, err := repo.objects.WriteCommit(context.Background(),
			odb.Commit{Tree: tree, Author: gitdir.Identity{Name: "A", Email: "a@b"},
				Committer:  gitdir.Identity{Name: "A", Email: "a@b"},
				AuthorWhen: time.Unix(int64(i), 0), CommitterWhen: time.Unix(int64(i), 0), Message: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestRefsAsGitSeesThem(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	ids := testCommits(t, repo, 3)
	set := func(name string, id odb.ID) { testGit(t, repo.dir.WorkTree, "update-ref", name, string(id)) }
	set("refs/runr/log/aa", ids[0])
	set("refs/runr/log/bb", ids[0])
	set("refs/runr/logs", ids[0])
	set("refs/runr-local/x", ids[0])
	testGit(t, repo.dir.WorkTree, "tag", "-a", "-m", "x", "v1")
	testGit(t, repo.dir.WorkTree, "pack-refs", "--all")
	set("refs/runr/log/bb", ids[1])
	set("refs/runr/log/cc/dd", ids[2])
	writeTestFile(t, repo.dir.CommonDir, "refs/runr/log/ee.lock", "")

	for _, prefix := range []string{"refs/runr/log/", "refs/runr/log", "refs/runr/", "refs/tags", "refs/runr/nothing",
		"refs", "refs/worktree"} {
		got, err := repo.Refs(ctx, prefix)
		want, wantErr := repo.gitRefs(ctx, strings.TrimSuffix(prefix, "/")+"/")
		if err != nil || wantErr != nil || !maps.Equal(got, want) {
			t.Errorf("%s: %v, %v; git says %v, %v", prefix, got, err, want, wantErr)
		}
	}
	for name, want := range map[string]odb.ID{"refs/runr/log/aa": ids[0], "refs/runr/log/bb": ids[1],
		"refs/runr/log/cc/dd": ids[2], "refs/runr/log/cc": "", "refs/runr/log": "", "refs/runr/log/ff": "",
		"refs/runr/log/aa/x": ""} {
		if got, err := repo.Ref(ctx, name); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestRefsAreSharedByWorktrees(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	dir := filepath.Join(t.TempDir(), "linked")
	testGit(t, repo.dir.WorkTree, "worktree", "add", "-q", dir)
	linked := openTestRepo(t, dir)
	id := testCommits(t, repo, 1)[0]
	if err := linked.SwapAny(ctx, "refs/runr/log/aa", id, ""); err != nil {
		t.Fatal(err)
	}
	if got, err := repo.Ref(ctx, "refs/runr/log/aa"); got != id || err != nil {
		t.Errorf("from the main worktree: %q, %v", got, err)
	}
	testGit(t, dir, "update-ref", "refs/worktree/mine", string(id))
	if got, err := linked.Ref(ctx, "refs/worktree/mine"); got != id || err != nil {
		t.Errorf("the worktree's own ref: %q, %v", got, err)
	}
	if got, err := repo.Ref(ctx, "refs/worktree/mine"); got != "" || err != nil {
		t.Errorf("the other worktree's ref: %q, %v", got, err)
	}
}

func TestSymbolicRefs(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	testGit(t, repo.dir.WorkTree, "symbolic-ref", "refs/runr/log/aa", "refs/heads/main")
	head, err := repo.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := repo.Ref(ctx, "refs/runr/log/aa"); got != head || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if refs, err := repo.Refs(ctx, "refs/runr/log"); refs["refs/runr/log/aa"] != head || err != nil {
		t.Errorf("listed %v, %v", refs, err)
	}
	for _, name := range []string{"refs/runr/log/aa", "refs/heads/alias"} {
		testGit(t, repo.dir.WorkTree, "symbolic-ref", name, "refs/heads/main")
		for _, new := range []odb.ID{testCommits(t, repo, 1)[0], ""} {
			if err := repo.SwapAny(ctx, name, new, head); !errors.Is(err, errSymbolic) {
				t.Errorf("move %s to %q: %v", name, new, err)
			}
		}
	}
	testGit(t, repo.dir.WorkTree, "symbolic-ref", "refs/runr/log/aa", "refs/runr/log/aa")
	if got, err := repo.Ref(ctx, "refs/runr/log/aa"); err == nil {
		t.Errorf("a ref to itself is %q", got)
	}
}

func TestBrokenRefIsNotAbsent(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	writeTestFile(t, repo.dir.CommonDir, "refs/runr/log/aa", "")
	if got, err := repo.Ref(ctx, "refs/runr/log/aa"); err == nil {
		t.Errorf("an empty ref is %q", got)
	}
	if err := repo.SwapAny(ctx, "refs/runr/log/aa", testCommits(t, repo, 1)[0], ""); err == nil {
		t.Error("an empty ref was created over")
	}
}

func TestSwapRef(t *testing.T) {
	for _, name := range []string{"refs/runr/log/aa", "refs/notes/runr", "refs/heads/topic",
		"refs/runr-local/pins/deep/er/still"} {
		for _, how := range []string{"loose", "packed", "by git"} {
			repo, ctx := newTestRepo(t), context.Background()
			packed := how == "packed"
			repo.dir.Reftable = how == "by git" // makes the store use git
			ids := testCommits(t, repo, 3)
			step := func(what string, new, old odb.ID, want error, after odb.ID) {
				t.Helper()
				if packed {
					testGit(t, repo.dir.WorkTree, "pack-refs", "--all", "--prune")
				}
				if err := repo.SwapRef(ctx, name, new, old); !errors.Is(err, want) {
					t.Errorf("%s, %s: %s: %v", name, how, what, err)
				}
				if got, err := repo.gitRef(ctx, name); got != after || err != nil {
					t.Errorf("%s, %s: %s: the ref is %q, %v", name, how, what, got, err)
				}
			}
			step("move what is not there", ids[1], ids[0], gitdir.ErrLostRace, "")
			step("delete what is not there", "", ids[0], gitdir.ErrLostRace, "")
			step("delete nothing", "", "", nil, "")
			step("create", ids[0], "", nil, ids[0])
			step("create twice", ids[1], "", gitdir.ErrLostRace, ids[0])
			step("delete nothing that is there", "", "", gitdir.ErrLostRace, ids[0])
			step("move", ids[1], ids[0], nil, ids[1])
			step("stay", ids[1], ids[1], nil, ids[1])
			step("move from the past", ids[2], ids[0], gitdir.ErrLostRace, ids[1])
			step("delete from the past", "", ids[0], gitdir.ErrLostRace, ids[1])
			step("delete", "", ids[1], nil, "")
			step("create again", ids[2], "", nil, ids[2])
			if locks, _ := filepath.Glob(repo.Path(name) + "*.lock"); len(locks) > 0 {
				t.Errorf("left over: %v", locks)
			}
		}
	}
}

func TestSwapRefNames(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	id := testCommits(t, repo, 1)[0]
	for _, name := range []string{"", "HEAD", "refs/tags/v1", "refs/remotes/origin/main", "refs/stash", "refs/runrx/a",
		"refs/runr/",
		"refs/runr/a.lock", "refs/runr/../heads/x", "refs/runr/a b", "refs/runr/.a", "refs/runr/a.lock/b", "refs/heads/a\nb",
		"refs/runr/a//b", "refs/runr/a@{1}", "/refs/heads/x", "refs/heads/x.", "refs/runr"} {
		if err := repo.SwapRef(ctx, name, id, ""); err == nil {
			t.Errorf("%q was written", name)
		}
	}
	for _, bad := range []odb.ID{"HEAD", id[1:], odb.ID(strings.ToUpper(string(id)))} {
		if err := repo.SwapRef(ctx, "refs/runr/x", bad, ""); err == nil {
			t.Errorf("%q was written", bad)
		}
	}
}

func TestCheckRefNameAsGit(t *testing.T) {
	repo := newTestRepo(t)
	for _, name := range []string{"refs/a", "refs/a/b", "refs/a.b", "refs/@", "refs/a@", "refs/-a", "refs/é",
		"refs/a'\"`$", "refs/a\\b", "refs/a?", "refs/a*",
		"refs/a[", "refs/a]", "refs/a:b", "refs/a^", "refs/a~", "refs/a\x7f", "refs/a\x01", "refs/a..b", "refs/a.",
		"refs/a./b", "refs/.a", "refs/a.lock", "refs/a.lock/b", "refs/a.lockb", "refs//a", "refs/a/", "refs/a@{b",
		"refs/@{"} {
		_, err := repo.dir.Git(context.Background(), "check-ref-format", name)
		if got := CheckRefName(name); (got == nil) != (err == nil) {
			t.Errorf("%q: %v, git says %v", name, got, err)
		}
	}
}

func TestRefNamesInTheWay(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct{ have, want string }{
		{"refs/runr/log", "refs/runr/log/aa"},
		{"refs/runr/log", "refs/runr/log/aa/bb"},
		{"refs/runr/log/aa", "refs/runr/log"},
		{"refs/heads/a", "refs/heads/a/b"},
		{"refs/heads/a/b", "refs/heads/a"},
	} {
		for _, how := range []string{"loose", "packed", "by git"} {
			repo := newTestRepo(t)
			repo.dir.Reftable = how == "by git"
			id := testCommits(t, repo, 1)[0]
			if err := repo.SwapRef(ctx, c.have, id, ""); err != nil {
				t.Fatal(err)
			}
			if how == "packed" {
				testGit(t, repo.dir.WorkTree, "pack-refs", "--all", "--prune")
			}
			if err := repo.SwapRef(ctx, c.want, id, ""); !errors.Is(err, gitdir.ErrConflict) {
				t.Errorf("%s beside %s, %s: %v", c.want, c.have, how, err)
			}
			if err := repo.SwapRef(ctx, c.have, "", id); err != nil {
				t.Fatal(err)
			}
			if err := repo.SwapRef(ctx, c.want, id, ""); err != nil { // only empty directories are left
				t.Errorf("%s after %s, %s: %v", c.want, c.have, how, err)
			}
			testGit(t, repo.dir.WorkTree, "fsck")
		}
	}
}

func TestBranchMoveIsInTheReflog(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	ids := testCommits(t, repo, 2)
	for i, id := range ids {
		old := odb.ID("")
		if i > 0 {
			old = ids[i-1]
		}
		if err := repo.SwapRef(ctx, "refs/heads/topic", id, old); err != nil {
			t.Fatal(err)
		}
	}
	if log := testGit(t, repo.dir.WorkTree, "reflog", "topic", "--format=%H"); log != string(ids[1])+"\n"+string(ids[0]) {
		t.Errorf("reflog %q", log)
	}
}

// plantLock creates a ref's lock file as a killed process leaves it.
func plantLock(t *testing.T, repo *Store, name string, age time.Duration) string {
	t.Helper()
	path := repo.Path(name) + ".lock"
	writeTestFile(t, filepath.Dir(path), filepath.Base(path), "")
	then := time.Now().Add(-age)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHeldRefLock(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	id := testCommits(t, repo, 1)[0]
	cases := []struct {
		name  string
		age   time.Duration
		taken bool
	}{
		{"refs/runr/log/bb", 5 * time.Second, false},
		{"refs/runr/log/cc", time.Minute, true},
		{"refs/notes/runr", time.Minute, true},
		{"refs/notes/commits", time.Hour, false},
		{"refs/heads/topic", time.Hour, false},
	}
	var all sync.WaitGroup // each waits a second
	for _, c := range cases {
		path := plantLock(t, repo, c.name, c.age)
		all.Go(func() {
			err := repo.SwapRef(ctx, c.name, id, "")
			if c.taken && err != nil || !c.taken && !errors.Is(err, gitdir.ErrBusy) {
				t.Errorf("%s, lock of %s: %v", c.name, c.age, err)
			}
			if _, err := os.Stat(path); (err == nil) == c.taken {
				t.Errorf("%s, lock of %s: lock file: %v", c.name, c.age, err)
			}
			if err != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("%s: the error does not name the lock: %v", c.name, err)
			}
		})
	}
	all.Wait()
}

func TestRefLockThatGoesAway(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	id := testCommits(t, repo, 1)[0]
	path := plantLock(t, repo, "refs/runr/log/aa", 0)
	done := make(chan error, 1)
	go func() { done <- repo.SwapRef(ctx, "refs/runr/log/aa", id, "") }()
	time.Sleep(50 * time.Millisecond)
	os.Remove(path)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// packedRefs returns a packed-refs file of sorted refs, with a peeled line after every third.
func packedRefs(names []string, sorted bool) []byte {
	var b bytes.Buffer
	if sorted {
		b.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	}
	for i, name := range names {
		fmt.Fprintf(&b, "%040x %s\n", i, name)
		if i%3 == 0 {
			fmt.Fprintf(&b, "^%040x\n", 1<<20+i)
		}
	}
	return b.Bytes()
}

func TestPackedRefsSearch(t *testing.T) {
	var names []string
	for i := range 3000 {
		names = append(names, fmt.Sprintf("refs/a%d/%s", i%7, strings.Repeat("x", i%50)+fmt.Sprint(i)))
	}
	slices.Sort(names)
	for _, sorted := range []bool{true, false} {
		file := packedRefs(names, sorted)
		for _, prefix := range append(slices.Clone(names), "refs/", "refs/a0/", "refs/a3", "refs/a6/", "refs/b", "a", "",
			"refs/a2/xxxxx") {
			var want, got []string
			for _, name := range names {
				if strings.HasPrefix(name, prefix) {
					want = append(want, name)
				}
			}
			err := scanPackedRefs(bytes.NewReader(file), int64(len(file)), prefix, func(name string, id odb.ID) bool {
				if i, _ := slices.BinarySearch(names, name); string(id) != fmt.Sprintf("%040x", i) {
					t.Errorf("%s has id %s", name, id)
				}
				got = append(got, name)
				return true
			})
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("sorted %v, prefix %q: %d refs of %d, %v", sorted, prefix, len(got), len(want), err)
			}
		}
	}
}

func FuzzPackedRefs(f *testing.F) {
	f.Add(packedRefs([]string{"refs/a", "refs/b/c", "refs/b/d", "refs/e"}, true), "refs/b/")
	f.Add(packedRefs([]string{"refs/z", "refs/b/c"}, false), "refs/b/")
	f.Add([]byte("# sorted \n\n^\n x\n"), "")
	f.Fuzz(func(t *testing.T, data []byte, prefix string) {
		_ = scanPackedRefs(bytes.NewReader(data), int64(len(data)), prefix, func(name string, id odb.ID) bool {
			if !strings.HasPrefix(name, prefix) || name == "" || len(id) != 40 && len(id) != 64 || !odb.IsHex(string(id)) {
				t.Errorf("ref %q at %q", name, id)
			}
			return true
		})
	})
}
