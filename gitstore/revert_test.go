package gitstore

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/odb"
)

// indexState returns what is staged, and git's status.
func indexState(t *testing.T, dir string) string {
	t.Helper()
	return testGitRaw(t, dir, "ls-files", "-s", "-z") + "|" + testGitRaw(t, dir, "status", "--porcelain", "-z")
}

// revertCases prepare a checkout, let an attempt change it, and perhaps somebody else afterwards. After the
// revert everything must be as before the attempt, except for the listed conflicts.
var revertCases = []struct {
	name      string
	prepare   string
	attempt   string
	later     string
	conflicts []string
	// without lists files that the snapshot does not have: they stay as the attempt left them.
	without []string
}{
	{name: "nothing", attempt: "true"},
	{name: "new file", attempt: "echo n >new; mkdir -p d/e; echo n >d/e/new"},
	{name: "modified", attempt: "echo agent >a.txt"},
	{name: "modified over the user's edit", prepare: "echo mine >a.txt", attempt: "echo agent >>a.txt"},
	{name: "modified over staged and unstaged", prepare: "echo staged >a.txt; git add a.txt; echo unstaged >a.txt",
		attempt: "echo agent >a.txt; git add a.txt"},
	{name: "staged by the agent", prepare: "echo mine >a.txt", attempt: "git add a.txt"},
	{name: "unstaged by the agent", prepare: "echo mine >a.txt; git add a.txt", attempt: "git reset -q"},
	{name: "new file staged", attempt: "echo n >new; git add new"},
	{name: "untracked overwritten", prepare: "echo mine >u", attempt: "echo agent >u"},
	{name: "untracked deleted", prepare: "mkdir ud; echo mine >ud/u", attempt: "rm -r ud"},
	{name: "tracked deleted", attempt: "rm a.txt d/b.txt"},
	{name: "git rm", attempt: "git rm -q a.txt d/b.txt"},
	{name: "git rm --cached", attempt: "git rm -q --cached a.txt"},
	{name: "git mv", attempt: "git mv a.txt moved.txt; git mv d dd"},
	{name: "mv", attempt: "mv d dd; mv a.txt dd/"},
	{name: "file to directory", attempt: "rm a.txt; mkdir a.txt; echo x >a.txt/x"},
	{name: "directory to file", attempt: "rm -r d; echo x >d"},
	{name: "directory to link", prepare: "mkdir target; echo t >target/b.txt", attempt: "rm -r d; ln -s target d"},
	{name: "file to deep directory", attempt: "rm a.txt; mkdir -p a.txt/x/y; echo x >a.txt/x/y/z; git add -A"},
	{name: "link changed", prepare: "ln -s a.txt l; ln -s /no/where m", attempt: "ln -sf d/b.txt l; rm m; echo file >m"},
	{name: "file to link", attempt: "rm a.txt; ln -s d/b.txt a.txt"},
	{name: "executable bit", prepare: "echo x >x; chmod +x x", attempt: "chmod -x x; chmod +x a.txt"},
	{name: "odd names",
		prepare: `printf x >'a b'; printf x >"$(printf 'n\nl')"; printf x >"$(printf '\377')"; printf x >':(top)q'; printf x >-- ; git add -A`,
		attempt: `printf y >'a b'; rm -- "$(printf 'n\nl')" ; printf y >"$(printf '\377')"; printf y >':(top)q'; printf y >--; printf y >'*'`},
	{name: "agent committed", attempt: "echo agent >a.txt; git add -A; git commit -qm agent; git reset -q --soft HEAD~"},
	{name: "line ends",
		prepare: "git config core.autocrlf true; printf 'one\\r\\ntwo\\n' >crlf.txt; git add -A 2>/dev/null",
		attempt: "printf 'x\\n' >crlf.txt"},
	{name: "lossy filter",
		prepare: "git config filter.drop.clean 'grep -v secret'; echo '*.nb filter=drop' >.gitattributes; printf " +
			"'a\\nsecret\\n' >x.nb; git add -A", attempt: "echo b >x.nb"},
	{name: "ignored file", prepare: "echo '*.log' >.gitignore; echo mine >x.log",
		attempt: "echo agent >x.log; echo agent >a.txt", without: []string{"x.log"}},
	{name: "hidden by an ignore rule", prepare: "echo mine >data.csv",
		attempt: "echo agent >data.csv; echo '*.csv' >.gitignore"},
	{name: "intent to add", prepare: "echo n >n; git add -N n", attempt: "echo agent >n; git add n"},
	{name: "split index",
		prepare: "git config core.splitIndex true; echo mine >a.txt; git add a.txt; git update-index --split-index",
		attempt: "git rm -q --cached a.txt; git config core.splitIndex false; git update-index --no-split-index; rm " +
			".git/sharedindex.*"},
	{name: "edited afterwards", attempt: "echo agent >a.txt; echo agent >d/b.txt", later: "echo mine >a.txt",
		conflicts: []string{"a.txt"}},
	{name: "deleted afterwards", attempt: "echo agent >a.txt; echo agent >d/b.txt", later: "rm a.txt",
		conflicts: []string{"a.txt"}},
	{name: "new file edited afterwards", attempt: "echo n >n/new || { mkdir n; echo n >n/new; }; echo n >n/other",
		later: "echo mine >n/new", conflicts: []string{"n/new"}},
	{name: "restored by hand afterwards", attempt: "echo agent >a.txt; echo agent >d/b.txt",
		later: "printf 'one\\n' >a.txt"},
	{name: "file put into a new directory", attempt: "rm a.txt; mkdir a.txt; echo x >a.txt/x",
		later: "echo mine >a.txt/mine", conflicts: []string{"a.txt"}, without: []string{"a.txt/mine"}},
	{name: "unrelated edit afterwards", attempt: "echo agent >a.txt", later: "echo mine >unrelated",
		without: []string{"unrelated"}},
	{name: "staged afterwards", prepare: "echo mine >a.txt", attempt: "echo agent >d/b.txt; git add -A",
		later: "echo later >later.txt; git add later.txt", without: []string{"later.txt"}},
	{name: "link in the way afterwards", attempt: "rm -r d", later: "mkdir elsewhere; ln -s elsewhere d",
		conflicts: []string{"d/b.txt"}, without: []string{"d"}},
}

