//go:build unix

package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// closeDir makes a directory that nobody can write to, not even root. It skips the test if that is impossible.
func closeDir(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(dir, 0o755) })
		return
	}
	if out, err := exec.Command("chattr", "+i", dir).CombinedOutput(); err != nil {
		t.Skipf("root, and no chattr +i here: %v %s", err, out)
	}
	t.Cleanup(func() { exec.Command("chattr", "-i", dir).Run() })
}

// TestUndoInReadOnlyDirectory checks that files in a read-only directory are left alone and listed, and the rest is
// undone.
func TestUndoInReadOnlyDirectory(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	shell(t, dir, "mkdir ro; echo ro >ro/x; git add -A; git commit -qm ro")
	w := addTestWorktree(t, repo)
	shell(t, w.Dir, "echo work >ro/x; echo work >a.txt; git commit -qam work")
	spec := LandSpec{Base: testHead(t, repo), Result: ID(testGit(t, w.Dir, "rev-parse", "HEAD")), Op: testLanding}
	before := userState(t, dir)
	closeDir(t, filepath.Join(dir, "ro"))
	if _, err := checkoutOf(t, repo).Land(context.Background(), spec); err == nil {
		t.Error("landed in a read-only directory")
	}
	sameState(t, "not landed", userState(t, dir), before)
	open := func() {
		if os.Getuid() == 0 {
			exec.Command("chattr", "-i", filepath.Join(dir, "ro")).Run()
			return
		}
		os.Chmod(filepath.Join(dir, "ro"), 0o755)
	}
	open()
	mustLand(t, repo, spec)
	closeDir(t, filepath.Join(dir, "ro"))
	done := undoNewest(t, checkoutOf(t, repo))
	if !slices.Equal(done.Conflicts, []string{"ro/x"}) || readTestFile(t, dir, "a.txt") != "one\n" ||
		readTestFile(t, dir, "ro/x") != "work\n" {
		t.Errorf("conflicts %q", done.Conflicts)
	}
	if refs, _ := repo.Refs(context.Background(), journalPrefix); len(refs) != 0 {
		t.Errorf("journal is left: %v", refs)
	}
	open()
	mustUndo(t, checkoutOf(t, repo))
	sameState(t, "done again", diskState(t, dir), treeState(t, repo, spec.Result))
}

// smallDisk returns a file system of a few megabytes. It skips the test if there is none.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small file system to be had (mount: %v %s)", err, strings.TrimSpace(string(out)))
	}
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
	return dir
}

// fillDisk fills the disk except for some KiB.
func fillDisk(t *testing.T, dir string, left int) (free func()) {
	t.Helper()
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		t.Fatal(err)
	}
	size := int(stat.Bavail)*int(stat.Bsize) - left<<10
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, max(size, 0)), 0o600); err != nil {
		t.Fatal(err)
	}
	return func() { os.Remove(filepath.Join(dir, "filler")) }
}

// TestUndoOnFullDisk checks that on a full disk undo and land fail with a message of one line and lose nothing: each
// file has its old or its new content. When there is space again, the next try completes the work.
func TestUndoOnFullDisk(t *testing.T) {
	disk := smallDisk(t)
	isolate(t)
	failed := 0
	for _, left := range []int{0, 24, 48, 80, 120, 160, 200} {
		t.Run(fmt.Sprint(left), func(t *testing.T) {
			dir := filepath.Join(disk, fmt.Sprint("repo", left))
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			testGit(t, dir, "init", "-q", "--template=")
			shell(t, dir, "for i in 1 2 3 4 5; do head -c 20000 /dev/urandom >f$i; done; git add -A; git commit -qm files")
			repo := openTestRepo(t, dir)
			base := testHead(t, repo)
			shell(t, dir,
				"for i in 1 2 3 4; do head -c 20000 /dev/urandom >f$i; done; rm f5; head -c 20000 /dev/urandom >new; git add -A; "+
					"git commit -qm work")
			spec := LandSpec{Base: base, Result: testHead(t, repo), Op: testLanding}
			testGit(t, dir, "reset", "-q", "--hard", string(base))
			shell(t, dir, "head -c 20000 /dev/urandom >mine")
			w := checkoutOf(t, repo)
			before := diskState(t, dir)

			free := fillDisk(t, disk, left)
			_, err := w.Land(context.Background(), spec)
			free()
			if err != nil {
				failed++
				wantFull(t, err)
				settleTest(t, w)
				sameState(t, "not landed", diskState(t, dir), before)
				mustLand(t, repo, spec)
			}
			after := diskState(t, dir)
			ops, err := repo.Operations(context.Background())
			if err != nil || len(ops) != 1 {
				t.Fatalf("%d operations, %v", len(ops), err)
			}
			free = fillDisk(t, disk, left)
			_, err = w.Undo(context.Background(), ops[0])
			got := diskState(t, dir)
			free()
			for name, content := range got {
				if content != before[name] && content != after[name] && !strings.Contains(name, tempPrefix) {
					t.Errorf("%s is neither as before nor as after", name)
				}
			}
			if err != nil {
				failed++
				wantFull(t, err)
				if !settleTest(t, w) {
					mustUndo(t, w)
				}
			}
			sameState(t, "undone", diskState(t, dir), before)
		})
	}
	if failed < 4 {
		t.Errorf("the disk was full %d times only", failed)
	}
}

