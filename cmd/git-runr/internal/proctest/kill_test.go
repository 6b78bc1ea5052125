package proctest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/scripttest"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/gitstore/testtmp"
)

// A run is killed at every point between two of its steps: before and after each git process that it starts, before
// each of its events, and while an agent works. A person types during the attempts and after the kill. Then no byte
// of the person's is lost, everything that is not restored is named, and the next commands complete the run.
//
// There are about 900 points; without RUNR_KILLS=all only some of them are tested.

// killStory is a run from its first command to its end.
type killStory struct {
	name     string
	inPlace  bool
	context  bool
	commands []killCommand
}

type killCommand struct {
	argv   []string
	status int // without a kill
}

var killStories = []killStory{
	{name: "in place", inPlace: true, commands: []killCommand{
		{[]string{"run", "--in-place", "../task.md"}, 3}, {[]string{"resume", "latest"}, 3},
		{[]string{"resume", "latest"}, 0},
	}},
	{name: "worktree", commands: []killCommand{{[]string{"run", "../task.md"}, 0}}},
	{name: "context", context: true, commands: []killCommand{{[]string{"run", "--context", "../context.json"}, 0}}},
	{name: "context in place", inPlace: true, context: true, commands: []killCommand{
		{[]string{"run", "--in-place", "--context", "../context.json"}, 3}, {[]string{"resume", "latest"}, 0},
	}},
}

// scene is a repository in the middle of a story.
type scene struct {
	killPlace
	root string // contains repo and agents
	repo string
}

var killFiles = map[string]string{
	"task.md":      "# A task\n",
	"context.json": `{"entity_title":"Work","executor_result":"## SUBTASK COMPLETE","files_modified":["work.txt","new.txt"]}`,
	"agents/impl/last": "write work.txt TURN\\n\nwrite new.txt TURN\\n\nappend ROOT/repo/during.txt TURN\\n\n" +
		"say done\n",
	"agents/impl/done": "## SUBTASK COMPLETE\n### Files Modified\n- work.txt\n- new.txt\n",
	"agents/rev/1":     "say critical\n",
	"agents/rev/last":  "say pass\n",
	"agents/rev/pass":  "### Verdict: PASS\n",
	"agents/rev/critical": "### Verdict: CRITICAL\n### Findings\n- **Severity:** Critical\n- **File:Line:** work.txt:1\n" +
		"- **Issue:** Bad\n- **Fix:** Good\n",
	"git-runr/config.toml": "[loop]\nimplementer = \"impl\"\nreviewer = \"rev\"\n[agents.impl]\n" +
		"command = [\"fake-agent\", \"ROOT/agents/impl\"]\n" +
		"[agents.rev]\ncommand = [\"fake-agent\", \"ROOT/agents/rev\"]\n[checks.there]\ncommand = \"test -f work.txt\"\n",
}

// These scripts are what the person types before the run, before it with --context, and after the kill.
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
	c := &scene{newKillPlace(t), root, filepath.Join(root, "repo")}
	c.env = append(c.env, "XDG_CONFIG_HOME="+root)
	for name, text := range killFiles {
		c.write(root, name, strings.ReplaceAll(text, "ROOT", root))
	}
	c.must(os.Mkdir(c.repo, 0o755))
	c.shell(c.repo, typedBefore)
	if s.context {
		c.shell(c.repo, typedWork)
	}
	return c
}

func (c *scene) shell(dir, script string) string {
	c.t.Helper()
	return scripttest.RunIn(c.t, dir, c.env, "sh", "-c", script)
}

// runr runs the program and returns its status, or -1 if it was killed.
func (c *scene) runr(argv ...string) (status int, said string) {
	c.t.Helper()
	return c.end(c.command(c.repo, "", argv))
}

