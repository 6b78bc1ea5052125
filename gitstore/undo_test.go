package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var testLanding = Operation{Kind: OpLand, Run: "20260102030405-abcdef", What: "on main"}

// userState returns everything that a user sees: files, index, status and the position of HEAD.
func userState(t *testing.T, dir string) map[string]string {
	t.Helper()
	state := diskState(t, dir)
	for name := range state {
		if strings.HasPrefix(name, "nested/.git/") {
			delete(state, name)
		}
	}
	testGit(t, dir, "update-index", "-q", "--refresh", "--unmerged")
	state["[index]"] = testGitRaw(t, dir, "ls-files", "-s", "-v", "-z")
	state["[status]"] = testGitRaw(t, dir, "status", "--porcelain=v2", "-z", "--ignored")
	state["[branch]"], _ = runScript(dir, "git symbolic-ref -q HEAD")
	head, _ := runScript(dir, "git rev-parse -q --verify HEAD")
	state["[head]"] = head
	return state
}

// landCases prepare a checkout with a user's changes, and land work on it that a script made in another worktree.
// Undoing the landing must restore everything, and undoing the undo must restore the landed state.
var landCases = []struct {
	name    string
	base    string // committed before the work starts
	prepare string // runs in the checkout
	work    string // runs in a worktree
	started bool   // the work starts from the prepared checkout
}{
	{name: "plain", work: "echo w >>a.txt; echo n >n; rm d/b.txt"},
	{name: "dirty elsewhere", base: "echo k >k; echo l >l",
		prepare: "echo staged >k; git add k; echo unstaged >k; echo u >untracked; rm l; git rm -q --cached l; echo new " +
			">new; git add -N new",
		work: "echo w >>a.txt; mkdir e; echo n >e/n"},
	{name: "from the user's own files",
		prepare: "echo staged >a.txt; git add a.txt; echo mine >a.txt; echo mine >mine; echo other >other", started: true,
		work: "echo w >a.txt; echo w >mine"},
	{name: "odd names",
		base:    `printf x >'a b'; printf x >"$(printf 'n\nl')"; printf x >"$(printf '\377\376')"; printf x >':(top)q'`,
		prepare: `printf u >"$(printf 'u\nu')"`,
		work:    `printf y >'a b'; rm -- "$(printf 'n\nl')"; printf y >"$(printf '\377\376')"; printf y >':(top)q'; printf y >'*'; mkdir -p "$(printf 'd\n\377')"; printf y >"$(printf 'd\n\377/ f')"; printf y >--`},
	{name: "symbolic links", base: "ln -s a.txt l; ln -s d ld; ln -s /no/where out",
		work: "ln -sf d/b.txt l; rm ld; mkdir ld; echo x >ld/x; rm out; echo f >out; rm a.txt; ln -s l a.txt"},
	{name: "executable bits", base: "echo x >x; chmod +x x", prepare: "chmod +x d/b.txt",
		work: "chmod -x x; chmod +x a.txt"},
	{name: "file to directory", work: "rm a.txt; mkdir a.txt; echo x >a.txt/x; mkdir a.txt/y; echo z >a.txt/y/z"},
	{name: "directory to file", base: "mkdir -p t/u; echo x >t/x; echo y >t/u/y", work: "rm -r t; echo t >t"},
	{name: "everything deleted", work: "git rm -qr .; echo one >only"},
	{name: "ignored but tracked", base: "echo '*.log' >.gitignore; echo x >x.log; git add -f x.log",
		prepare: "echo mine >mine.log", work: "echo w >x.log; echo y >y.log; git add -f y.log"},
	{name: "ignored from now on", prepare: "echo mine >data.csv", work: "echo '*.csv' >.gitignore"},
	{name: "line ends", base: "git config core.autocrlf true; printf 'one\\r\\n' >c.txt; git add c.txt 2>/dev/null",
		work: "printf 'one\\r\\ntwo\\r\\n' >c.txt; printf 'n\\r\\n' >n.txt"},
	{name: "filter",
		base: "git config filter.up.clean 'tr A-Z a-z'; git config filter.up.smudge 'tr a-z A-Z'; echo '*.up filter=up' " +
			">.gitattributes; echo HELLO >x.up", prepare: "echo hello >u.up", work: "echo WORLD >x.up; echo NEW >n.up"},
	{name: "nested repository",
		prepare: "git init -q nested; echo x >nested/x; git -C nested add .; git -C nested commit -qm n; git init -q " +
			"empty-nested", work: "echo w >>a.txt"},
	{name: "submodule", base: "git clone -q . sub; git submodule -q add ./sub sub 2>/dev/null || git add sub",
		work: "git update-index --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -qm bump; echo w >>a.txt"},
	{name: "sparse checkout", base: "mkdir in out; echo i >in/i; echo o >out/o; echo p >out/p",
		prepare: "git sparse-checkout set in; echo mine >in/mine",
		work:    "echo w >in/i; echo w >out/o; echo n >out/n; rm out/p"},
	{name: "split index",
		prepare: "git config core.splitIndex true; git update-index --split-index; echo mine >mine; git add mine",
		work:    "echo w >>a.txt; echo n >n"},
	{name: "detached", prepare: "git checkout -q --detach", work: "echo w >>a.txt"},
	{name: "closed to others", prepare: "chmod 600 a.txt; umask 077; echo s >secret", work: "echo w >>a.txt; echo n >n"},
	{name: "empty directory", prepare: "mkdir -p empty/deep", work: "echo w >>a.txt"},
	{name: "names that differ by case", base: "echo u >Upper", work: "git mv Upper upper; echo w >>a.txt"},
}

