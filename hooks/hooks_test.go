package hooks

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

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testtmp"
	"github.com/git-runr/git-runr/loop/agent"
)

// TestMain lets the test binary act as the program that a hook calls: it logs ShouldRun's result, or starts a
// detached process.
func TestMain(m *testing.M) {
	log, dir := os.Getenv("HOOKS_TEST_LOG"), os.Getenv("HOOKS_TEST_DETACH")
	asProgram := len(os.Args) > 3 && os.Args[1] == "hooks"
	switch called := asProgram && os.Args[3] == PostCommit; {
	case asProgram && !called:
		os.Exit(0) // never the tests, which would start themselves without end
	case called && dir != "":
		err := agent.StartDetached("/bin/sh", []string{"-c", waiting}, dir, nil, filepath.Join(dir, "log"))
		exitWith(err)
	case called && log != "":
		exitWith(logDecision(log))
	case asProgram:
		os.Exit(0)
	}
	testtmp.InMemory()
	os.Exit(m.Run())
}

func exitWith(err error) {
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func logDecision(log string) error {
	repo, err := gitstore.Open(context.Background(), ".")
	if err != nil {
		return err
	}
	run, reason := ShouldRun(context.Background(), repo, PostCommit, os.Getenv)
	f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%v %s\n", run, reason)
	return err
}

// isolate keeps the machine's git configuration out of a test.
func isolate(t *testing.T) {
	t.Helper()
	home := t.TempDir()
	config := filepath.Join(home, "gitconfig")
	writeText(t, config,
		"[user]\n\tname = Test\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n[core]\n\teditor = true\n")
	for name, value := range map[string]string{"HOME": home, "GIT_CONFIG_GLOBAL": config, "GIT_CONFIG_NOSYSTEM": "1"} {
		t.Setenv(name, value)
	}
	if os.Getenv("GIT_RUNR_TEST_GIT") == "" {
		gitSaying(t, "2.53.0") // with a git that runs hooks from its configuration no hook file is written
	}
}

// newRepo creates a repository with one commit.
func newRepo(t *testing.T) *gitstore.Repo {
	t.Helper()
	isolate(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	commit(t, dir, "first")
	return open(t, dir)
}

func open(t *testing.T, dir string) *gitstore.Repo {
	t.Helper()
	repo, err := gitstore.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

// git runs git as a user would and returns its output on both streams.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// commit makes a commit that writes its name to the file of that name.
func commit(t *testing.T, dir, name string) string {
	t.Helper()
	writeText(t, filepath.Join(dir, name), name+"\n")
	git(t, dir, "add", name)
	return git(t, dir, "commit", "-qm", name)
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func writeScript(t *testing.T, path, text string) {
	t.Helper()
	writeText(t, path, text)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// readText returns a file's text, or "" if the file does not exist.
func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(data)
}

// fakeProgram returns a program that records each call, prints a line on each stream and fails.
func fakeProgram(t *testing.T, name string) (program, log string) {
	t.Helper()
	dir := t.TempDir()
	program, log = filepath.Join(dir, name), filepath.Join(dir, "calls")
	writeScript(t, program, "#!/bin/sh\ncat\necho \"$*\" >>"+quote(log)+"\necho one line\necho trouble >&2\nexit 1\n")
	return program, log
}

func install(t *testing.T, repo *gitstore.Repo, program string) Status {
	t.Helper()
	statuses, err := Install(context.Background(), repo, Setup{Program: program})
	if err != nil {
		t.Fatal(err)
	}
	return statuses[0]
}

func status(t *testing.T, repo *gitstore.Repo) Status {
	t.Helper()
	return statusAll(t, repo)[0]
}

func statusAll(t *testing.T, repo *gitstore.Repo) []Status {
	t.Helper()
	statuses, err := StatusOf(context.Background(), repo, false)
	if err != nil {
		t.Fatal(err)
	}
	return statuses
}

func uninstall(t *testing.T, repo *gitstore.Repo) Status {
	t.Helper()
	statuses, err := Uninstall(context.Background(), repo)
	if err != nil {
		t.Fatal(err)
	}
	return statuses[0]
}

func wantCalls(t *testing.T, log string, n int) {
	t.Helper()
	if got := readText(t, log); strings.Count(got, "hooks run post-commit\n") != n {
		t.Errorf("want %d calls of post-commit, got %q", n, got)
	}
}

func wantState(t *testing.T, got Status, want State) {
	t.Helper()
	if got.State != want {
		t.Errorf("state %s, want %s: %+v", got.State, want, got)
	}
}

func TestInstalledHookFires(t *testing.T) {
	for _, c := range []struct{ name, hooksPath, program string }{
		{"default", "", "git-runr"},
		{"relative", "my hooks/git", "git-runr"},
		{"absolute", "ABSOLUTE", "git-runr"},
		{"odd program", "", `it's a "git" $(touch no) \ ;runr &`},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := newRepo(t)
			ignore(t, repo, "/my hooks/\n")
			if c.hooksPath != "" {
				git(t, repo.WorkTree, "config", "core.hooksPath",
					strings.Replace(c.hooksPath, "ABSOLUTE", filepath.Join(t.TempDir(), "h"), 1))
			}
			program, log := fakeProgram(t, c.program)
			wantState(t, status(t, repo), Absent)
			wantState(t, install(t, repo, program), Installed)
			if said := commit(t, repo.WorkTree, "a"); said != "one line\n" {
				t.Errorf("commit printed %q", said)
			}
			wantCalls(t, log, 1)
			git(t, repo.WorkTree, "commit", "-q", "--amend", "-m", "b")
			wantCalls(t, log, 2)
		})
	}
}

func TestFiresInOddDirectoryAndLinkedWorktree(t *testing.T) {
	isolate(t)
	top := filepath.Join(t.TempDir(), `it's a "dir" $x`)
	git(t, filepath.Dir(top), "init", "-q", top)
	commit(t, top, "first")
	program, log := fakeProgram(t, "git-runr")
	linked := filepath.Join(t.TempDir(), "linked 'tree'")
	git(t, top, "worktree", "add", "-q", "-b", "linked", linked)
	install(t, open(t, linked), program)
	commit(t, linked, "a")
	wantCalls(t, log, 1)
	commit(t, top, "b")
	wantCalls(t, log, 2)
	wantState(t, status(t, open(t, top)), Installed)
}

func TestInstallTwiceWritesOnce(t *testing.T) {
	repo := newRepo(t)
	program, _ := fakeProgram(t, "git-runr")
	path := install(t, repo, program).Path
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, install(t, repo, program), Installed)
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("written again: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".post-commit*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestExistingScriptKeepsItsBehaviour(t *testing.T) {
	for _, body := range []string{"exit 1\n", "exit 0\nnever\n", "set -e\nfalse\n", "echo ran >ran\n"} {
		t.Run(body, func(t *testing.T) {
			repo := newRepo(t)
			program, log := fakeProgram(t, "git-runr")
			path := filepath.Join(repo.GitDir, "hooks", "post-commit")
			writeScript(t, path, "#!/bin/sh\n"+body)
			want := exitStatus(path, repo.WorkTree)
			wantState(t, install(t, repo, program), Installed)
			if got := exitStatus(path, repo.WorkTree); got != want {
				t.Errorf("exit status %d, was %d", got, want)
			}
			commit(t, repo.WorkTree, "a")
			wantCalls(t, log, 2)
		})
	}
}

func exitStatus(path, dir string) int {
	cmd := exec.Command(path)
	cmd.Dir = dir
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode()
}

func TestUninstallRestoresToTheByte(t *testing.T) {
	for _, text := range []string{"#!/bin/sh\n", "#!/bin/sh", "", "#!/bin/sh -\r\necho x\r\n",
		"#!/usr/bin/env bash\n# mine\n\nset -e\nexit 4\n", "echo no shebang"} {
		t.Run(text, func(t *testing.T) {
			repo := newRepo(t)
			path := filepath.Join(repo.GitDir, "hooks", "post-commit")
			writeScript(t, path, text)
			if err := os.Chmod(path, 0o750); err != nil {
				t.Fatal(err)
			}
			install(t, repo, "/usr/bin/true")
			if !strings.Contains(readText(t, path), beginMark) {
				t.Fatal("nothing was installed")
			}
			wantState(t, uninstall(t, repo), Absent)
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o750 || readText(t, path) != text {
				t.Errorf("got %q %v, %v", readText(t, path), info.Mode(), err)
			}
			wantState(t, uninstall(t, repo), Absent)
		})
	}
}

func TestUninstallRemovesOurOwnFile(t *testing.T) {
	repo := newRepo(t)
	path := install(t, repo, "/usr/bin/true").Path
	wantState(t, uninstall(t, repo), Absent)
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("hook file: %v", err)
	}
	wantState(t, uninstall(t, repo), Absent)
}

func TestUninstallLeavesTheRestOfOurFile(t *testing.T) {
	repo := newRepo(t)
	path := install(t, repo, "/usr/bin/true").Path
	text := readText(t, path) + "echo added later\n"
	writeScript(t, path, text)
	uninstall(t, repo)
	if got := readText(t, path); got != skeleton+"echo added later\n" {
		t.Errorf("left %q", got)
	}
}

func TestMissingProgramIsSilent(t *testing.T) {
	repo := newRepo(t)
	t.Setenv("PATH", "/usr/bin:/bin")
	wantState(t, install(t, repo, filepath.Join(t.TempDir(), "gone")), Outdated)
	if said := commit(t, repo.WorkTree, "a"); said != "" {
		t.Errorf("commit printed %q", said)
	}
}

func TestMissingProgramIsFoundOnPath(t *testing.T) {
	repo := newRepo(t)
	program, log := fakeProgram(t, "git-runr")
	t.Setenv("PATH", filepath.Dir(program)+":"+os.Getenv("PATH"))
	wantState(t, install(t, repo, filepath.Join(t.TempDir(), "gone")), Installed)
	commit(t, repo.WorkTree, "a")
	wantCalls(t, log, 1)
}

func TestOutdatedBlockIsReplacedInPlace(t *testing.T) {
	repo := newRepo(t)
	program, log := fakeProgram(t, "git-runr")
	path := filepath.Join(repo.GitDir, "hooks", "post-commit")
	writeScript(t, path, "#!/bin/sh\necho a\n"+beginMark+" v0\nold way\n"+endMark+"\necho b\n")
	wantState(t, status(t, repo), Outdated)
	wantState(t, install(t, repo, program), Installed)
	if got, want := readText(t, path), "#!/bin/sh\necho a\n"+block("post-commit", program)+"echo b\n"; got != want {
		t.Errorf("got %q", got)
	}
	commit(t, repo.WorkTree, "a")
	wantCalls(t, log, 1)
}

func TestProgramThatNoScriptCanHold(t *testing.T) {
	repo := newRepo(t)
	if _, err := Install(context.Background(), repo, Setup{Program: "/a\n" + endMark + "\ntouch no"}); err == nil {
		t.Error("installed")
	}
	wantState(t, status(t, repo), Absent)
}

// A hook file that must not be changed is left alone. Install reports that, and the snippet is the text to add.
func TestLeftAlone(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, top string)
		want    State
		manager string
		snippet string
	}{
		{"python", hookText("#!/usr/bin/env python3\nprint(1)\n"), Foreign, "", "hooks run post-commit"},
		{"binary", hookText("\x7fELF\x00\x00"), Foreign, "", "hooks run post-commit"},
		{"damaged block", hookText("#!/bin/sh\n" + beginMark + "\n"), Foreign, "", "hooks run post-commit"},
		{"symbolic link", linkedHook, Foreign, "", "hooks run post-commit"},
		{"directory in the working tree", hooksPath(".githooks"), Foreign, "", "hooks run post-commit"},
		{"directory that a global setting has in the working tree", globalHooksPath(".githooks"), Foreign, "",
			"hooks run post-commit"},
		{"tracked directory", trackedHooks, Foreign, "", "hooks run post-commit"},
		{"global hooksPath", globalHooks, Foreign, "", "hooks run post-commit"},
		{"linked directory", linkedHooks, Foreign, "", "hooks run post-commit"},
		{"husky 9", hooksPath(".husky/_"), Managed, "husky", "hooks run post-commit"},
		{"husky 8", hooksPath(".husky"), Managed, "husky", "hooks run post-commit"},
		{"lefthook", topFile("lefthook.yml", "pre-commit:\n"), Managed, "lefthook", "post-commit:\n  commands:"},
		{"lefthook without configuration", hookText("#!/bin/sh\ncall_lefthook run post-commit\n"), Managed, "lefthook",
			"post-commit:\n  commands:"},
		{"pre-commit", hookText("#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n"), Managed,
			"pre-commit", "hooks run post-commit"},
		{"overcommit", hookText("#!/usr/bin/env ruby\n# Entrypoint for Overcommit\nrequire 'overcommit'\n"), Managed,
			"overcommit", "PostCommit:"},
		{"not executable", notExecutable, Dead, "", ""},
		{"no interpreter", hookText("#!/bin/sh\r\necho\r\n"), Dead, "", ""},
		{"switched off", hooksPath("/dev/null"), Dead, "", ""},
		{"empty hooksPath", hooksPath(""), Dead, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			repo := newRepo(t)
			c.prepare(t, repo.WorkTree)
			before := readText(t, status(t, repo).Path)
			statuses, err := Install(context.Background(), repo, Setup{Program: "/usr/bin/true"})
			if !errors.Is(err, ErrByHand) {
				t.Errorf("install: %v", err)
			}
			got := statuses[0]
			wantState(t, got, c.want)
			if got.Manager != c.manager || !strings.Contains(got.Snippet, c.snippet) ||
				(c.snippet == "") != (got.Snippet == "") {
				t.Errorf("got %+v", got)
			}
			if after := readText(t, got.Path); after != before {
				t.Errorf("changed to %q", after)
			}
		})
	}
}

