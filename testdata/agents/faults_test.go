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
				w := newWorld(t, a, func(model.Request) model.Reply { return f.reply })
				w.files(w.repo, map[string]string{"sum.go": planted})
				w.commit("sum")
				got, took := w.fails()
				t.Logf("ROW %-9s %-16s %3.0f s, %2d requests: %s, transient %v, again in %.0f s: %s", a.name, f.name, took.Seconds(), len(w.Requests()),
					got.Reason, got.Transient, max(0, time.Until(got.RetryAt).Seconds()), got.Detail)
			})
		}
	})
}

// fails has the tool review, and gives why it did not and how long that took. A machine may
// be so busy that the tool is stopped before it has asked its model: then it is given longer.
func (w *world) fails() (*failure, time.Duration) {
	for idle := 20 * time.Second; ; idle *= 3 {
		w.files(w.home, map[string]string{".config/git-runr/config.toml": fmt.Sprintf("[agents.%s]\nidle_timeout = %q\ntimeout = %q\n", w.tool.name, idle, 2*idle)})
		began := time.Now()
		w.runr(30, "review", "--wait", "--reviewer", w.tool.name)
		took := time.Since(began)
		if len(w.Requests()) == 0 && idle < 3*time.Minute {
			continue
		}
		var review struct{ Failure *failure }
		w.shown(&review, "show", "latest", "--json")
		if review.Failure == nil {
			w.t.Fatal("no failure is recorded")
		}
		return review.Failure, took
	}
}
