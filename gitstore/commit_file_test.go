package gitstore

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestCommitFile checks that only one file of a commit changes and keeps its mode. When two move a branch at
// once, the second gets ErrLostRace and does not remove the first one's record.
func TestCommitFile(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	shell(t, repo.WorkTree,
		"mkdir -p d/e; echo one >d/e/f; chmod +x d/e/f; ln -s f d/e/l; git add -A; git commit -qm more")
	top, status := testHead(t, repo), testGit(t, repo.WorkTree, "status", "--porcelain")
	made, err := repo.CommitFile(ctx, top, "d/e/f", []byte("two\n"), "Two\n", time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	if got := testGit(t, repo.WorkTree, "diff", "--name-only", string(top), string(made)); got != "d/e/f" {
		t.Errorf("changed %q", got)
	}
	if got := testGit(t, repo.WorkTree, "ls-tree", string(made), "d/e/f")[:6]; got != ModeExecutable {
		t.Errorf("mode %s", got)
	}
	if same, err := repo.CommitFile(ctx, made, "d/e/f", []byte("two\n"), "Again\n", time.Unix(1e9, 0)); err != nil ||
		same != made {
		t.Errorf("the same again: %s, %v", same, err)
	}
	for _, path := range []string{"d/e", "d/e/l", "d/e/none", "d/e/f/g", "../x", "/d/e/f", ""} {
		if _, err := repo.CommitFile(ctx, top, path, nil, "x\n", time.Unix(1e9, 0)); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", path, err)
		}
	}
	op := Operation{Kind: OpLand, What: "on side"}
	if _, err := repo.AdvanceBranch(ctx, op, "refs/heads/side", made, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := repo.AdvanceBranch(ctx, op, "refs/heads/side", top, ""); !errors.Is(err, ErrLostRace) {
		t.Errorf("the second of two: %v", err)
	}
	if all, err := repo.Operations(ctx); err != nil || len(all) != 1 {
		t.Errorf("%d operations, %v", len(all), err)
	}
	if now := testGit(t, repo.WorkTree, "status", "--porcelain"); now != status || testHead(t, repo) != top {
		t.Errorf("the working tree is %q, was %q", now, status)
	}
}
