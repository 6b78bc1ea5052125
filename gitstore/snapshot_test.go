package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func takeSnapshot(t *testing.T, w *Worktree, name string) Snapshot {
	t.Helper()
	snap, err := w.Snapshot(context.Background(), "refs/runr-local/snapshots/test/"+name, "snapshot "+name)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// diskState returns kind and content of every file below dir except git's own.
func diskState(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if entry.Name() == ".git" {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		switch {
		case entry.Type()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			files[name] = "120000 " + target
			return err
		case entry.Type().IsRegular():
			data, err := os.ReadFile(path)
			files[name] = fileMode(info.Mode()) + " " + string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// treeState returns every file of a tree in the form of diskState.
func treeState(t *testing.T, repo *Repo, tree ID) map[string]string {
	t.Helper()
	files := map[string]string{}
	changes, err := repo.Changed(context.Background(), repo.objects.EmptyTreeID(), tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		cmd := exec.Command("git", "--git-dir", repo.GitDir, "cat-file", "blob", string(c.NewID))
		data, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", c.Path, err)
		}
		files[c.Path] = c.NewMode + " " + string(data)
	}
	return files
}

func sameState(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name, content := range want {
		if have, ok := got[name]; !ok {
			t.Errorf("%s: %q is missing", what, name)
		} else if have != content {
			t.Errorf("%s: %q is %q, want %q", what, name, have, content)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %q is too much", what, name)
		}
	}
}

var oddNames = []string{"with space", " leading", "new\nline", "tab\t", "quote\"'", "back\\slash", "bytes\xff\xfe",
	"-dash", ":(top)x", "*", "über", "deep/er/[x]"}

func writeOdd(t *testing.T, dir string) {
	t.Helper()
	for _, name := range oddNames {
		writeTestFile(t, dir, name, "content of "+name)
	}
	writeTestFile(t, dir, "run.sh", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "a.txt", "dangling": "no/such", "absolute": "/etc/hostname",
		"updir": "../x"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSnapshotIsByteExact(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *Repo{
		"plain": newTestRepo,
		"sha256": func(t *testing.T) *Repo {
			isolate(t)
			dir := t.TempDir()
			testGit(t, dir, "init", "-q", "--object-format=sha256")
			writeTestFile(t, dir, "a.txt", "one\n")
			testGit(t, dir, "add", ".")
			testGit(t, dir, "commit", "-qm", "first")
			return openTestRepo(t, dir)
		},
		"linked": func(t *testing.T) *Repo {
			repo := newTestRepo(t)
			linked := filepath.Join(t.TempDir(), "linked")
			testGit(t, repo.WorkTree, "worktree", "add", "-q", linked)
			return openTestRepo(t, linked)
		},
		"alternates": func(t *testing.T) *Repo {
			repo := newTestRepo(t)
			shared := filepath.Join(t.TempDir(), "shared")
			testGit(t, repo.WorkTree, "clone", "-q", "--shared", repo.WorkTree, shared)
			return openTestRepo(t, shared)
		},
		"unborn": func(t *testing.T) *Repo {
			isolate(t)
			dir := t.TempDir()
			testGit(t, dir, "init", "-q")
			return openTestRepo(t, dir)
		},
		"split index": func(t *testing.T) *Repo {
			repo := newTestRepo(t)
			testGit(t, repo.WorkTree, "config", "core.splitIndex", "true")
			testGit(t, repo.WorkTree, "update-index", "--split-index")
			return openTestRepo(t, repo.WorkTree)
		},
	} {
		t.Run(name, func(t *testing.T) {
			repo := open(t)
			writeOdd(t, repo.WorkTree)
			testGit(t, repo.WorkTree, "add", "with space")
			index := indexBytes(t, repo)
			snap := takeSnapshot(t, checkoutOf(t, repo), "one")
			sameState(t, "snapshot", treeState(t, repo, snap.Tree), diskState(t, repo.WorkTree))
			if len(snap.Gaps) != 0 {
				t.Errorf("gaps %q", snap.Gaps)
			}
			if !bytes.Equal(index, indexBytes(t, repo)) {
				t.Error("the index was written")
			}
			again, err := repo.ReadSnapshot(context.Background(), snap.ID)
			if snap.indexTime = again.indexTime; err != nil || !reflect.DeepEqual(again, snap) {
				t.Errorf("read back %+v, %v, want %+v", again, err, snap)
			}
			testGit(t, repo.WorkTree, "fsck", "--strict", "--no-dangling")
		})
	}
}

func indexBytes(t *testing.T, repo *Repo) []byte {
	t.Helper()
	index, err := readIndexFile(filepath.Join(repo.GitDir, "index"))
	if err != nil {
		t.Fatal(err)
	}
	return index.data
}

// TestSnapshotRunsNoFilter checks that filters, line ends, ident and encodings have no effect, and that no filter
// program runs, not even that of a nested repository.
func TestSnapshotRunsNoFilter(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	fired := filepath.Join(t.TempDir(), "fired")
	evil := "touch '" + fired + "'; cat"
	testGit(t, dir, "config", "core.autocrlf", "true")
	testGit(t, dir, "config", "filter.drop.clean", evil)
	testGit(t, dir, "config", "filter.drop.process", evil)
	testGit(t, dir, "config", "core.fsmonitor", evil)
	writeTestFile(t, dir, ".gitattributes",
		"*.nb filter=drop\n*.id ident\n*.u16 working-tree-encoding=UTF-16\n*.txt eol=lf\n")
	writeTestFile(t, dir, "book.nb", "secret output\n")
	writeTestFile(t, dir, "x.id", "$Id: local $\n")
	writeTestFile(t, dir, "x.u16", "not UTF-16")
	writeTestFile(t, dir, "crlf.txt", "one\r\ntwo\n")
	writeTestFile(t, dir, "nested/.gitattributes", "* filter=drop\n")
	writeTestFile(t, dir, "nested/q", "q\n")
	nested := filepath.Join(dir, "nested")
	testGit(t, nested, "init", "-q")
	testGit(t, nested, "add", ".")
	testGit(t, nested, "commit", "-qm", "nested")
	testGit(t, nested, "config", "filter.drop.clean", evil)

	w := checkoutOf(t, openTestRepo(t, dir))
	takeSnapshot(t, w, "one")
	writeTestFile(t, dir, "nested/q", "Q\n") // same size as before: git has to read it
	writeTestFile(t, dir, "book.nb", "SECRET OUTPUT\n")
	snap := takeSnapshot(t, w, "two")
	if exists(fired) {
		t.Error("a filter ran")
	}
	want := diskState(t, dir)
	delete(want, "nested/q")
	delete(want, "nested/.gitattributes")
	changes, err := repo.Changed(context.Background(), repo.objects.EmptyTreeID(), snap.Tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if c.Path == "nested" {
			if c.NewMode != ModeCommit || c.NewID != ID(testGit(t, nested, "rev-parse", "HEAD")) {
				t.Errorf("nested repository: %+v", c)
			}
			continue
		}
		if got := c.NewMode + " " + testGitRaw(t, dir, "cat-file", "blob", string(c.NewID)); got != want[c.Path] {
			t.Errorf("%s: %q, want %q", c.Path, got, want[c.Path])
		}
	}
	if len(changes) != len(want)+1 {
		t.Errorf("%d paths, want %d", len(changes), len(want)+1)
	}
}

func testGitRaw(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

func TestSnapshotIgnored(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	writeTestFile(t, dir, ".git/info/exclude", "*.local\n")
	writeTestFile(t, dir, "excludes", "*.mine\n")
	testGit(t, dir, "config", "core.excludesFile", filepath.Join(dir, "excludes"))
	writeTestFile(t, dir, ".gitignore", "*.log\n")
	for _, name := range []string{"tracked.log", "x.log", "x.local", "x.mine", "data.csv"} {
		writeTestFile(t, dir, name, name)
	}
	testGit(t, dir, "add", "-f", "tracked.log")
	w := checkoutOf(t, openTestRepo(t, dir))
	first := treeState(t, repo, takeSnapshot(t, w, "one").Tree)
	for name, want := range map[string]bool{"tracked.log": true, "x.log": false, "x.local": false, "x.mine": false,
		"data.csv": true} {
		if _, got := first[name]; got != want {
			t.Errorf("%s recorded: %v", name, got)
		}
	}
	// A recorded file that becomes ignored is still recorded.
	writeTestFile(t, dir, ".gitignore", "*.log\n*.csv\n")
	writeTestFile(t, dir, "data.csv", "changed")
	if got := treeState(t, repo, takeSnapshot(t, w, "two").Tree)["data.csv"]; got != "100644 changed" {
		t.Errorf("data.csv is %q", got)
	}
}

// TestSnapshotSeesFastEdits checks that an edit that keeps size and time in seconds is always noticed.
func TestSnapshotSeesFastEdits(t *testing.T) {
	repo := newTestRepo(t)
	w := checkoutOf(t, repo)
	for i := range 12 {
		text := fmt.Sprintf("%03d\n", i)
		writeTestFile(t, repo.WorkTree, "a.txt", text)
		if got := treeState(t, repo, takeSnapshot(t, w, "fast").Tree)["a.txt"]; got != "100644 "+text {
			t.Fatalf("a.txt is %q in round %d", got, i)
		}
	}
}

func TestSnapshotFollowsShape(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	writeTestFile(t, dir, "file", "f")
	writeTestFile(t, dir, "dir/x", "x")
	writeTestFile(t, dir, "moved/y", "y")
	writeTestFile(t, dir, "data.csv", "recorded before it was ignored")
	w := checkoutOf(t, repo)
	takeSnapshot(t, w, "one")
	for _, step := range []error{
		os.Remove(filepath.Join(dir, "file")),
		os.RemoveAll(filepath.Join(dir, "dir")),
		os.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "away")),
		os.Symlink("away", filepath.Join(dir, "moved")), // moved/y is still readable, but is not a file of the working tree
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	writeTestFile(t, dir, "file/inside", "i")
	writeTestFile(t, dir, "dir", "d")
	writeTestFile(t, dir, ".gitignore", "moved\n*.csv\n")
	snap := takeSnapshot(t, w, "two")
	want := diskState(t, dir)
	delete(want, "moved") // ignored
	sameState(t, "snapshot", treeState(t, repo, snap.Tree), want)
}

func TestSnapshotAfterGC(t *testing.T) {
	repo := newTestRepo(t)
	w := checkoutOf(t, repo)
	writeTestFile(t, repo.WorkTree, "dir/b.txt", "b\n")
	snap := takeSnapshot(t, w, "one")
	testGit(t, repo.WorkTree, "update-ref", "-d", "refs/runr-local/snapshots/test/one")
	testGit(t, repo.WorkTree, "gc", "-q", "--prune=now")
	if repo.objects.Has(context.Background(), snap.Tree) {
		t.Fatal("the objects are still there")
	}
	again := takeSnapshot(t, w, "two")
	sameState(t, "snapshot", treeState(t, repo, again.Tree), diskState(t, repo.WorkTree))
	testGit(t, repo.WorkTree, "fsck", "--strict", "--no-dangling")
}

func TestSnapshotAfterKill(t *testing.T) {
	repo := newTestRepo(t)
	w := checkoutOf(t, repo)
	takeSnapshot(t, w, "one")
	writeTestFile(t, w.shadowDir(), "index.lock", "left over")
	writeTestFile(t, w.shadowDir(), "index", "damaged")
	snap := takeSnapshot(t, w, "two")
	sameState(t, "snapshot", treeState(t, repo, snap.Tree), diskState(t, repo.WorkTree))
}

// TestSnapshotKeepsHead checks that the snapshot protects HEAD's commit, which may be on no branch.
func TestSnapshotKeepsHead(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	testGit(t, dir, "checkout", "-q", "--detach")
	testGit(t, dir, "commit", "-q", "--allow-empty", "-m", "on no branch")
	head := testHead(t, repo)
	snap := takeSnapshot(t, checkoutOf(t, repo), "one")
	if snap.Head != head || snap.HeadRef != "" {
		t.Errorf("head %s on %q", snap.Head, snap.HeadRef)
	}
	testGit(t, dir, "checkout", "-q", "main")
	testGit(t, dir, "reflog", "expire", "--expire=now", "--all")
	testGit(t, dir, "gc", "-q", "--prune=now")
	testGit(t, dir, "cat-file", "-e", string(head))
	if snap := takeSnapshot(t, checkoutOf(t, repo), "two"); snap.HeadRef != "refs/heads/main" {
		t.Errorf("HEAD is on %q", snap.HeadRef)
	}
}

func TestReadSnapshotOfOtherCommit(t *testing.T) {
	repo := newTestRepo(t)
	if _, err := repo.ReadSnapshot(context.Background(), testHead(t, repo)); err == nil {
		t.Error("an ordinary commit was taken for a snapshot")
	}
}

func TestIsDotGit(t *testing.T) {
	for _, name := range []string{".git", ".GIT", ".Git", "git~1", "GIT~1", ".git ", ".git.", ".git . .",
		".git::$INDEX_ALLOCATION", ".g\u200cit", "\ufeff.git", `.git\x`, `x\.git`} {
		if !unsafePath(name) {
			t.Errorf("%q is taken for a plain name", name)
		}
	}
	for _, name := range []string{".gitignore", "git", ".gi", "git~2", ".github", "x.git", "g\u200dit"} {
		if unsafePath(name) {
			t.Errorf("%q is taken for .git", name)
		}
	}
}
