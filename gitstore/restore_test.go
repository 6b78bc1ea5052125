package gitstore

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// restoreCases prepare a checkout, record it, change it, and restore all of the record or certain paths.
// Then those files must be as recorded, files that the record does not have must be as they were left,
// and an undo must revert everything.
var restoreCases = []struct {
	name, prepare, later string
	paths                []string
	conflicts            []string
	unrecorded           []string // files that are as later left them
	gone                 []string // files that later created, and that are removed to make room
}{
	{name: "deleted and changed", prepare: "echo u >u; mkdir -p p/q; echo r >p/q/r",
		later: "rm -r u p; echo other >a.txt; echo new >new"},
	{name: "one file", prepare: "echo u >u", later: "rm u; echo other >a.txt", paths: []string{"u"},
		unrecorded: []string{"a.txt"}},
	{name: "a directory", prepare: "mkdir p; echo 1 >p/1; echo 2 >p/2; echo p2 >p2", later: "rm -r p; rm p2",
		paths: []string{"p/"}, unrecorded: []string{"p2"}},
	{name: "odd names",
		prepare: `printf x >'a b'; printf x >"$(printf 'n\nl')"; printf x >"$(printf '\377')"; printf x >'*'; printf x >':(top)q'`,
		later:   `rm -- 'a b' "$(printf 'n\nl')" "$(printf '\377')"; printf y >'*'; printf y >':(top)q'; printf y >y`,
		paths:   []string{"a b", "n\nl", "\xff", "*", ":(top)q"}},
	{name: "symbolic links", prepare: "ln -s a.txt l; ln -s d m; ln -s /etc/hostname n",
		later: "rm l m; echo f >l; mkdir m; echo x >m/x; rm n; ln -s a.txt n", gone: []string{"m/x"}},
	{name: "executable bits", prepare: "chmod +x a.txt; echo x >x; chmod +x x", later: "chmod -x a.txt x"},
	{name: "file to directory", later: "rm a.txt; mkdir a.txt; echo x >a.txt/x", gone: []string{"a.txt/x"}},
	{name: "directory to file", prepare: "mkdir -p p/q; echo 1 >p/q/1", later: "rm -r p; echo f >p", gone: []string{"p"}},
	{name: "ignored in a directory in the way", prepare: "echo '*.log' >.gitignore",
		later:     "rm a.txt; mkdir a.txt; echo x >a.txt/x; echo l >a.txt/x.log",
		conflicts: []string{"a.txt"}, unrecorded: []string{"a.txt", "a.txt/x.log"}, gone: []string{"a.txt/x"}},
	{name: "ignored since", prepare: "echo mine >mine", later: "echo mine >.git/info/exclude; echo other >mine"},
	{name: "nested repository", prepare: "git init -q n; echo x >n/x; git -C n add .; git -C n commit -qm n",
		later:     "echo y >n/x; git -C n commit -qam y; echo other >a.txt",
		conflicts: []string{"n"}, unrecorded: []string{"n/x"}},
	{name: "staged stays staged", prepare: "echo one >a.txt", later: "echo two >a.txt; git add a.txt; echo three >a.txt"},
	{name: "all the same", prepare: "echo u >u"},
}

func TestRestore(t *testing.T) {
	isolate(t)
	for _, c := range restoreCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, w := revertRepo(t)
			ctx := context.Background()
			shell(t, dir, c.prepare)
			recorded := diskState(t, dir)
			from := takeSnapshot(t, w, "from")
			shell(t, dir, c.later)
			later, index := diskState(t, dir), testGitRaw(t, dir, "ls-files", "-s", "-z")
			done, err := w.Restore(ctx, RestoreSpec{From: from, Paths: c.paths, Op: Operation{Kind: OpRestore, What: "test"}})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(done.Conflicts, c.conflicts) {
				t.Errorf("conflicts %q, want %q", done.Conflicts, c.conflicts)
			}
			want := maps.Clone(later)
			for name, content := range recorded {
				wanted := len(c.paths) == 0 || slices.ContainsFunc(c.paths, func(p string) bool { return covers(p, name) })
				if wanted && !slices.Contains(c.unrecorded, name) {
					want[name] = content
				}
			}
			for _, name := range c.gone {
				if _, ok := recorded[name]; !ok {
					delete(want, name)
				}
			}
			sameState(t, "restored", diskState(t, dir), want)
			if got := testGitRaw(t, dir, "ls-files", "-s", "-z"); got != index {
				t.Errorf("index %q, want %q", got, index)
			}
			if maps.Equal(want, later) {
				if done.Operation.Name != "" {
					t.Errorf("nothing is recorded as %+v", done.Operation)
				}
				return
			}
			mustUndo(t, w)
			sameState(t, "undone", diskState(t, dir), later)
		})
	}
}

