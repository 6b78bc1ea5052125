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
	"testing"
)

// landRepo creates a repository with some files, and two commits of work on its first commit.
func landRepo(t *testing.T) (repo *Repo, spec LandSpec) {
	t.Helper()
	repo = newTestRepo(t)
	base := commitFiles(t, repo, map[string]string{"b.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "gone.txt": "g\n",
		"d/x": "x\n"})
	w := addTestWorktree(t, repo)
	shell(t, w.Dir,
		"echo work >>b.txt; rm gone.txt; git add -A; git commit -qm one; echo n >new.txt; rm -r d; echo d >d; git add -A; "+
			"git commit -qm two")
	result := ID(testGit(t, w.Dir, "rev-parse", "HEAD"))
	return repo, LandSpec{Base: base, Result: result, Author: testAgent, When: testWhen, Message: "the work"}
}

func landingState(t *testing.T, repo *Repo) string {
	t.Helper()
	return fmt.Sprintf("%s %q %q", testHead(t, repo), indexState(t, repo.WorkTree), diskState(t, repo.WorkTree))
}

func mustLand(t *testing.T, repo *Repo, spec LandSpec) Landed {
	t.Helper()
	landed, err := checkoutOf(t, repo).Land(context.Background(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if head := testHead(t, repo); head != landed.Commit {
		t.Errorf("HEAD is at %s, landed %s", head, landed.Commit)
	}
	return landed
}

// refuseLand expects an error about certain paths, and no change.
func refuseLand(t *testing.T, repo *Repo, spec LandSpec, kind error, paths ...string) {
	t.Helper()
	testGit(t, repo.WorkTree, "update-index", "-q", "--refresh", "--unmerged")
	before, sum := testHead(t, repo), diskState(t, repo.WorkTree)
	staged := testGitRaw(t, repo.WorkTree, "ls-files", "-s", "-z")
	_, err := checkoutOf(t, repo).Land(context.Background(), spec)
	var about *PathsError
	if !errors.Is(err, kind) || !errors.As(err, &about) || !slices.Equal(about.Paths, paths) {
		t.Errorf("got %v, want %v about %q", err, kind, paths)
	}
	if testHead(t, repo) != before || testGitRaw(t, repo.WorkTree, "ls-files", "-s", "-z") != staged {
		t.Error("HEAD or index changed")
	}
	sameState(t, "after refusal", diskState(t, repo.WorkTree), sum)
}

func TestLandForward(t *testing.T) {
	repo, spec := landRepo(t)
	fired := filepath.Join(t.TempDir(), "fired")
	for _, hook := range []string{"post-merge", "post-checkout", "reference-transaction"} {
		if err := os.WriteFile(filepath.Join(repo.GitDir, "hooks", hook), []byte("#!/bin/sh\ntouch '"+fired+"'\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
	}
	landed := mustLand(t, repo, spec)
	if landed.Commit != spec.Result || landed.Old != spec.Base ||
		!slices.Equal(landed.Files, []string{"b.txt", "d", "d/x", "gone.txt", "new.txt"}) {
		t.Errorf("%+v", landed)
	}
	sameState(t, "files", diskState(t, repo.WorkTree), treeState(t, repo, spec.Result))
	if got := testGit(t, repo.WorkTree, "status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
	if exists(fired) {
		t.Error("a hook ran")
	}
	if reflog := testGit(t, repo.WorkTree, "reflog", "-1", "--format=%gs",
		"HEAD"); reflog != "runr: land "+spec.Result.Short() {
		t.Errorf("reflog %q", reflog)
	}
	if again := mustLand(t, repo, spec); again.Commit != landed.Commit || again.Old != landed.Commit ||
		len(again.Files) != 0 {
		t.Errorf("again: %+v", again)
	}
}

func TestLandSquash(t *testing.T) {
	repo, spec := landRepo(t)
	spec.Squash = true
	landed := mustLand(t, repo, spec)
	commit, err := repo.ReadCommit(context.Background(), landed.Commit)
	if err != nil || commit.Author != testAgent || commit.Message != "the work\n" ||
		!slices.Equal(commit.Parents, []ID{spec.Base}) {
		t.Errorf("%+v, %v", commit, err)
	}
	sameState(t, "files", diskState(t, repo.WorkTree), treeState(t, repo, spec.Result))
}

func TestLandOnMovedBranch(t *testing.T) {
	for _, squash := range []bool{false, true} {
		repo, spec := landRepo(t)
		spec.Squash = squash
		commitFiles(t, repo, map[string]string{"b.txt": "top\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"})
		mustLand(t, repo, spec)
		want := "two\none\nnext\nnext\nfirst"
		if squash {
			want = "the work\nnext\nnext\nfirst"
		}
		if got := history(t, repo.WorkTree, "HEAD"); got != want {
			t.Errorf("history %q, want %q", got, want)
		}
		if got := readTestFile(t, repo.WorkTree, "b.txt"); got != "top\n1\n2\n3\n4\n5\n6\n7\n8\n9\nwork\n" {
			t.Errorf("b.txt = %q", got)
		}
		if got := testGit(t, repo.WorkTree, "status", "--porcelain"); got != "" {
			t.Errorf("status %q", got)
		}
	}
}

// TestLandOnOlderBranch checks that a branch without the base gets the work only, not the base.
func TestLandOnOlderBranch(t *testing.T) {
	repo, spec := landRepo(t)
	testGit(t, repo.WorkTree, "checkout", "-q", "-b", "old", "HEAD~")
	writeTestFile(t, repo.WorkTree, "unrelated", "u\n")
	spec.Base = ID(testGit(t, repo.WorkTree, "rev-parse", string(spec.Result)+"~")) // its last commit: a new file, d
	spec.Message = "x"
	_, err := checkoutOf(t, repo).Land(context.Background(), spec)
	if err != nil && !errors.Is(err, ErrConflict) {
		t.Fatal(err)
	}
	if err == nil && strings.Contains(history(t, repo.WorkTree, "HEAD"), "one") {
		t.Error("more than the work came")
	}
}

func TestLandDetached(t *testing.T) {
	repo, spec := landRepo(t)
	testGit(t, repo.WorkTree, "checkout", "-q", "--detach")
	mustLand(t, repo, spec)
	if got := testGit(t, repo.WorkTree, "rev-parse", "main"); got != string(spec.Base) {
		t.Errorf("main moved to %s", got)
	}
}

func TestLandConflict(t *testing.T) {
	for _, squash := range []bool{false, true} {
		repo, spec := landRepo(t)
		spec.Squash = squash
		commitFiles(t, repo, map[string]string{"b.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\nmine\n"})
		refuseLand(t, repo, spec, ErrConflict, "b.txt")
	}
}

// TestLandMergeKilled checks that the partial output of a killed git is not taken for a conflict.
func TestLandMergeKilled(t *testing.T) {
	repo, spec := landRepo(t)
	commitFiles(t, repo, map[string]string{"b.txt": "1\n2\n3\n4\n5\n6\n7\n8\n9\nmine\n"})
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := "#!/bin/sh\n" + real + ` "$@" || case "$*" in *" merge-tree "*) kill -9 $$ ;; *) exit $? ;; esac` + "\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if _, err := checkoutOf(t, repo).Land(context.Background(), spec); err == nil || errors.Is(err, ErrConflict) {
		t.Errorf("landed with %v", err)
	}
}

func TestLandDirty(t *testing.T) {
	for _, c := range []struct {
		name, script string
		paths        []string
	}{
		{"modified", "echo mine >b.txt", []string{"b.txt"}},
		{"staged", "echo mine >b.txt; git add b.txt", []string{"b.txt"}},
		{"staged and put back", "cp b.txt k; echo mine >b.txt; git add b.txt; mv k b.txt", []string{"b.txt"}},
		{"deleted", "rm b.txt", []string{"b.txt"}},
		{"modified where it goes", "echo mine >gone.txt", []string{"gone.txt"}},
		{"untracked in the way", "echo mine >new.txt", []string{"new.txt"}},
		{"ignored in the way", "echo new.txt >.git/info/exclude; echo mine >new.txt", []string{"new.txt"}},
		{"directory in the way", "mkdir new.txt; echo mine >new.txt/y", []string{"new.txt/y"}},
		{"file in a directory that goes", "echo mine >d/mine", []string{"d/mine"}},
		{"added", "echo mine >new.txt; git add new.txt", []string{"new.txt"}},
		{"several", "echo mine >new.txt; echo mine >b.txt", []string{"b.txt", "new.txt"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo, spec := landRepo(t)
			shell(t, repo.WorkTree, c.script)
			refuseLand(t, repo, spec, ErrDirty, c.paths...)
		})
	}
}

// TestLandKeepsUnrelatedChanges checks that files outside of the work stay as they are: edited, staged, untracked.
func TestLandKeepsUnrelatedChanges(t *testing.T) {
	repo, spec := landRepo(t)
	shell(t, repo.WorkTree, "echo mine >a.txt; echo s >staged; git add staged; echo u >untracked; touch b.txt")
	mustLand(t, repo, spec)
	if got := testGit(t, repo.WorkTree, "status", "--porcelain"); got != " M a.txt\nA  staged\n?? untracked" {
		t.Errorf("status %q", got)
	}
	if got := readTestFile(t, repo.WorkTree, "a.txt"); got != "mine\n" {
		t.Errorf("a.txt = %q", got)
	}
}

// TestLandSameContent checks that a file that already has the content of the work is not in the way.
func TestLandSameContent(t *testing.T) {
	repo, spec := landRepo(t)
	shell(t, repo.WorkTree, "echo work >>b.txt; rm gone.txt; echo n >new.txt; git add new.txt")
	mustLand(t, repo, spec)
	if got := testGit(t, repo.WorkTree, "status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
}

// TestLandFromSnapshot checks that uncommitted files from which the work started are landed with it, and that
// files that were changed since are in the way.
func TestLandFromSnapshot(t *testing.T) {
	repo, spec := landRepo(t)
	w := checkoutOf(t, repo)
	shell(t, repo.WorkTree,
		"echo staged >b.txt; git add b.txt; echo mine >b.txt; echo mine >new.txt; rm gone.txt; echo other >a.txt")
	started := takeSnapshot(t, w, "started")
	refuseLand(t, repo, spec, ErrDirty, "b.txt", "new.txt")
	spec.Started = &started
	writeTestFile(t, repo.WorkTree, "new.txt", "changed since\n")
	refuseLand(t, repo, spec, ErrDirty, "new.txt")
	writeTestFile(t, repo.WorkTree, "new.txt", "mine\n")
	mustLand(t, repo, spec)
	if got := testGit(t, repo.WorkTree, "status", "--porcelain"); got != " M a.txt" {
		t.Errorf("status %q", got)
	}
	if got := readTestFile(t, repo.WorkTree, "new.txt"); got != "n\n" {
		t.Errorf("new.txt = %q", got)
	}
}

func TestLandLeavesSparseCheckoutSparse(t *testing.T) {
	repo, spec := landRepo(t)
	testGit(t, repo.WorkTree, "sparse-checkout", "set", "nothing")
	repo = openTestRepo(t, repo.WorkTree)
	mustLand(t, repo, spec)
	if got := testGit(t, repo.WorkTree, "status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
}

func TestLandDuringMerge(t *testing.T) {
	repo, spec := landRepo(t)
	writeTestFile(t, repo.GitDir, "MERGE_HEAD", string(spec.Base)+"\n")
	if _, err := checkoutOf(t, repo).Land(context.Background(), spec); !errors.As(err, new(*UnfinishedError)) {
		t.Errorf("got %v", err)
	}
}

func TestLandLocked(t *testing.T) {
	repo, spec := landRepo(t)
	writeTestFile(t, repo.GitDir, "index.lock", "")
	if _, err := checkoutOf(t, repo).Land(context.Background(), spec); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v", err)
	}
}

// TestLandLostRace checks that the files are restored if the branch cannot be moved.
func TestLandLostRace(t *testing.T) {
	repo, spec := landRepo(t)
	shell(t, repo.WorkTree, "echo mine >new.txt")
	started := takeSnapshot(t, checkoutOf(t, repo), "started")
	spec.Started = &started
	before := landingState(t, repo)
	writeTestFile(t, repo.GitDir, "refs/heads/main.lock", "")
	if _, err := checkoutOf(t, repo).Land(context.Background(), spec); err == nil {
		t.Fatal("landed on a locked branch")
	}
	if got := landingState(t, repo); got != before {
		t.Errorf("state %q, want %q", got, before)
	}
}

func TestLandRef(t *testing.T) {
	repo, spec := landRepo(t)
	ctx := context.Background()
	if _, err := repo.LandRef(ctx, "refs/heads/main", spec); !errors.Is(err, ErrConflict) {
		t.Errorf("on a branch that is checked out: %v", err)
	}
	bare := filepath.Join(t.TempDir(), "bare.git")
	testGit(t, repo.WorkTree, "clone", "-q", "--bare", repo.WorkTree, bare)
	inBare := openTestRepo(t, bare)
	landed, err := inBare.LandRef(ctx, "refs/heads/main", spec)
	if err != nil || landed.Commit != spec.Result || len(landed.Files) != 5 {
		t.Errorf("%+v, %v", landed, err)
	}
	if got := testGit(t, bare, "rev-parse", "main"); got != string(spec.Result) {
		t.Errorf("main is at %s", got)
	}
	if _, err := inBare.LandRef(ctx, "refs/tags/x", spec); err == nil {
		t.Error("a tag was moved")
	}
}

func TestPathsError(t *testing.T) {
	err := &PathsError{Err: ErrDirty, Paths: []string{"a", "b\n", "c", "d", "e", "f", "g"}}
	if got := err.Error(); got != `uncommitted changes in the way: "a", "b\n", "c", "d", "e" and 2 more` {
		t.Errorf("%s", got)
	}
}
