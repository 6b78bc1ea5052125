package entrylog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

const sharedRef = "refs/runr/claims/one"

// heldBy returns a commit with a text that names its maker.
func heldBy(t *testing.T, repo *Store, text string) odb.ID {
	t.Helper()
	ctx := context.Background()
	empty, err := repo.objects.WriteTree(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	id, err := repo.objects.WriteCommit(ctx,
		odb.Commit{Tree: empty, Author: testAgent, Committer: testAgent, AuthorWhen: testWhen, CommitterWhen: testWhen,
			Message: text + "\n"})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestSharedRefGoesToOne(t *testing.T) {
	ctx := context.Background()
	_, repos := newRemote(t, 2)
	a, b := repos[0], repos[1]
	ours, theirs := heldBy(t, a, "a"), heldBy(t, b, "b")
	if err := a.SwapShared(ctx, "origin", sharedRef, ours, ""); err != nil {
		t.Fatal(err)
	}
	if err := b.SwapShared(ctx, "origin", sharedRef, theirs, ""); !errors.Is(err, gitdir.ErrLostRace) {
		t.Fatalf("taken twice: %v", err)
	}
	held, err := b.ReadShared(ctx, "origin", sharedRef)
	if err != nil || held != ours {
		t.Fatalf("held %q, %v, want %q", held, err, ours)
	}
	if commit, err := b.objects.ReadCommit(ctx, held); err != nil || commit.Message != "a\n" {
		t.Errorf("%+v, %v", commit, err)
	}
	if err := b.SwapShared(ctx, "origin", sharedRef, theirs, held); err != nil {
		t.Errorf("taken over with what is known: %v", err)
	}
	if err := a.SwapShared(ctx, "origin", sharedRef, "", ours); !errors.Is(err, gitdir.ErrLostRace) {
		t.Errorf("given back by who has it no more: %v", err)
	}
	if err := b.SwapShared(ctx, "origin", sharedRef, "", theirs); err != nil {
		t.Error(err)
	}
	if held, err := a.ReadShared(ctx, "origin", sharedRef); err != nil || held != "" {
		t.Errorf("held %q, %v after it was given back", held, err)
	}
}

func TestSharedRefRefuses(t *testing.T) {
	ctx := context.Background()
	_, repos := newRemote(t, 1)
	id := heldBy(t, repos[0], "a")
	for _, ref := range []string{"refs/heads/main", "refs/runr/log/0123456789ab", "refs/runr/claims/a b", "-x"} {
		if err := repos[0].SwapShared(ctx, "origin", ref, id, ""); err == nil {
			t.Errorf("%s was moved", ref)
		}
		if _, err := repos[0].ReadShared(ctx, "origin", ref); err == nil {
			t.Errorf("%s was read", ref)
		}
	}
	if err := repos[0].SwapShared(ctx, "nowhere", sharedRef, id, ""); !errors.Is(err, gitdir.ErrNotFound) {
		t.Errorf("no such remote: %v", err)
	}
}

func TestSharedRefWithoutTheRemote(t *testing.T) {
	ctx := context.Background()
	_, repos := newRemote(t, 1)
	testGit(t, repos[0].dir.WorkTree, "remote", "set-url", "origin", t.TempDir()+"/gone")
	repo := openTestRepo(t, repos[0].dir.WorkTree)
	if err := repo.SwapShared(ctx, "origin", sharedRef, heldBy(t, repo, "a"), ""); !errors.Is(err, gitdir.ErrRemote) {
		t.Error(err)
	}
}

// A commit that the remote lacks does not prevent other commits from being fetched, and ten thousand missing commits
// need only a few fetches.
func TestFetchCommits(t *testing.T) {
	ctx := t.Context()
	_, repos := newRemote(t, 2)
	a, b := repos[0], repos[1]
	wanted := heldBy(t, a, "wanted")
	testGit(t, a.dir.WorkTree, "push", "-q", "origin", string(wanted)+":refs/heads/there")
	missing := func(n int) (ids []odb.ID) {
		for i := range n {
			ids = append(ids, odb.ID(fmt.Sprintf("%040x", i+1)))
		}
		return ids
	}
	for _, c := range []struct {
		commits []odb.ID
		comes   bool
	}{{append(missing(2), wanted), true}, {missing(10_000), false}} {
		trace := filepath.Join(t.TempDir(), "trace")
		t.Setenv("GIT_TRACE", trace)
		if err := b.FetchCommits(ctx, "origin", c.commits); err != nil {
			t.Fatal(err)
		}
		said, err := os.ReadFile(trace)
		if fetches := bytes.Count(said, []byte("built-in: git fetch")); err != nil || fetches == 0 || fetches > maxFetches {
			t.Errorf("%d fetches for %d commits, %v", fetches, len(c.commits), err)
		}
		if _, err := b.objects.ReadCommit(ctx, wanted); c.comes && err != nil {
			t.Error(err)
		}
	}
}

// TestRemoteLock: if a killed push left a lock on a remote, the error contains the lock's path.
func TestRemoteLock(t *testing.T) {
	ctx := context.Background()
	remote, repos := newRemote(t, 1)
	a := repos[0]
	if err := a.SwapShared(ctx, "origin", sharedRef, heldBy(t, a, "a"), ""); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(remote, sharedRef+".lock")
	if err := os.WriteFile(lock, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	held, err := a.ReadShared(ctx, "origin", sharedRef)
	if err != nil {
		t.Fatal(err)
	}
	var locked *RemoteLockError
	err = a.SwapShared(ctx, "origin", sharedRef, heldBy(t, a, "b"), held)
	if !errors.As(err, &locked) || !errors.Is(err, gitdir.ErrLostRace) {
		t.Fatalf("moved beside a lock: %v", err)
	}
	if real, err := filepath.EvalSymlinks(lock); err != nil || locked.Path != real {
		t.Errorf("the lock is %q, want %q (%v)", locked.Path, real, err)
	}
}
