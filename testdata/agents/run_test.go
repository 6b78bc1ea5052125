package agents

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/testdata/agents/model"
)

const task = `# Greet

Write greet.txt with a greeting.

## Done criteria

- it is polite
`

const report = `## SUBTASK COMPLETE
**Status:** passed
### Files Modified
- greet.txt
### Verification Results
I read it again.
`

// tree returns the worktree of the run.
func (w *world) tree() string {
	for _, tree := range strings.Split(w.git("worktree", "list", "--porcelain"), "\n\n") {
		if strings.Contains(tree, "branch refs/heads/runr/") {
			path, _, _ := strings.Cut(strings.TrimPrefix(tree, "worktree "), "\n")
			return path
		}
	}
	return ""
}

// implement returns the reply of an implementer's turn: the steps one after the other, then the report.
func implement(r model.Request, steps ...model.Reply) model.Reply {
	if r.Turn < len(steps) {
		return steps[r.Turn]
	}
	return model.Reply{Text: report}
}

// reviews reports whether the request is a reviewer's.
func reviews(r model.Request) bool {
	return strings.Contains(r.Prompt, "You are an independent reviewer")
}

// TestRun takes a task from a critical finding and a warning to a pass and the landing, with the tool in both roles.
func TestRun(t *testing.T) {
	eachWay(t, func(t *testing.T, a tool) {
		var w *world
		w = newWorld(t, a, func(r model.Request) model.Reply {
			file := w.tree() + "/greet.txt"
			switch {
			case len(r.Tools) == 0:
				return model.Reply{Text: "Greeting"}
			case reviews(r) && strings.Contains(r.Prompt, "+rude"):
				return verdict(r, "CRITICAL", finding{Severity: "critical", File: "greet.txt", Line: 1,
					Issue: "The greeting is rude", Fix: "Begin again"})
			case reviews(r) && strings.Contains(r.Prompt, "+hello\n"):
				return verdict(r, "NEEDS_FIX", finding{Severity: "warning", File: "greet.txt", Line: 1,
					Issue: "The greeting is not polite", Fix: "Say please"})
			case reviews(r):
				return verdict(r, "PASS")
			case strings.Contains(r.Prompt, "FIX review findings"):
				return implement(r, a.read(file, ""), a.edit(file, "hello", "hello, please"))
			case strings.Contains(r.Prompt, "RE-EXECUTE"):
				return implement(r, a.write(file, `hello`))
			}
			return implement(r, a.write(file, `rude`))
		})
		w.files(w.repo, map[string]string{"task.md": task})
		w.commit("task")
		out := w.runr(0, "run", "task.md", "--implementer", a.name, "--reviewer", a.name)
		has(t, out, "attempt 1 (implement) by "+a.name+": 1 file", "reverted", "attempt 2 (re-execute)", "attempt 3 (fix)",
			"round 3 by "+a.name+": PASS")
		w.countedBy(6)
		w.runr(0, "land")
		if got := w.git("show", "HEAD:greet.txt"); strings.TrimSpace(got) != "hello, please" {
			t.Errorf("landed: %q", got)
		}
		seen := map[string]bool{}
		w.asked(func(r model.Request) { w.toldOf(r, seen) })
		for _, phase := range []string{"IMPLEMENT", "RE-EXECUTE", "FIX", "review 1", "review 2", "review 3"} {
			if !seen[phase] {
				t.Errorf("nobody was asked for %s: %v", phase, seen)
			}
		}
	})
}

// toldOf checks that the prompt of each round contains what it must, and no more.
func (w *world) toldOf(r model.Request, seen map[string]bool) {
	t := w.t
	round := func(name string, knows ...string) {
		seen[name] = true
		has(t, r.Prompt, knows...)
	}
	switch p := r.Prompt; {
	case strings.HasPrefix(p, "[SUGGESTION MODE"): // qwen predicts its user's next words
		return
	case reviews(r) && strings.Contains(p, "<attempt_number>\n1"):
		round("review 1", "+rude", "I read it again.", "it is polite")
	case reviews(r) && strings.Contains(p, "<attempt_number>\n2"):
		round("review 2", "The greeting is rude", "+hello")
	case reviews(r):
		round("review 3", "The greeting is not polite", "+hello, please")
	case strings.Contains(p, "FIX review findings"):
		round("FIX", "The greeting is not polite", "Say please", "attempt 1 ")
	case strings.Contains(p, "RE-EXECUTE"):
		round("RE-EXECUTE", "The greeting is rude", "Begin again")
	default:
		round("IMPLEMENT", "Write greet.txt", "it is polite")
		if r.Told("is rude") {
			t.Errorf("the first attempt knew of a review: %s", p)
		}
	}
	if !reviews(r) {
		for _, tool := range w.tool.writes {
			if !r.Offers(tool) {
				t.Errorf("an implementer's model may not call %s: %v", tool, r.Tools)
			}
		}
	}
}