func TestRevert(t *testing.T) {
	template, _ := revertRepo(t)
	for i, c := range revertCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
				t.Fatal(err)
			}
			w := checkoutOf(t, openTestRepo(t, dir))
			shell(t, dir, c.prepare)
			base := takeSnapshot(t, w, "base")
			files, index := diskState(t, dir), indexState(t, dir)
			shell(t, dir, c.attempt)
			end := takeSnapshot(t, w, "end")
			shell(t, dir, c.later)
			later := diskState(t, dir)
			head := testGit(t, dir, "rev-parse", "HEAD")

			done, err := w.Revert(context.Background(), base, end)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(done.Conflicts, c.conflicts) {
				t.Errorf("conflicts %q, want %q", done.Conflicts, c.conflicts)
			}
			for _, name := range append(c.conflicts, c.without...) {
				if content, ok := later[name]; ok {
					files[name] = content
				} else {
					delete(files, name)
				}
			}
			sameState(t, "after revert", diskState(t, dir), files)
			if got := indexState(t, dir); len(c.conflicts) == 0 && len(c.without) == 0 && got != index {
				t.Errorf("index %q, want %q", got, index)
			}
			if got := testGit(t, dir, "rev-parse", "HEAD"); got != head {
				t.Errorf("HEAD moved to %s", got)
			}
			if refs, _ := w.repo.Refs(context.Background(), journalPrefix); len(refs) != 0 {
				t.Errorf("journal is left: %v", refs)
			}
			if i%5 == 0 {
				undoRevert(t, w, done, later)
			}
		})
	}
}

