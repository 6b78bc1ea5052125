//go:build unix

package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestRestoreToUnderUmask checks that restored files get the permissions that the umask leaves.
func TestRestoreToUnderUmask(t *testing.T) {
	repo := newTestRepo(t)
	shell(t, repo.WorkTree, "echo x >x; chmod 755 x")
	snap := takeSnapshot(t, checkoutOf(t, repo), "one")
	to := filepath.Join(t.TempDir(), "to")
	defer syscall.Umask(syscall.Umask(0o077))
	if _, err := repo.RestoreTo(context.Background(), to, RestoreSpec{From: snap}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{".": 0o700, "a.txt": 0o600, "x": 0o700} {
		if info, err := os.Stat(filepath.Join(to, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestSnapshotGaps(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	testGit(t, dir, "init", "-q", "empty")
	writeTestFile(t, dir, "empty/inside.txt", "not recorded\n")
	writeTestFile(t, dir, "zebra.txt", "recorded\n")
	writeTestFile(t, dir, "git~1", "no tree may hold this\n")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		snap := takeSnapshot(t, checkoutOf(t, repo), "one")
		if want := []string{"git~1", "empty/"}; !slices.Equal(snap.Gaps, want) {
			t.Errorf("gaps %q, want %q", snap.Gaps, want)
		}
		if state := treeState(t, repo, snap.Tree); len(state) != 2 || state["zebra.txt"] == "" {
			t.Errorf("recorded %q", state)
		}
		again, err := repo.ReadSnapshot(context.Background(), snap.ID)
		if err != nil || !slices.Equal(again.Gaps, snap.Gaps) {
			t.Errorf("read back %q, %v", again.Gaps, err)
		}
	}
}
