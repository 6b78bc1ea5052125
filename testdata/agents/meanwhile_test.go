package agents

import (
	"strings"
	"sync"
	"testing"

	"github.com/git-runr/git-runr/testdata/agents/model"
)

// meanwhile lists what a developer does in the repository while a tool works. None of it stops the run, and all of it
// is there afterwards.
var meanwhile = []struct {
	do     []string // arguments of git
	proves []string // a command of git, whose output contains has
	has    string
}{
	{[]string{"config", "user.name", "Ada L."}, []string{"config", "user.name"}, "Ada L."},
	{[]string{"config", "core.editor", "vi"}, []string{"config", "core.editor"}, "vi"},
	{[]string{"remote", "add", "mirror", "../mirror.git"}, []string{"remote"}, "mirror"},
	{[]string{"tag", "v1"}, []string{"tag"}, "v1"},
	{[]string{"branch", "idea"}, []string{"branch"}, "idea"},
	{[]string{"commit", "-q", "--allow-empty", "-m", "meanwhile"}, []string{"log", "--format=%s"}, "meanwhile"},
	{[]string{"stash", "push", "-q", "--include-untracked"}, []string{"stash", "list"}, "stash@{0}"},
	{[]string{"switch", "-q", "-c", "else"}, []string{"branch", "--show-current"}, "else"},
	{[]string{"switch", "-q", "main"}, []string{"branch", "--show-current"}, "main"},
}

// TestMeanwhile: the developer works on while each tool implements a task.
func TestMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, a tool) {
		var w *world
		var once sync.Once
		w = newWorld(t, a, func(r model.Request) model.Reply {
			if len(r.Tools) == 0 {
				return model.Reply{Text: "Greeting"}
			}
			once.Do(func() {
				for _, m := range meanwhile {
					if out, status := w.run("git", m.do...); status != 0 {
						t.Errorf("git %v: %d: %s", m.do, status, out)
					}
				}
			})
			return implement(r, a.write(w.tree()+"/greet.txt", "hello"))
		})
		w.files(w.repo, map[string]string{"task.md": task})
		w.commit("task")
		w.files(w.repo, map[string]string{"note.txt": "mine\n"})
		has(t, w.runr(0, "run", "task.md", "--implementer", a.name, "--reviewer", "builtin"), "completed")
		w.runr(0, "land")
		if got := strings.TrimSpace(w.git("show", "HEAD:greet.txt")); got != "hello" {
			t.Errorf("landed: %q", got)
		}
		for _, m := range meanwhile[:7] {
			has(t, w.git(m.proves...), m.has)
		}
		if got := w.git("show", "stash@{0}^3:note.txt"); got != "mine\n" {
			t.Errorf("what was stashed: %q", got)
		}
	})
}