func TestUndoLanding(t *testing.T) {
	isolate(t)
	for _, c := range landCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			repo := newTestRepo(t)
			dir := repo.WorkTree
			shell(t, dir, "mkdir d; echo b >d/b.txt; "+c.base+"\ngit add -A; git commit -qm base")
			base := testHead(t, repo)
			shell(t, dir, c.prepare)
			repo = openTestRepo(t, dir)
			checkout, work := checkoutOf(t, repo), addTestWorktree(t, repo)
			spec := LandSpec{Base: base, Op: testLanding, AllowDeletions: true}
			if c.started {
				started := takeSnapshot(t, checkout, "started")
				spec.Started = &started
				shell(t, work.Dir, "cp '"+dir+"'/* . 2>/dev/null; git add -A")
			}
			shell(t, work.Dir, c.work+"\ngit add -A; git commit -qm work; git rev-parse HEAD >/dev/null")
			spec.Result = ID(testGit(t, work.Dir, "rev-parse", "HEAD"))

			before := userState(t, dir)
			landed, err := checkout.Land(context.Background(), spec)
			if err != nil {
				t.Fatal(err)
			}
			after := userState(t, dir)
			if landed.Operation.Name != "main/00000001" || after["[head]"] == before["[head]"] {
				t.Fatalf("landed %+v", landed)
			}
			for _, want := range []map[string]string{before, after} {
				mustUndo(t, checkout)
				sameState(t, "undone", userState(t, dir), want)
			}
		})
	}
}

// mustUndo undoes the newest operation and expects no conflict.
func mustUndo(t *testing.T, w *Worktree) Reverted {
	t.Helper()
	done := undoNewest(t, w)
	if len(done.Conflicts) > 0 {
		t.Fatalf("conflicts %q", done.Conflicts)
	}
	if refs, _ := w.repo.Refs(context.Background(), journalPrefix); len(refs) != 0 {
		t.Errorf("journal is left: %v", refs)
	}
	return done
}

