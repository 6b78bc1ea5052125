package agents

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/testdata/agents/model"
)

// words are the provider's words, which the tool and git-runr must pass on.
const words = "the meter of this key ran out"

// faults are the ways in which a model can fail, and how the call is then recorded: a reason, a part of its detail,
// and whether a retry makes sense. If a tool only retries, the idle limit ends it, and the cause is still recorded.
// Tools without a row use the row of "". An empty reason matches any.
var faults = []struct {
	name  string
	reply model.Reply
	ends  map[string]end
}{
	{"empty", model.Reply{}, map[string]end{
		"":        {"agent_empty_output", "without a final message", false},
		"gemini":  {"agent_failed", "ended with status error", false},
		"copilot": {"agent_failed", "No response was returned", false},
		"qwen":    {"", "empty response text", true}, // it tries five times
		"kilo":    {"agent_failed", "the model returned no output", false},
	}},
	{"401", model.Reply{Status: 401, Message: words}, map[string]end{
		"":        {"agent_failed", words, false},
		"claude":  {"agent_failed", "HTTP 401 authentication_failed", false}, // it would retry for minutes
		"copilot": {"agent_failed", "Authentication failed with provider", false},
	}},
	{"429", model.Reply{Status: 429, Message: words}, map[string]end{
		"codex":    {"agent_failed", "429 Too Many Requests", true},
		"claude":   {"stalled_timeout", "HTTP 429 rate_limit", true},
		"gemini":   {"stalled_timeout", words, true},
		"opencode": {"stalled_timeout", "", true},
		"pi":       {"agent_failed", words, true},
		"copilot":  {"stalled_timeout", words, true},
		"qwen":     {"stalled_timeout", "", true}, // it waits without output
		"kilo":     {"", words, true},             // it gives up after about two minutes
	}},
	// The hour is only in the header, which no tool passes on.
	{"429 for an hour", model.Reply{Status: 429, Message: words, RetryAfter: "3600"}, map[string]end{
		"codex":    {"stalled_timeout", "429 Too Many Requests", true},
		"claude":   {"agent_failed", words, true},
		"gemini":   {"stalled_timeout", words, true},
		"opencode": {"stalled_timeout", "", true},
		"pi":       {"stalled_timeout", "", true},
		"copilot":  {"agent_failed", words, true},
		"qwen":     {"stalled_timeout", "", true},
		"kilo":     {"", words, true}, // it gives up after about two minutes
	}},
	// In the words of each provider, from which retry_at is then taken. claude reports it in its events for users
	// with a subscription, and not for an API key.
	{"quota", model.Reply{Quota: time.Hour}, map[string]end{
		"codex":    {"agent_failed", "hit your usage limit", true},
		"claude":   {"agent_failed", "Request rejected (429)", true},
		"gemini":   {"agent_failed", "You exceeded your current quota", true},
		"opencode": {"stalled_timeout", "Rate limit reached", true},
		"pi":       {"agent_failed", "Rate limit reached", true},
		"":         {"", "", true},
	}},
	{"500", model.Reply{Status: 500, Message: words}, map[string]end{
		"codex":    {"agent_failed", "high demand", true},
		"claude":   {"stalled_timeout", "HTTP 500 server_error", true},
		"gemini":   {"stalled_timeout", words, true},
		"opencode": {"stalled_timeout", "", true},
		"pi":       {"agent_failed", words, true},
		"copilot":  {"agent_failed", words, true},
		"qwen":     {"stalled_timeout", "", true},
		"kilo":     {"", words, true}, // it gives up after about two minutes
	}},
	{"cut", model.Reply{Text: "### Verdict: PASS\n\nNothing is wrong with it.", Cut: true}, map[string]end{
		"codex":    {"agent_failed", "stream disconnected", true},
		"claude":   {"stalled_timeout", "HTTP null", true},
		"gemini":   {"agent_failed", "terminated", true},
		"opencode": {"", "", true}, // it gives up after about half a minute
		"pi":       {"agent_failed", "terminated", true},
		"copilot":  {"agent_failed", "connection", true},
		"qwen":     {"agent_failed", "terminated", true},
		"kilo":     {"", "", true}, // as opencode does
	}},
	{"hang", model.Reply{Hang: true}, map[string]end{"": {"stalled_timeout", "no output for", true}}},
}

// end is how a call with a fault is recorded.
type end struct {
	reason, detail string
	transient      bool
}

// failure is the reason why a reviewer did not answer.
type failure struct {
	Reason    string
	Detail    string
	Transient bool
	RetryAt   time.Time `json:"retry_at"`
}

// TestFaults lets a reviewer's model fail in each of these ways.
func TestFaults(t *testing.T) {
	each(t, func(t *testing.T, a tool) {
		for _, f := range faults {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, a, func(model.Request) model.Reply { return f.reply })
				w.files(w.repo, map[string]string{"sum.go": planted})
				w.commit("sum")
				want, own := f.ends[a.name]
				if !own {
					want = f.ends[""]
				}
				got, took := w.fails(want)
				if want.reason != "" && got.Reason != want.reason || !strings.Contains(got.Detail, want.detail) ||
					got.Transient != want.transient {
					t.Errorf("want %+v", want)
				}
				if wait := time.Until(got.RetryAt); f.reply.Quota > 0 && own && a.name != "claude" &&
					(wait < f.reply.Quota*4/5 || wait > f.reply.Quota*6/5) {
					t.Errorf("asked again in %s", wait)
				}
				t.Logf("%-9s %-16s %3.0f s, %2d requests: %s, transient %v, again in %.0f s: %s", a.name, f.name, took.Seconds(),
					len(w.Requests()),
					got.Reason, got.Transient, max(0, time.Until(got.RetryAt).Seconds()), got.Detail)
			})
		}
	})
}

// fails lets the tool review, and returns the failure and how long it took. On a busy machine the tool may be stopped
// before it called its model, or before it gave up for the expected reason; then it is tried again with more time.
func (w *world) fails(want end) (*failure, time.Duration) {
	for idle := 20 * time.Second; ; idle *= 3 {
		w.files(w.home,
			map[string]string{".config/git-runr/config.toml": fmt.Sprintf("[agents.%s]\nidle_timeout = %q\ntimeout = %q\n",
				w.tool.name, idle, 2*idle)})
		began := time.Now()
		w.runr(30, "review", "--wait", "--reviewer", w.tool.name)
		took := time.Since(began)
		var review struct{ Failure *failure }
		w.shown(&review, "show", "latest", "--json")
		if review.Failure == nil {
			w.t.Fatal("no failure is recorded")
		}
		early := len(w.Requests()) == 0 || review.Failure.Reason == "stalled_timeout" && want.reason != "" &&
			(want.reason != "stalled_timeout" || !strings.Contains(review.Failure.Detail, want.detail))
		if !early || idle > time.Minute {
			return review.Failure, took
		}
	}
}
