package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"
)

// madeWorktree returns a new worktree, and the snapshot of it as made. If odd, git converts some of its files, and it
// has a submodule.
func madeWorktree(t *testing.T, odd bool) (*Worktree, Snapshot) {
	t.Helper()
	ctx, repo := context.Background(), newTestRepo(t)
	dir := repo.WorkTree
	testGit(t, dir, "config", "filter.rot.smudge", "tr a-z b-za")
	testGit(t, dir, "config", "filter.rot.clean", "tr b-za a-z")
	attributes := "* text=auto\n"
	if odd {
		attributes = "*.rot filter=rot\nplain.rot -filter\n*.id ident\n*.dos text eol=crlf\n" +
			"*.wide text working-tree-encoding=UTF-16\n"
	}
	for name, content := range map[string]string{
		".gitattributes": attributes,
		".gitignore":     "*.log\n", "kept.log": "tracked though ignored\n",
		"a.rot": "abc\n", "plain.rot": "abc\n", "b.id": "$Id$\n", "c.dos": "line\r\n", "sub/d e.txt": "d\n",
		"run.sh": "#!/bin/sh\n",
		"swap1":  "one\n", "swap2": "two\n",
	} {
		writeTestFile(t, dir, name, content)
	}
	if err := os.WriteFile(filepath.Join(dir, "e.wide"), []byte("\xff\xfeh\x00\n\x00"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("run.sh", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	testGit(t, dir, "add", "-Af")
	if odd {
		testGit(t, dir, "update-index", "--add", "--cacheinfo", "160000,"+testGit(t, dir, "rev-parse", "HEAD")+",module")
	}
	testGit(t, dir, "commit", "-qm", "files")
	repo = openTestRepo(t, dir)
	head, err := repo.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w, err := repo.AddWorktree(ctx, "made", "made", head)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := w.Snapshot(ctx, "", "as made", AsMade())
	if err != nil {
		t.Fatal(err)
	}
	return w, snap
}

func TestSnapshotAsMade(t *testing.T) {
	w, made := madeWorktree(t, true)
	sameState(t, "as made", treeState(t, w.repo, made.Tree), diskState(t, w.Dir))
	if err := os.RemoveAll(w.shadowDir()); err != nil {
		t.Fatal(err)
	}
	read := takeSnapshot(t, w, "read")
	if read.Tree != made.Tree || read.Index != made.Index {
		t.Errorf("as made: tree %s index %s\nread: tree %s index %s", made.Tree, made.Index, read.Tree, read.Index)
	}
	if !reflect.DeepEqual(read.perms, made.perms) {
		t.Errorf("as made: %v\nread: %v", made.perms, read.perms)
	}
}

// TestSnapshotAfterMade edits files within the second in which git checked them out, in ways that leave as little as
// possible for git to notice.
func TestSnapshotAfterMade(t *testing.T) {
	t.Run("few files", testSnapshotAfterMade)
	asManyFiles(t)
	t.Run("many files", testSnapshotAfterMade)
}

// asManyFiles has worktrees made as if they had many files.
func asManyFiles(t *testing.T) {
	many := manyFiles
	manyFiles = 1
	t.Cleanup(func() { manyFiles = many })
}

func testSnapshotAfterMade(t *testing.T) {
	w, made := madeWorktree(t, false)
	restore := func(name string, edit func(path string)) {
		path := filepath.Join(w.Dir, name)
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		edit(path)
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	write := func(content string) func(string) {
		return func(path string) { writeTestFile(t, filepath.Dir(path), filepath.Base(path), content) }
	}
	write("xyz\n")(filepath.Join(w.Dir, "a.txt")) // the same size
	restore("plain.rot", write("xyz\n"))
	restore("a.rot", write("xyz\n"))
	swap := map[string]string{"swap1": "swap", "swap2": "swap1", "swap": "swap2"}
	for _, name := range []string{"swap1", "swap2", "swap"} {
		if err := os.Rename(filepath.Join(w.Dir, name), filepath.Join(w.Dir, swap[name])); err != nil {
			t.Fatal(err)
		}
	}
	testGit(t, w.Dir, "update-index", "--assume-unchanged", "sub/d e.txt")
	testGit(t, w.Dir, "update-index", "--skip-worktree", "kept.log")
	write("e\n")(filepath.Join(w.Dir, "sub/d e.txt"))
	write("tracked, and another \n")(filepath.Join(w.Dir, "kept.log"))
	write("staged\n")(filepath.Join(w.Dir, "new"))
	testGit(t, w.Dir, "add", "new")
	if err := os.Chmod(filepath.Join(w.Dir, "run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	after, err := w.Snapshot(context.Background(), "", "after", Since(made))
	if err != nil {
		t.Fatal(err)
	}
	sameState(t, "after", treeState(t, w.repo, after.Tree), diskState(t, w.Dir))
	if got := changedPerms(made.perms, after.perms); !reflect.DeepEqual(got, []string{"run.sh"}) {
		t.Errorf("permissions of %q changed", got)
	}
}

// TestManyFilesAsMade makes a worktree as if it had many files. Git then takes no file for changed, and the tree is
// known without reading any.
func TestManyFilesAsMade(t *testing.T) {
	asManyFiles(t)
	ctx, repo := context.Background(), newTestRepo(t)
	at, err := repo.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	w, err := repo.AddWorktree(ctx, "many", "many", at)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Stat(filepath.Join(w.Dir, "a.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{w.indexPath(), filepath.Join(w.shadowDir(), "index")} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.ModTime().Unix() <= file.ModTime().Unix() {
			t.Errorf("%s has the time %v, not after that of its files, %v", path, info.ModTime(), file.ModTime())
		}
	}
	calls := filepath.Join(t.TempDir(), "calls")
	t.Setenv("GIT_TRACE", calls)
	made, err := w.TreeAsMade(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if traced, err := os.ReadFile(calls); err == nil {
		t.Errorf("TreeAsMade ran git:\n%s", traced)
	}
	if read, err := w.NormalTree(ctx); err != nil || made != read {
		t.Errorf("as made: %s, read: %s, %v", made, read, err)
	}
	if _, err := os.Stat(calls); err != nil {
		t.Errorf("git traced nothing: %v", err)
	}
	past := time.Now().Add(-time.Hour)
	writeTestFile(t, w.Dir, "a.txt", "two\n")
	if err := os.Chtimes(filepath.Join(w.Dir, "a.txt"), past, past); err != nil {
		t.Fatal(err)
	}
	if read, err := w.NormalTree(ctx); err != nil || made == read {
		t.Errorf("a changed file was not noticed: %s, %v", read, err)
	}
	snap := takeSnapshot(t, w, "edited")
	sameState(t, "edited", treeState(t, w.repo, snap.Tree), diskState(t, w.Dir))
}

// TestLookAroundAfterMade changes the permissions of a file without its being listed as changed, and with it.
func TestLookAroundAfterMade(t *testing.T) {
	asManyFiles(t)
	w, made := madeWorktree(t, false)
	if err := os.Chmod(filepath.Join(w.Dir, "run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, found := range [][]string{nil, {"run.sh"}} {
		perms, _, err := w.lookAround(context.Background(), []string{"run.sh"}, found, nil, &made, -1)
		if got := changedPerms(made.perms, perms); err != nil || !slices.Equal(got, found) {
			t.Errorf("permissions of %q changed, want %q: %v", got, found, err)
		}
	}
}

// TestSnapshotSeesOldTimes edits a file twice in a second, with the same size and an old time.
func TestSnapshotSeesOldTimes(t *testing.T) {
	w := checkoutOf(t, newTestRepo(t))
	past := time.Now().Add(-time.Hour)
	for _, text := range []string{"two\n", "six\n", "ten\n"} {
		writeTestFile(t, w.Dir, "a.txt", text)
		if err := os.Chtimes(filepath.Join(w.Dir, "a.txt"), past, past); err != nil {
			t.Fatal(err)
		}
		snap := takeSnapshot(t, w, text[:3])
		sameState(t, text, treeState(t, w.repo, snap.Tree), diskState(t, w.Dir))
	}
}
