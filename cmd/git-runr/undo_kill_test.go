package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// killShim stands in for git: it counts its calls by making directories, in which it
// writes what it was asked, and kills the program that called it at the one that KILL
// names ("before 7", "after 7"): "during 7" lets that one live on and begin late, "group 7"
// kills it as well, with a file half written.
const killShim = `#!/bin/sh
n=1
while ! mkdir "$CALLS/$n" 2>/dev/null; do n=$((n+1)); done
echo " $* " >"$CALLS/$n/args"
[ "$KILL" != "before $n" ] || { kill -9 $PPID; exit 1; }
[ "$KILL" != "during $n" ] || { kill -9 $PPID; sleep 3; }
[ "$KILL" != "group $n" ] || { rm x gone.txt; printf wo >b.txt; : >>.git/index.lock; kill -9 0; }
[ "$KILL" = "after $n" ] || exec %[1]s "$@"
%[1]s "$@"
rc=$?
kill -9 $PPID
exit $rc
`

// killWorld is a repository with a run that passed, and work of the user's beside it.
type killWorld struct {
	t         *testing.T
	bin, repo string
	env       []string
}

func newKillWorld(t *testing.T) *killWorld {
	w := &killWorld{t: t, bin: t.TempDir(), repo: filepath.Join(t.TempDir(), "repo")}
	home := t.TempDir()
	w.write(home, "config", "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n")
	w.env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+filepath.Join(home, "config"))
	git, err := exec.LookPath("git")
	w.must(err)
	w.must(os.WriteFile(filepath.Join(w.bin, "git"), fmt.Appendf(nil, killShim, git), 0o755))
	w.write(w.repo, ".runr.toml", `
[loop]
implementer = "impl"
reviewer = "rev"
[agents.impl]
command = ["sh", "-c", "cat >/dev/null; echo work >b.txt; echo new >new.txt; rm gone.txt; mkdir -p d; mv x d/x"]
[agents.rev]
command = ["sh", "-c", "cat >/dev/null; echo '### Verdict: PASS'"]
`)
	for _, name := range []string{"a.txt", "b.txt", "gone.txt", "x", "task.md"} {
		w.write(w.repo, name, "first of "+name+"\n")
	}
	w.git(w.repo, "init", "-q")
	w.git(w.repo, "add", ".")
	w.git(w.repo, "commit", "-qm", "first")
	w.runr(w.repo, "trust", "--yes")
	w.runr(w.repo, "run", "task.md")
	w.write(w.repo, "a.txt", "staged\n")
	w.git(w.repo, "add", "a.txt")
	w.write(w.repo, "a.txt", "not staged\n")
	w.write(w.repo, "mine.txt", "mine\n")
	return w
}

func (w *killWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *killWorld) write(dir, name, text string) {
	w.t.Helper()
	w.must(os.MkdirAll(dir, 0o755))
	w.must(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

// git gives what git says.
func (w *killWorld) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = w.env
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// runr runs the program, which must end well.
func (w *killWorld) runr(dir string, args ...string) string {
	w.t.Helper()
	out, err := w.try(dir, args...)
	if err != nil {
		w.t.Fatalf("git runr %v: %v\n%s", args, err, out)
	}
	return out
}

// try runs the program.
func (w *killWorld) try(dir string, args ...string) (string, error) {
	out, err := w.command(dir, "", args).CombinedOutput()
	return string(out), err
}

// command is the program; kill is "" or for the shim.
func (w *killWorld) command(dir, kill string, args []string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Args[0] = "git-runr" // by which the test binary knows what it is
	cmd.Dir, cmd.Env = dir, w.env
	if kill != "" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Env = append(slices.Clip(w.env), "PATH="+w.bin+":"+os.Getenv("PATH"), "KILL="+kill, callsVar+w.t.TempDir())
	}
	return cmd
}

const callsVar = "CALLS="

// callsOf is where the shim kept the calls of a command.
func callsOf(cmd *exec.Cmd) string { return strings.TrimPrefix(cmd.Env[len(cmd.Env)-1], callsVar) }

// copyOf is a copy of the repository.
func (w *killWorld) copyOf(repo string) string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "repo")
	w.must(exec.Command("cp", "-a", repo, dir).Run())
	return dir
}

// state is the files of a checkout, its branch and what is staged.
func (w *killWorld) state(dir string) map[string]string {
	w.t.Helper()
	state := map[string]string{}
	state["[main]"], state["[index]"] = w.git(dir, "rev-parse", "main"), w.git(dir, "ls-files", "-s")
	w.must(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && entry.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		name, _ := filepath.Rel(dir, path)
		data, err := os.ReadFile(path)
		state[name] = string(data)
		return err
	}))
	return state
}

// The program is killed before and after each call of git in landing, undoing and
// restoring. Each file is then as before or as after. The same command, typed again,
// ends with one of the two states as a whole; and what the user typed into files before
// that stays. Without RUNR_KILLS=all some of the calls are taken.
func TestKilledAtEveryGitCall(t *testing.T) {
	if testing.Short() {
		t.Skip("kills the program some hundred times")
	}
	w := newKillWorld(t)
	landed := w.copyOf(w.repo)
	w.runr(landed, "land")
	for _, c := range []struct {
		name, repo string
		args       []string
	}{
		{"land", w.repo, []string{"land"}},
		{"undo", landed, []string{"undo"}},
		{"restore", landed, []string{"restore", "latest/1-before", "--", "gone.txt", "x", "b.txt"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			here := *w
			here.t = t
			here.killEverywhere(c.repo, c.args)
		})
	}
}