func TestRestoreStaged(t *testing.T) {
	dir, w := revertRepo(t)
	shell(t, dir, "echo staged >a.txt; git add a.txt; echo unstaged >a.txt")
	from := takeSnapshot(t, w, "from")
	shell(t, dir, "echo other >a.txt; git add a.txt; echo new >new; git add new; rm d/b.txt")
	op := Operation{Kind: OpRestore, What: "test"}
	if _, err := w.Restore(context.Background(), RestoreSpec{From: from, Staged: true, Op: op}); err != nil {
		t.Fatal(err)
	}
	if got := testGit(t, dir, "show", ":a.txt"); got != "staged" || readTestFile(t, dir, "a.txt") != "other\n" {
		t.Errorf("staged %q, file %q", got, readTestFile(t, dir, "a.txt"))
	}
	if got := testGit(t, dir, "status", "--porcelain"); got != "MM a.txt\n D d/b.txt\nA  new" {
		t.Errorf("status %q", got)
	}
	mustUndo(t, w)
	if got := testGit(t, dir, "show", ":a.txt"); got != "other" {
		t.Errorf("staged after undo: %q", got)
	}
	to := filepath.Join(t.TempDir(), "to")
	if _, err := w.repo.RestoreTo(context.Background(), to, RestoreSpec{From: from, Staged: true}); err != nil ||
		readTestFile(t, to, "a.txt") != "staged\n" {
		t.Errorf("%q, %v", readTestFile(t, to, "a.txt"), err)
	}
}

func TestRestoreTo(t *testing.T) {
	repo := newTestRepo(t)
	writeOdd(t, repo.WorkTree)
	ctx := context.Background()
	snap := takeSnapshot(t, checkoutOf(t, repo), "one")
	want := diskState(t, repo.WorkTree)
	to := filepath.Join(t.TempDir(), "not", "there")
	for range 2 { // the second time everything exists already
		done, err := repo.RestoreTo(ctx, to, RestoreSpec{From: snap})
		if err != nil || len(done.Conflicts) != 0 {
			t.Fatalf("conflicts %q, %v", done.Conflicts, err)
		}
		sameState(t, "written", diskState(t, to), want)
	}
	writeTestFile(t, to, "a.txt", "mine\n")
	done, err := repo.RestoreTo(ctx, to, RestoreSpec{From: snap, Paths: []string{"a.txt", "deep"}})
	if err != nil || !slices.Equal(done.Conflicts, []string{"a.txt"}) || readTestFile(t, to, "a.txt") != "mine\n" {
		t.Errorf("conflicts %q, %v", done.Conflicts, err)
	}
	if _, err := repo.RestoreTo(ctx, to, RestoreSpec{From: snap, Paths: []string{"a.txt", "nosuch"}}); !errors.Is(err,
		ErrNotFound) || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("no such path: %v", err)
	}
}

// TestRestoreToFollowsNoLink checks that symbolic links in the target directory are not followed.
func TestRestoreToFollowsNoLink(t *testing.T) {
	repo := newTestRepo(t)
	shell(t, repo.WorkTree, "mkdir d; echo x >d/x")
	snap := takeSnapshot(t, checkoutOf(t, repo), "one")
	to, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(to, "d")); err != nil {
		t.Fatal(err)
	}
	done, err := repo.RestoreTo(context.Background(), to, RestoreSpec{From: snap})
	if err != nil || !slices.Equal(done.Conflicts, []string{"d/x"}) || exists(filepath.Join(outside, "x")) {
		t.Errorf("conflicts %q, %v", done.Conflicts, err)
	}
}

func TestFindSnapshot(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	w := checkoutOf(t, repo)
	one := takeSnapshot(t, w, "one")
	writeTestFile(t, repo.WorkTree, "a.txt", "two\n")
	two := takeSnapshot(t, w, "two")
	for typed, want := range map[string]ID{
		"test/one": one.ID, "refs/runr-local/snapshots/test/two": two.ID, string(two.ID): two.ID, string(one.ID[:10]): one.ID,
		"": "", "test": "", "abc": "", "HEAD": "", "main": "", string(testHead(t, repo)): "", "../../../heads/main": "",
		string(one.ID[:3]): "",
	} {
		snap, err := repo.FindSnapshot(ctx, typed)
		if snap.ID != want || (err == nil) != (want != "") {
			t.Errorf("%q: %s, %v", typed, snap.ID, err)
		}
		if want == "" && !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", typed, err)
		}
	}
}

func TestSnapshots(t *testing.T) {
	repo := newTestRepo(t)
	ctx := context.Background()
	if list, err := repo.Snapshots(ctx); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	w := checkoutOf(t, repo)
	clean := takeSnapshot(t, w, "clean")
	shell(t, repo.WorkTree, "printf 12345 >u; rm a.txt; git init -q n; git -C n commit -q --allow-empty -m n")
	dirty := takeSnapshot(t, w, "dirty")
	list, err := repo.Snapshots(ctx)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, info := range list {
		if info.When.IsZero() || info.Head != testHead(t, repo) || info.Why != "snapshot "+filepath.Base(info.Name) {
			t.Errorf("%+v", info)
		}
		switch {
		case info.ID == clean.ID && info.Files == 0 && info.Bytes == 0:
		case info.ID == dirty.ID && info.Files == 3 && info.Bytes == 5:
		default:
			t.Errorf("%+v", info)
		}
	}
	// A damaged snapshot is reported, and the other one still measured.
	object := filepath.Join(repo.GitDir, "objects", string(dirty.ID[:2]), string(dirty.ID[2:]))
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	if list, err = openTestRepo(t, repo.WorkTree).Snapshots(ctx); err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, info := range list {
		if damaged := info.ID == dirty.ID; damaged != (info.Err != nil) || damaged != (info.Files == -1) {
			t.Errorf("%+v", info)
		}
	}
}
