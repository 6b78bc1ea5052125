package hooks

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// decisions installs the test binary as the program. It returns a function that returns ShouldRun's results at the
// commits since its last call, true or false, in order.
func decisions(t *testing.T, dir string) func() string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(t.TempDir(), "decisions")
	t.Setenv("HOOKS_TEST_LOG", log)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector's pause at each exit
	install(t, open(t, dir), program)
	return func() string {
		var said []string
		for line := range strings.Lines(readText(t, log)) {
			said = append(said, strings.Fields(line)[0])
		}
		os.Remove(log)
		return strings.Join(said, " ")
	}
}

// play runs git commands; one that begins with "!" must stop at a conflict.
func play(t *testing.T, dir string, steps ...string) {
	t.Helper()
	for _, step := range steps {
		args := strings.Fields(strings.TrimPrefix(step, "!"))
		out, err := tryGit(dir, args...)
		if (err != nil) != strings.HasPrefix(step, "!") {
			t.Fatalf("git %s: %v\n%s", step, err, out)
		}
	}
}

// newHistory returns a repository with main at commit m, side with s1 s2 s3 on the same base, and two branches that
// conflict in the file q: left (one commit) and right (two).
func newHistory(t *testing.T) (dir string, said func() string) {
	t.Helper()
	dir = newRepo(t).WorkTree
	play(t, dir, "checkout -q -b side")
	for _, name := range []string{"s1", "s2", "s3"} {
		commit(t, dir, name)
	}
	for _, branch := range []string{"left", "right"} {
		play(t, dir, "checkout -q -b "+branch+" main")
		writeText(t, filepath.Join(dir, "q"), branch+"\n")
		play(t, dir, "add q", "commit -qm "+branch)
	}
	commit(t, dir, "right2")
	play(t, dir, "checkout -q main")
	commit(t, dir, "m")
	return dir, decisions(t, dir)
}

