package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A run is killed at every point between two of its steps: before and after each git
// process that it starts, before each of its events, and while an agent is at work. A
// person types during the attempts and after the kill. Then: no byte of the person's
// is lost, what is not restored is named, and the next command goes on to the end.
//
// There are about 900 points; without RUNR_KILLS=all some of them are taken.

// startMortal is start, but the n-th time that the program asks for the time it is
// killed, where RUNR_KILL_AT=n. It asks right before it records an event. How often it
// asked is in SHIM/asked in the end.
func startMortal() int {
	n, err := strconv.Atoi(os.Getenv("RUNR_KILL_AT"))
	if err != nil {
		return start()
	}
	ask, asked := clock(os.Getenv), 0
	p := &program{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: func() time.Time {
		if asked++; asked == n {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
		return ask()
	}}
	status := p.run(context.Background(), os.Args)
	_ = os.WriteFile(filepath.Join(os.Getenv("SHIM"), "asked"), []byte(strconv.Itoa(asked)), 0o644)
	return status
}

// gitShim is a git that counts its calls in SHIM/n and kills who called it: before
// call SHIM_BEFORE does anything, or after call SHIM_AFTER did all.
const gitShim = `#!/bin/sh
n=$(($(cat "$SHIM/n" 2>/dev/null || echo 0) + 1))
echo $n >"$SHIM/n"
if [ "$n" = "$SHIM_BEFORE" ]; then kill -9 $PPID; exit 1; fi
"$SHIM_GIT" "$@"
status=$?
if [ "$n" = "$SHIM_AFTER" ]; then kill -9 $PPID; fi
exit $status
`

// killStory is a run from its first command to its end.
type killStory struct {
	name     string
	inPlace  bool
	context  bool
	commands []killCommand
}

type killCommand struct {
	argv   []string
	status int // when it is not killed
}

var killStories = []killStory{
	{name: "in place", inPlace: true, commands: []killCommand{
		{[]string{"run", "--in-place", "../task.md"}, 3}, {[]string{"resume", "latest"}, 3}, {[]string{"resume", "latest"}, 0},
	}},
	{name: "worktree", commands: []killCommand{{[]string{"run", "../task.md"}, 0}}},
	{name: "context", context: true, commands: []killCommand{{[]string{"run", "--context", "../context.json"}, 0}}},
	{name: "context in place", inPlace: true, context: true, commands: []killCommand{
		{[]string{"run", "--in-place", "--context", "../context.json"}, 3}, {[]string{"resume", "latest"}, 0},
	}},
}

// scene is a repository in the middle of a story.
type scene struct {
	t    *testing.T
	root string // holds repo, agents, home and shim
	repo string
	env  []string
}

var killFiles = map[string]string{
	"task.md":             "# A task\n",
	"context.json":        `{"entity_title":"Work","executor_result":"## SUBTASK COMPLETE","files_modified":["work.txt","new.txt"]}`,
	"agents/impl/last":    "write work.txt TURN\\n\nwrite new.txt TURN\\n\nappend ROOT/repo/during.txt TURN\\n\nsay done\n",
	"agents/impl/done":    "## SUBTASK COMPLETE\n### Files Modified\n- work.txt\n- new.txt\n",
	"agents/rev/1":        "say critical\n",
	"agents/rev/last":     "say pass\n",
	"agents/rev/pass":     "### Verdict: PASS\n",
	"agents/rev/critical": "### Verdict: CRITICAL\n### Findings\n- **Severity:** Critical\n- **File:Line:** work.txt:1\n- **Issue:** Bad\n- **Fix:** Good\n",
	"home/git-runr/config.toml": "[loop]\nimplementer = \"impl\"\nreviewer = \"rev\"\n[agents.impl]\ncommand = [\"fake-agent\", \"ROOT/agents/impl\"]\n" +
		"[agents.rev]\ncommand = [\"fake-agent\", \"ROOT/agents/rev\"]\n[checks.there]\ncommand = \"test -f work.txt\"\n",
	"home/gitconfig": "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n[core]\n\tfsync = none\n",
	"shim/git":       gitShim,
}

// before and afterKill are what the person types.
const (
	typedBefore = `set -e
git init -q
echo one >README.md; echo one >tracked.txt; git add .; git commit -q -m first; git commit -q --allow-empty -m second
echo mine >README.md
echo staged >staged.txt; git add staged.txt; echo further >>staged.txt
echo untracked >untracked.txt`
	typedWork  = `echo work >work.txt; echo work >new.txt`
	typedAfter = `set -e
echo after >after.txt
echo edited >tracked.txt
echo late >late.txt; git add late.txt; echo later >>late.txt
echo own >own.txt; git add own.txt; git commit -q -m 'my own' -- own.txt`
)

func newScene(t *testing.T, s killStory) *scene {
	t.Helper()
	root := t.TempDir()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range killFiles {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "ROOT", root)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(root, "home")
	c := &scene{t: t, root: root, repo: filepath.Join(root, "repo"), env: append(os.Environ(),
		"HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "GIT_CONFIG_GLOBAL="+filepath.Join(home, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"SHIM="+filepath.Join(root, "shim"), "SHIM_GIT="+git)}
	if err := os.Mkdir(c.repo, 0o755); err != nil {
		t.Fatal(err)
	}
	c.shell(c.repo, typedBefore)
	if s.context {
		c.shell(c.repo, typedWork)
	}
	return c
}

func (c *scene) shell(dir, script string) string {
	c.t.Helper()
	return runIn(c.t, dir, c.env, "sh", "-c", script)
}

// runr runs the program and gives its status, -1 when it was killed.
func (c *scene) runr(env []string, argv ...string) (status int, said string) {
	c.t.Helper()
	cmd := exec.Command("git-runr", argv...)
	cmd.Dir, cmd.Env = c.repo, append(c.env, env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

func (c *scene) shimmed(env ...string) []string {
	return append(env, "PATH="+filepath.Join(c.root, "shim")+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// killPoint is where a command of a story is killed.
type killPoint struct {
	command int
	env     string
}

func (p killPoint) String() string { return fmt.Sprintf("command %d %s", p.command+1, p.env) }

// points are all of a story: it is told once without a kill, to count.
func (s killStory) points(t *testing.T) []killPoint {
	var points []killPoint
	c := newScene(t, s)
	for i, command := range s.commands {
		_ = os.Remove(filepath.Join(c.root, "shim", "n"))
		status, said := c.runr(c.shimmed("RUNR_KILL_AT=-1"), command.argv...)
		if status != command.status {
			t.Fatalf("%s ended with %d:\n%s", strings.Join(command.argv, " "), status, said)
		}
		for n := range c.counted("n") {
			points = append(points, killPoint{i, fmt.Sprintf("SHIM_BEFORE=%d", n+1)}, killPoint{i, fmt.Sprintf("SHIM_AFTER=%d", n+1)})
		}
		for n := range c.counted("asked") {
			points = append(points, killPoint{i, fmt.Sprintf("RUNR_KILL_AT=%d", n+1)})
		}
	}
	for n := 1; exists(filepath.Join(c.root, "agents", "impl", fmt.Sprintf("prompt-%d", n))); n++ {
		points = append(points, killPoint{len(s.commands) - 1, fmt.Sprintf("impl=%d", n)})
	}
	c.check(s)
	return append(points, killPoint{len(s.commands) - 1, "rev=1"}, killPoint{len(s.commands) - 1, "rev=2"})
}

// counted is a number that a command left in the shim's directory.
func (c *scene) counted(name string) int {
	c.t.Helper()
	data, err := os.ReadFile(filepath.Join(c.root, "shim", name))
	n, convErr := strconv.Atoi(strings.TrimSpace(string(data)))
	if err := errors.Join(err, convErr); err != nil {
		c.t.Fatal(err)
	}
	return n
}

// chosen are some of the points, others for each story; all where they are asked for.
func chosen(points []killPoint, story int) []killPoint {
	want := 3
	switch {
	case os.Getenv("RUNR_KILLS") == "all":
		return points
	case testing.Short():
		want = 1
	}
	var some []killPoint
	for i := range want {
		some = append(some, points[(story*37+i*len(points)/want+len(points)/(2*want))%len(points)])
	}
	return some
}

func TestKilledAnywhere(t *testing.T) {
	for i, s := range killStories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			points := s.points(t)
			t.Logf("%d points", len(points))
			for _, point := range chosen(points, i) {
				t.Run(point.String(), func(t *testing.T) { s.killedAt(t, point) })
			}
		})
	}
}

func (s killStory) killedAt(t *testing.T, point killPoint) {
	c := newScene(t, s)
	if agent, turn, ok := strings.Cut(point.env, "="); ok && (agent == "impl" || agent == "rev") {
		c.mortal(agent, turn)
	}
	for i, command := range s.commands[:point.command+1] {
		var env []string
		if i == point.command {
			_ = os.Remove(filepath.Join(c.root, "shim", "n"))
			env = c.shimmed(point.env)
		}
		status, said := c.runr(env, command.argv...)
		if status == -1 {
			break
		}
		if status != command.status {
			t.Fatalf("%s ended with %d:\n%s", strings.Join(command.argv, " "), status, said)
		}
	}
	c.shell(c.repo, typedAfter)
	trees := c.handFix(s)
	said := c.recover(s)
	c.check(s)
	c.checkAfter(s, trees)
	if !s.context && !s.inPlace {
		c.checkLanded(trees, said)
	}
}

// mortal has git-runr be killed in a turn of an agent, when that has done its work.
func (c *scene) mortal(agent, turn string) {
	script, err := os.ReadFile(filepath.Join(c.root, "agents", agent, turn))
	if err != nil {
		script, err = os.ReadFile(filepath.Join(c.root, "agents", agent, "last"))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(c.root, "agents", agent, turn), append(script, "orphan\nsleep 1m\n"...), 0o644)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// handFix is what the person does in the run's own working trees, which it gives, and
// in the checkout to a file of the agent's.
func (c *scene) handFix(s killStory) (trees []string) {
	trees, err := filepath.Glob(filepath.Join(c.repo, ".git", "runr", "worktrees", "*"))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, dir := range trees {
		c.shell(dir, "echo 'by hand' >fix.txt; echo 'by hand' >>work.txt")
	}
	if s.inPlace || s.context {
		c.shell(c.repo, "echo 'typed later' >>work.txt")
	}
	return trees
}

// recover types what the program says until the run is over, and gives all that it said.
func (c *scene) recover(s killStory) (all string) {
	c.t.Helper()
	next := []string{"resume", "latest"}
	for range 12 {
		status, said := c.runr(nil, next...)
		all += "$ " + strings.Join(next, " ") + "\n" + said
		next = []string{"resume", "latest"}
		switch {
		case status == 10 && strings.Contains(said, "there is no run yet"):
			next = s.commands[0].argv
		case status == 3 && strings.Contains(said, "--keep"):
			c.named(said)
			next = append(next, "--keep")
		case status == 3: // unclaimed, or changed since: left alone
		case status == 0, status == 11 && strings.Contains(said, "is completed"):
			return all
		default:
			c.t.Fatalf("ended with %d:\n%s", status, all)
		}
	}
	c.t.Fatalf("no end:\n%s", all)
	return ""
}

// named checks that a refusal names all that differs, where nobody can say whose it is.
func (c *scene) named(said string) {
	c.t.Helper()
	names := []string{"work.txt"}
	if strings.Contains(said, "was killed") {
		names = []string{"after.txt", "late.txt", "own.txt", "tracked.txt", "work.txt"}
	}
	for _, name := range names {
		if !strings.Contains(said, name) {
			c.t.Errorf("%s is not named:\n%s", name, said)
		}
	}
}

// check looks for what was there before the run and what was typed during it.
func (c *scene) check(s killStory) {
	c.t.Helper()
	for name, want := range map[string]string{
		"README.md": "mine\n", "staged.txt": "staged\nfurther\n", "untracked.txt": "untracked\n", "during.txt": c.turns(),
	} {
		c.holds(name, want)
	}
	if got := c.shell(c.repo, "git show :staged.txt; git show :README.md"); got != "staged\none\n" {
		c.t.Errorf("staged %q", got)
	}
	if status, said := c.runr(nil, "--json", "show", "latest"); status != 0 || !strings.Contains(said, `"status":"completed"`) {
		c.t.Errorf("show ended with %d:\n%s", status, said)
	}
	c.shell(c.repo, "git fsck --connectivity-only; git worktree list")
	if left, _ := filepath.Glob(filepath.Join(c.repo, ".git-runr-tmp-*")); len(left) > 0 {
		c.t.Errorf("left %q", left)
	}
}

// turns is what each turn of the agent left in during.txt.
func (c *scene) turns() string {
	text := ""
	for n := 1; exists(filepath.Join(c.root, "agents", "impl", fmt.Sprintf("prompt-%d", n))); n++ {
		text += fmt.Sprintf("%d\n", n)
	}
	return text
}

func (c *scene) holds(name, want string) {
	c.t.Helper()
	got, err := os.ReadFile(filepath.Join(c.repo, name))
	if want == "" && errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil || string(got) != want {
		c.t.Errorf("%s is %q, %v, want %q", name, got, err, want)
	}
}

// checkAfter looks for what was typed after the kill: in its place, or where an agent
// wrote over it later, in a snapshot.
func (c *scene) checkAfter(s killStory, trees []string) {
	c.t.Helper()
	c.holds("after.txt", "after\n")
	c.holds("tracked.txt", "edited\n")
	c.holds("late.txt", "late\nlater\n")
	c.holds("own.txt", "own\n")
	if got := c.shell(c.repo, "git show :late.txt; git log -1 --format=%s; git diff --cached --name-only"); got != "late\nmy own\nlate.txt\nstaged.txt\n" {
		c.t.Errorf("index and HEAD: %q", got)
	}
	if s.inPlace || s.context {
		c.somewhere("typed later", "work.txt", "")
	}
	for _, dir := range trees {
		c.somewhere("by hand", "work.txt", dir)
		c.somewhere("by hand", "fix.txt", dir)
	}
}

// checkLanded lands the run. What the person did in its working tree is part of it,
// unless that was said to be kept elsewhere: it came too late, or before there was one.
func (c *scene) checkLanded(trees []string, said string) {
	c.t.Helper()
	if status, said := c.runr(nil, "land", "latest"); status != 0 {
		c.t.Errorf("land ended with %d:\n%s", status, said)
	}
	elsewhere := strings.Contains(said, "came too late") || strings.Contains(said, "is completed") || strings.Contains(said, "what was in it: git runr restore")
	if len(trees) > 0 && !elsewhere {
		c.holds("fix.txt", "by hand\n")
	}
	if c.t.Failed() {
		c.t.Log(said)
	}
	if got := c.shell(c.repo, "git ls-tree --name-only HEAD README.md new.txt own.txt tracked.txt work.txt"); strings.Count(got, "\n") != 5 {
		c.t.Errorf("landed %q", got)
	}
	c.holds("tracked.txt", "edited\n")
	c.holds("README.md", "mine\n")
}

// somewhere looks for a line in a file of the checkout or of dir, of all snapshots and
// of the run's branch.
func (c *scene) somewhere(line, name, dir string) {
	c.t.Helper()
	if dir == "" {
		dir = c.repo
	}
	if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil && strings.Contains(string(data), line) {
		return
	}
	found := c.shell(c.repo, `git for-each-ref --format='%(refname)' refs/runr-local refs/heads | while read ref; do git show "$ref:tree/`+name+`" 2>/dev/null || git show "$ref:`+name+`" 2>/dev/null || true; done`)
	if !strings.Contains(found, line) {
		c.t.Errorf("%q of %s is lost", line, name)
	}
}
