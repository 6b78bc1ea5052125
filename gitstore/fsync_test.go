package gitstore

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestGitSyncsWorktrees checks that git syncs the files that it writes in a working tree, even for a user
// who has disabled that.
func TestGitSyncsWorktrees(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	testGit(t, repo.WorkTree, "config", "core.fsync", "none")
	head := testHead(t, repo)
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"tree of files", func() error { _, err := checkoutOf(t, repo).NormalTree(ctx); return err }},
		{"linked worktree", func() error { _, err := repo.AddWorktree(ctx, "w", "w", head); return err }},
	} {
		t.Run(c.name, func(t *testing.T) {
			writeTestFile(t, repo.WorkTree, "file", c.name)
			trace := filepath.Join(t.TempDir(), "trace")
			t.Setenv("GIT_TRACE2_EVENT", trace)
			if err := c.do(); err != nil {
				t.Fatal(err)
			}
			said, err := os.ReadFile(trace)
			if err != nil || !bytes.Contains(said, []byte(`"fsync/hardware-flush"`)) {
				t.Errorf("git has synced nothing (%v): %s", err, said)
			}
		})
	}
}
