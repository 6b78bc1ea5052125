package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func hooksDirOf(t *testing.T, dir string) HooksDir {
	t.Helper()
	got, err := openTestRepo(t, dir).HooksDir(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestHooksDirIsWhereGitLooks(t *testing.T) {
	repo := newTestRepo(t)
	linked := filepath.Join(t.TempDir(), "linked")
	testGit(t, repo.WorkTree, "worktree", "add", "-q", linked)
	bare := filepath.Join(t.TempDir(), "bare.git")
	testGit(t, repo.WorkTree, "clone", "-q", "--bare", repo.WorkTree, bare)
	absolute := filepath.Join(t.TempDir(), "my hooks")

	for _, value := range []string{"", "sub/hooks", "../beside", absolute, "~/own hooks"} {
		for name, dir := range map[string]string{"main": repo.WorkTree, "linked": linked, "bare": bare} {
			t.Run(name+" "+value, func(t *testing.T) {
				if value != "" {
					testGit(t, dir, "config", "core.hooksPath", value)
				}
				want := testGit(t, dir, "rev-parse", "--path-format=absolute", "--git-path", "hooks")
				if got := hooksDirOf(t, dir); got.Path != want || (got.Scope == "local") != (value != "") {
					t.Errorf("got %+v, git looks in %q", got, want)
				}
			})
		}
	}
}

func TestHooksDirScope(t *testing.T) {
	repo := newTestRepo(t)
	testGit(t, repo.WorkTree, "config", "--global", "core.hooksPath", "~/shared")
	want := HooksDir{Path: filepath.Join(os.Getenv("HOME"), "shared"), Scope: "global"}
	if got := hooksDirOf(t, repo.WorkTree); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	testGit(t, repo.WorkTree, "config", "core.hooksPath", "")
	want = HooksDir{Path: os.DevNull, Scope: "local"}
	if got := hooksDirOf(t, repo.WorkTree); got != want {
		t.Errorf("empty value: got %+v, want %+v", got, want)
	}
}

func TestHooksDirTracked(t *testing.T) {
	repo := newTestRepo(t)
	testGit(t, repo.WorkTree, "config", "core.hooksPath", ".githooks")
	writeTestFile(t, repo.WorkTree, ".githooks/pre-commit", "#!/bin/sh\n")
	if hooksDirOf(t, repo.WorkTree).Tracked {
		t.Error("tracked before git add")
	}
	testGit(t, repo.WorkTree, "add", ".githooks")
	if !hooksDirOf(t, repo.WorkTree).Tracked {
		t.Error("not tracked after git add")
	}
}

func TestHooksDirBehindTrackedLink(t *testing.T) {
	repo := newTestRepo(t)
	writeTestFile(t, repo.WorkTree, "hooks/pre-commit", "#!/bin/sh\n")
	testGit(t, repo.WorkTree, "add", "hooks")
	if err := os.RemoveAll(filepath.Join(repo.GitDir, "hooks")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../hooks", filepath.Join(repo.GitDir, "hooks")); err != nil {
		t.Fatal(err)
	}
	if got := hooksDirOf(t, repo.WorkTree); !got.Tracked || got.Scope != "" {
		t.Errorf("got %+v", got)
	}
}
