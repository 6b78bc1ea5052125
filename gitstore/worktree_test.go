package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// addTestWorktree creates a worktree of this tool on branch work at HEAD.
func addTestWorktree(t *testing.T, repo *Repo) *Worktree {
	t.Helper()
	w, err := repo.AddWorktree(context.Background(), "w1", "work", testHead(t, repo))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func checkoutOf(t *testing.T, repo *Repo) *Worktree {
	t.Helper()
	w, err := repo.Checkout()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestAddWorktreeLeavesCheckoutAlone(t *testing.T) {
	repo := newTestRepo(t)
	writeTestFile(t, repo.WorkTree, "a.txt", "edited\n")
	writeTestFile(t, repo.WorkTree, "staged.txt", "staged\n")
	testGit(t, repo.WorkTree, "add", "staged.txt")
	fired := filepath.Join(t.TempDir(), "fired")
	hook := "#!/bin/sh\ntouch '" + fired + "'\n"
	if err := os.WriteFile(filepath.Join(repo.GitDir, "hooks", "post-checkout"), []byte(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	index := readTestFile(t, repo.GitDir, "index")

	w := addTestWorktree(t, repo)
	if w.Dir != filepath.Join(repo.StateDir(), "worktrees", "w1") || !w.Own {
		t.Errorf("worktree %+v", w)
	}
	if got := readTestFile(t, w.Dir, "a.txt"); got != "one\n" {
		t.Errorf("a.txt = %q", got)
	}
	if branch, _ := w.Repo().Branch(context.Background()); branch != "refs/heads/work" {
		t.Errorf("branch %q", branch)
	}
	if status := testGit(t, w.Dir, "status", "--porcelain"); status != "" {
		t.Errorf("status %q", status)
	}
	if exists(fired) {
		t.Error("a hook ran")
	}
	if readTestFile(t, repo.GitDir, "index") != index || readTestFile(t, repo.WorkTree, "a.txt") != "edited\n" {
		t.Error("the checkout was touched")
	}
	if !openTestRepo(t, w.Dir).IsOwnWorktree() || openTestRepo(t, repo.WorkTree).IsOwnWorktree() {
		t.Error("IsOwnWorktree does not tell the two apart")
	}
}

func TestAddWorktreeDetached(t *testing.T) {
	repo := newTestRepo(t)
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	w, err := repo.AddWorktree(context.Background(), dir, "", testHead(t, repo))
	if err != nil {
		t.Fatal(err)
	}
	if branch, _ := w.Repo().Branch(context.Background()); branch != "" {
		t.Errorf("HEAD is on %q", branch)
	}
	if !openTestRepo(t, dir).IsOwnWorktree() {
		t.Error("not known as our own by its marker")
	}
}

func TestAddWorktreeFrom(t *testing.T) {
	for name, open := range map[string]func(*testing.T, *Repo) *Repo{
		"bare": func(t *testing.T, repo *Repo) *Repo {
			bare := filepath.Join(t.TempDir(), "bare.git")
			testGit(t, repo.WorkTree, "clone", "-q", "--bare", repo.WorkTree, bare)
			return openTestRepo(t, bare)
		},
		"linked": func(t *testing.T, repo *Repo) *Repo {
			linked := filepath.Join(t.TempDir(), "linked")
			testGit(t, repo.WorkTree, "worktree", "add", "-q", linked)
			return openTestRepo(t, linked)
		},
		"sparse": func(t *testing.T, repo *Repo) *Repo {
			testGit(t, repo.WorkTree, "sparse-checkout", "set", "--sparse-index", "other")
			return openTestRepo(t, repo.WorkTree)
		},
		"old sparse": func(t *testing.T, repo *Repo) *Repo {
			testGit(t, repo.WorkTree, "config", "core.sparseCheckout", "true")
			writeTestFile(t, repo.GitDir, "info/sparse-checkout", "/a.txt\n")
			testGit(t, repo.WorkTree, "read-tree", "-m", "-u", "HEAD")
			return openTestRepo(t, repo.WorkTree)
		},
	} {
		t.Run(name, func(t *testing.T) {
			repo := newTestRepo(t)
			writeTestFile(t, repo.WorkTree, "dir/b.txt", "b\n")
			testGit(t, repo.WorkTree, "add", ".")
			testGit(t, repo.WorkTree, "commit", "-qm", "second")
			w := addTestWorktree(t, open(t, repo))
			if got := readTestFile(t, w.Dir, "dir/b.txt"); got != "b\n" {
				t.Errorf("dir/b.txt = %q", got)
			}
			if status := testGit(t, w.Dir, "status", "--porcelain"); status != "" {
				t.Errorf("status %s", status)
			}
		})
	}
}

func TestAddWorktreeWithSubmodule(t *testing.T) {
	repo := newTestRepo(t)
	super := t.TempDir()
	testGit(t, super, "init", "-q")
	testGit(t, super, "submodule", "--quiet", "add", repo.WorkTree, "mod")
	testGit(t, super, "commit", "-qm", "with submodule")
	w := addTestWorktree(t, openTestRepo(t, super))
	if exists(filepath.Join(w.Dir, "mod", "a.txt")) {
		t.Error("the submodule was initialised")
	}
	if status := testGit(t, w.Dir, "status", "--porcelain"); status != "" {
		t.Errorf("status %q", status)
	}
}

func TestAddWorktreeRefuses(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	if _, err := repo.AddWorktree(ctx, "../escape", "", testHead(t, repo)); err == nil {
		t.Error("a name outside was taken")
	}
	if _, err := repo.AddWorktree(ctx, "w", "", ""); !errors.Is(err, ErrUnborn) {
		t.Errorf("without a commit: %v", err)
	}
	if _, err := repo.AddWorktree(ctx, "w", "main", testHead(t, repo)); err == nil {
		t.Error("an existing branch was taken")
	}
}

func TestRemoveWorktree(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	w := addTestWorktree(t, repo)
	outside := t.TempDir()
	writeTestFile(t, outside, "precious.txt", "precious\n")
	if err := os.Symlink(outside, filepath.Join(w.Dir, "link")); err != nil {
		t.Fatal(err)
	}
	writeTestFile(t, w.Dir, "closed/x", "x")
	if err := os.Chmod(filepath.Join(w.Dir, "closed"), 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Snapshot(ctx, "", "s"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is gone already
		if err := repo.RemoveWorktree(ctx, "w1"); err != nil {
			t.Fatal(err)
		}
	}
	if exists(w.Dir) || exists(w.GitDir) {
		t.Error("something is left")
	}
	readTestFile(t, outside, "precious.txt")
	if got := testGit(t, repo.WorkTree, "rev-parse", "work"); got != string(testHead(t, repo)) {
		t.Errorf("branch is at %s", got)
	}
	if _, err := repo.OpenWorktree(ctx, "w1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("open: %v", err)
	}
}

func TestRemoveWorktreeReplacedByLink(t *testing.T) {
	repo := newTestRepo(t)
	w := addTestWorktree(t, repo)
	outside := t.TempDir()
	writeTestFile(t, outside, "precious.txt", "precious\n")
	if err := os.RemoveAll(w.Dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, w.Dir); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.OpenWorktree(context.Background(), "w1"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a symbolic link was opened: %v", err)
	}
	if err := repo.RemoveWorktree(context.Background(), "w1"); err != nil {
		t.Fatal(err)
	}
	readTestFile(t, outside, "precious.txt")
	if exists(w.Dir) {
		t.Error("the link is left")
	}
}

func TestRemoveWorktreeOnlyOurs(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	theirs := filepath.Join(t.TempDir(), "theirs")
	away := filepath.Join(t.TempDir(), "away") // on a disk that is not mounted
	testGit(t, repo.WorkTree, "worktree", "add", "-q", theirs)
	testGit(t, repo.WorkTree, "worktree", "add", "-q", away)
	if err := os.RemoveAll(away); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{theirs, repo.WorkTree, t.TempDir(), filepath.Join(repo.StateDir(), "worktrees")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := repo.RemoveWorktree(ctx, dir); !errors.Is(err, errNotOwn) || !exists(dir) {
			t.Errorf("remove %s: %v", dir, err)
		}
	}
	addTestWorktree(t, repo)
	if err := repo.RemoveWorktree(ctx, "w1"); err != nil {
		t.Fatal(err)
	}
	if list := testGit(t, repo.WorkTree, "worktree", "list"); !strings.Contains(list, "away") ||
		!strings.Contains(list, "theirs") {
		t.Errorf("the user's worktrees were forgotten: %s", list)
	}
	w, err := repo.OpenWorktree(ctx, theirs)
	if err != nil || w.Own {
		t.Errorf("open theirs: %+v, %v", w, err)
	}
}

func TestOpenWorktreeRelative(t *testing.T) {
	repo := newTestRepo(t)
	w := addTestWorktree(t, repo)
	rel, err := filepath.Rel(w.GitDir, filepath.Join(w.Dir, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	writeTestFile(t, w.GitDir, "gitdir", rel+"\n")
	got, err := repo.OpenWorktree(context.Background(), w.Dir)
	if err != nil || got.GitDir != w.GitDir || !got.Own {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCheckoutOfBare(t *testing.T) {
	repo := newTestRepo(t)
	bare := filepath.Join(t.TempDir(), "bare.git")
	testGit(t, repo.WorkTree, "clone", "-q", "--bare", repo.WorkTree, bare)
	if _, err := openTestRepo(t, bare).Checkout(); !errors.Is(err, ErrBare) {
		t.Errorf("got %v", err)
	}
}

func TestIndexTreeAndNormalTree(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	dir := repo.WorkTree
	testGit(t, dir, "config", "core.autocrlf", "input")
	writeTestFile(t, dir, ".gitignore", "*.log\n")
	writeTestFile(t, dir, "staged.txt", "staged\n")
	testGit(t, dir, "add", ".")
	writeTestFile(t, dir, "new.txt", "new\r\n")
	writeTestFile(t, dir, "x.log", "ignored\n")
	testGit(t, dir, "init", "-q", "nested")
	before := readTestFile(t, repo.GitDir, "index")
	w := checkoutOf(t, repo)
	index, err := w.IndexTree(ctx)
	if err != nil {
		t.Fatal(err)
	}
	normal, err := w.NormalTree(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := testGit(t, dir, "ls-tree", "-r", "--name-only", string(index)); got != ".gitignore\na.txt\nstaged.txt" {
		t.Errorf("index tree: %s", got)
	}
	if got := testGit(t, dir, "ls-tree", "-r", "--name-only",
		string(normal)); got != ".gitignore\na.txt\nnew.txt\nstaged.txt" {
		t.Errorf("normal tree: %s", got)
	}
	if got := testGit(t, dir, "cat-file", "blob", string(normal)+":new.txt"); strings.Contains(got, "\r") {
		t.Errorf("not normalised: %q", got)
	}
	if readTestFile(t, repo.GitDir, "index") != before {
		t.Error("the index was written")
	}
}

// TestNormalTreeSeesFastEdits makes an edit of the same size within the second of the index. It is only noticed if
// the copy of the index has the time of the index.
func TestNormalTreeSeesFastEdits(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	testGit(t, dir, "config", "core.trustctime", "false")
	past := time.Now().Add(-time.Hour)
	set := func(path string) {
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	set(filepath.Join(dir, "a.txt"))
	testGit(t, dir, "update-index", "--refresh")
	set(filepath.Join(repo.GitDir, "index"))
	writeTestFile(t, dir, "a.txt", "two\n")
	set(filepath.Join(dir, "a.txt"))
	tree, err := checkoutOf(t, repo).NormalTree(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := testGit(t, dir, "cat-file", "blob", string(tree)+":a.txt"); got != "two" {
		t.Errorf("a.txt is %q", got)
	}
}

func TestIndexTreeUnmerged(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	testGit(t, dir, "checkout", "-qb", "other")
	writeTestFile(t, dir, "a.txt", "other\n")
	testGit(t, dir, "commit", "-qam", "other")
	testGit(t, dir, "checkout", "-q", "main")
	writeTestFile(t, dir, "a.txt", "main\n")
	testGit(t, dir, "commit", "-qam", "main")
	if out, err := testGitError(dir, "merge", "other"); err == nil {
		t.Fatalf("merged: %s", out)
	}
	if _, err := checkoutOf(t, repo).IndexTree(context.Background()); !errors.Is(err, ErrUnmerged) {
		t.Errorf("got %v", err)
	}
	if got := repo.Operation(); got != "merge" {
		t.Errorf("operation %q", got)
	}
}

func testGitError(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestWorktreesSideBySide creates and removes worktrees in parallel. No git may fail because a worktree that it listed
// has disappeared.
func TestWorktreesSideBySide(t *testing.T) {
	ctx, r := context.Background(), newTestRepo(t)
	head, err := r.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for turn := range 30 {
				name := fmt.Sprintf("beside-%d-%d", n, turn)
				_, err := r.AddWorktree(ctx, name, "", head)
				if err == nil {
					err = r.RemoveWorktree(ctx, name)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestNormalTreeRenamesByCase uses a hard link to imitate a file system that ignores case: both names are one file.
func TestNormalTreeRenamesByCase(t *testing.T) {
	repo := newTestRepo(t)
	testGit(t, repo.WorkTree, "config", "core.ignoreCase", "true")
	if err := os.Link(filepath.Join(repo.WorkTree, "a.txt"), filepath.Join(repo.WorkTree, "A.txt")); err != nil {
		t.Fatal(err)
	}
	writeTestFile(t, repo.WorkTree, ".gitignore", "build/\n")
	writeTestFile(t, repo.WorkTree, "Build/x", "ignored, whatever its case is\n")
	w := checkoutOf(t, openTestRepo(t, repo.WorkTree))
	tree, err := w.NormalTree(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := testGit(t, repo.WorkTree, "ls-tree", "-r", "--name-only", string(tree)); got != ".gitignore\nA.txt" {
		t.Errorf("the tree has %q", got)
	}
}
