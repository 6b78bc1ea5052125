package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWorktreesInAPlace creates named worktrees below several roots, such as one with spaces and line feeds and
// one behind a symbolic link. There must be nothing else of the repository.
func TestWorktreesInAPlace(t *testing.T) {
	for name, root := range map[string]string{
		"spaces": "a cache/of mine", "line feed": "a\ncache", "unicode": "café", "link": "link/trees",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, repo := context.Background(), newTestRepo(t)
			home := t.TempDir()
			if err := errors.Join(os.Mkdir(filepath.Join(home, "real"), 0o755),
				os.Symlink("real", filepath.Join(home, "link"))); err != nil {
				t.Fatal(err)
			}
			repo.PutTrees(TreePlace{Root: filepath.Join(home, root)})
			w, err := repo.AddWorktree(ctx, "w1", "work", testHead(t, repo))
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(filepath.Dir(w.Dir)); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if !w.Own || repo.WorktreeDir("w1") != w.Dir {
				t.Errorf("own %v, %q is at %q", w.Own, w.Dir, repo.WorktreeDir("w1"))
			}
			again := openTestRepo(t, repo.WorkTree) // it has no TreePlace
			if found, err := again.OpenWorktree(ctx, "w1"); err != nil || found.Dir != w.Dir {
				t.Errorf("found %+v, %v", found, err)
			}
			writeTestFile(t, w.Dir, "new.txt", "x\n")
			if _, err := w.NormalTree(ctx); err != nil {
				t.Error(err)
			}
			if err := repo.RemoveWorktree(ctx, "w1"); err != nil || exists(w.Dir) || exists(filepath.Dir(w.Dir)) {
				t.Errorf("%v, there is %q: %v", err, w.Dir, exists(w.Dir))
			}
			if names, err := repo.OwnWorktrees(""); err != nil || len(names) > 0 {
				t.Errorf("left %q, %v", names, err)
			}
		})
	}
}

// TestPlaceIsRefused checks that a file, or a directory that somebody else may have created, is not used.
func TestPlaceIsRefused(t *testing.T) {
	ctx, repo := context.Background(), newTestRepo(t)
	root := t.TempDir()
	repo.PutTrees(TreePlace{Root: root, Name: "x"})
	if err := os.Symlink(t.TempDir(), repo.places()[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.AddWorktree(ctx, "w1", "", testHead(t, repo)); !errors.Is(err, ErrPlace) {
		t.Errorf("a link is %v", err)
	}
	var told []string
	repo.PutTrees(TreePlace{Root: root, Tell: func(line string) { told = append(told, line) }})
	w, err := repo.AddWorktree(ctx, "w1", "", testHead(t, repo))
	if err != nil || filepath.Dir(w.Dir) != repo.stateTrees() || len(told) != 1 ||
		!strings.Contains(told[0], "is not a directory") {
		t.Errorf("%+v, %v, told %q", w, err, told)
	}
}

// TestRelinkFollowsNoLink checks that relink does not write through a .git that an agent replaced by a link.
func TestRelinkFollowsNoLink(t *testing.T) {
	ctx, repo := context.Background(), newTestRepo(t)
	w, err := repo.AddWorktree(ctx, "w1", "", testHead(t, repo))
	if err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(t.TempDir(), "victim")
	dotGit := filepath.Join(w.Dir, ".git")
	if err := errors.Join(os.WriteFile(victim, []byte("mine\n"), 0o644), os.Remove(dotGit),
		os.Symlink(victim, dotGit)); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.OpenWorktree(ctx, "w1"); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(victim); string(got) != "mine\n" {
		t.Errorf("written: %q", got)
	}
	if linkedTo(w.Dir) != w.GitDir {
		t.Errorf("linked to %q", linkedTo(w.Dir))
	}
}
