// Package scripttest runs the scripts of testdata/script: each drives the program as a
// user does, with real git and real processes. Several packages share the scripts, so
// that they run beside each other; Groups says which has which.
package scripttest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testneed"
	"github.com/git-runr/git-runr/gitstore/testrepo"
)

// Groups are the packages that share the scripts, and the beginnings of the names of the
// scripts of each. What no group names belongs to "other".
var Groups = map[string][]string{
	"inbox": {"audit", "commit", "hook", "inbox", "log", "pager", "serve", "short", "status", "terminal", "verify",
		"web"},
	"review": {"agent", "budget", "checks", "quota", "review"},
	"runs":   {"feedback", "intervene", "refutes", "report", "run", "stop", "what", "workflow"},
	"guard":  {"guard", "in_place", "worktree"},
	"share":  {"backup", "newer", "pre_push", "state", "subjects", "sync", "work_"},
	"other":  nil,
}

// scripts is the directory of all scripts, from that of a group.
var scripts = filepath.Join("..", "..", "..", "..", "..", "testdata", "script")

// GroupOf returns the group that has the script of a name.
func GroupOf(script string) string {
	for group, begin := range Groups {
		if slices.ContainsFunc(begin, func(b string) bool { return strings.HasPrefix(script, b) }) {
			return group
		}
	}
	return "other"
}

// Run runs the scripts of a group. The caller's TestMain is Main, and its directory is
// one level below this package.
func Run(t *testing.T, group string) {
	t.Helper()
	ReadSources(t)
	all, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	mine := slices.DeleteFunc(all, func(file string) bool { return GroupOf(filepath.Base(file)) != group })
	if len(mine) == 0 {
		t.Fatalf("group %q has no scripts", group)
	}
	testscript.Run(t, testscript.Params{
		Files:              mine,
		Setup:              setUpScript,
		RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   wantStatus,
			"repo":     makeRepo,
			"replace":  replaceInFile,
			"http":     askServer,
			"press":    press,
			"unlocked": waitForLock,
		},
	})
}

// setUpScript pins clock and author, and keeps the machine's configuration out.
func setUpScript(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	config := "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n[core]\n\tabbrev = 7\n" +
		"[protocol \"file\"]\n\tallow = always\n[maintenance]\n\tauto = false\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644); err != nil {
		return err
	}
	env.Setenv("HOME", home)
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
	env.Setenv("XDG_STATE_HOME", filepath.Join(home, "state"))
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	env.Setenv("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z")
	env.Setenv("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z")
	env.Setenv("GIT_RUNR_CLOCK", "2026-01-02T03:04:05Z")
	env.Setenv("NO_COLOR", "1")
	env.Setenv("RUNR", lookPath(env.Getenv("PATH"), "git-runr"))
	if err := limitPath(env); err != nil {
		return err
	}
	if old, err := gitWithHookFiles(env.WorkDir, env.Getenv("PATH")); err != nil {
		return err
	} else if old != "" {
		env.Setenv("PATH", old+string(filepath.ListSeparator)+env.Getenv("PATH"))
	}
	env.Setenv("GOCACHE", goCache())
	env.Setenv("GOFLAGS", "-mod=mod")
	return nil
}

// condition matches the line of a script that says which program it requires or looks for.
var condition = regexp.MustCompile(`(?m)^\[!?exec:([^]]+)\]`)

// limitPath leaves on the PATH of a script the programs of this project, what every machine with git and Go has, and
// what the script looks for: nothing else that this machine happens to have.
func limitPath(env *testscript.Env) error {
	name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-") + ".txtar"
	text, err := os.ReadFile(filepath.Join(scripts, name))
	if err != nil {
		return err
	}
	var more []string
	for _, m := range condition.FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains(more, m[1]) && m[1] != "sh" {
			more = append(more, m[1])
		}
	}
	tools := filepath.Join(env.WorkDir, ".tools")
	if err := os.Mkdir(tools, 0o755); err != nil {
		return err
	}
	ours := []string{filepath.Dir(lookPath(env.Getenv("PATH"), "fake-agent")), filepath.Dir(env.Getenv("RUNR")), tools}
	env.Setenv("PATH", strings.Join(ours, string(filepath.ListSeparator)))
	return testneed.Link(tools, more...)
}

// gitWithHookFiles is a directory with a git that says it has no hooks in its configuration,
// as scripts expect; "" where that is so.
func gitWithHookFiles(work, path string) (string, error) {
	out, err := exec.Command("git", "version").Output()
	var major, minor int
	if _, scanErr := fmt.Sscanf(string(out), "git version %d.%d", &major, &minor); err != nil || scanErr != nil ||
		major == 2 && minor < 54 {
		return "", err
	}
	dir := filepath.Join(work, ".old-git")
	text := "#!/bin/sh\ncase \"$*\" in *' version') echo 'git version 2.53.0' ;; *) exec '" + lookPath(path, "git") +
		"' \"$@\" ;; esac\n"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "git"), []byte(text), 0o755)
}

// lookPath is where a program is on path.
func lookPath(path, name string) string {
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, name); testrepo.Exists(file) {
			return file
		}
	}
	return ""
}

// wantStatus is `status N git-runr ARG…`: runs a command and wants that exit status.
// Its output can be looked at with stdout and stderr.
func wantStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command [args…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%s ended with %s, want status %s", strings.Join(args[1:], " "), got, args[0])
	}
	if args[1] == "git-runr" {
		checkSuggested(ts, args[2:])
	}
}

// makeRepo is `repo DIR`: a repository with one commit and the writer's id pinned.
func makeRepo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repo DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
		ts.Check(os.WriteFile(filepath.Join(dir, "README.md"), []byte("# project\n"), 0o644))
	}
	for _, argv := range [][]string{
		{"init", "-q"}, {"config", "runr.writer", "0123456789ab"}, {"add", "."}, {"commit", "-q", "-m", "first"},
	} {
		ts.Check(ts.Exec("git", append([]string{"-C", dir}, argv...)...))
	}
}

// waitForLock is `unlocked GLOB`: waits until the process that holds a lock on the one
// file has ended.
func waitForLock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unlocked GLOB")
	}
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(files) != 1 {
		ts.Fatalf("%s is %d files", args[0], len(files))
	}
	repo, err := gitstore.Open(context.Background(), filepath.Dir(files[0]))
	ts.Check(err)
	for range 1200 {
		unlock, free, err := repo.TryLock(strings.TrimSuffix(filepath.Base(files[0]), ".lock"))
		ts.Check(err)
		if free {
			unlock()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s is held", files[0])
}

// replaceInFile is `replace FILE OLD NEW`.
func replaceInFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	path := ts.MkAbs(args[0])
	text, err := os.ReadFile(path)
	ts.Check(err)
	if !strings.Contains(string(text), args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(string(text), args[1], args[2])), 0o644))
}
