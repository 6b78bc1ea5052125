package agents

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/testdata/agents/model"
)

// eachByACP runs a test with every tool that speaks the Agent Client Protocol.
func eachByACP(t *testing.T, settings string, test func(t *testing.T, a tool)) {
	for _, a := range append([]tool{claudeAgent()}, tools...) {
		if !a.acp {
			continue
		}
		home, command := a.home, a.command
		a.byACP, a.home = true, func(url string) map[string]string {
			files := home(url)
			files[".config/git-runr/config.toml"] = fmt.Sprintf("[agents.%s]\nprotocol = \"acp\"\n%s%s", a.name, command,
				settings)
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

// TestACPFaults lets the model fail in the ways whose results differ with the protocol. How often a tool retries does
// not.
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
				t.Logf("ROW %-9s %-16s %3.0f s, %2d requests: %s, transient %v: %s", a.name, f.name, time.Since(began).Seconds(),
					len(w.Requests()), got.Reason, got.Transient, got.Detail)
				if f.reply.Status != 0 && !strings.Contains(got.Detail, words) &&
					!strings.Contains(got.Detail, fmt.Sprint(f.reply.Status)) {
					t.Errorf("the provider's words are lost: %s", got.Detail)
				}
			})
		}
	})
}

// claudeAgent returns a tool without a preset. By default it would let a model decide about permissions.
func claudeAgent() tool {
	a := tools[slices.IndexFunc(tools, func(a tool) bool { return a.name == "claude" })]
	a.name, a.acp = "claude-agent-acp", true
	a.command = "command = [\"claude-agent-acp\"]\nenv = [\"ANTHROPIC_API_KEY\", \"ANTHROPIC_BASE_URL\"]\n"
	return a
}

// TestACPHostile is TestHostile with the Agent Client Protocol.
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
				t.Logf("%-9s %-12s %d plants, %d requests: %s", a.name, role, len(h.plants()), len(h.Requests()),
					strings.Join(happened, "; "))
			})
		}
	})
}