func hookText(text string) func(*testing.T, string) {
	return func(t *testing.T, top string) { writeScript(t, filepath.Join(top, ".git/hooks/post-commit"), text) }
}

func topFile(name, text string) func(*testing.T, string) {
	return func(t *testing.T, top string) { writeText(t, filepath.Join(top, name), text) }
}

func hooksPath(value string) func(*testing.T, string) {
	return func(t *testing.T, top string) { git(t, top, "config", "core.hooksPath", value) }
}

func globalHooksPath(value string) func(*testing.T, string) {
	return func(t *testing.T, top string) { git(t, top, "config", "--global", "core.hooksPath", value) }
}

func linkedHook(t *testing.T, top string) {
	writeScript(t, filepath.Join(top, "hook.sh"), "#!/bin/sh\n")
	symlink(t, "../../hook.sh", filepath.Join(top, ".git/hooks/post-commit"))
}

func trackedHooks(t *testing.T, top string) {
	hooksPath(".githooks")(t, top)
	writeScript(t, filepath.Join(top, ".githooks/post-commit"), "#!/bin/sh\n")
	git(t, top, "add", ".githooks")
}

func globalHooks(t *testing.T, top string) {
	git(t, top, "config", "--global", "core.hooksPath", "~/hooks")
	writeScript(t, filepath.Join(os.Getenv("HOME"), "hooks/post-commit"), "#!/bin/sh\n")
}