func undoNewest(t *testing.T, w *Worktree) Reverted {
	t.Helper()
	ops, err := w.repo.Operations(context.Background())
	if err != nil || len(ops) == 0 {
		t.Fatalf("%d operations, %v", len(ops), err)
	}
	done, err := w.Undo(context.Background(), ops[0])
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// landTest lands two commits of work on a clean checkout.
func landTest(t *testing.T) (repo *Repo, w *Worktree, landed Landed) {
	t.Helper()
	repo, spec := landRepo(t)
	spec.Op = testLanding
	return repo, checkoutOf(t, repo), mustLand(t, repo, spec)
}

// TestUndoLandingWithLaterWork checks that later work is never lost: its paths are conflicts.
func TestUndoLandingWithLaterWork(t *testing.T) {
	isolate(t)
	for _, c := range []struct {
		name, later string
		conflicts   []string
	}{
		{"edited", "echo mine >b.txt", []string{"b.txt"}},
		{"edited and staged", "echo mine >b.txt; git add b.txt", []string{"b.txt"}},
		{"deleted", "rm b.txt", []string{"b.txt"}},
		{"deleted as it was before", "rm new.txt", nil},
		{"new where one goes back", "echo mine >gone.txt", []string{"gone.txt"}},
		{"a directory where one goes back", "mkdir gone.txt; echo mine >gone.txt/mine", []string{"gone.txt"}},
		{"ignored where one goes back", "echo gone.txt >.git/info/exclude; echo mine >gone.txt", []string{"gone.txt"}},
		{"elsewhere", "echo mine >a.txt; echo mine >mine; git add mine", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			repo, w, landed := landTest(t)
			shell(t, repo.WorkTree, c.later)
			later := diskState(t, repo.WorkTree)
			done := undoNewest(t, w)
			if !slices.Equal(done.Conflicts, c.conflicts) {
				t.Errorf("conflicts %q, want %q", done.Conflicts, c.conflicts)
			}
			if head := testHead(t, repo); head != landed.Old {
				t.Errorf("HEAD is at %s", head)
			}
			want := treeState(t, repo, landed.Old)
			for _, name := range append(c.conflicts, "a.txt", "mine", "gone.txt/mine") {
				if content, ok := later[name]; ok {
					want[name] = content
				} else if slices.Contains(c.conflicts, name) {
					delete(want, name)
				}
			}
			sameState(t, "undone", diskState(t, repo.WorkTree), want)
			if c.name == "elsewhere" && testGit(t, repo.WorkTree, "status", "--porcelain") != " M a.txt\nA  mine" {
				t.Errorf("status %q", testGit(t, repo.WorkTree, "status", "--porcelain"))
			}
			undoNewest(t, w)
			sameState(t, "undone twice", diskState(t, repo.WorkTree), later)
		})
	}
}

// TestUndoLandingStagedSince checks that a later staged entry is left alone, although the file is as landed.
func TestUndoLandingStagedSince(t *testing.T) {
	repo, w, _ := landTest(t)
	shell(t, repo.WorkTree, "cp b.txt k; echo mine >b.txt; git add b.txt; mv k b.txt")
	done := undoNewest(t, w)
	if !slices.Equal(done.Conflicts, []string{"b.txt"}) || testGit(t, repo.WorkTree, "show", ":b.txt") != "mine" {
		t.Errorf("conflicts %q, staged %q", done.Conflicts, testGit(t, repo.WorkTree, "show", ":b.txt"))
	}
}

// TestUndoLandingOfBranchThatWentOn checks that nothing changes if the branch has new commits.
func TestUndoLandingOfBranchThatWentOn(t *testing.T) {
	isolate(t)
	for name, later := range map[string]string{
		"commit":         "echo x >x; git add x; git commit -qm later",
		"amended":        "git commit -q --amend --allow-empty -m other",
		"other branch":   "git checkout -q -b other",
		"detached":       "git checkout -q --detach",
		"merge going on": "git rev-parse HEAD >.git/MERGE_HEAD",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repo, w, _ := landTest(t)
			shell(t, repo.WorkTree, later)
			before := userState(t, repo.WorkTree)
			ops, err := repo.Operations(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if _, err = w.Undo(context.Background(), ops[0]); !errors.Is(err, ErrConflict) &&
				!errors.As(err, new(*UnfinishedError)) {
				t.Errorf("got %v", err)
			}
			sameState(t, "refused", userState(t, repo.WorkTree), before)
			if again, _ := repo.Operations(context.Background()); len(again) != len(ops) {
				t.Error("it was recorded")
			}
		})
	}
}

