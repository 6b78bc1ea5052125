package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/testdata/agents/model"
)

// TestKilled kills git-runr before the model answers an implementer, and resumes the run. The tool that was left is
// stopped, and the run ends as if it had not been killed.
func TestKilled(t *testing.T) {
	each(t, func(t *testing.T, a tool) {
		asked, killed := make(chan bool, 100), make(chan bool)
		var w *world
		w = newWorld(t, a, func(r model.Request) model.Reply {
			select {
			case <-killed:
			default:
				asked <- true
				return model.Reply{Hang: true}
			}
			switch {
			case len(r.Tools) == 0:
				return model.Reply{Text: "Greeting"}
			case reviews(r):
				return verdict(r, "PASS")
			}
			return implement(r, a.write(w.tree()+"/greet.txt", "hello"))
		})
		w.files(w.repo, map[string]string{"task.md": task})
		w.commit("task")
		left := w.kill(asked, "run", "task.md", "--implementer", a.name, "--reviewer", "builtin")
		close(killed)
		out := w.runr(0, "resume")
		has(t, out, "completed")
		for _, p := range w.processes() {
			for _, l := range left {
				if p == l {
					t.Errorf("left by the killed one and still there: %s", p)
				}
			}
		}
		if len(left) == 0 {
			t.Error("the tool was not at work")
		}
		w.runr(0, "land")
		if got := w.git("show", "HEAD:greet.txt"); strings.TrimSpace(got) != "hello" {
			t.Errorf("landed: %q", got)
		}
	})
}

// kill starts git-runr and kills it as soon as the model was called. It returns the tool's processes at that time,
// because a quick tool may end before anybody can look again.
func (w *world) kill(asked <-chan bool, args ...string) (left []string) {
	w.t.Helper()
	cmd := w.command(context.Background(), "git-runr", args...)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	late, cancel := within(3 * time.Minute)
	defer cancel()
	select {
	case <-asked:
	case <-late.Done():
		w.t.Error("the model was not asked")
	}
	own := fmt.Sprint(cmd.Process.Pid, " ")
	left = slices.DeleteFunc(w.processes(), func(p string) bool { return strings.HasPrefix(p, own) })
	if err := cmd.Process.Kill(); err != nil {
		w.t.Error(err)
	}
	_ = cmd.Wait() // killed
	return left
}

// TestKilledReview does the same with a reviewer: the next worker stops what was left and does the review.
func TestKilledReview(t *testing.T) {
	each(t, func(t *testing.T, a tool) {
		asked, killed := make(chan bool, 100), make(chan bool)
		w := newWorld(t, a, func(r model.Request) model.Reply {
			select {
			case <-killed:
				return verdict(r, "PASS")
			default:
				asked <- true
				return model.Reply{Hang: true}
			}
		})
		w.files(w.repo, map[string]string{"sum.go": planted})
		w.commit("sum")
		w.kill(asked, "review", "--wait", "--reviewer", a.name)
		close(killed)
		has(t, w.runr(0, "work"), "1 review done")
		has(t, w.runr(0, "show", "latest"), "PASS")
	})
}

// TestRefused lets the model write outside of its worktree. If the tool prevents that, this is recorded, and the run
// stops because nothing changed.
func TestRefused(t *testing.T) {
	eachWay(t, func(t *testing.T, a tool) {
		if a.unsandboxed && !a.byACP { // with ACP git-runr prevents it
			t.Skipf("SKIP %s writes wherever its user can", a.name)
		}
		var w *world
		w = newWorld(t, a, func(r model.Request) model.Reply {
			if len(r.Tools) == 0 {
				return model.Reply{Text: "Greeting"}
			}
			return implement(r, a.write(w.repo+"/outside.txt", "hello"))
		})
		w.files(w.repo, map[string]string{"task.md": task})
		w.commit("task")
		out, status := w.run("git-runr", "run", "task.md", "--implementer", a.name)
		if changed := status == 4 && strings.Contains(out, "no_change"); !changed &&
			(status != 30 || !strings.Contains(out, "agent_failed")) {
			t.Errorf("it ended with %d: %s", status, out)
		}
		has(t, out, a.refusal)
		if a.byACP && a.refusal == "permission denied" { // by its command line a tool may not name the file
			has(t, out, a.refusal+": "+w.repo)
		}
		if status := w.git("status", "--porcelain"); status != "" {
			t.Errorf("it wrote outside of its worktree: %s", status)
		}
	})
}
