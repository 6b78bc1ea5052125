//go:build unix

package proctest

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
	"time"
)

// killWorld is a repository with a run that passed, and other work of the user.
type killWorld struct {
	killPlace
	repo string
}

func newKillWorld(t *testing.T) *killWorld {
	w := &killWorld{newKillPlace(t), filepath.Join(t.TempDir(), "repo")}
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

// git runs git and returns its output.
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

// runr runs the program, which must succeed.
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

// copyOf returns a copy of the repository.
func (w *killWorld) copyOf(repo string) string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "repo")
	w.must(exec.Command("cp", "-a", repo, dir).Run())
	return dir
}

// state returns the files of a checkout, its branch and its index.
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

// The program is killed before and after each call of git in landing, undoing and restoring. Each file then is as
// before or as after. The same command, typed again, ends in one of the two states as a whole, and text that the user
// typed into files meanwhile stays. Without RUNR_KILLS=all only some of the calls are tested.
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

// A run can be landed again after an undo that was killed before it recorded its event.
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

// killWhileGitWrites kills a landing after git removed some files and before it writes b.txt, by means of a filter of
// the repository.
func (w *killWorld) killWhileGitWrites(smudge string) (dir, calls string) {
	w.t.Helper()
	n := 1 + slices.IndexFunc(w.calls(w.copyOf(w.repo), []string{"land"}), func(c string) bool {
		return strings.Contains(c, " read-tree -m -u ")
	})
	dir = w.copyOf(w.repo)
	w.write(dir, ".git/info/attributes", "b.txt filter=kill\n")
	w.git(dir, "config", "filter.kill.smudge", `[ -z "$KILLS" ] || { `+smudge+`; }; cat`)
	cmd := w.command(dir, fmt.Sprintf("in %d", n), []string{"land"})
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	w.mustBeKilled(smudge, cmd)
	return dir, callsOf(cmd)
}

// If git outlives the killed program and continues to write, undo waits for it.
func TestUndoWaitsForGitOfKilledLanding(t *testing.T) {
	w := newKillWorld(t)
	before := w.state(w.repo)
	dir, calls := w.killWhileGitWrites(
		`kill -9 $KILLS; n=0; until [ -e "$CALLS/go" ] || [ $n = 300 ]; do sleep 0.1; n=$((n+1)); done`)
	ended := filepath.Join(calls, "ended")
	undo := make(chan error, 1)
	var out string
	go func() {
		var err error
		out, err = w.try(dir, "undo")
		undo <- err
	}()
	select {
	case err := <-undo:
		t.Fatalf("undo did not wait: %v\n%s", err, out)
	case <-time.After(2 * time.Second): // in which one that does not wait has ended
	}
	if _, err := os.Stat(ended); err == nil {
		t.Fatal("git has ended before undo began")
	}
	w.write(calls, "go", "")
	if err := <-undo; err != nil || !strings.Contains(out, "is undone now") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := os.Stat(ended); err != nil {
		t.Errorf("git writes on: %v", err)
	}
	if got := w.state(dir); !maps.Equal(got, before) {
		t.Errorf("left as %q", got)
	}
	w.runr(dir, "land")
	w.saysWhatIs("landed again", dir)
}

// If git was killed as well, its lock and half-written files belong to the landing, and undo removes them.
func TestUndoLandingKilledWithItsGit(t *testing.T) {
	w := newKillWorld(t)
	before := w.state(w.repo)
	dir, _ := w.killWhileGitWrites(`printf wo >b.txt; kill -9 0`)
	if _, err := os.Stat(filepath.Join(dir, ".git", "index.lock")); err != nil {
		t.Errorf("the index was not locked: %v", err)
	}
	if half := w.state(dir); half["b.txt"] != "wo" || half["x"] != "" {
		t.Errorf("not half-way: %q", half)
	}
	if out := w.runr(dir, "status"); !strings.Contains(out, "was interrupted") ||
		!strings.Contains(out, "  git runr undo\n") || strings.Contains(out, "git runr land") {
		t.Errorf("status says\n%s", out)
	}
	if out := w.runr(dir, "status", "latest"); !strings.Contains(out, "was interrupted: git runr undo\n") {
		t.Errorf("status of the run says\n%s", out)
	}
	if out, err := w.try(dir, "undo"); err != nil || !strings.Contains(out, "is undone now") {
		t.Errorf("%v\n%s", err, out)
	}
	if got := w.state(dir); !maps.Equal(got, before) {
		t.Errorf("left as %q", got)
	}
	w.runr(dir, "land")
	w.saysWhatIs("landed again", dir)
}

const someKills = 4

func (w *killWorld) killEverywhere(repo string, args []string) {
	before, done := w.state(repo), w.copyOf(repo)
	calls := w.calls(done, args)
	after := w.state(done)
	if maps.Equal(before, after) || len(calls) < 10 {
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

		if !slices.ContainsFunc([]string{" update-index ", " update-ref ", " read-tree ", " cat-file "}, func(c string) bool {
			return strings.Contains(call, c)
		}) {
			continue // the command writes nothing
		}
		kill = fmt.Sprintf("after %d", n)
		dir = w.kill(repo, kill, args)
		w.eachIsOneOf(kill, w.state(dir), before, after)
		w.write(dir, "b.txt", "typed since\n")
		w.write(dir, "other.txt", "typed since\n")
		again, err = w.try(dir, args...)
		got := w.state(dir)
		if got["b.txt"] != "typed since\n" && args[0] == "restore" { // the restore was asked to replace it
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

// calls runs a command and returns its calls of git.
func (w *killWorld) calls(dir string, args []string) []string {
	cmd := w.command(dir, "none", args)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	return callsMade(cmd)
}

// kill runs a command in a copy of a repository and checks that it is killed.
func (w *killWorld) kill(repo, kill string, args []string) (dir string) {
	dir = w.copyOf(repo)
	w.mustBeKilled(kill, w.command(dir, kill, args))
	return dir
}

func (w *killWorld) mustBeKilled(kill string, cmd *exec.Cmd) {
	w.t.Helper()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		w.t.Errorf("%s: not killed: %v\n%s", kill, err, out)
	}
}

// eachIsOneOf checks that each file is as before or as after, and that there are no other files except temporary
// ones.
func (w *killWorld) eachIsOneOf(kill string, got, before, after map[string]string) {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(got)), slices.Collect(maps.Keys(before))) {
		unfinished := strings.HasPrefix(filepath.Base(name), ".git-runr-tmp-")
		if !unfinished && got[name] != before[name] && got[name] != after[name] {
			w.t.Errorf("%s: %s is %q", kill, name, got[name])
		}
	}
}

// saysWhatIs checks that status calls the run landed exactly if its work is on main.
func (w *killWorld) saysWhatIs(kill, dir string) {
	out := w.runr(dir, "status")
	landed := strings.Contains(w.git(dir, "ls-tree", "--name-only", "main"), "new.txt")
	if landed != strings.Contains(out, "  landed  ") {
		w.t.Errorf("%s: landed is %v, and status says\n%s", kill, landed, out)
	}
}
