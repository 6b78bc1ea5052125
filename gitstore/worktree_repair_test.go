package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestHalfMadeWorktree checks that a worktree whose creation was killed at any point is recognised as incomplete.
func TestHalfMadeWorktree(t *testing.T) {
	for name, kill := range map[string]func(*testing.T, *Worktree){
		"whole":          func(*testing.T, *Worktree) {},
		"before marking": func(t *testing.T, w *Worktree) { remove(t, filepath.Join(w.GitDir, ownMarker)) },
		"before filling": func(t *testing.T, w *Worktree) { writeTestFile(t, w.GitDir, ownMarker, ownBegun) },
	} {
		t.Run(name, func(t *testing.T) {
			repo := newTestRepo(t)
			ctx := context.Background()
			made := addTestWorktree(t, repo)
			if made.Half {
				t.Error("a new one is half made")
			}
			kill(t, made)
			w, err := repo.OpenWorktree(ctx, "w1")
			if err != nil || w.Half != (name != "whole") || !w.Own {
				t.Fatalf("%+v, %v", w, err)
			}
			if err := repo.RemoveWorktree(ctx, "w1"); err != nil {
				t.Fatal(err)
			}
			if w, err = repo.AddWorktree(ctx, "w1", "work", testHead(t, repo)); err != nil || w.Half ||
				readTestFile(t, w.Dir, "a.txt") != "one\n" {
				t.Errorf("made again: %+v, %v", w, err)
			}
		})
	}
	if checkoutOf(t, newTestRepo(t)).Half {
		t.Error("the user's checkout is half made")
	}
}

// TestAddWorktreeBesideTorn checks that a registration with an empty commondir does not prevent a new worktree.
func TestAddWorktreeBesideTorn(t *testing.T) {
	repo := newTestRepo(t)
	torn := addTestWorktree(t, repo)
	if err := os.Truncate(filepath.Join(torn.GitDir, "commondir"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.AddWorktree(t.Context(), "w2", "other", testHead(t, repo)); err != nil {
		t.Error(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// TestAddWorktreeAgain checks that a worktree that somebody deleted is created again at its branch's commit.
func TestAddWorktreeAgain(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	w := addTestWorktree(t, repo)
	start := testHead(t, repo)
	writeTestFile(t, w.Dir, "work.txt", "work\n")
	id, _ := mustCommitAll(t, w, commitSpec(start))
	remove(t, w.Dir)
	again, err := repo.AddWorktree(ctx, "w1", "work", start)
	if err != nil {
		t.Fatal(err)
	}
	if readTestFile(t, again.Dir, "work.txt") != "work\n" || testGit(t, again.Dir, "rev-parse", "HEAD") != string(id) {
		t.Error("not at its branch")
	}
	remove(t, again.Dir)
	testGit(t, repo.WorkTree, "worktree", "prune")
	testGit(t, repo.WorkTree, "checkout", "-q", "work")
	if _, err := repo.AddWorktree(ctx, "w1", "work", start); !errors.Is(err, ErrConflict) {
		t.Errorf("a branch that is checked out: %v", err)
	}
}

func TestClearLocks(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	w := addTestWorktree(t, repo)
	old := time.Now().Add(-time.Hour)
	for _, path := range []string{"worktrees/w1/index.lock", "worktrees/w1/HEAD.lock", "refs/heads/work.lock"} {
		writeTestFile(t, repo.CommonDir, path, "")
		if err := os.Chtimes(filepath.Join(repo.CommonDir, path), old, old); err != nil {
			t.Fatal(err)
		}
	}
	cleared, err := w.ClearLocks(ctx, "refs/heads/work")
	if err != nil || !slices.Equal(cleared, []string{"index.lock", "HEAD.lock", "work.lock"}) {
		t.Fatalf("%q, %v", cleared, err)
	}
	writeTestFile(t, w.Dir, "a.txt", "agent\n")
	mustCommitAll(t, w, commitSpec(testHead(t, repo)))

	writeTestFile(t, w.GitDir, "index.lock", "") // recent: somebody may hold it
	short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if cleared, err := w.ClearLocks(short, "refs/heads/work"); err == nil || len(cleared) > 0 {
		t.Errorf("a young lock: %q, %v", cleared, err)
	}
	if _, err := checkoutOf(t, repo).ClearLocks(ctx, "refs/heads/work"); !errors.Is(err, errNotOwn) {
		t.Errorf("the user's: %v", err)
	}
}

// TestBring checks that work is brought into a worktree, again after a kill at any file, and that somebody's own
// edits stay.
func TestBring(t *testing.T) {
	type files = map[string]string
	for name, test := range map[string]struct {
		typed         string
		left          []string
		want, without files
	}{
		"new": {"true", nil, files{"a.txt": "100644 work\n", "d/new": "100644 work\n"}, files{"a.txt": "100644 one\n"}},
		"halfway": {"echo work >a.txt", nil, files{"a.txt": "100644 work\n", "d/new": "100644 work\n"},
			files{"a.txt": "100644 one\n"}},
		"with somebody's edits": {
			"echo mine >a.txt; echo mine >mine", []string{"a.txt"},
			files{"a.txt": "100644 mine\n", "mine": "100644 mine\n", "d/new": "100644 work\n"},
			files{"a.txt": "100644 mine\n", "mine": "100644 mine\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			repo := newTestRepo(t)
			from := testHead(t, repo)
			w := addTestWorktree(t, repo)
			shell(t, repo.WorkTree, "echo work >a.txt; mkdir d; echo work >d/new; git add .; git commit -qm work")
			to := testHead(t, repo)
			shell(t, w.Dir, test.typed)
			for range 2 {
				before, left, err := w.Bring(context.Background(), "refs/heads/work", from, to,
					"refs/runr-local/snapshots/test/without", "without")
				if err != nil || !slices.Equal(left, test.left) {
					t.Fatalf("left %q, %v", left, err)
				}
				if got := testGit(t, w.Dir, "rev-parse", "HEAD", "work"); got != string(to)+"\n"+string(to) {
					t.Errorf("at %s", got)
				}
				sameState(t, "brought", diskState(t, w.Dir), test.want)
				sameState(t, "without", treeState(t, repo, before.Tree), test.without)
			}
		})
	}
	if _, _, err := checkoutOf(t, newTestRepo(t)).Bring(context.Background(), "refs/heads/main", "", "", "",
		""); !errors.Is(err, errNotOwn) {
		t.Errorf("to the user's checkout: %v", err)
	}
}
