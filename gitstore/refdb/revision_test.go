package refdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

func TestHeadAndBranch(t *testing.T) {
	repo, ctx := newTestRepoFormat(t, "sha1"), context.Background()
	if _, err := repo.Head(ctx); !errors.Is(err, gitdir.ErrUnborn) {
		t.Errorf("unborn: %v", err)
	}
	if branch, err := repo.Branch(ctx); branch != "refs/heads/main" || err != nil {
		t.Errorf("unborn: branch %q, %v", branch, err)
	}
	testGit(t, repo.dir.WorkTree, "commit", "-q", "--allow-empty", "-m", "x")
	want := odb.ID(testGit(t, repo.dir.WorkTree, "rev-parse", "HEAD"))
	for _, how := range []string{"loose", "packed", "detached", "symbolic link"} {
		switch how {
		case "packed":
			testGit(t, repo.dir.WorkTree, "pack-refs", "--all")
		case "detached":
			testGit(t, repo.dir.WorkTree, "checkout", "-q", "--detach")
		case "symbolic link":
			testGit(t, repo.dir.WorkTree, "checkout", "-q", "main")
			testGit(t, repo.dir.WorkTree, "commit", "-q", "--allow-empty", "-m", "y")
			want = odb.ID(testGit(t, repo.dir.WorkTree, "rev-parse", "HEAD"))
			head := filepath.Join(repo.dir.GitDir, "HEAD")
			os.Remove(head)
			if err := os.Symlink("refs/heads/main", head); err != nil {
				t.Fatal(err)
			}
		}
		branch, err := repo.Branch(ctx)
		if err != nil || (branch == "") != (how == "detached") {
			t.Errorf("%s: branch %q, %v", how, branch, err)
		}
		if head, err := repo.Head(ctx); head != want || err != nil {
			t.Errorf("%s: head %q, %v", how, head, err)
		}
	}
}

// TestHeadThatSaysNothing checks that a HEAD that a killed git left is an error and causes no endless recursion.
func TestHeadThatSaysNothing(t *testing.T) {
	repo, ctx := newTestRepoFormat(t, "sha1"), context.Background()
	testGit(t, repo.dir.WorkTree, "commit", "-q", "--allow-empty", "-m", "x")
	head := filepath.Join(repo.dir.GitDir, "HEAD")
	for _, text := range []string{"", "nonsense\n", string(repo.objects.ZeroID()) + "\n", "missing"} {
		if err := os.WriteFile(head, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if text == "missing" {
			os.Remove(head)
		}
		if id, err := repo.Head(ctx); err == nil || id != "" {
			t.Errorf("HEAD %q: %q, %v", text, id, err)
		}
		if branch, err := repo.Branch(ctx); err == nil || branch != "" {
			t.Errorf("HEAD %q: branch %q, %v", text, branch, err)
		}
	}
}

func TestResolve(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	want := odb.ID(testGit(t, repo.dir.WorkTree, "rev-parse", "HEAD"))
	testGit(t, repo.dir.WorkTree, "tag", "-a", "-m", "tag", "v1")
	for _, rev := range []string{"HEAD", "main", "v1", string(want), want.Short(), "@", "HEAD^{/first}"} {
		if got, err := repo.Resolve(ctx, rev); got != want || err != nil {
			t.Errorf("%q: %q, %v", rev, got, err)
		}
	}
	for _, rev := range []string{"", "nothing", "HEAD:a.txt", "HEAD~1", "--all", "-h", "a\nb", "HEAD..HEAD"} {
		_, err := repo.Resolve(ctx, rev)
		if !errors.Is(err, gitdir.ErrNotFound) || !strings.Contains(err.Error(), fmt.Sprintf("%q", rev)) {
			t.Errorf("%q: %v", rev, err)
		}
	}
}

func TestBlob(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	writeTestFile(t, repo.dir.WorkTree, "dir/sub/b.txt", "b\n")
	testGit(t, repo.dir.WorkTree, "add", ".")
	testGit(t, repo.dir.WorkTree, "commit", "-qm", "second")
	head, err := repo.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a.txt": "one\n", "dir/sub/b.txt": "b\n"} {
		if got, err := repo.Blob(ctx, head, path); string(got) != want || err != nil {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"", "b.txt", "dir", "dir/sub", "dir/", "/a.txt", "a.txt/x", "../a.txt"} {
		if _, err := repo.Blob(ctx, head, path); !errors.Is(err, gitdir.ErrNotFound) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestPromisorObject(t *testing.T) {
	origin := newTestRepo(t)
	testGit(t, origin.dir.WorkTree, "config", "uploadpack.allowFilter", "true")
	dir := filepath.Join(t.TempDir(), "partial")
	testGit(t, origin.dir.WorkTree, "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+origin.dir.WorkTree,
		dir)
	repo, ctx := openTestRepo(t, dir), context.Background()
	head, err := repo.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	text, err := repo.Blob(ctx, head, "a.txt")
	if err != nil || string(text) != "one\n" {
		t.Errorf("read %q, %v", text, err)
	}
}
