package agents

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"git-runr/testdata/agents/model"
)

// eachByACP runs a test with every tool that is talked to by the Agent Client Protocol.
func eachByACP(t *testing.T, settings string, test func(t *testing.T, a tool)) {
	for _, a := range tools {
		if !a.acp {
			continue
		}
		home := a.home
		a.byACP, a.home = true, func(url string) map[string]string {
			files := home(url)
			files[".config/git-runr/config.toml"] = fmt.Sprintf("[agents.%s]\nprotocol = \"acp\"\n%s", a.name, settings)
			return files
		}
		t.Run(a.name+" by ACP", func(t *testing.T) {
			t.Parallel()
			test(t, a)
		})
	}
}

// eachWay runs a test with every tool by its command line, and by the Agent Client Protocol.
func eachWay(t *testing.T, test func(t *testing.T, a tool)) {
	each(t, test)
	eachByACP(t, "", test)
}

// TestACPFaults has the model fail in the ways that differ by the protocol: not in how often
// a tool asks it again.
func TestACPFaults(t *testing.T) {
	eachByACP(t, "idle_timeout = \"40s\"\ntimeout = \"80s\"\n", func(t *testing.T, a tool) {
		for _, f := range faults {
			if !slices.Contains([]string{"empty", "401", "cut", "hang"}, f.name) {
				continue
			}
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, a, func(model.Request) model.Reply { return f.reply })
				w.files(w.repo, map[string]string{"sum.go": planted})
				w.commit("sum")
				began := time.Now()
				w.runr(30, "review", "--wait", "--reviewer", a.name)
				var review struct{ Failure *failure }
				w.shown(&review, "show", "latest", "--json")
				if review.Failure == nil {
					t.Fatal("no failure is recorded")
				}
				got := review.Failure
				t.Logf("ROW %-9s %-16s %3.0f s, %2d requests: %s, transient %v: %s", a.name, f.name, time.Since(began).Seconds(), len(w.Requests()), got.Reason, got.Transient, got.Detail)
				if f.reply.Status != 0 && !strings.Contains(got.Detail, words) && !strings.Contains(got.Detail, fmt.Sprint(f.reply.Status)) {
					t.Errorf("the provider's words are lost: %s", got.Detail)
				}
			})
		}
	})
}

// TestACPHostile is TestHostile by the Agent Client Protocol.
func TestACPHostile(t *testing.T) {
	eachByACP(t, "", func(t *testing.T, a tool) {
		for _, role := range []string{"reviewer", "implementer"} {
			t.Run(role, func(t *testing.T) {
				t.Parallel()
				h := newHostile(t, a, harmless(a))
				h.workBeside(role)
				happened := h.happened()
				for _, line := range happened {
					if role == "reviewer" || !strings.HasPrefix(line, "told: ") {
						t.Errorf("%s as %s %s", a.name, role, line)
					}
				}
				t.Logf("%-9s %-12s %d plants, %d requests: %s", a.name, role, len(h.plants()), len(h.Requests()), strings.Join(happened, "; "))
			})
		}
	})
}

// TestACPUnknown has a tool that is no preset work, which asks before it writes and says only
// when it announces what it will do which file that is.
func TestACPUnknown(t *testing.T) {
	a := tools[slices.IndexFunc(tools, func(a tool) bool { return a.name == "claude" })]
	home := a.home
	a.name, a.home = "claude-code-acp", func(url string) map[string]string {
		files := home(url)
		files[".config/git-runr/config.toml"] = "[agents.claude-code-acp]\ncommand = [\"claude-code-acp\"]\nprotocol = \"acp\"\nenv = [\"ANTHROPIC_API_KEY\", \"ANTHROPIC_BASE_URL\"]\n"
		return files
	}
	write := call("mcp__acp__Write", "file_path", "content")
	var w *world
	w = newWorld(t, a, func(r model.Request) model.Reply {
		switch {
		case len(r.Tools) == 0:
			return model.Reply{Text: "Greeting"}
		case reviews(r) && r.Turn == 0:
			return write(w.repo+"/planted.txt", "planted by the reviewer")
		case reviews(r):
			return verdict(r, "PASS")
		}
		return implement(r, write(w.tree()+"/greet.txt", "hello, please"))
	})
	w.files(w.repo, map[string]string{"task.md": task})
	w.commit("task")
	w.runr(0, "run", "task.md", "--implementer", a.name, "--reviewer", a.name)
	w.runr(0, "land")
	if got := w.git("show", "HEAD:greet.txt"); strings.TrimSpace(got) != "hello, please" {
		t.Errorf("landed: %q", got)
	}
	if status := w.git("status", "--porcelain"); status != "" {
		t.Errorf("the reviewer wrote:\n%s", status)
	}
}
