package agents

import (
	"fmt"
	"testing"
	"time"

	"git-runr/testdata/agents/model"
)

// words are the provider's own, which the tool and then git-runr must pass on.
const words = "the meter of this key ran out"

// faults are what can be wrong with a model.
var faults = []struct {
	name  string
	reply model.Reply
}{
	{"empty", model.Reply{}},
	{"401", model.Reply{Status: 401, Message: words}},
	{"429", model.Reply{Status: 429, Message: words}},
	{"429 for an hour", model.Reply{Status: 429, Message: words, RetryAfter: "3600"}},
	{"500", model.Reply{Status: 500, Message: words}},
	{"cut", model.Reply{Text: "### Verdict: PASS\n\nNothing is wrong with it.", Cut: true}},
	{"hang", model.Reply{Hang: true}},
}

// failure is why a reviewer came to no answer.
type failure struct {
	Reason    string
	Detail    string
	Transient bool
	RetryAt   time.Time `json:"retry_at"`
}

// TestFaults has the model fail a reviewer in each of the ways that models do.
func TestFaults(t *testing.T) {
	each(t, func(t *testing.T, a tool) {
		for _, f := range faults {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, a, func(r model.Request) model.Reply { return f.reply })
				w.files(w.home, map[string]string{".config/git-runr/config.toml": fmt.Sprintf("[agents.%s]\nidle_timeout = \"20s\"\ntimeout = \"40s\"\n", a.name)})
				w.files(w.repo, map[string]string{"sum.go": planted})
				w.commit("sum")
				began := time.Now()
				out, status := w.run("git-runr", "review", "--wait", "--reviewer", a.name)
				var review struct{ Failure *failure }
				w.shown(&review, "show", "latest", "--json")
				t.Logf("ROW %s | %s | %d | %.0fs | %d requests | %+v | %s", a.name, f.name, status, time.Since(began).Seconds(), len(w.Requests()), review.Failure, "")
				_ = out
			})
		}
	})
}