func (c *scene) end(cmd *exec.Cmd) (status int, said string) {
	c.t.Helper()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// killPoint is a point at which a command of a story is killed.
type killPoint struct {
	command int
	kill    string // as in KILL, or the turn of an agent
}

func (p killPoint) String() string { return fmt.Sprintf("command %d %s", p.command+1, p.kill) }

// points returns all points of a story, which is run once without a kill to count them.
func (s killStory) points(t *testing.T) []killPoint {
	var points []killPoint
	c := newScene(t, s)
	for i, command := range s.commands {
		cmd := c.command(c.repo, "none", command.argv)
		status, said := c.end(cmd)
		if status != command.status {
			t.Fatalf("%s ended with %d:\n%s", strings.Join(command.argv, " "), status, said)
		}
		for n := range callsMade(cmd) {
			points = append(points, killPoint{i, fmt.Sprintf("before %d", n+1)}, killPoint{i, fmt.Sprintf("after %d", n+1)})
		}
		asked, err := os.ReadFile(filepath.Join(callsOf(cmd), "asked"))
		c.must(err)
		count, err := strconv.Atoi(string(asked))
		c.must(err)
		for n := range count {
			points = append(points, killPoint{i, fmt.Sprintf("asked %d", n+1)})
		}
	}
	for n := 1; testrepo.Exists(filepath.Join(c.root, "agents", "impl", fmt.Sprintf("prompt-%d", n))); n++ {
		points = append(points, killPoint{len(s.commands) - 1, fmt.Sprintf("impl=%d", n)})
	}
	c.check(s)
	return append(points, killPoint{len(s.commands) - 1, "rev=1"}, killPoint{len(s.commands) - 1, "rev=2"})
}

// chosen returns some of the points, different ones for each story, or all with RUNR_KILLS=all.
func chosen(points []killPoint, story int) []killPoint {
	want := 1
	switch {
	case os.Getenv("RUNR_KILLS") == "all":
		return points
	case testtmp.Long():
		want = 3
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
	kill := point.kill
	if agent, turn, ok := strings.Cut(kill, "="); ok {
		c.mortal(agent, turn)
		kill = ""
	}
	for i, command := range s.commands[:point.command+1] {
		at := ""
		if i == point.command {
			at = kill
		}
		status, said := c.end(c.command(c.repo, at, command.argv))
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

// mortal makes an agent kill git-runr in a turn, after the agent has done its work.
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

// handFix makes the person's changes in the run's own worktrees, which it returns, and in a file of the agent's in
// the checkout.
func (c *scene) handFix(s killStory) (trees []string) {
	trees, err := filepath.Glob(filepath.Join(c.home, ".cache", "git-runr", "worktrees", "*", "*"))
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

// recover types what the program suggests until the run is over, and returns all output.
func (c *scene) recover(s killStory) (all string) {
	c.t.Helper()
	next := []string{"resume", "latest"}
	for range 12 {
		status, said := c.runr(next...)
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

// named checks that a refusal names all files that differ if their owner is unknown.
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

// check looks for the content from before the run and for what was typed during it.
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
	if status, said := c.runr("--json", "show", "latest"); status != 0 || !strings.Contains(said, `"status":"completed"`) {
		c.t.Errorf("show ended with %d:\n%s", status, said)
	}
	c.shell(c.repo, "git fsck --connectivity-only; git worktree list")
	if left, _ := filepath.Glob(filepath.Join(c.repo, ".git-runr-tmp-*")); len(left) > 0 {
		c.t.Errorf("left %q", left)
	}
}

// turns returns what each turn of the agent left in during.txt.
func (c *scene) turns() string {
	text := ""
	for n := 1; testrepo.Exists(filepath.Join(c.root, "agents", "impl", fmt.Sprintf("prompt-%d", n))); n++ {
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

// checkAfter looks for what was typed after the kill: in its place, or in a snapshot if an agent overwrote it later.
func (c *scene) checkAfter(s killStory, trees []string) {
	c.t.Helper()
	c.holds("after.txt", "after\n")
	c.holds("tracked.txt", "edited\n")
	c.holds("late.txt", "late\nlater\n")
	c.holds("own.txt", "own\n")
	if got := c.shell(c.repo,
		"git show :late.txt; git log -1 --format=%s; git diff --cached "+
			"--name-only"); got != "late\nmy own\nlate.txt\nstaged.txt\n" {
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

// checkLanded lands the run. The person's changes in its worktree are part of it, unless the program said that they
// are kept elsewhere because they came too late or too early.
func (c *scene) checkLanded(trees []string, said string) {
	c.t.Helper()
	if status, said := c.runr("land", "latest"); status != 0 {
		c.t.Errorf("land ended with %d:\n%s", status, said)
	}
	elsewhere := strings.Contains(said, "came too late") || strings.Contains(said, "is completed") ||
		strings.Contains(said, "what was in it: git runr undo --to")
	if len(trees) > 0 && !elsewhere {
		c.holds("fix.txt", "by hand\n")
	}
	if c.t.Failed() {
		c.t.Log(said)
	}
	if got := c.shell(c.repo,
		"git ls-tree --name-only HEAD README.md new.txt own.txt tracked.txt work.txt"); strings.Count(got, "\n") != 5 {
		c.t.Errorf("landed %q", got)
	}
	c.holds("tracked.txt", "edited\n")
	c.holds("README.md", "mine\n")
}

// somewhere looks for a line in a file of the checkout or of dir, in all snapshots and on the run's branch.
func (c *scene) somewhere(line, name, dir string) {
	c.t.Helper()
	if dir == "" {
		dir = c.repo
	}
	if data, err := os.ReadFile(filepath.Join(dir, name)); err == nil && strings.Contains(string(data), line) {
		return
	}
	found := c.shell(c.repo,
		`git for-each-ref --format='%(refname)' refs/runr-local refs/heads | while read ref; do git show "$ref:tree/`+name+
			`" 2>/dev/null || git show "$ref:`+name+`" 2>/dev/null || true; done`)
	if !strings.Contains(found, line) {
		c.t.Errorf("%q of %s is lost", line, name)
	}
}
