package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRevertLeavesWhatIsSavedMeanwhile checks that files that somebody saves during a revert are left alone and
// listed, even if the revert has already decided about them. Existing files are not overwritten, and new ones
// are not removed.
func TestRevertLeavesWhatIsSavedMeanwhile(t *testing.T) {
	dir, w := revertRepo(t)
	base := takeSnapshot(t, w, "base")
	shell(t, dir, "echo agent >a.txt; echo agent >d/b.txt; echo agent >new; echo agent >other; rm -f gone")
	end := takeSnapshot(t, w, "end")
	saved := map[string]bool{}
	w.beside = func(path string) {
		if path != "other" && !saved[path] {
			saved[path] = true
			writeTestFile(t, dir, path, "mine\n")
		}
	}
	done, err := w.Revert(context.Background(), base, end)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a.txt", "d/b.txt", "new"}; !slices.Equal(done.Conflicts, want) ||
		!slices.Equal(done.Restored, []string{"other"}) {
		t.Errorf("conflicts %q, restored %q", done.Conflicts, done.Restored)
	}
	for _, name := range done.Conflicts {
		if got := readTestFile(t, dir, name); got != "mine\n" {
			t.Errorf("%s is %q", name, got)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, tempPrefix+"*")); len(left) != 0 {
		t.Errorf("left %q", left)
	}
}

// TestUndoOfRevertLeavesOtherWork checks that files saved during a revert are not in the snapshots around it, so
// that undoing the revert does not touch them.
func TestUndoOfRevertLeavesOtherWork(t *testing.T) {
	dir, w := revertRepo(t)
	ctx := context.Background()
	base := takeSnapshot(t, w, "base")
	shell(t, dir, "echo agent >a.txt")
	end := takeSnapshot(t, w, "end")
	w.beside = func(string) { writeTestFile(t, dir, "mine", "mine\n") }
	done, err := w.Revert(ctx, base, end)
	if err != nil {
		t.Fatal(err)
	}
	w.beside = nil
	undone, err := w.Revert(ctx, done.Before, done.After)
	if err != nil || !slices.Equal(undone.Restored, []string{"a.txt"}) || len(undone.Conflicts) > 0 {
		t.Errorf("undone %+v, %v", undone, err)
	}
	if readTestFile(t, dir, "mine") != "mine\n" || readTestFile(t, dir, "a.txt") != "agent\n" {
		t.Error("the wrong files are back")
	}
}

// TestRevertOnlyPaths checks that other paths keep their files and their entries in the index.
func TestRevertOnlyPaths(t *testing.T) {
	for name, only := range map[string][]string{"some": {"a.txt", "new"}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			dir, w := revertRepo(t)
			base := takeSnapshot(t, w, "base")
			shell(t, dir,
				"echo agent >a.txt; echo agent >new; echo mine >d/b.txt; echo mine >mine; git add -A; echo more >>mine")
			end := takeSnapshot(t, w, "end")
			done, err := w.Revert(context.Background(), base, end, OnlyPaths(only), Because("a test"))
			if err != nil || len(done.Conflicts) > 0 || !slices.Equal(done.Restored, only) {
				t.Fatalf("%+v, %v", done, err)
			}
			want := "M  d/b.txt\nAM mine"
			if only == nil {
				want = "M  a.txt\nM  d/b.txt\nAM mine\nA  new"
			}
			if got := testGit(t, dir, "status", "--porcelain"); got != want {
				t.Errorf("status %q, want %q", got, want)
			}
			subjects := testGit(t, dir, "for-each-ref", "--format=%(subject)", revertedPrefix)
			if want := "a test (after)\na test (before)"; only != nil && subjects != want || only == nil && subjects != "" {
				t.Errorf("subjects %q", subjects)
			}
		})
	}
}

// TestKilledRevertIsFinished checks that the next process completes a revert that was killed after any number of
// files. It leaves alone what somebody did meanwhile, and keeps one pair of snapshots that undoes everything.
func TestKilledRevertIsFinished(t *testing.T) {
	for kill := range 4 {
		dir, w := revertRepo(t)
		ctx := context.Background()
		shell(t, dir, "echo 1 >f1; echo 2 >f2; echo 3 >f3; git add f1")
		base, before := takeSnapshot(t, w, "base"), diskState(t, dir)
		shell(t, dir, "echo x >f1; rm f2; echo x >f3; echo x >new; echo mine >mine; git add -A")
		end, agent := takeSnapshot(t, w, "end"), diskState(t, dir)
		killRevert(t, w, kill, base, end, OnlyPaths([]string{"f1", "f2", "f3", "new"}))
		writeTestFile(t, dir, "f3", "mine\n")
		conflicts := []string{"f3"}

		finished, err := checkoutOf(t, openTestRepo(t, dir)).FinishReverts(ctx)
		if err != nil || len(finished) != 1 || !slices.Equal(finished[0].Conflicts, conflicts) {
			t.Fatalf("killed at %d: finished %+v, %v", kill, finished, err)
		}
		want := map[string]string{"mine": agent["mine"], "f3": "100644 mine\n"}
		for _, name := range []string{"a.txt", "d/b.txt", "f1", "f2"} {
			want[name] = before[name]
		}
		sameState(t, "finished", diskState(t, dir), want)
		done := finished[0]
		undone, err := w.Revert(ctx, done.Before, done.After)
		if err != nil || !slices.Equal(undone.Restored, done.Restored) || len(undone.Conflicts) > 0 {
			t.Fatalf("killed at %d: undone %+v of %+v, %v", kill, undone, done, err)
		}
		want = agent
		want["f3"] = "100644 mine\n"
		sameState(t, "undone", diskState(t, dir), want)
	}
}

