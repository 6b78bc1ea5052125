package hooks

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/testneed"
)

// recorder returns a program that records its arguments and input, and a foreign script that does the same, with the
// files that they write.
func recorder(t *testing.T, status int) (program, ours, foreign, theirs string) {
	t.Helper()
	dir := t.TempDir()
	program, ours, theirs = filepath.Join(dir, "git-runr"), filepath.Join(dir, "ours"), filepath.Join(dir, "theirs")
	writeScript(t, program, fmt.Sprintf("#!/bin/sh\n{ echo \"$*\"; cat; } >>%s\necho said\necho trouble >&2\nexit %d\n",
		quote(ours), status))
	foreign = "#!/bin/sh\n{ echo \"$*\"; cat; } >>" + quote(theirs) + "\n"
	return program, ours, foreign, theirs
}

// Both our program and the script in the same file get the hook's input and arguments.
func TestFedHookFeedsBoth(t *testing.T) {
	repo := newRepo(t)
	program, ours, foreign, theirs := recorder(t, 9)
	hook := filepath.Join(repo.GitDir, "hooks", PostRewrite)
	writeScript(t, hook, foreign)
	install(t, repo, program)
	before := string(head(t, repo))
	git(t, repo.WorkTree, "commit", "-q", "--amend", "-m", "other")
	pair := before + " " + string(head(t, repo)) + "\n"
	if got := readText(t, theirs); got != "amend\n"+pair {
		t.Errorf("the script got %q", got)
	}
	if got, want := readText(t, ours), "hooks run post-commit\nhooks run post-rewrite amend\n"+pair; got != want {
		t.Errorf("the program got %q, want %q", got, want)
	}
}

// The script after the block reads exactly the bytes that git wrote, in every shell.
func TestFedBlockHandsInputOn(t *testing.T) {
	for shebang, shell := range map[string]string{"/bin/sh -eu": "sh", "/usr/bin/env -S bash -eu": "bash",
		"/usr/bin/env zsh": "zsh", "/usr/bin/env -S busybox sh": "busybox"} {
		if _, ok := testneed.Look(t, shell); !ok {
			continue
		}
		dir := t.TempDir()
		program, ours, _, _ := recorder(t, 0)
		for name, input := range map[string]string{
			"nothing": "", "one": "a b\n", "odd": "$(touch no) `touch no` \\ 'x' \"y\" git_runr_end\ngit_runr_end\n",
			"long": strings.Repeat("0123456789 ref\n", 20000),
		} {
			script := filepath.Join(dir, "hook")
			writeScript(t, script, "#!"+shebang+"\n"+block(PostRewrite, program)+"echo \"${git_runr_in-unset}\"; cat\n")
			cmd := exec.Command(script, "rebase")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
			out, err := cmd.Output()
			if want := "said\nunset\n" + input; err != nil || string(out) != want {
				t.Errorf("%s, %s: %v, got %d bytes %.80q, want %d", shell, name, err, len(out), out, len(want))
			}
			if readText(t, filepath.Join(dir, "no")) != "" {
				t.Error("the input was run")
			}
		}
		if got := readText(t, ours); !strings.HasPrefix(got, "hooks run post-rewrite rebase\n") {
			t.Errorf("called %.80q", got)
		}
	}
}

// The rest of a pre-push script runs only if the gate completed and allowed the push.
func TestPrePushStatus(t *testing.T) {
	for status, goes := range map[int]bool{0: true, 1: false, 2: false, 70: false, 127: false, 137: false} {
		repo := newRepo(t)
		program, ours, foreign, theirs := recorder(t, status)
		hook := filepath.Join(repo.GitDir, "hooks", PrePush)
		writeScript(t, hook, foreign)
		remote := t.TempDir()
		git(t, remote, "init", "-q", "--bare")
		git(t, repo.WorkTree, "remote", "add", "there", remote)
		if _, err := Install(t.Context(), repo, Setup{Program: program, Gate: true}); err != nil {
			t.Fatal(err)
		}
		out, err := tryGit(repo.WorkTree, "push", "-q", "there", "main")
		if (err == nil) != goes || !strings.HasPrefix(out, "said\n") || strings.Contains(out, "trouble") ||
			strings.Contains(out, "did not finish") != (status > 1) {
			t.Errorf("status %d: %v %q", status, err, out)
		}
		want := fmt.Sprintf("there %s\nrefs/heads/main %s refs/heads/main %040d\n", remote, head(t, repo), 0)
		if got := readText(t, ours); got != "hooks run pre-push "+want {
			t.Errorf("the program got %q", got)
		}
		if got := readText(t, theirs); (got == want) != goes {
			t.Errorf("status %d: the script got %q", status, got)
		}
	}
}

// The pre-push hook is installed only if a gate is requested.
func TestPrePushOnlyForAGate(t *testing.T) {
	repo := newRepo(t)
	has := func(gate bool) bool {
		if _, err := Install(t.Context(), repo, Setup{Program: "/usr/bin/true", Gate: gate}); err != nil {
			t.Fatal(err)
		}
		return readText(t, filepath.Join(repo.GitDir, "hooks", PrePush)) != ""
	}
	if has(false) || !has(true) || has(false) {
		t.Error("it does not come and go with the gate")
	}
}

// An installed hook that disappeared is reported as a failure; a hook that was never installed is not.
func TestStatusMissesWhatWasInstalled(t *testing.T) {
	repo := newRepo(t)
	if got := status(t, repo); got.Fails || got.State != Absent {
		t.Errorf("before: %+v", got)
	}
	path := install(t, repo, "/usr/bin/true").Path
	if got := status(t, repo); got.Fails {
		t.Errorf("installed: %+v", got)
	}
	if err := exec.Command("rm", path).Run(); err != nil {
		t.Fatal(err)
	}
	if got := status(t, repo); !got.Fails || got.State != Absent {
		t.Errorf("gone: %+v", got)
	}
	uninstall(t, repo)
	if got := status(t, repo); got.Fails {
		t.Errorf("uninstalled: %+v", got)
	}
}