func linkedHooks(t *testing.T, top string) {
	hooks := filepath.Join(top, ".git/hooks")
	if err := os.RemoveAll(hooks); err != nil {
		t.Fatal(err)
	}
	symlink(t, t.TempDir(), hooks)
}

func notExecutable(t *testing.T, top string) {
	topFile(".git/hooks/post-commit", "#!/bin/sh\necho mine\n")(t, top)
}

func symlink(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// A call that a person added by hand counts as installed and runs, and Uninstall does not remove it.
func TestSnippetAddedByHand(t *testing.T) {
	repo := newRepo(t)
	program, log := fakeProgram(t, "git-runr")
	t.Setenv("PATH", filepath.Dir(program)+":"+os.Getenv("PATH"))
	trackedHooks(t, repo.WorkTree)
	for _, st := range statusAll(t, repo) {
		writeScript(t, filepath.Join(repo.WorkTree, ".githooks", st.Hook), "#!/bin/sh\n"+st.Snippet)
	}
	wantState(t, install(t, repo, program), Installed)
	commit(t, repo.WorkTree, "a")
	wantCalls(t, log, 1)
	if _, err := Uninstall(context.Background(), repo); !errors.Is(err, ErrByHand) {
		t.Errorf("uninstall: %v", err)
	}
	wantState(t, status(t, repo), Installed)
}

func TestManagerConfiguredByHand(t *testing.T) {
	repo := newRepo(t)
	hooksPath(".husky/_")(t, repo.WorkTree)
	topFile(".husky/post-commit", "# git-runr hooks run post-commit\n")(t, repo.WorkTree)
	wantState(t, status(t, repo), Managed)
	for _, st := range statusAll(t, repo) {
		topFile(".husky/"+st.Hook, st.Snippet)(t, repo.WorkTree)
	}
	wantState(t, status(t, repo), Dead)
	for _, st := range statusAll(t, repo) {
		writeScript(t, filepath.Join(repo.WorkTree, ".husky/_", st.Hook), "#!/bin/sh\n. \"${0%/*}/h\"\n")
	}
	if got := install(t, repo, "/usr/bin/true"); got.State != Installed || got.Manager != "husky" {
		t.Errorf("got %+v", got)
	}
}

// Our hook was installed first; pre-commit then moves it aside and runs it from there.
func TestPreCommitLegacy(t *testing.T) {
	repo := newRepo(t)
	path := install(t, repo, "/usr/bin/true").Path
	if err := os.Rename(path, path+".legacy"); err != nil {
		t.Fatal(err)
	}
	writeScript(t, path, "#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n")
	wantState(t, status(t, repo), Installed)
	wantState(t, uninstall(t, repo), Managed)
	if _, err := os.Lstat(path + ".legacy"); !os.IsNotExist(err) {
		t.Errorf("legacy file: %v", err)
	}
}

func TestOurBlockStaysInstalledBesideLefthook(t *testing.T) {
	repo := newRepo(t)
	install(t, repo, "/usr/bin/true")
	topFile("lefthook.yml", "pre-commit:\n")(t, repo.WorkTree)
	wantState(t, status(t, repo), Installed)
}

// After core.hooksPath is set, the hook in the default directory is dead. Install uses the new directory, Uninstall
// both.
func TestHooksPathSetLater(t *testing.T) {
	repo := newRepo(t)
	program, log := fakeProgram(t, "git-runr")
	old := install(t, repo, program).Path
	hooksPath("elsewhere")(t, repo.WorkTree)
	ignore(t, repo, "/elsewhere/\n")
	wantState(t, status(t, repo), Dead)
	wantState(t, install(t, repo, program), Installed)
	commit(t, repo.WorkTree, "a")
	wantCalls(t, log, 1)
	wantState(t, uninstall(t, repo), Absent)
	if _, err := os.Lstat(old); !os.IsNotExist(err) {
		t.Errorf("old hook: %v", err)
	}
}

// Our block in a directory that does not belong to this clone was put there by a person, so Uninstall leaves it
// alone.
func TestUninstallTouchesNothingOfOthers(t *testing.T) {
	for name, prepare := range map[string]func(*testing.T, string){"linked": linkedHooks, "tracked": trackedHooks,
		"global": globalHooks} {
		t.Run(name, func(t *testing.T) {
			repo := newRepo(t)
			prepare(t, repo.WorkTree)
			path := status(t, repo).Path
			text := skeleton + block("post-commit", "/usr/bin/true")
			writeScript(t, path, text)
			if _, err := Uninstall(context.Background(), repo); !errors.Is(err, ErrByHand) {
				t.Errorf("uninstall: %v", err)
			}
			if readText(t, path) != text {
				t.Error("changed")
			}
		})
	}
}

func TestInstallWakesOurOwnFileOnly(t *testing.T) {
	repo := newRepo(t)
	path := install(t, repo, "/usr/bin/true").Path
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	wantState(t, status(t, repo), Dead)
	wantState(t, install(t, repo, "/usr/bin/true"), Installed)
}

func TestBareRepository(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q", "--bare", "-b", "main")
	repo := open(t, dir)
	statuses, err := Install(context.Background(), repo, Setup{Program: "/usr/bin/true"})
	if !errors.Is(err, gitstore.ErrBare) || len(statuses) != 3 ||
		!strings.Contains(statuses[0].Detail, "makes no commits") {
		t.Errorf("%+v, %v", statuses, err)
	}
	if text := readText(t, filepath.Join(dir, "hooks/post-commit")); text != "" {
		t.Errorf("written: %q", text)
	}

	// A push runs its hook in a bare repository, too.
	statuses, err = Install(context.Background(), repo, Setup{Program: "/usr/bin/true", Gate: true})
	if err != nil || len(statuses) != 4 || statuses[3].State != Installed || statuses[0].State != Absent {
		t.Errorf("with a gate: %+v, %v", statuses, err)
	}

	// If the bare repository has a worktree, commits are made there and run its hook.
	full := newRepo(t)
	git(t, dir, "fetch", "-q", full.WorkTree, "HEAD:refs/heads/main")
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, dir, "worktree", "add", "-q", linked, "main")
	program, log := fakeProgram(t, "git-runr")
	wantState(t, install(t, open(t, dir), program), Installed)
	commit(t, linked, "a")
	wantCalls(t, log, 1)
}

