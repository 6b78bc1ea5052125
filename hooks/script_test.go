package hooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/gitstore/testneed"
)

func TestWithBlockPlace(t *testing.T) {
	b := block("post-commit", "/p")
	for _, c := range []struct{ name, text, want string }{
		{"after the shebang", "#!/bin/sh\nexit 1\n", "#!/bin/sh\n" + b + "exit 1\n"},
		{"after the header", "#!/bin/sh\n# mine\n\necho\n", "#!/bin/sh\n# mine\n" + b + "\necho\n"},
		{"no shebang", "echo\n", b + "echo\n"},
		{"no line ending", "#!/bin/sh", "#!/bin/sh\n" + strings.TrimSuffix(b, "\n")},
		{"empty", "", b},
		{"CRLF kept", "#!/bin/sh -\r\necho\r\n", "#!/bin/sh -\r\n" + b + "echo\r\n"},
		{"older block", "#!/bin/sh\na\n" + beginMark + " v0\nold\n" + endMark + "\nb\n", "#!/bin/sh\na\n" + b + "b\n"},
	} {
		if got, err := withBlock(c.text, b); err != nil || got != c.want {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
	}
}

func TestDamagedBlockIsRefused(t *testing.T) {
	for _, text := range []string{
		beginMark + "\nx\n", "x\n" + endMark + "\n", endMark + "\n" + beginMark + "\n",
		block("a", "/p") + block("a", "/p"),
	} {
		if _, err := withBlock(text, "b\n"); err == nil {
			t.Errorf("withBlock changed %q", text)
		}
		if _, err := withoutBlock(text); err == nil {
			t.Errorf("withoutBlock changed %q", text)
		}
	}
}

func TestProgramOf(t *testing.T) {
	for _, program := range []string{"", "/usr/bin/git-runr", "/it's/a b", `/x'; [ -x "y`, "/'''"} {
		text := block("post-commit", program)
		if got, current := programOf("post-commit", text); got != program || !current {
			t.Errorf("%q: got %q, %v", program, got, current)
		}
		if _, current := programOf("post-commit", strings.Replace(text, "</dev/null", "", 1)); current {
			t.Errorf("%q: a changed block is current", program)
		}
	}
}

func TestNotShell(t *testing.T) {
	for text, shell := range map[string]bool{
		"#!/bin/sh\n":                                         true,
		"#! /bin/bash -e\n":                                   true,
		"#!/usr/bin/env bash\n":                               true,
		"#!/usr/bin/env -S A=b zsh -f\n":                      true,
		"#!/bin/busybox sh\n":                                 true,
		"echo no shebang\n":                                   true,
		"#!/bin/sh\nexec \"$(dirname \"$0\")/x\"":             true,
		"#!/usr/bin/python3\n":                                false,
		"#!/usr/bin/env node\n":                               false,
		"#!/usr/bin/fish\n":                                   false,
		"\x7fELF\x00\x01":                                     false,
		"#!/bin/sh\n# restart \\\nexec tclsh \"$0\" \"$@\"\n": false,
		"#!/bin/sh\n''':'\nexec ${PYTHON:-python} \"$0\" \"$@\"\n'''\n": false,
	} {
		if err := notShell(text); (err == nil) != shell {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The block changes no variables, options, input or exit status of the script, in any shell.
func TestBlockLeavesTheScriptAlone(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "it's $(a) \"program\"")
	calls := filepath.Join(dir, "calls")
	writeScript(t, program, "#!/bin/sh\ncat; echo \"$*\" >>"+quote(calls)+"\necho trouble >&2\nexit 9\n")
	body := "echo \"status=$? p=${p-unset}\"\nread x\necho \"input=$x\"\ncase $- in *e*) echo errexit;; esac\nexit 3\n"

	for shebang, shell := range map[string]string{
		"/bin/sh": "sh", "/bin/sh -eu": "sh", "/usr/bin/env bash": "bash", "/usr/bin/env -S bash -eu": "bash",
		"/usr/bin/env zsh": "zsh", "/usr/bin/env -S busybox sh": "busybox",
	} {
		t.Run(shebang, func(t *testing.T) {
			testneed.Program(t, shell)
			plain := "#!" + shebang + "\n" + body
			for _, program := range []string{program, filepath.Join(dir, "missing"), dir} {
				text, err := withBlock(plain, block("post-commit", program))
				if err != nil {
					t.Fatal(err)
				}
				want, wantStatus := runScript(t, dir, plain)
				got, status := runScript(t, dir, text)
				if got != want || status != wantStatus || status != 3 {
					t.Errorf("%q: got %q (%d), without the block %q (%d)", program, got, status, want, wantStatus)
				}
			}
			if got := readText(t, calls); got != "hooks run post-commit\n" {
				t.Errorf("calls %q", got)
			}
			os.Remove(calls)
		})
	}
}

// The shell that runs the hook starts the program and nothing else, because another process would cost time at each
// commit.
func TestBlockStartsOneProcess(t *testing.T) {
	dir := t.TempDir()
	program, pids := filepath.Join(dir, "program"), filepath.Join(dir, "pids")
	writeScript(t, program, "#!/bin/sh\necho $PPID >>"+quote(pids)+"\n")
	bin := filepath.Join(dir, "bin")
	for _, other := range []string{"git", "git-runr", "cat", "sed", "dirname", "basename", "test", "env", "sh"} {
		writeScript(t, filepath.Join(bin, other), "#!/bin/sh\necho "+other+" >>"+quote(pids)+"\n")
	}
	t.Setenv("PATH", bin)
	for _, hook := range []string{PostCommit, PostMerge} {
		for what, call := range map[string]string{"block": block(hook, program),
			"configuration": command(hook, program) + "\n"} {
			runScript(t, dir, "#!/bin/sh\n"+call+"echo $$ >>"+quote(pids)+"\n")
			if got := strings.Fields(readText(t, pids)); len(got) != 2 || got[0] != got[1] {
				t.Errorf("%s, %s: want the program, a child of the hook, and nothing else: %q", hook, what, got)
			}
			os.Remove(pids)
		}
	}
}

// blockBefore is the post-commit block of programs up to November 2026.
const blockBefore = `# >>> git-runr >>> "git runr hooks uninstall" takes this out
( p='/usr/bin/true'; [ -x "$p" ] || p=$(command -v git-runr)
  case $p in /*) "$p" hooks run post-commit </dev/null ;; esac ) 2>/dev/null || :
# <<< git-runr <<<
`

// The block of an earlier program works, is replaced in its place, and is removed without a trace.
func TestBlockOfBefore(t *testing.T) {
	for name, text := range map[string]string{"ours": skeleton + blockBefore,
		"a script": "#!/bin/sh\n" + blockBefore + "echo mine\n"} {
		repo := newRepo(t)
		path := filepath.Join(repo.GitDir, "hooks", PostCommit)
		writeScript(t, path, text)
		before := status(t, repo)
		if wantState(t, before, Outdated); before.Fails {
			t.Errorf("%s: a block that works is said to fail: %+v", name, before)
		}
		wantState(t, install(t, repo, "/usr/bin/true"), Installed)
		if got := readText(t, path); got != strings.Replace(text, blockBefore, block(PostCommit, "/usr/bin/true"), 1) {
			t.Errorf("%s: renewed as %q", name, got)
		}
		writeScript(t, path, text)
		wantState(t, uninstall(t, repo), Absent)
		if got := readText(t, path); got != strings.Replace(strings.Replace(text, blockBefore, "", 1), skeleton, "", 1) {
			t.Errorf("%s: left %q", name, got)
		}
	}
}

// runScript returns the script's output on both streams, and its exit status.
func runScript(t *testing.T, dir, text string) (string, int) {
	t.Helper()
	path := filepath.Join(dir, "script")
	writeScript(t, path, text)
	cmd := exec.Command(path)
	cmd.Stdin = strings.NewReader("typed\n")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// The block does not run a git-runr in the repository, even if "." is on PATH.
func TestBlockIgnoresRelativePathEntry(t *testing.T) {
	dir := t.TempDir()
	writeScript(t, filepath.Join(dir, "git-runr"), "#!/bin/sh\necho called >called\n")
	script := filepath.Join(dir, "hook")
	writeScript(t, script, "#!/bin/sh\n"+block("post-commit", ""))
	for path, called := range map[string]bool{".:/usr/bin:/bin": false, dir + ":/usr/bin:/bin": true} {
		cmd := exec.Command(script)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + path}
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "called")); (err == nil) != called {
			t.Errorf("PATH %q: called %v", path, err == nil)
		}
		os.Remove(filepath.Join(dir, "called"))
	}
}

// FuzzBlockRoundTrip: removing an added block restores the same bytes, and adding it twice has the same result as
// once.
func FuzzBlockRoundTrip(f *testing.F) {
	for _, text := range []string{"", "\n", "#!/bin/sh", "#!/bin/sh\n", "#!/bin/bash\r\n# c\r\n\r\nx", "#\n#",
		"exit 1\n" + beginMark} {
		f.Add(text, "/usr/bin/git-runr")
	}
	f.Fuzz(func(t *testing.T, text, program string) {
		if strings.ContainsAny(program, "\n\r\x00") {
			return
		}
		b := block("post-commit", program)
		with, err := withBlock(text, b)
		if _, old, _, findErr := cutBlock(text); err != nil || findErr != nil || old != "" {
			return
		}
		if without, err := withoutBlock(with); err != nil || without != text {
			t.Errorf("%q came back as %q, %v", text, without, err)
		}
		if again, err := withBlock(with, b); err != nil || again != with {
			t.Errorf("second time: %q, %v", again, err)
		}
		if got, current := programOf("post-commit", b); got != program || !current {
			t.Errorf("program %q read as %q, %v", program, got, current)
		}
	})
}