// TestUndoLandingInSparseCheckout checks that files outside of a sparse checkout stay out, even if the index is
// restored entry by entry because something else was staged since.
func TestUndoLandingInSparseCheckout(t *testing.T) {
	repo := newTestRepo(t)
	dir := repo.WorkTree
	shell(t, dir,
		"mkdir in out; echo i >in/i; echo o >out/o; echo p >out/p; git add -A; git commit -qm base; git sparse-checkout "+
			"set in")
	repo = openTestRepo(t, dir)
	work := addTestWorktree(t, repo)
	shell(t, work.Dir, "echo w >in/i; echo w >out/o; rm out/p; git add -A; git commit -qm work")
	spec := LandSpec{Base: testHead(t, repo), Result: ID(testGit(t, work.Dir, "rev-parse", "HEAD")), Op: testLanding}
	mustLand(t, repo, spec)
	shell(t, dir, "echo later >in/later; git add in/later")
	mustUndo(t, checkoutOf(t, repo))
	if got := testGit(t, dir, "status", "--porcelain"); got != "A  in/later" {
		t.Errorf("status %q", got)
	}
	if got := testGit(t, dir, "ls-files", "-t", "out"); got != "S out/o\nS out/p" {
		t.Errorf("left out: %q", got)
	}
}

func TestUndoLandingOnUnbornBranch(t *testing.T) {
	repo, spec := landRepo(t)
	dir := repo.WorkTree
	shell(t, dir, "git checkout -q --orphan fresh; git rm -rfq .; echo mine >mine; git add mine")
	spec.Op, spec.Base = testLanding, ""
	before := diskState(t, dir)
	if _, err := checkoutOf(t, repo).Land(context.Background(), spec); err != nil {
		t.Fatal(err)
	}
	after := userState(t, dir)
	mustUndo(t, checkoutOf(t, repo))
	sameState(t, "undone", diskState(t, dir), before)
	if out, err := runScript(dir, "git rev-parse -q --verify HEAD"); err == nil {
		t.Errorf("the branch is at %s", out)
	}
	if got := testGit(t, dir, "status", "--porcelain"); got != "A  mine" {
		t.Errorf("status %q", got)
	}
	mustUndo(t, checkoutOf(t, repo))
	sameState(t, "done again", userState(t, dir), after)
}

// TestUndoInLinkedWorktree checks that each worktree has its own operations.
func TestUndoInLinkedWorktree(t *testing.T) {
	repo, spec := landRepo(t)
	linked := filepath.Join(t.TempDir(), "linked")
	testGit(t, repo.WorkTree, "worktree", "add", "-q", "-b", "side", linked, string(spec.Base))
	spec.Op = testLanding
	there := openTestRepo(t, linked)
	before, main := userState(t, linked), userState(t, repo.WorkTree)
	landed := mustLand(t, there, spec)
	if landed.Operation.Name != "worktrees/linked/00000001" {
		t.Errorf("recorded as %q", landed.Operation.Name)
	}
	if ops, err := repo.Operations(context.Background()); err != nil || len(ops) != 0 {
		t.Errorf("%d operations in the main worktree, %v", len(ops), err)
	}
	mustUndo(t, checkoutOf(t, there))
	sameState(t, "undone", userState(t, linked), before)
	sameState(t, "the other", userState(t, repo.WorkTree), main)
}