func wantFull(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("it does not say that the disk is full: %v", err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
}

// settleTest completes unfinished operations and reports whether there were any.
func settleTest(t *testing.T, w *Worktree) bool {
	t.Helper()
	finished, err := w.FinishReverts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, done := range finished {
		if len(done.Conflicts) > 0 || done.Left {
			t.Errorf("conflicts %q", done.Conflicts)
		}
	}
	return len(finished) > 0
}

// killedLanding begins a landing as Land does, and is killed after some steps.
func killedLanding(t *testing.T, repo *Repo, spec LandSpec, steps string) {
	t.Helper()
	ctx := context.Background()
	l := landing{Worktree: checkoutOf(t, repo), spec: spec, branch: "refs/heads/main", old: spec.Base, new: spec.Result}
	var err error
	if l.changed, err = repo.Changed(ctx, l.old, l.new); err != nil {
		t.Fatal(err)
	}
	if err := l.makeWay(ctx); err != nil {
		t.Fatal(err)
	}
	job, err := l.begin(ctx)
	if err == nil {
		_, err = l.beginJournal(ctx, job)
	}
	if err == nil && steps == "recorded" {
		if err = l.moveAll(ctx); err == nil {
			_, err = l.recordLanding(ctx, job)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	switch steps {
	case "staged":
		_, err = l.withFiles(ctx, l.indexPath(), l.old, l.mine)
	case "half of the files":
		shell(t, l.Dir, "git show "+string(l.new)+":b.txt >b.txt; git show "+string(l.new)+":new.txt >new.txt")
	case "files":
		var from ID
		if from, err = l.withFiles(ctx, l.indexPath(), l.old, l.mine); err == nil {
			testGit(t, l.Dir, "read-tree", "-m", "-u", string(from), string(l.new))
		}
	case "branch":
		err = l.moveAll(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFinishLandingLocked checks that no file is touched while somebody may hold the lock of the index, and that the
// journal stays. A file that is not a prefix of the landed content belongs to the user.
func TestFinishLandingLocked(t *testing.T) {
	repo, spec := landRepo(t)
	dir, lock := repo.WorkTree, filepath.Join(repo.GitDir, "index.lock")
	before := userState(t, dir)
	killedLanding(t, repo, spec, "files")
	writeTestFile(t, dir, ".git/index.lock", "")
	writeTestFile(t, dir, "b.txt", "typed")
	files := diskState(t, dir)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := checkoutOf(t, repo).FinishReverts(ctx); err == nil || !exists(lock) {
		t.Errorf("under somebody's lock: %v", err)
	}
	sameState(t, "left alone", diskState(t, dir), files)
	writeTestFile(t, dir, ".git/index.lock", leftIndexLock)
	finished, err := checkoutOf(t, repo).FinishReverts(context.Background())
	if err != nil || len(finished) != 1 || !slices.Equal(finished[0].Conflicts, []string{"b.txt"}) || exists(lock) {
		t.Fatalf("under a killed one's lock: %+v, %v", finished, err)
	}
	testGit(t, dir, "checkout", "b.txt")
	sameState(t, "taken back", userState(t, dir), before)
}

// TestIndexLockIsMarked checks that the index lock of an operation has our mark whenever it exists, and that it is
// removed if a kill left it before the journal began.
func TestIndexLockIsMarked(t *testing.T) {
	repo := newTestRepo(t)
	w, lock := checkoutOf(t, repo), filepath.Join(repo.GitDir, "index.lock")
	done := make(chan error, 1)
	go func() {
		ctx, unlock, err := w.lockFiles(context.Background())
		for i := 0; i < 200 && err == nil; i++ {
			var free func()
			if free, err = w.lockIndex(ctx); err == nil {
				free()
			}
		}
		unlock()
		done <- err
	}()
	for ended := false; !ended; {
		if text, err := os.ReadFile(lock); err == nil && string(text) != leftIndexLock {
			t.Fatalf("the lock has %q", text)
		}
		select {
		case err := <-done:
			if ended = true; err != nil {
				t.Fatal(err)
			}
		default:
		}
	}
	for name, next := range map[string]func() error{
		"finish": func() error { _, err := w.FinishReverts(context.Background()); return err },
		"list":   func() error { _, err := w.Unfinished(context.Background()); return err },
	} {
		writeTestFile(t, repo.GitDir, "index.lock", leftIndexLock)
		if err := next(); err != nil || exists(lock) {
			t.Errorf("%s: the lock of a killed process: %v", name, err)
		}
		writeTestFile(t, repo.GitDir, "index.lock", "")
		if err := next(); err != nil || !exists(lock) {
			t.Errorf("%s: somebody's lock: %v", name, err)
		}
	}
}

// TestFinishLanding checks that a landing that was killed at any point is taken back, or recorded if its branch had
// moved. Later changes stay.
func TestFinishLanding(t *testing.T) {
	isolate(t)
	for _, c := range []struct {
		steps, since string
		landed, left bool
		conflicts    []string
	}{
		{steps: "journal"},
		{steps: "staged"},
		{steps: "half of the files"},
		{steps: "files"},
		{steps: "branch", landed: true},
		{steps: "recorded", landed: true},
		{steps: "files", since: "echo typed >b.txt; echo typed >typed; git add typed", conflicts: []string{"b.txt"}},
		{steps: "branch", since: "echo typed >b.txt; git add b.txt; echo typed >typed", landed: true},
		{steps: "branch", since: "git commit -q --allow-empty -m since", landed: true},
		{steps: "files", since: "git checkout -q -b elsewhere", left: true},
		{steps: "journal", since: "git commit -q --allow-empty -m since", left: true},
	} {
		t.Run(c.steps+" "+c.since, func(t *testing.T) {
			t.Parallel()
			repo, spec := landRepo(t)
			dir := repo.WorkTree
			shell(t, dir, "echo staged >new.txt; git add new.txt; echo mine >new.txt; echo other >other; git add other")
			started := takeSnapshot(t, checkoutOf(t, repo), "started")
			spec.Started, spec.Op = &started, testLanding
			before := userState(t, dir)
			killedLanding(t, repo, spec, c.steps)
			shell(t, dir, c.since)
			then := userState(t, dir)
			finished, err := checkoutOf(t, repo).FinishReverts(context.Background())
			if err != nil || len(finished) != 1 {
				t.Fatalf("%d finished, %v", len(finished), err)
			}
			done, got := finished[0], userState(t, dir)
			if !slices.Equal(done.Conflicts, c.conflicts) || done.Left != c.left {
				t.Errorf("conflicts %q, left %v", done.Conflicts, done.Left)
			}
			switch {
			case c.left || c.landed:
				sameState(t, "as it was then", got, then)
			case c.since == "":
				sameState(t, "taken back", got, before)
			default:
				if got["b.txt"] != "100644 typed\n" || got["typed"] != "100644 typed\n" || got["new.txt"] != before["new.txt"] {
					t.Errorf("taken back: %q", got)
				}
			}
			ops, err := repo.Operations(context.Background())
			if err != nil || len(ops) != map[bool]int{true: 1}[c.landed] {
				t.Errorf("%d operations, %v", len(ops), err)
			}
			if c.landed && c.since == "" {
				mustUndo(t, checkoutOf(t, repo))
				sameState(t, "undone", userState(t, dir), before)
			}
			if refs, _ := repo.Refs(context.Background(), journalPrefix); len(refs) != 0 {
				t.Errorf("journal is left: %v", refs)
			}
		})
	}
}
