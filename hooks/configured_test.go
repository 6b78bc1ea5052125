package hooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore"
)

// newGit returns a repository with a git that reports version 2.54.
func newGit(t *testing.T) *gitstore.Repo {
	t.Helper()
	repo := newRepo(t)
	gitSaying(t, "2.54.0")
	return repo
}

func config(t *testing.T, repo *gitstore.Repo, key string) string {
	t.Helper()
	out, _ := tryGit(repo.WorkTree, "config", "--local", "--get-all", key)
	return strings.TrimSpace(out)
}

// If git runs hooks from its configuration, they are installed there, whatever manages the hook files.
func TestInstallInConfiguration(t *testing.T) {
	for name, prepare := range map[string]func(*testing.T, string){
		"plain": func(*testing.T, string) {}, "husky": hooksPath(".husky/_"),
		"lefthook": topFile("lefthook.yml", "pre-commit:\n"), "python": hookText("#!/usr/bin/env python3\nprint(1)\n"),
		"an older install": hookText(skeleton + block(PostCommit, "/usr/bin/true")),
	} {
		t.Run(name, func(t *testing.T) {
			repo := newGit(t)
			prepare(t, repo.WorkTree)
			for range 2 {
				wantState(t, install(t, repo, "/usr/bin/true"), Installed)
			}
			if got := config(t, repo, "hook.git-runr-post-commit.event"); got != PostCommit {
				t.Errorf("event %q", got)
			}
			if got := config(t, repo, "hook.git-runr-post-commit.command"); got != command(PostCommit, "/usr/bin/true") {
				t.Errorf("command %q", got)
			}
			if text := readText(t, filepath.Join(repo.GitDir, "hooks", PostCommit)); strings.Contains(text, beginMark) {
				t.Errorf("the file calls us as well: %q", text)
			}
			wantState(t, status(t, open(t, repo.WorkTree)), Installed)
			if _, err := Uninstall(t.Context(), open(t, repo.WorkTree)); err != nil {
				t.Error(err)
			}
			if got, _ := tryGit(repo.WorkTree, "config", "--local", "--get-regexp", "^hook\\."); got != "" {
				t.Errorf("left %q", got)
			}
		})
	}
}

// An older git ignores the configured hooks. They are reported as dead, and installing moves them to files.
func TestConfigurationAndAnOlderGit(t *testing.T) {
	repo := newGit(t)
	install(t, repo, "/usr/bin/true")
	gitSaying(t, "2.53.1")
	repo = open(t, repo.WorkTree)
	if got := status(t, repo); got.State != Dead || !got.Fails {
		t.Errorf("%+v", got)
	}
	wantState(t, install(t, repo, "/usr/bin/true"), Installed)
	if config(t, repo, "hook.git-runr-post-commit.command") != "" ||
		!strings.Contains(readText(t, status(t, repo).Path), beginMark) {
		t.Error("not moved to the file")
	}
}

func TestConfiguredHookSwitchedOff(t *testing.T) {
	repo := newGit(t)
	install(t, repo, "/usr/bin/true")
	git(t, repo.WorkTree, "config", "hook.git-runr-post-commit.enabled", "false")
	if got := status(t, open(t, repo.WorkTree)); got.State != Dead || !got.Fails {
		t.Errorf("%+v", got)
	}
}

// The configured command passes on the hook's arguments and input, and its status as the block does.
func TestConfiguredCommand(t *testing.T) {
	for status, refused := range map[int]bool{0: false, 1: true, 2: true} {
		program, ours, _, _ := recorder(t, status)
		for _, hook := range names {
			cmd := exec.Command("sh", "-c", command(hook, program)+` "$@"`, "hook", "a b", "c")
			cmd.Stdin = strings.NewReader("fed\n")
			err := cmd.Run()
			if (err != nil) != (refused && hook == PrePush) {
				t.Errorf("%s, status %d: %v", hook, status, err)
			}
			want := "hooks run " + hook
			if hook != PostCommit {
				want += " a b c"
			}
			want += "\n"
			if isFed(hook) {
				want += "fed\n"
			}
			if got := readText(t, ours); got != want {
				t.Errorf("%s: called %q, want %q", hook, got, want)
			}
			os.Remove(ours)
		}
	}
}

// With a git that supports them, the configured hooks run. The directory of such a git is in GIT_RUNR_TEST_GIT.
func TestConfiguredHooksFire(t *testing.T) {
	dir := os.Getenv("GIT_RUNR_TEST_GIT")
	if dir == "" {
		t.Skip("GIT_RUNR_TEST_GIT names no directory of a git of 2.54 or later")
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	repo := newRepo(t)
	program, ours, foreign, theirs := recorder(t, 0)
	writeScript(t, filepath.Join(repo.GitDir, "hooks", PostRewrite), foreign)
	install(t, repo, program)
	before := string(head(t, repo))
	git(t, repo.WorkTree, "commit", "-q", "--amend", "-m", "other")
	pair := before + " " + string(head(t, repo)) + "\n"
	if got := readText(t, theirs); got != "amend\n"+pair {
		t.Errorf("the file got %q", got)
	}
	if got, want := readText(t, ours), "hooks run post-commit\nhooks run post-rewrite amend\n"+pair; got != want {
		t.Errorf("the program got %q, want %q", got, want)
	}
}