func TestUndoLandingOfBranch(t *testing.T) {
	repo, spec := landRepo(t)
	ctx := context.Background()
	bare := filepath.Join(t.TempDir(), "bare.git")
	testGit(t, repo.WorkTree, "clone", "-q", "--bare", repo.WorkTree, bare)
	in := openTestRepo(t, bare)
	spec.Op = testLanding
	if _, err := in.LandRef(ctx, "refs/heads/main", spec); err != nil {
		t.Fatal(err)
	}
	at := func() ID { return ID(testGit(t, bare, "rev-parse", "main")) }
	undo := func() error {
		ops, err := in.Operations(ctx)
		if err != nil {
			t.Fatal(err)
		}
		_, err = in.UndoBranch(ctx, ops[0])
		return err
	}
	for i, want := range []ID{spec.Base, spec.Result, spec.Base} {
		if err := undo(); err != nil || at() != want {
			t.Errorf("undo %d: main is at %s, want %s: %v", i, at(), want, err)
		}
	}
	testGit(t, bare, "gc", "-q", "--prune=now")
	testGit(t, bare, "update-ref", "refs/heads/main", string(spec.Result)) // by hand, to its old position
	if err := undo(); !errors.Is(err, ErrNoChange) {
		t.Errorf("done by hand already: %v", err)
	}
	testGit(t, bare, "update-ref", "refs/heads/main", testGit(t, bare, "rev-parse", string(spec.Result)+"~"))
	if err := undo(); !errors.Is(err, ErrConflict) {
		t.Errorf("moved on: %v", err)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	testGit(t, bare, "update-ref", "refs/heads/main", string(spec.Base))
	testGit(t, bare, "worktree", "add", "-q", linked, "main")
	if err := undo(); !errors.Is(err, ErrConflict) {
		t.Errorf("checked out: %v", err)
	}
}

// TestLandRefusesDeletions checks that a landing that would delete most files is refused and changes nothing.
func TestLandRefusesDeletions(t *testing.T) {
	isolate(t)
	for _, c := range []struct {
		name, work string
		deleted    []string
		refused    bool
	}{
		{"half", "rm a.txt b.txt", []string{"a.txt", "b.txt"}, false},
		{"most", "rm a.txt b.txt gone.txt", []string{"a.txt", "b.txt", "gone.txt"}, true},
		{"all, but one is new", "git rm -qr .; echo n >n", []string{"a.txt", "b.txt", "d/x", "gone.txt"}, true},
		{"moved", "mkdir m; git mv a.txt b.txt gone.txt d m", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			repo := newTestRepo(t)
			shell(t, repo.WorkTree,
				"echo b >b.txt; mkdir d; lines() { awk \"BEGIN { for (i = $1; i <= $2; i++) print i }\"; }; lines 1 20 "+
					">gone.txt; lines 30 50 >d/x; lines 60 90 >a.txt; git add -A; git commit -qm apart")
			w := addTestWorktree(t, repo)
			spec := LandSpec{Base: testHead(t, repo), Op: testLanding}
			shell(t, w.Dir, c.work+"; git add -A; git commit -qm work")
			spec.Result = ID(testGit(t, w.Dir, "rev-parse", "HEAD"))
			if c.refused {
				refuseLand(t, repo, spec, ErrDeletions, c.deleted...)
				spec.AllowDeletions = true
			}
			if landed := mustLand(t, repo, spec); !slices.Equal(landed.Deleted, c.deleted) {
				t.Errorf("deleted %q", landed.Deleted)
			}
		})
	}
}

func TestOperationLine(t *testing.T) {
	for _, op := range []Operation{
		testLanding, testLanding.opposite(), {Kind: OpRestore, What: "of snapshot abc"},
		{Kind: OpRevert, Run: "r", What: "attempt 1: all"}, {Kind: opLanding},
	} {
		if again := parseOperation(op.String()); again != op {
			t.Errorf("%q is read as %+v", op.String(), again)
		}
	}
	for _, line := range []string{"", "files taken back", "land", "land a b: x", "undo", "undo: x"} {
		if op := parseOperation(line); op != (Operation{Kind: OpRevert, What: line}) {
			t.Errorf("%q is read as %+v", line, op)
		}
	}
}

// TestUndoKeepsPermissions checks that a file keeps its permissions through an undo.
func TestUndoKeepsPermissions(t *testing.T) {
	repo, spec := landRepo(t)
	spec.Op = testLanding
	file := filepath.Join(repo.WorkTree, "b.txt")
	mustLand(t, repo, spec)
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	mustUndo(t, checkoutOf(t, repo))
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestDamagedOperation checks that a damaged record does not hide other records or prevent new ones.
func TestDamagedOperation(t *testing.T) {
	repo, w, landed := landTest(t)
	mustUndo(t, w)
	ref := undoPrefix + "main/00000002"
	id := testGit(t, repo.WorkTree, "rev-parse", ref)
	if err := os.Remove(filepath.Join(repo.GitDir, "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	repo = openTestRepo(t, repo.WorkTree)
	ctx := context.Background()
	ops, err := repo.Operations(ctx)
	if err != nil || len(ops) != 2 || ops[0].Run != "" || ops[1].Run != testLanding.Run {
		t.Fatalf("%+v, %v", ops, err)
	}
	if _, err := checkoutOf(t, repo).Undo(ctx, ops[0]); err == nil {
		t.Error("a damaged record was undone")
	}
	spec := LandSpec{Base: landed.Old, Result: landed.Commit, Op: testLanding}
	if again := mustLand(t, repo, spec); again.Operation.Name != "main/00000003" {
		t.Errorf("recorded as %q", again.Operation.Name)
	}
	mustUndo(t, checkoutOf(t, repo))
}