// killRevert ends a revert at its n-th file as a kill would: nothing after that is done, and its lock is free.
func killRevert(t *testing.T, w *Worktree, n int, base, end Snapshot, options ...RevertOption) {
	t.Helper()
	killed := *w
	killed.beside = func(string) {
		if n--; n < 0 {
			runtime.Goexit()
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = killed.Revert(context.Background(), base, end, options...)
	}()
	<-ended
}

// TestRevertReadsBlobsInOneProcess checks that one git process reads all blobs, however many files are restored.
func TestRevertReadsBlobsInOneProcess(t *testing.T) {
	dir, w := revertRepo(t)
	shell(t, dir,
		"for i in 1 2 3 4 5 6 7 8 9; do echo $i >f$i; done; ln -s f1 link; printf '' >empty; head -c 300000 /dev/zero >big")
	base, files := takeSnapshot(t, w, "base"), diskState(t, dir)
	shell(t, dir, "rm f* link empty big")
	end := takeSnapshot(t, w, "end")
	trace := filepath.Join(t.TempDir(), "trace")
	t.Setenv("GIT_TRACE", trace)
	if _, err := w.Revert(context.Background(), base, end); err != nil {
		t.Fatal(err)
	}
	sameState(t, "reverted", diskState(t, dir), files)
	calls, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(calls), "git cat-file"); got != 1 {
		t.Errorf("%d processes read blobs", got)
	}
}

// TestAsCommitted checks that the state of a path before a change can be taken from a commit, with filters, and that
// the change can be reverted by it. Everything else in the working tree stays.
func TestAsCommitted(t *testing.T) {
	dir, w := revertRepo(t)
	ctx := context.Background()
	shell(t, dir,
		`git config core.autocrlf true; printf 'one\r\n' >crlf.txt; ln -s a.txt link; printf x >"$(printf 'odd\377')"; git add -A 2>/dev/null; git commit -qm second; rm a.txt d/b.txt; git checkout -q .`)
	before := diskState(t, dir)
	paths := []string{"a.txt", "crlf.txt", "link", "new", "odd\xff", "d/b.txt", "d/b.txt"}
	shell(t, dir,
		`echo work >a.txt; printf 'work\r\n' >crlf.txt; rm link d/b.txt; echo n >new; rm odd*; echo mine >mine; git add new a.txt mine; echo more >>mine`)
	snap := takeSnapshot(t, w, "work")
	head := ID(testGit(t, dir, "rev-parse", "HEAD"))
	was, err := w.AsCommitted(ctx, snap, head, paths, "refs/runr-local/snapshots/test/was", "as committed")
	if err != nil {
		t.Fatal(err)
	}
	done, err := w.Revert(ctx, was, snap)
	if err != nil || len(done.Conflicts) > 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	before["mine"] = "100644 mine\nmore\n"
	sameState(t, "reverted", diskState(t, dir), before)
	if got := testGit(t, dir, "status", "--porcelain"); got != "AM mine" {
		t.Errorf("status %q", got)
	}
	if same, err := w.AsCommitted(ctx, snap, head, nil, "refs/runr-local/snapshots/test/same", "nothing"); err != nil ||
		same.Tree != snap.Tree || same.Index != snap.Index {
		t.Errorf("without paths %+v, %v", same, err)
	}
}

// TestFileChangedWhileItIsRead checks that a file that is saved while it is read counts as changed.
func TestFileChangedWhileItIsRead(t *testing.T) {
	dir, w := revertRepo(t)
	for name, save := range map[string]func(path string) error{
		"written to": func(path string) error { return os.WriteFile(path, []byte("two\n"), 0o644) },
		"longer":     func(path string) error { return os.WriteFile(path, []byte("longer\n"), 0o644) },
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+"~", []byte("one\n"), 0o644), os.Rename(path+"~", path))
		},
		"removed": os.Remove,
	} {
		writeTestFile(t, dir, "f", "one\n")
		past := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, "f"), past, past); err != nil {
			t.Fatal(err)
		}
		files, err := w.openFiles()
		if err != nil {
			t.Fatal(err)
		}
		files.reading = func() {
			if err := save(filepath.Join(dir, "f")); err != nil {
				t.Error(err)
			}
		}
		if _, err := files.state("f"); !errors.Is(err, errChanged) {
			t.Errorf("%s: %v", name, err)
		}
		files.Close()
	}
}
