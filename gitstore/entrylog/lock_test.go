package entrylog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/gitdir"
	"github.com/git-runr/git-runr/gitstore/odb"
)

func TestLockExcludes(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	inside, most := 0, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 20 {
				unlock, err := repo.dir.Lock(ctx, "test")
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				inside++
				most = max(most, inside)
				mu.Unlock()
				time.Sleep(100 * time.Microsecond)
				mu.Lock()
				inside--
				mu.Unlock()
				unlock()
			}
		})
	}
	all.Wait()
	if most != 1 {
		t.Errorf("%d were inside at once", most)
	}
}

func TestTryLock(t *testing.T) {
	repo := newTestRepo(t)
	unlock, ok, err := repo.dir.TryLock("work/main")
	if !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if _, ok, err := repo.dir.TryLock("work/main"); ok || err != nil {
		t.Errorf("taken twice: %v, %v", ok, err)
	}
	other, ok, err := repo.dir.TryLock("work/other")
	if !ok || err != nil {
		t.Fatalf("another name: %v, %v", ok, err)
	}
	other()
	unlock()
	again, ok, err := repo.dir.TryLock("work/main")
	if !ok || err != nil {
		t.Fatalf("after unlock: %v, %v", ok, err)
	}
	again()
}

func TestLockEndsWithContext(t *testing.T) {
	repo := newTestRepo(t)
	unlock, err := repo.dir.Lock(context.Background(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if _, err := repo.dir.Lock(ctx, "test"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestLockAfterStateWasDeleted(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	unlock, err := repo.dir.Lock(ctx, "test")
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(repo.dir.StateDir())
	second, err := repo.dir.Lock(ctx, "test") // a lock on a deleted file protects nobody
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, ok, err := repo.dir.TryLock("test"); ok || err != nil {
		t.Errorf("the second lock is not held: %v, %v", ok, err)
	}
	second()
}

func TestLockOfDeadProcess(t *testing.T) {
	if os.Getenv("RUNR_TEST_HOLD") != "" {
		repo, err := gitdir.Open(context.Background(), os.Getenv("RUNR_TEST_HOLD"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := repo.Lock(context.Background(), "test"); err != nil {
			t.Fatal(err)
		}
		fmt.Println("held")
		time.Sleep(time.Minute)
	}
	repo := newTestRepo(t)
	child := exec.Command(os.Args[0], "-test.run=^TestLockOfDeadProcess$")
	child.Env = append(os.Environ(), "RUNR_TEST_HOLD="+repo.dir.WorkTree)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	out.Read(make([]byte, 1)) // the child writes when it holds the lock
	if _, ok, err := repo.dir.TryLock("test"); ok || err != nil {
		t.Errorf("while it lives: %v, %v", ok, err)
	}
	child.Process.Kill()
	child.Wait()
	if _, ok, err := repo.dir.TryLock("test"); !ok || err != nil {
		t.Errorf("after it was killed: %v, %v", ok, err)
	}
}

func TestLockNames(t *testing.T) {
	repo := newTestRepo(t)
	for _, name := range []string{"", ".", "..", "../x", "/x", "a/../../x", "a/"} {
		if _, _, err := repo.dir.TryLock(name); err == nil {
			t.Errorf("%q was locked", name)
		}
	}
}

func testHead(t *testing.T, repo *Store) odb.ID {
	t.Helper()
	head, err := repo.refs.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return head
}

func TestGCRuns(t *testing.T) {
	repo := newTestRepo(t)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(repo.dir.CommonDir, "gc.pid")
	for _, c := range []struct {
		name, text string
		age        time.Duration
		want       bool
	}{
		{"alive", fmt.Sprint(os.Getpid(), " ", host), 0, true},
		{"alive but old", fmt.Sprint(os.Getpid(), " ", host), 13 * time.Hour, false},
		{"dead", fmt.Sprint(dead.Process.Pid, " ", host), 0, false},
		{"another host", fmt.Sprint(dead.Process.Pid, " elsewhere.example"), 0, true},
		{"empty", "", 0, false},
		{"nonsense", "x y", 0, false},
		{"negative", "-1 " + host, 0, false},
	} {
		replaceFile(t, path, []byte(c.text))
		then := time.Now().Add(-c.age)
		os.Chtimes(path, then, then)
		if got := repo.dir.GcRuns(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	os.Remove(path)
	if repo.dir.GcRuns() {
		t.Error("no file: true")
	}
}

// beginGC makes this process look like a running gc until end is called.
func beginGC(t *testing.T, repo *Store) (end func()) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(repo.dir.CommonDir, "gc.pid")
	replaceFile(t, path, []byte(fmt.Sprint(os.Getpid(), " ", host)))
	return func() { os.Remove(path) }
}

func TestWaitForGC(t *testing.T) {
	repo := newTestRepo(t)
	end := beginGC(t, repo)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := repo.dir.WaitForGC(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it runs: %v", err)
	}
	go func() {
		time.Sleep(20 * time.Millisecond)
		end()
	}()
	if err := repo.dir.WaitForGC(context.Background()); err != nil || repo.dir.GcRuns() {
		t.Errorf("after it ended: %v", err)
	}
}

// Append does not wait for a running gc. The gc does not delete the new objects, although it read the refs before.
func TestAppendDuringGC(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		repo, ctx := newTestRepoFormat(t, format), context.Background()
		testGit(t, repo.dir.WorkTree, "commit", "-q", "--allow-empty", "-m", "first")
		first := mustAppend(t, repo, Record{Message: "first"})
		end := beginGC(t, repo)
		second := mustAppend(t, repo, Record{Message: "second", Attachments: map[string][]byte{"a": []byte("b")}})
		if err := repo.Pin(ctx, "test", testHead(t, repo)); err != nil {
			t.Fatal(err)
		}
		notes, err := repo.OpenNotes(ctx, "refs/notes/runr")
		if err == nil {
			err = notes.Set(ctx, testHead(t, repo), []byte("text\n"))
		}
		if err == nil {
			_, err = notes.Commit(ctx, "notes\n", time.Unix(1800000000, 0))
		}
		if err != nil {
			t.Fatal(err)
		}
		// What a real gc does: it deletes everything that the refs did not need when it began.
		refs := []string{logPrefix + repo.Writer(), "refs/notes/runr", pinRef}
		for i, old := range []odb.ID{first.ID, "", ""} {
			now := testGit(t, repo.dir.WorkTree, "rev-parse", refs[i])
			testGit(t, repo.dir.WorkTree, "update-ref", "-d", refs[i])
			if old != "" {
				testGit(t, repo.dir.WorkTree, "update-ref", refs[i], string(old))
			}
			refs[i] += " " + now
		}
		testGit(t, repo.dir.WorkTree, "repack", "-q", "-a", "-d")
		testGit(t, repo.dir.WorkTree, "prune", "--expire=now")
		for _, ref := range refs {
			name, id, _ := strings.Cut(ref, " ")
			testGit(t, repo.dir.WorkTree, "update-ref", name, id)
		}
		testGit(t, repo.dir.WorkTree, "fsck", "--strict")
		keeps := filepath.Join(repo.dir.CommonDir, "objects", "pack", "*.keep")
		if kept, _ := filepath.Glob(keeps); len(kept) != 3 {
			t.Errorf("kept %v", kept)
		}
		mustAppend(t, repo, Record{Message: "third"})
		if kept, _ := filepath.Glob(keeps); len(kept) != 4 {
			t.Errorf("kept, while it still runs, %v", kept)
		}
		end()
		mustAppend(t, repo, Record{Message: "fourth"})
		if kept, _ := filepath.Glob(keeps); len(kept) != 0 {
			t.Errorf("still kept %v", kept)
		}
		testGit(t, repo.dir.WorkTree, "gc", "-q", "--prune=now")
		if text, err := openTestRepo(t, repo.dir.WorkTree).Attachment(ctx, second.ID, "a"); string(text) != "b" ||
			err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
}

// noticed is a context that reports when somebody begins to wait for it.
type noticed struct {
	context.Context
	once  sync.Once
	waits chan struct{}
}

func (n *noticed) Done() <-chan struct{} {
	n.once.Do(func() { close(n.waits) })
	return n.Context.Done()
}

// Moves of other refs wait for a running gc, and fail if it deleted the new object.
func TestSwapRefDuringGC(t *testing.T) {
	repo, ctx := newTestRepo(t), context.Background()
	id := testCommits(t, repo, 1)[0]
	for _, deleted := range []bool{false, true} {
		end := beginGC(t, repo)
		done := make(chan error, 1)
		waits := &noticed{Context: ctx, waits: make(chan struct{})}
		go func() { done <- repo.refs.SwapRef(waits, fmt.Sprintf("refs/runr-local/test/%v", deleted), id, "") }()
		<-waits.waits
		if deleted {
			loseObject(t, repo, id)
		}
		end()
		if err := <-done; errors.Is(err, gitdir.ErrLostRace) != deleted || !deleted && err != nil {
			t.Errorf("deleted %v: %v", deleted, err)
		}
	}
}

// A process that git started keeps the lock of a killed program and is named as its holder. After the program
// unlocks, the process holds nothing.
func TestHoldLock(t *testing.T) {
	repo := newTestRepo(t)
	for _, killed := range []bool{true, false} {
		ctx, unlock, err := repo.dir.HoldLock(context.Background(), "held")
		if err != nil {
			t.Fatal(err)
		}
		child := exec.Command("sleep", "60")
		child.ExtraFiles = []*os.File{gitdir.HeldLock(ctx)}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		path, _ := repo.dir.LockPath("held")
		if killed {
			gitdir.HeldLock(ctx).Close()
			if name := fmt.Sprintf("process %d (\"sleep\")", child.Process.Pid); exists("/proc/self/fd") &&
				gitdir.LockHolder(path) != name {
				t.Errorf("held by %s, not %s", gitdir.LockHolder(path), name)
			}
		} else {
			unlock()
		}
		free, ok, err := repo.dir.TryLock("held")
		if err != nil || ok == killed {
			t.Errorf("killed %v: free %v, %v", killed, ok, err)
		}
		if ok {
			free()
		}
		child.Process.Kill()
		child.Wait()
	}
}
