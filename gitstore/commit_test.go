package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	testAgent = Identity{Name: "Agent", Email: "agent@example.com"}
	testWhen  = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
)

func commitSpec(parent ID) CommitSpec {
	return CommitSpec{Message: "the work\n\nRunr-Run: 1\n", Author: testAgent, When: testWhen, Parent: parent,
		Ref: "refs/heads/work"}
}

func mustCommitAll(t *testing.T, w *Worktree, spec CommitSpec) (ID, bool) {
	t.Helper()
	id, changed, err := w.CommitAll(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if got := testGit(t, w.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
	if spec.Ref != "" {
		if branch := testGit(t, w.Dir, "symbolic-ref", "HEAD"); branch != spec.Ref {
			t.Errorf("HEAD is on %s", branch)
		}
	}
	if head := testGit(t, w.Dir, "rev-parse", "HEAD"); head != string(id) {
		t.Errorf("HEAD is at %s, not at %s", head, id)
	}
	if got := w.Repo().Operation(); got != "" {
		t.Errorf("a %s is not finished", got)
	}
	return id, changed
}

func history(t *testing.T, dir, rev string) string {
	t.Helper()
	return testGit(t, dir, "log", "--format=%s", rev)
}

// TestCommitAll lets an agent do something in a worktree of this tool, on branch work at the second of two
// commits.
func TestCommitAll(t *testing.T) {
	for _, c := range []struct {
		name, script string
		history      string // subjects, newest first
		files        string
		stray        int
	}{
		{"nothing", "true", "second\nfirst", "a.txt b.txt", 0},
		{"edit, new, deleted", "echo x >a.txt; rm b.txt; mkdir d; echo n >'d/n w'; echo i >x.ignored",
			"the work\nsecond\nfirst", "a.txt d/n w", 0},
		{"staged and changed again", "echo 1 >a.txt; git add a.txt; echo 2 >a.txt", "the work\nsecond\nfirst", "a.txt b.txt",
			0},
		{"committed itself", "echo x >a.txt; git commit -qam mine", "mine\nsecond\nfirst", "a.txt b.txt", 0},
		{"committed a part", "echo x >a.txt; git commit -qam mine; echo y >y", "the work\nmine\nsecond\nfirst",
			"a.txt b.txt y", 0},
		{"on another branch", "git checkout -qb other; echo x >a.txt; git commit -qam mine", "mine\nsecond\nfirst",
			"a.txt b.txt", 0},
		{"detached", "git checkout -q --detach; echo x >a.txt; git commit -qam mine", "mine\nsecond\nfirst", "a.txt b.txt",
			0},
		{"branch moved back", "git reset -q --hard HEAD~; echo x >x", "the work\nsecond\nfirst", "a.txt x", 0},
		{"amended", "echo x >x; git add x; git commit -q --amend -m amended", "the work\nsecond\nfirst", "a.txt b.txt x", 1},
		{"orphan", "git checkout -q --orphan new; git commit -qm lonely", "second\nfirst", "a.txt b.txt", 1},
		{"unborn", "git checkout -q --orphan new; echo x >x", "the work\nsecond\nfirst", "a.txt b.txt x", 0},
		{"merge with conflicts",
			"git checkout -qb o HEAD~; echo o >b.txt; git add .; git commit -qm o; git checkout -q work; git merge -q o || " +
				"echo solved >b.txt", "the work\nsecond\nfirst", "a.txt b.txt", 0},
		{"half a rebase",
			"git checkout -qb o HEAD~; echo o >b.txt; git add .; git commit -qm o; git checkout -q work; " +
				"git rebase -q o || true", "", "", 1},
		{"empty nested repository", "git init -q n; echo x >n/x; echo x >a.txt", "the work\nsecond\nfirst", "a.txt b.txt", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := newTestRepo(t)
			writeTestFile(t, repo.GitDir, "info/exclude", "*.ignored\nn/\n")
			parent := commitSecond(t, repo)
			w := addTestWorktree(t, repo)
			_, _ = runScript(w.Dir, "GIT_AUTHOR_NAME=a GIT_COMMITTER_NAME=a; "+c.script)
			id, changed := mustCommitAll(t, w, commitSpec(parent))
			if changed != (id != parent) {
				t.Errorf("changed %v", changed)
			}
			if got := history(t, w.Dir, "work"); c.history != "" && got != c.history {
				t.Errorf("history %q, want %q", got, c.history)
			}
			if got := strings.Join(strings.Split(testGitRaw(t, w.Dir, "ls-tree", "-rz", "--name-only", "work"), "\x00"),
				" "); c.files != "" && got != c.files+" " {
				t.Errorf("files %q, want %q", got, c.files)
			}
			strays, err := repo.Refs(context.Background(), strayPrefix)
			if err != nil || len(strays) != c.stray {
				t.Errorf("strays %v, %v", strays, err)
			}
		})
	}
}

func commitSecond(t *testing.T, repo *Repo) ID {
	t.Helper()
	writeTestFile(t, repo.WorkTree, "b.txt", "b\n")
	testGit(t, repo.WorkTree, "add", ".")
	testGit(t, repo.WorkTree, "commit", "-qm", "second")
	return testHead(t, repo)
}

func TestCommitAllWritesAuthorAndRunsNoHook(t *testing.T) {
	repo := newTestRepo(t)
	parent := testHead(t, repo)
	w := addTestWorktree(t, repo)
	fired := filepath.Join(t.TempDir(), "fired")
	for _, hook := range []string{"pre-commit", "post-commit", "commit-msg", "reference-transaction"} {
		if err := os.WriteFile(filepath.Join(repo.GitDir, "hooks", hook), []byte("#!/bin/sh\ntouch '"+fired+"'\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeTestFile(t, w.Dir, "a.txt", "x\n")
	id, changed := mustCommitAll(t, w, commitSpec(parent))
	if exists(fired) {
		t.Error("a hook ran")
	}
	commit, err := repo.ReadCommit(context.Background(), id)
	if err != nil || !changed || commit.Author != testAgent || !commit.AuthorWhen.Equal(testWhen) ||
		commit.Committer.Name != "Test" || commit.Message != commitSpec("").Message {
		t.Errorf("%+v, %v", commit, err)
	}
	if reflog := testGit(t, w.Dir, "reflog", "-1", "--format=%gs", "work"); reflog != "runr: commit" {
		t.Errorf("reflog %q", reflog)
	}
}

func TestCommitAllAppliesFilters(t *testing.T) {
	repo := newTestRepo(t)
	testGit(t, repo.WorkTree, "config", "filter.up.clean", "tr a-z A-Z")
	w := addTestWorktree(t, repo)
	writeTestFile(t, w.Dir, ".gitattributes", "*.up filter=up\n")
	writeTestFile(t, w.Dir, "x.up", "text\n")
	mustCommitAll(t, w, commitSpec(testHead(t, repo)))
	if got := testGit(t, w.Dir, "cat-file", "blob", "HEAD:x.up"); got != "TEXT" {
		t.Errorf("committed %q", got)
	}
}

func TestCommitAllDetached(t *testing.T) {
	repo := newTestRepo(t)
	head := testHead(t, repo)
	w, err := repo.AddWorktree(context.Background(), "d", "", head)
	if err != nil {
		t.Fatal(err)
	}
	spec := commitSpec(head)
	spec.Ref = ""
	writeTestFile(t, w.Dir, "x", "x")
	id, changed := mustCommitAll(t, w, spec)
	if !changed || id == head {
		t.Errorf("changed %v, at %s", changed, id)
	}
	if testHead(t, repo) != head {
		t.Error("the checkout's HEAD moved")
	}
}

func TestCommitAllInCheckout(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	w := checkoutOf(t, repo)
	spec := commitSpec(testHead(t, repo))
	spec.Ref = "refs/heads/main"
	writeTestFile(t, w.Dir, "x", "x")
	first, _ := mustCommitAll(t, w, spec)

	testGit(t, w.Dir, "checkout", "-qb", "elsewhere")
	writeTestFile(t, w.Dir, "y", "y")
	if _, _, err := w.CommitAll(ctx, spec); !errors.Is(err, ErrConflict) {
		t.Errorf("on another branch: %v", err)
	}
	testGit(t, w.Dir, "checkout", "-q", "main")
	testGit(t, w.Dir, "commit", "-q", "--amend", "-m", "amended")
	spec.Parent = first
	if _, _, err := w.CommitAll(ctx, spec); !errors.Is(err, ErrConflict) {
		t.Errorf("moved elsewhere: %v", err)
	}
	if got := history(t, w.Dir, "main"); got != "amended\nfirst" {
		t.Errorf("history %q", got)
	}
}

func TestCommitAllFirst(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	testGit(t, dir, "init", "-q")
	writeTestFile(t, dir, "x", "x")
	spec := commitSpec("")
	spec.Ref = "refs/heads/main"
	if _, changed := mustCommitAll(t, checkoutOf(t, openTestRepo(t, dir)), spec); !changed {
		t.Error("nothing changed")
	}
}

func TestCommitAllUnreadableFile(t *testing.T) {
	repo := newTestRepo(t)
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	w := addTestWorktree(t, repo)
	writeTestFile(t, w.Dir, "closed", "x")
	if err := os.Chmod(filepath.Join(w.Dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.CommitAll(context.Background(), commitSpec(testHead(t, repo))); err == nil {
		t.Error("committed without it")
	}
}

func TestResetTo(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	w := addTestWorktree(t, repo)
	start := testHead(t, repo)
	base := takeSnapshot(t, w, "base")
	writeTestFile(t, w.Dir, "a.txt", "agent\n")
	writeTestFile(t, w.Dir, "new", "agent\n")
	id, _ := mustCommitAll(t, w, commitSpec(start))
	end := takeSnapshot(t, w, "end")
	if _, err := w.Revert(ctx, base, end); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second call knows nothing of the first
		if err := w.ResetTo(ctx, "refs/heads/work", start, id); err != nil {
			t.Fatal(err)
		}
	}
	if stray, err := repo.Refs(ctx, strayPrefix); err != nil || len(stray) > 0 {
		t.Errorf("kept %v, %v", stray, err)
	}
	if got := testGit(t, w.Dir, "status", "--porcelain"); got != "" ||
		testGit(t, w.Dir, "rev-parse", "HEAD") != string(start) {
		t.Errorf("status %q", got)
	}
	if err := checkoutOf(t, repo).ResetTo(ctx, "refs/heads/main", start, start); !errors.Is(err, errNotOwn) {
		t.Errorf("in the user's checkout: %v", err)
	}
}

// TestResetToKeepsLaterCommits checks that later commits of a person stay: as a stray commit, and in the files.
func TestResetToKeepsLaterCommits(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	w := addTestWorktree(t, repo)
	start := testHead(t, repo)
	writeTestFile(t, w.Dir, "a.txt", "agent\n")
	id, _ := mustCommitAll(t, w, commitSpec(start))
	writeTestFile(t, w.Dir, "mine", "mine\n")
	testGit(t, w.Dir, "add", "mine")
	testGit(t, w.Dir, "commit", "-qm", "mine")
	mine := testGit(t, w.Dir, "rev-parse", "HEAD")
	if err := w.ResetTo(ctx, "refs/heads/work", start, id); err != nil {
		t.Fatal(err)
	}
	if kept, err := repo.Ref(ctx, strayPrefix+mine); err != nil || kept == "" {
		t.Errorf("stray commit: %q, %v", kept, err)
	}
	if got := testGit(t, w.Dir, "status", "--porcelain"); got != " M a.txt\n?? mine" {
		t.Errorf("status %q", got)
	}
}

func TestMoveBranchKeepsWhatItLeaves(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	start := testHead(t, repo)
	testGit(t, repo.WorkTree, "commit", "-q", "--allow-empty", "-m", "second")
	second := testHead(t, repo)
	for _, step := range []struct {
		to, off ID
		stray   int
	}{{start, "", 0}, {second, "", 0}, {start, second, 0}, {second, "", 0}, {start, "", 1}, {start, "", 1}} {
		if err := repo.MoveBranch(ctx, "refs/heads/run", step.to, step.off); err != nil {
			t.Fatal(err)
		}
		stray, err := repo.Refs(ctx, strayPrefix)
		if at, _ := repo.Ref(ctx, "refs/heads/run"); at != step.to || len(stray) != step.stray {
			t.Errorf("%+v: at %s, kept %v, %v", step, at, stray, err)
		}
	}
}

// TestResetToLeavesFiles checks that files that differ from the commit keep their content.
func TestResetToLeavesFiles(t *testing.T) {
	repo := newTestRepo(t)
	w := addTestWorktree(t, repo)
	start := testHead(t, repo)
	writeTestFile(t, w.Dir, "a.txt", "agent\n")
	id, _ := mustCommitAll(t, w, commitSpec(start))
	testGit(t, w.Dir, "checkout", "-q", "--detach")
	testGit(t, w.Dir, "commit", "-q", "--allow-empty", "-m", "stray")
	stray := testGit(t, w.Dir, "rev-parse", "HEAD")
	if err := w.ResetTo(context.Background(), "refs/heads/work", start, id); err != nil {
		t.Fatal(err)
	}
	if got := testGit(t, w.Dir, "status", "--porcelain"); got != " M a.txt" {
		t.Errorf("status %q", got)
	}
	if got := testGit(t, w.Dir, "symbolic-ref", "HEAD"); got != "refs/heads/work" {
		t.Errorf("HEAD is on %q", got)
	}
	if kept, err := repo.Ref(context.Background(), strayPrefix+stray); err != nil || kept == "" {
		t.Errorf("stray commit: %q, %v", kept, err)
	}
}
