package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// newTestRepo creates a repository with one commit and opens it.
func newTestRepo(t *testing.T) *Repo {
	t.Helper()
	isolate(t)
	dir := t.TempDir()
	testGit(t, dir, "init", "-q")
	writeTestFile(t, dir, "a.txt", "one\n")
	testGit(t, dir, "add", ".")
	testGit(t, dir, "commit", "-qm", "first")
	return openTestRepo(t, dir)
}

func openTestRepo(t *testing.T, dir string) *Repo {
	t.Helper()
	repo, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

func TestOpenPlaces(t *testing.T) {
	main := newTestRepo(t)
	top := main.WorkTree
	writeTestFile(t, top, "sub/b.txt", "b\n")
	linked := filepath.Join(t.TempDir(), "linked")
	testGit(t, top, "worktree", "add", "-q", linked)
	bare := filepath.Join(t.TempDir(), "bare.git")
	testGit(t, top, "clone", "-q", "--bare", top, bare)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(top, link); err != nil {
		t.Fatal(err)
	}
	super := t.TempDir()
	testGit(t, super, "init", "-q")
	testGit(t, super, "submodule", "--quiet", "add", top, "mod")

	for _, c := range []struct{ name, dir, common, tree, prefix string }{
		{"top", top, main.GitDir, top, ""},
		{"subdirectory", filepath.Join(top, "sub"), main.GitDir, top, "sub/"},
		{"symbolic link", link, main.GitDir, top, ""},
		{"inside .git", filepath.Join(top, ".git", "refs"), main.GitDir, "", ""},
		{"linked worktree", linked, main.GitDir, linked, ""},
		{"bare", bare, bare, "", ""},
		{"below bare", filepath.Join(bare, "refs"), bare, "", ""},
		{"submodule", filepath.Join(super, "mod"), filepath.Join(super, ".git/modules/mod"), filepath.Join(super, "mod"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := openTestRepo(t, c.dir)
			if got.CommonDir != c.common || got.WorkTree != c.tree || got.Prefix != c.prefix {
				t.Errorf("common %q tree %q prefix %q, want %q %q %q", got.CommonDir, got.WorkTree, got.Prefix, c.common, c.tree,
					c.prefix)
			}
			if got.Bare != (c.name == "bare" || c.name == "below bare") {
				t.Errorf("bare = %v", got.Bare)
			}
		})
	}
}

func TestOpenWithExtensions(t *testing.T) {
	repo := newTestRepo(t)
	testGit(t, repo.WorkTree, "sparse-checkout", "set", "--cone", "a")
	got := openTestRepo(t, repo.WorkTree)
	if !got.Config.Bool("extensions.worktreeConfig") || got.GitDir != repo.GitDir {
		t.Errorf("opened %+v", got)
	}
}

func TestOpenInHookEnvironment(t *testing.T) {
	repo := newTestRepo(t)
	linked := filepath.Join(t.TempDir(), "linked")
	testGit(t, repo.WorkTree, "worktree", "add", "-q", linked)
	t.Setenv("GIT_DIR", filepath.Join(repo.GitDir, "worktrees", "linked"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(repo.GitDir, "worktrees", "linked", "index"))
	t.Setenv("GIT_AUTHOR_NAME", "Somebody Else")
	got := openTestRepo(t, linked)
	if got.CommonDir != repo.GitDir || got.WorkTree != linked {
		t.Errorf("common %q tree %q", got.CommonDir, got.WorkTree)
	}
	id, err := got.Identity(context.Background())
	if err != nil || id.Name != "Test" {
		t.Errorf("identity %v, %v", id, err)
	}
}

// TestOpenInHook opens repositories with the variables that git sets for hooks: at the top, below it, and elsewhere.
func TestOpenInHook(t *testing.T) {
	main := newTestRepo(t)
	writeTestFile(t, main.WorkTree, "sub/b.txt", "b\n")
	linked := filepath.Join(t.TempDir(), "linked")
	testGit(t, main.WorkTree, "worktree", "add", "-q", linked)
	gitDir := testGit(t, linked, "rev-parse", "--absolute-git-dir")
	writeTestFile(t, linked, "sub/b.txt", "b\n")
	other := t.TempDir()
	testGit(t, other, "init", "-q")
	scratch := filepath.Join(t.TempDir(), "index")
	for _, c := range []struct {
		name, gitDir, index, dir        string
		top, prefix, wantGit, wantIndex string
	}{
		{"main", "", ".git/index", main.WorkTree, main.WorkTree, "", main.GitDir, ""},
		{"commit -a", "", ".git/index.lock", main.WorkTree, main.WorkTree, "", main.GitDir, main.GitDir + "/index.lock"},
		{"commit PATH, below", "", main.GitDir + "/next-index-7.lock", main.WorkTree + "/sub", main.WorkTree, "sub/",
			main.GitDir, main.GitDir + "/next-index-7.lock"},
		{"elsewhere", "", main.GitDir + "/index.lock", other, other, "", other + "/.git", ""},
		{"elsewhere, of a newer git", main.GitDir, main.GitDir + "/index.lock", other, other, "", other + "/.git", ""},
		{"linked", gitDir, gitDir + "/index", linked, linked, "", gitDir, ""},
		{"linked, below", gitDir, gitDir + "/index.lock", linked + "/sub", linked, "sub/", gitDir, gitDir + "/index.lock"},
		{"linked, elsewhere", gitDir, gitDir + "/index.lock", other, other, "", other + "/.git", ""},
		{"a person's GIT_DIR", main.GitDir, "", other, other, "", main.GitDir, ""},
		{"a person's index", "", scratch, main.WorkTree, main.WorkTree, "", main.GitDir, scratch},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.gitDir != "" {
				t.Setenv("GIT_DIR", c.gitDir)
			}
			if c.index != "" {
				t.Setenv("GIT_INDEX_FILE", c.index)
			}
			got := openTestRepo(t, c.dir)
			if got.GitDir != c.wantGit || got.WorkTree != c.top || got.Prefix != c.prefix || got.IndexFile != c.wantIndex {
				t.Errorf("%s %s %q %q, want %s %s %q %q", got.GitDir, got.WorkTree, got.Prefix, got.IndexFile, c.wantGit, c.top,
					c.prefix, c.wantIndex)
			}
		})
	}
}