// An undo that was killed before it could say so does not keep the run from landing.
func TestLandAfterUndoWithoutItsEvent(t *testing.T) {
	w := newKillWorld(t)
	landed := w.copyOf(w.repo)
	w.runr(landed, "land")
	calls := w.calls(w.copyOf(landed), []string{"undo"})
	n := slices.IndexFunc(calls, func(c string) bool {
		return strings.Contains(c, " update-ref ") && strings.Contains(c, " refs/runr-local/journal/")
	})
	dir := w.kill(landed, fmt.Sprintf("after %d", n+1), []string{"undo"})
	if out := w.runr(dir, "status"); !strings.Contains(out, "  landed  ") {
		t.Fatalf("it said so: %s", out)
	}
	w.runr(dir, "land")
	w.saysWhatIs("landed again", dir)
}

// A git that outlives the killed program goes on writing: who comes next waits for it.
// One that was killed too has left a lock, and files half-way: they are the landing's own.
func TestLandKilledWhileGitWrites(t *testing.T) {
	w := newKillWorld(t)
	before := w.state(w.repo)
	n := 1 + slices.IndexFunc(w.calls(w.copyOf(w.repo), []string{"land"}), func(c string) bool {
		return strings.Contains(c, " read-tree -m -u ")
	})
	for _, kill := range []string{"during", "group"} {
		dir := w.kill(w.repo, fmt.Sprintf("%s %d", kill, n), []string{"land"})
		if kill == "group" {
			if out := w.runr(dir, "status"); !strings.Contains(out, "was cut short") || !strings.Contains(out, "  git runr undo\n") || strings.Contains(out, "git runr land") {
				t.Errorf("status says\n%s", out)
			}
			if out := w.runr(dir, "status", "latest"); !strings.Contains(out, "was cut short: git runr undo\n") {
				t.Errorf("status of the run says\n%s", out)
			}
		}
		if out, err := w.try(dir, "undo"); err != nil || !strings.Contains(out, "is taken back now") {
			t.Errorf("%s: %v\n%s", kill, err, out)
		}
		if got := w.state(dir); !maps.Equal(got, before) {
			t.Errorf("%s: left as %q", kill, got)
		}
		w.runr(dir, "land")
		w.saysWhatIs("landed again", dir)
	}
}

const someKills = 4

func (w *killWorld) killEverywhere(repo string, args []string) {
	before, done := w.state(repo), w.copyOf(repo)
	calls := w.calls(done, args)
	after := w.state(done)
	if maps.Equal(before, after) || len(calls) < 15 {
		w.t.Fatalf("it changes nothing, or makes few calls: %q", calls)
	}
	step := max(1, len(calls)/someKills)
	if os.Getenv("RUNR_KILLS") == "all" {
		step = 1
	}
	for i, call := range calls {
		n := i + 1
		if n%step != 0 {
			continue
		}
		kill := fmt.Sprintf("before %d", n)
		dir := w.kill(repo, kill, args)
		w.eachIsOneOf(kill, w.state(dir), before, after)
		again, err := w.try(dir, args...)
		if got := w.state(dir); !maps.Equal(got, before) && !maps.Equal(got, after) {
			w.t.Errorf("%s: then %v (%s): neither as before nor as after: %q", kill, err, again, got)
		}
		w.saysWhatIs(kill, dir)

		if !slices.ContainsFunc([]string{" update-index ", " update-ref ", " read-tree ", " cat-file "}, func(c string) bool { return strings.Contains(call, c) }) {
			continue // it writes nothing
		}
		kill = fmt.Sprintf("after %d", n)
		dir = w.kill(repo, kill, args)
		w.eachIsOneOf(kill, w.state(dir), before, after)
		w.write(dir, "b.txt", "typed since\n")
		w.write(dir, "other.txt", "typed since\n")
		again, err = w.try(dir, args...)
		got := w.state(dir)
		if got["b.txt"] != "typed since\n" && args[0] == "restore" { // that is what was asked for
			w.runr(dir, "undo")
			got = w.state(dir)
		}
		for _, name := range []string{"b.txt", "other.txt"} {
			if got[name] != "typed since\n" {
				w.t.Errorf("%s: then %v (%s): what was typed into %s is lost: %q", kill, err, again, name, got[name])
			}
		}
	}
}

// calls runs a command, and gives the calls of git that it made.
func (w *killWorld) calls(dir string, args []string) []string {
	cmd := w.command(dir, "none", args)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	var calls []string
	for n := 1; ; n++ {
		call, err := os.ReadFile(filepath.Join(callsOf(cmd), fmt.Sprint(n), "args"))
		if err != nil {
			return calls
		}
		calls = append(calls, string(call))
	}
}

// kill runs a command in a copy of a repository, which must be killed.
func (w *killWorld) kill(repo, kill string, args []string) (dir string) {
	dir = w.copyOf(repo)
	out, err := w.command(dir, kill, args).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		w.t.Errorf("%s: not killed: %v\n%s", kill, err, out)
	}
	return dir
}

// eachIsOneOf wants each file as before or as after, and nothing beside.
func (w *killWorld) eachIsOneOf(kill string, got, before, after map[string]string) {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(got)), slices.Collect(maps.Keys(before))) {
		unfinished := strings.HasPrefix(filepath.Base(name), ".git-runr-tmp-")
		if !unfinished && got[name] != before[name] && got[name] != after[name] {
			w.t.Errorf("%s: %s is %q", kill, name, got[name])
		}
	}
}

// saysWhatIs wants the run to be landed where its work is.
func (w *killWorld) saysWhatIs(kill, dir string) {
	out := w.runr(dir, "status")
	landed := strings.Contains(w.git(dir, "ls-tree", "--name-only", "main"), "new.txt")
	if landed != strings.Contains(out, "  landed  ") {
		w.t.Errorf("%s: landed is %v, and status says\n%s", kill, landed, out)
	}
}
