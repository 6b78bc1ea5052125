package refdb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
)

// TestSyncRefThatWasPacked checks that pack-refs may remove a ref and its directory right after the rename.
func TestSyncRefThatWasPacked(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	id := testCommits(t, repo, 1)[0]
	const name = "refs/runr/log/aaaaaaaaaaaa"
	if err := repo.SwapRef(ctx, name, id, ""); err != nil {
		t.Fatal(err)
	}
	testGit(t, repo.dir.WorkTree, "pack-refs", "--all", "--prune")
	if _, err := os.Stat(filepath.Dir(repo.Path(name))); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the directory is still there: %v", err)
	}
	if err := repo.syncRef(name); err != nil {
		t.Errorf("packed: %v", err)
	}
	os.Remove(filepath.Join(repo.dir.CommonDir, "packed-refs"))
	if err := repo.syncRef(name); err != nil {
		t.Errorf("deleted: %v", err)
	}
}

// TestLockOfKilledWriter checks that a writer that was killed with a ref's lock blocks nobody.
func TestLockOfKilledWriter(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	id := testCommits(t, repo, 1)[0]
	const name = "refs/runr/log/aaaaaaaaaaaa"
	for _, written := range []string{"", string(id) + "\n"} {
		lock, release, err := repo.lockRef(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		lock.WriteString(written)
		note, err := os.ReadFile(filepath.Join(repo.dir.StateDir(), "refs.lock"))
		if err != nil || !strings.HasSuffix(string(note), lock.Name()) {
			t.Fatalf("note %q, %v", note, err)
		}
		release()
		// As after a kill: the lock is free, the note and the ref's lock file are there.
		if err := os.WriteFile(filepath.Join(repo.dir.StateDir(), "refs.lock"), note, 0o666); err != nil {
			t.Fatal(err)
		}
		have, _ := repo.Ref(ctx, name)
		next := testCommits(t, repo, 1)[0]
		if err := repo.SwapRef(ctx, name, next, have); err != nil {
			t.Errorf("after a writer that had written %q: %v", written, err)
		}
		if have, err = repo.Ref(ctx, name); have != next || err != nil {
			t.Errorf("ref %s, %v", have, err)
		}
	}
}

// TestLockThatIsNotTheKilledWriters checks that a lock file that does not match the note is left alone.
func TestLockThatIsNotTheKilledWriters(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	id := testCommits(t, repo, 1)[0]
	const name = "refs/runr/log/aaaaaaaaaaaa"
	path := plantLock(t, repo, name, 0)
	for _, note := range []string{"1 " + path, "x " + path, "1", path, "1 " + repo.Path("HEAD")} {
		if err := os.WriteFile(filepath.Join(repo.dir.StateDir(), "refs.lock"), []byte(note), 0o666); err != nil {
			os.MkdirAll(repo.dir.StateDir(), 0o777)
			os.WriteFile(filepath.Join(repo.dir.StateDir(), "refs.lock"), []byte(note), 0o666)
		}
	}
	if err := repo.SwapRef(ctx, name, id, ""); !errors.Is(err, gitdir.ErrBusy) {
		t.Errorf("with somebody else's lock: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("somebody else's lock: %v", err)
	}
}