// ShouldRun's results during git commands. During a rebase the hook's shell decides by itself to start nothing, which
// is written as "".
func TestShouldRunDuringGitCommands(t *testing.T) {
	history, said := newHistory(t)
	for _, c := range []struct {
		name, steps, want string
	}{
		{"amend", "commit -q --amend -m x", "true"},
		{"rebase of three", "checkout -q side;rebase -q main", ""},
		{"rebase stopped, amend, new commit",
			"checkout -q side;-c sequence.editor=sed\u00a0-i\u00a01s/pick/edit/ rebase -q -i HEAD~2;commit -q --amend -m " +
				"x;commit -q --allow-empty -m y;rebase --continue;commit -q --allow-empty -m after",
			"true"},
		{"rebase --apply stopped",
			"checkout -q right;!rebase -q --apply left;checkout --theirs q;commit -qam x;rebase --abort", ""},
		{"am stopped",
			"format-patch -q -o ../patches left~1..left;checkout -q right;!am -q ../patches/0001-left.patch;commit -q " +
				"--allow-empty -m x;am --abort", "true"},
		{"cherry-pick of one", "cherry-pick side", "true"},
		{"cherry-pick of one, editor", "cherry-pick -e side", "true"},
		{"cherry-pick of a range", "cherry-pick side~3..side;commit -q --allow-empty -m after", "true true true true"},
		{"cherry-pick of a range with a conflict",
			"checkout -q left;!cherry-pick right~2..right;checkout --theirs q;commit -qam x;cherry-pick --continue",
			"true true"},
		{"revert of one", "revert --no-edit HEAD", "true"},
		{"revert of a range", "checkout -q side;revert --no-edit HEAD~2..HEAD", "true true"},
		{"merge without conflict", "merge -q --no-ff side", ""},
		{"commit that ends a merge", "checkout -q left;!merge -q right;checkout --ours q;commit -qam x", "true"},
		{"squash", "merge -q --squash side;commit -qm x", "true"},
		{"bisect", "bisect start HEAD HEAD~1;commit -q --allow-empty -m x;bisect reset;commit -q --allow-empty -m y",
			"false true"},
		{"branch of a run",
			"checkout -q -b runr/run-1;commit -q --allow-empty -m x;checkout -q -b runr2;commit -q --allow-empty -m y",
			"false true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(dir, os.DirFS(history)); err != nil {
				t.Fatal(err)
			}
			for step := range strings.SplitSeq(c.steps, ";") {
				playStep(t, dir, step)
			}
			if got := said(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// playStep is play for a step whose words may contain spaces, written as U+00A0.
func playStep(t *testing.T, dir, step string) {
	t.Helper()
	if !strings.Contains(step, "\u00a0") {
		play(t, dir, step)
		return
	}
	var args []string
	for word := range strings.SplitSeq(step, " ") {
		args = append(args, strings.ReplaceAll(word, "\u00a0", " "))
	}
	git(t, dir, args...)
}

func TestShouldRunInLinkedWorktrees(t *testing.T) {
	dir, said := newHistory(t)
	linked := filepath.Join(t.TempDir(), "linked")
	play(t, dir, "worktree add -q "+linked+" right")
	play(t, linked, "!rebase -q left")
	commit(t, dir, "a")
	if got := said(); got != "true" {
		t.Errorf("main while the linked one rebases: %q", got)
	}
	play(t, linked, "checkout --theirs q", "commit -qam x", "rebase --abort", "commit -q --allow-empty -m y")
	if got := said(); got != "true" {
		t.Errorf("linked: %q", got)
	}
}

func TestShouldRunBeforeMergeAndRevertEnd(t *testing.T) {
	dir, _ := newHistory(t)
	for _, step := range []string{"merge -q right", "revert --no-edit HEAD~1"} {
		play(t, dir, "checkout -q -f left", "reset -q --hard")
		if step != "merge -q right" {
			writeText(t, filepath.Join(dir, "q"), "changed\n")
			play(t, dir, "commit -qam changed")
		}
		play(t, dir, "!"+step)
		if run, reason := ShouldRun(context.Background(), open(t, dir), PostCommit, os.Getenv); run ||
			!strings.Contains(reason, strings.Fields(step)[0]) {
			t.Errorf("%s: %v %q", step, run, reason)
		}
		play(t, dir, "reset -q --hard")
	}
}

// While post-rewrite and post-merge run, the files of the operation that ends still exist.
func TestShouldRunAtTheEnd(t *testing.T) {
	for _, c := range []struct{ file, runs string }{
		{"rebase-merge", "post-rewrite pre-push"}, {"rebase-apply/rebasing", "post-rewrite pre-push"},
		{"MERGE_HEAD", "post-rewrite post-merge pre-push"},
		{"BISECT_LOG", "post-rewrite pre-push"}, {"sequencer/todo", "post-commit post-rewrite post-merge pre-push"},
		{"rebase-apply/applying", "post-commit post-rewrite post-merge pre-push"},
		{"none", "post-commit post-rewrite post-merge pre-push"},
	} {
		repo := newRepo(t)
		writeText(t, filepath.Join(repo.GitDir, c.file), "")
		var runs []string
		for _, hook := range names {
			if run, _ := ShouldRun(context.Background(), repo, hook, func(string) string { return "" }); run {
				runs = append(runs, hook)
			}
		}
		if got := strings.Join(runs, " "); got != c.runs {
			t.Errorf("%s: %q, want %q", c.file, got, c.runs)
		}
	}
}

func TestShouldRunDepth(t *testing.T) {
	repo := newRepo(t)
	for depth, want := range map[string]bool{"": true, "0": true, "1": false, "2": false, "x": false} {
		env := func(name string) string { return map[string]string{"GIT_RUNR_DEPTH": depth}[name] }
		if run, reason := ShouldRun(context.Background(), repo, PostCommit, env); run != want || (reason == "") != want {
			t.Errorf("depth %q: %v %q", depth, run, reason)
		}
	}
}

// The tool's own worktrees are recognized by git's files, because a program that an agent starts may drop the
// environment.
func TestShouldRunInOwnWorktree(t *testing.T) {
	repo := newRepo(t)
	said := decisions(t, repo.WorkTree)
	head, err := repo.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.AddWorktree(context.Background(), filepath.Join(t.TempDir(), "own"), "", head)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, tree.Dir, "a")
	if got := said(); got != "false" {
		t.Errorf("got %q", got)
	}
}

// waiting waits a limited time for the file go, and writes to the file end whether it came.
const waiting = `i=0; while [ ! -e go ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done
if [ -e go ]; then echo went >end; else echo gave up >end; fi`

// A process that reads the output of git commit to its end does not wait for the process that the hook started.
func TestCommitDoesNotWaitForDetached(t *testing.T) {
	repo := newRepo(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	install(t, repo, program)
	dir := t.TempDir()
	t.Setenv("HOOKS_TEST_DETACH", dir)
	cmd := exec.Command("sh", "-c", "git commit -q --allow-empty -m x 2>&1 3>&1 | cat")
	cmd.Dir = repo.WorkTree
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("commit: %v\n%s", err, out)
	}
	writeText(t, filepath.Join(dir, "go"), "")
	end := filepath.Join(dir, "end")
	for range 1000 {
		if readText(t, end) != "" {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := readText(t, end); got != "went\n" {
		t.Errorf("the detached process ended before the commit did: %q", got)
	}
}