func ignore(t *testing.T, repo *gitstore.Repo, patterns string) {
	writeText(t, filepath.Join(repo.CommonDir, "info/exclude"), patterns)
}

// TestRelativeHooksPath: each worktree has its own hooks directory. The status in one worktree names the others in
// which the hook is missing.
func TestRelativeHooksPath(t *testing.T) {
	repo := newRepo(t)
	hooksPath(".hooks")(t, repo.WorkTree)
	ignore(t, repo, "/.hooks/\n")
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	git(t, repo.WorkTree, "worktree", "add", "-q", first)
	git(t, repo.WorkTree, "worktree", "add", "-q", second)
	if _, err := repo.AddWorktree(context.Background(), "of-a-run", "", head(t, repo)); err != nil {
		t.Fatal(err)
	}
	program, log := fakeProgram(t, "git-runr")
	got := install(t, repo, program)
	wantState(t, got, Installed)
	if !slices.Equal(got.Without, []string{first, second}) {
		t.Errorf("told of %q", got.Without)
	}
	commit(t, first, "a")
	wantCalls(t, log, 0)
	if got := install(t, open(t, first), program); !slices.Equal(got.Without, []string{second}) {
		t.Errorf("told of %q", got.Without)
	}
	commit(t, first, "b")
	wantCalls(t, log, 1)
	hooksPath(filepath.Join(repo.WorkTree, ".hooks"))(t, repo.WorkTree)
	if got := status(t, open(t, second)); got.State != Installed || got.Without != nil {
		t.Errorf("an absolute path: %+v", got)
	}
}

func head(t *testing.T, repo *gitstore.Repo) gitstore.ID {
	t.Helper()
	id, err := repo.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// gitSaying replaces the git of PATH during a test by a script that runs the same git but reports
// another version.
func gitSaying(t *testing.T, version string) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := "#!/bin/sh\ncase \"$*\" in *' version') echo 'git version " + version + "' ;; *) exec '" + real +
		"' \"$@\" ;; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}