// undoRevert checks that Revert also undoes a revert.
func undoRevert(t *testing.T, w *Worktree, done Reverted, want map[string]string) {
	t.Helper()
	undone, err := w.Revert(context.Background(), done.Before, done.After)
	if err != nil || len(undone.Conflicts) != 0 {
		t.Fatalf("undo: %v, conflicts %q", err, undone.Conflicts)
	}
	sameState(t, "after undo", diskState(t, w.Dir), want)
}

func revertRepo(t *testing.T) (dir string, w *Worktree) {
	t.Helper()
	isolate(t)
	dir = t.TempDir()
	testGit(t, dir, "init", "-q")
	writeTestFile(t, dir, "a.txt", "one\n")
	writeTestFile(t, dir, "d/b.txt", "b\n")
	testGit(t, dir, "add", ".")
	testGit(t, dir, "commit", "-qm", "first")
	return dir, checkoutOf(t, openTestRepo(t, dir))
}

// TestRevertIndexByEntry checks that entries staged after the attempt stay, and that the other entries are restored.
func TestRevertIndexByEntry(t *testing.T) {
	dir, w := revertRepo(t)
	shell(t, dir, "echo staged >a.txt; git add a.txt")
	base := takeSnapshot(t, w, "base")
	shell(t, dir, "echo agent >a.txt; git rm -q -r --cached d; echo n >new; git add a.txt new")
	end := takeSnapshot(t, w, "end")
	shell(t, dir, "echo later >later.txt; git add later.txt")
	if _, err := w.Revert(context.Background(), base, end); err != nil {
		t.Fatal(err)
	}
	want := "M  a.txt\nA  later.txt"
	if got := testGit(t, dir, "status", "--porcelain"); got != want {
		t.Errorf("status %q, want %q", got, want)
	}
	if got := testGit(t, dir, "show", ":a.txt"); got != "staged" {
		t.Errorf("staged a.txt is %q", got)
	}
}

func TestRevertStagedConflict(t *testing.T) {
	dir, w := revertRepo(t)
	base := takeSnapshot(t, w, "base")
	shell(t, dir, "echo agent >a.txt; git add a.txt")
	end := takeSnapshot(t, w, "end")
	shell(t, dir, "echo mine >a.txt; git add a.txt; echo agent >a.txt")
	done, err := w.Revert(context.Background(), base, end)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(done.Conflicts, []string{"a.txt"}) || testGit(t, dir, "show", ":a.txt") != "mine" {
		t.Errorf("conflicts %q, staged %q", done.Conflicts, testGit(t, dir, "show", ":a.txt"))
	}
}