// TestInitIsWhereItWasAsked checks that a user's GIT_DIR does not redirect Init to another repository.
func TestInitIsWhereItWasAsked(t *testing.T) {
	other := newTestRepo(t)
	config := readTestFile(t, other.GitDir, "config")
	t.Setenv("GIT_DIR", other.GitDir)
	t.Setenv("GIT_WORK_TREE", other.WorkTree)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(t.TempDir(), "index"))
	dir := t.TempDir()
	repo, err := Init(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if repo.WorkTree != dir || repo.GitDir != filepath.Join(dir, ".git") || repo.IndexFile != "" {
		t.Errorf("made %+v, want one in %s", repo, dir)
	}
	if err := repo.SetConfig(context.Background(), "user.name", "Somebody Else"); err != nil {
		t.Fatal(err)
	}
	if got := readTestFile(t, other.GitDir, "config"); got != config {
		t.Errorf("the other repository's configuration is now\n%s", got)
	}
}

// TestEmptyTreeIsNotWritten: what only reads names the empty tree, so that it works in a repository that cannot be
// written.
func TestEmptyTreeIsNotWritten(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	testGit(t, dir, "init", "-q")
	repo := openTestRepo(t, dir)
	tree, err := repo.HeadOrEmpty(context.Background())
	if err != nil || tree != repo.EmptyTreeID() {
		t.Fatalf("HEAD is %q, %v", tree, err)
	}
	if changed, err := repo.Changed(context.Background(), tree, repo.EmptyTreeID()); err != nil || len(changed) > 0 {
		t.Errorf("it changes %v, %v", changed, err)
	}
	if repo.objects.Has(context.Background(), tree) {
		t.Errorf("the empty tree was written")
	}
}
