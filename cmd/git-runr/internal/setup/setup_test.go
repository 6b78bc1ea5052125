package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

func opened(t *testing.T) *store.Store {
	t.Helper()
	repo, err := gitstore.Open(t.Context(), testrepo.New(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	return store.NewStore(repo, time.Now)
}

// remove performs all removals and returns what was left alone.
func remove(t *testing.T, dir string) []string {
	t.Helper()
	repo, err := gitstore.Open(t.Context(), dir) // Open reads the current configuration
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	todo, left, kept, err := Removals(t.Context(), store.NewStore(repo, time.Now), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range todo {
		if err := r.Do(); err != nil {
			t.Fatalf("%s: %v", r.What, err)
		}
	}
	if kept != "" {
		left = append(left, kept)
	}
	return left
}

// If init is killed before it has written .runr.toml, or right after that, the file is nobody's or removed.
func TestWriteConfigRemembersFirst(t *testing.T) {
	repo := opened(t).Repo
	path := filepath.Join(repo.WorkTree, config.FileName)
	if err := os.WriteFile(path, []byte("# mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteConfig(repo, nil, runplan.Worktree{}); err == nil {
		t.Error("a file was replaced")
	}
	if left := remove(t, repo.WorkTree); len(left) != 1 || !strings.Contains(left[0], "it was changed since") {
		t.Errorf("left alone: %q", left)
	}
	if err := os.WriteFile(path, []byte(config.Initial(nil, runplan.Worktree{})), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteConfig(repo, nil, runplan.Worktree{}); err == nil {
		t.Error("a file was replaced")
	}
	if left := remove(t, repo.WorkTree); len(left) != 0 || isThere(path) {
		t.Errorf("left alone: %q", left)
	}
}

// After the removals the configuration has the same bytes as before the setup.
func TestRemovalsPutBack(t *testing.T) {
	store := opened(t)
	repo := store.Repo
	path := filepath.Join(repo.CommonDir, "config")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before := string(text) + "\n# a comment behind an empty line\n[user]\n\n\tname = Ann\n[notes]\n"
	testrepo.WriteFile(t, repo.CommonDir, "config", before)
	if err := Remember(repo); err != nil {
		t.Fatal(err)
	}
	if err := WriteConfig(repo, []runplan.Check{{Name: "test", Command: "true"}}, runplan.Worktree{}); err != nil {
		t.Fatal(err)
	}
	if err := ShowNotes(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	if left := remove(t, repo.WorkTree); len(left) > 0 {
		t.Errorf("left alone: %q", left)
	}
	if after := testrepo.ReadFile(t, repo.CommonDir, "config"); after != before {
		t.Errorf("the configuration is now\n%s\nwant\n%s", after, before)
	}
	if testrepo.Exists(filepath.Join(repo.WorkTree, config.FileName)) || testrepo.Exists(repo.StateDir()) {
		t.Error("files of ours are left")
	}
}

// A .runr.toml that somebody changed or committed, or that init did not write, stays.
func TestRemovalsLeaveAnothersFile(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string){
		"it was changed": func(t *testing.T, dir string) { testrepo.WriteFile(t, dir, config.FileName, "# mine\n") },
		"it is committed": func(t *testing.T, dir string) {
			testrepo.Git(t, dir, "add", config.FileName)
			testrepo.Git(t, dir, "commit", "-qm", "config")
		},
	} {
		t.Run(name, func(t *testing.T) {
			repo := opened(t).Repo
			if err := Remember(repo); err != nil {
				t.Fatal(err)
			}
			if err := WriteConfig(repo, nil, runplan.Worktree{}); err != nil {
				t.Fatal(err)
			}
			change(t, repo.WorkTree)
			left := remove(t, repo.WorkTree)
			if !slices.ContainsFunc(left, func(line string) bool { return strings.Contains(line, name) }) {
				t.Errorf("left alone: %q", left)
			}
			if !testrepo.Exists(filepath.Join(repo.WorkTree, config.FileName)) {
				t.Error("the file is gone")
			}
		})
	}
}

// WriteConfig overwrites no file.
func TestWriteConfigKeeps(t *testing.T) {
	repo := opened(t).Repo
	testrepo.WriteFile(t, repo.WorkTree, config.FileName, "# mine\n")
	if err := WriteConfig(repo, nil, runplan.Worktree{}); err == nil {
		t.Error("it was written over")
	}
	if text := testrepo.ReadFile(t, repo.WorkTree, config.FileName); text != "# mine\n" {
		t.Errorf("%q", text)
	}
}