func TestRevertKeepsPermissions(t *testing.T) {
	dir, w := revertRepo(t)
	if err := os.Chmod(filepath.Join(dir, "a.txt"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := takeSnapshot(t, w, "base")
	shell(t, dir, "echo agent >a.txt")
	if _, err := w.Revert(context.Background(), base, takeSnapshot(t, w, "end")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "a.txt"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("permissions %v, %v", info.Mode(), err)
	}
}

// TestRevertIndexKeepsItsTime checks that a restored file with the size and time of the restored index does not
// count as unchanged.
func TestRevertIndexKeepsItsTime(t *testing.T) {
	dir, w := revertRepo(t)
	shell(t, dir, "echo 1 >r; git add r; echo 2 >r")
	base := takeSnapshot(t, w, "base")
	before, err := os.Stat(w.indexPath())
	if err != nil {
		t.Fatal(err)
	}
	shell(t, dir, "git rm -q --cached d/b.txt")
	if _, err := w.Revert(context.Background(), base, takeSnapshot(t, w, "end")); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(w.indexPath())
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("index is of %v, was of %v", after.ModTime(), before.ModTime())
	}
	if got := testGit(t, dir, "status", "--porcelain"); got != "AM r" {
		t.Errorf("status %q", got)
	}
}

// TestRevertRefusesUnsafePaths checks that a crafted tree cannot make a revert write to git's own files or outside
// of the working tree.
func TestRevertRefusesUnsafePaths(t *testing.T) {
	for _, name := range []string{".git", ".GIT", "git~1", ".g\u200cit"} {
		t.Run(name, func(t *testing.T) {
			dir, w := revertRepo(t)
			ctx := context.Background()
			if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
			blob, err := w.repo.objects.Write(ctx, "blob", []byte("[core]\n"))
			if err != nil {
				t.Fatal(err)
			}
			inner, err := w.repo.objects.WriteTree(ctx, []odb.TreeEntry{{Mode: ModeFile, Name: "planted", ID: blob}})
			if err != nil {
				t.Fatal(err)
			}
			raw := []byte("40000 " + name + "\x00" + string(unhex(t, inner)))
			evil, err := w.repo.objects.Write(ctx, "tree", raw)
			if err != nil {
				t.Fatal(err)
			}
			end := takeSnapshot(t, w, "end")
			base := end
			base.Tree = evil
			done, err := w.Revert(ctx, base, end)
			if err != nil {
				t.Fatal(err)
			}
			if exists(filepath.Join(dir, name, "planted")) || !slices.Contains(done.Conflicts, name+"/planted") {
				t.Errorf("planted; conflicts %q", done.Conflicts)
			}
		})
	}
}

// TestRevertFollowsNoLink checks that a link to the git directory in place of a parent is not followed.
func TestRevertFollowsNoLink(t *testing.T) {
	dir, w := revertRepo(t)
	shell(t, dir, "mkdir sub; echo '[core]' >sub/config; echo '/sub2' >.gitignore")
	base := takeSnapshot(t, w, "base")
	shell(t, dir, "rm -r sub")
	end := takeSnapshot(t, w, "end")
	shell(t, dir, "ln -s .git sub")
	config := readTestFile(t, w.GitDir, "config")
	done, err := w.Revert(context.Background(), base, end)
	if err != nil {
		t.Fatal(err)
	}
	if readTestFile(t, w.GitDir, "config") != config || !slices.Equal(done.Conflicts, []string{"sub/config"}) {
		t.Errorf("conflicts %q", done.Conflicts)
	}
}

func TestRevertLeavesNestedRepository(t *testing.T) {
	dir, w := revertRepo(t)
	base := takeSnapshot(t, w, "base")
	shell(t, dir, "git init -q n; cd n; echo x >x; git add x; git -c user.name=n -c user.email=n commit -qm n")
	done, err := w.Revert(context.Background(), base, takeSnapshot(t, w, "end"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(done.Conflicts, []string{"n"}) || !exists(filepath.Join(dir, "n", "x")) {
		t.Errorf("conflicts %q", done.Conflicts)
	}
}

func TestInstallIndexWaitsForLock(t *testing.T) {
	_, w := revertRepo(t)
	index, err := readIndexFile(w.indexPath())
	if err != nil {
		t.Fatal(err)
	}
	lock := w.indexPath() + ".lock"
	writeTestFile(t, w.GitDir, "index.lock", "somebody's")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := w.installIndex(ctx, index.data, indexFile{}); err == nil || !exists(lock) || !exists(w.indexPath()) {
		t.Errorf("installed under somebody's lock: %v", err)
	}
	timer := time.AfterFunc(50*time.Millisecond, func() { os.Remove(lock) })
	defer timer.Stop()
	if err := w.installIndex(context.Background(), index.data, index); err != nil || exists(lock) {
		t.Errorf("after the lock: %v", err)
	}
	if err := w.installIndex(context.Background(), []byte("another"), indexFile{}); !errors.Is(err, ErrLostRace) ||
		exists(lock) || !exists(w.indexPath()) {
		t.Errorf("over another index: %v", err)
	}
}

// TestFinishReverts checks that after a kill between any two files the next start completes the revert.
func TestFinishReverts(t *testing.T) {
	for _, restored := range []int{0, 2, 3} {
		dir, w := revertRepo(t)
		ctx := context.Background()
		shell(t, dir, "echo 1 >f1; echo 2 >f2; echo 3 >f3")
		base := takeSnapshot(t, w, "base")
		files := diskState(t, dir)
		shell(t, dir, "echo x >f1; rm f2; echo x >f3; echo x >new")
		end := takeSnapshot(t, w, "end")
		if _, err := w.beginJournal(ctx, revertJob{name: "killed", base: base, end: end, why: "test"}); err != nil {
			t.Fatal(err)
		}
		names := []string{"f1", "f2", "f3"}
		for i := range restored {
			writeTestFile(t, dir, names[i], string(rune('1'+i))+"\n")
		}
		writeTestFile(t, dir, tempPrefix+"half", "hal")
		other := checkoutOf(t, openTestRepo(t, dir))
		finished, err := other.FinishReverts(ctx)
		if err != nil || len(finished) != 1 {
			t.Fatalf("finished %d, %v", len(finished), err)
		}
		sameState(t, "finished", diskState(t, dir), files)
		if finished, err = w.FinishReverts(ctx); err != nil || len(finished) != 0 {
			t.Errorf("finished %d again, %v", len(finished), err)
		}
	}
}

func TestFinishRevertsOfThisWorktreeOnly(t *testing.T) {
	repo := newTestRepo(t)
	w := addTestWorktree(t, repo)
	snap := takeSnapshot(t, w, "one")
	if _, err := w.beginJournal(context.Background(),
		revertJob{name: "theirs", base: snap, end: snap, why: "test"}); err != nil {
		t.Fatal(err)
	}
	finished, err := checkoutOf(t, repo).FinishReverts(context.Background())
	if err != nil || len(finished) != 0 {
		t.Errorf("finished %d, %v", len(finished), err)
	}
	if refs, _ := repo.Refs(context.Background(), journalPrefix); len(refs) != 1 {
		t.Errorf("journals %v", refs)
	}
}

// TestFinishRevertsOfAnotherWorktree checks that a journal belongs to a worktree only if both directory and git
// directory match, because another worktree may get either later. Nothing of another worktree is reverted.
func TestFinishRevertsOfAnotherWorktree(t *testing.T) {
	dir, w := revertRepo(t)
	ctx := context.Background()
	shell(t, dir, "echo 1 >f1")
	base := takeSnapshot(t, w, "base")
	shell(t, dir, "echo 2 >f1; echo new >f2")
	end := takeSnapshot(t, w, "end")
	files := diskState(t, dir)
	for name, change := range map[string]func(*Worktree){
		"another-directory": func(o *Worktree) { o.Dir += "x" },
		"a-directory-below": func(o *Worktree) { o.Dir = "/elsewhere" + o.Dir },
		"a-git-directory":   func(o *Worktree) { o.GitDir = filepath.Join(o.GitDir, "worktrees", "x") },
		"both":              func(o *Worktree) { o.GitDir, o.Dir = o.GitDir+"x", o.Dir+"x" },
	} {
		other := *w
		change(&other)
		if _, err := other.beginJournal(ctx, revertJob{name: name, base: base, end: end, why: "test"}); err != nil {
			t.Fatal(err)
		}
	}
	if finished, err := w.FinishReverts(ctx); err != nil || len(finished) != 0 {
		t.Errorf("finished %d, %v", len(finished), err)
	}
	sameState(t, "another worktree's journals", diskState(t, dir), files)
	if refs, _ := w.repo.Refs(ctx, journalPrefix); len(refs) != 4 {
		t.Errorf("journals %v", refs)
	}
}

func TestSetExecutable(t *testing.T) {
	for _, c := range []struct {
		perm os.FileMode
		on   bool
		want os.FileMode
	}{{0o600, true, 0o700}, {0o644, true, 0o755}, {0o755, false, 0o644}, {0o750, false, 0o640}, {0o444, true, 0o555}} {
		if got := setExecutable(c.perm, c.on); got != c.want {
			t.Errorf("%o %v: %o, want %o", c.perm, c.on, got, c.want)
		}
	}
}

func unhex(t *testing.T, id ID) []byte {
	t.Helper()
	data, err := hex.DecodeString(string(id))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
