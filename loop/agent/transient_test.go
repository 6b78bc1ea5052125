package agent

import (
	"testing"
	"time"
)

func TestTransient(t *testing.T) {
	for _, tc := range []struct {
		problem, detail string
		want            bool
	}{
		{ProblemExitStatus, "exit status 1: Error: 429 Too Many Requests", true},
		{ProblemExitStatus, "exit status 1: looking at payments.go; 429 Too Many Requests", true},
		{ProblemAgentError, "exceeded retry limit, last status: 429 Too Many Requests", true},
		{ProblemAgentError, "HTTP 529 overloaded_error", true},
		{ProblemAgentError, "You've hit your usage limit. Try again at 3 PM", true},
		{ProblemAgentError, "We're currently experiencing high demand", true},
		{ProblemAgentError, "unexpected status 503 Service Unavailable", true},
		{ProblemAgentError, "stream disconnected before completion", true},
		{ProblemAgentError, "terminated", true},
		{ProblemAgentError, "fetch failed: ECONNRESET", true},
		{ProblemTimeout, "no answer within 30m0s", true},
		{ProblemIdle, "no output for 10m0s: HTTP 429 rate_limit", true},
		{ProblemIdle, "no output for 10m0s: HTTP 401 authentication_failed", false},
		{ProblemAgentError, "401 Unauthorized: invalid API key", false},
		{ProblemAgentError, "429 insufficient_quota: check your plan and billing details", false},
		{ProblemExitStatus, "exit status 2: error: unexpected argument '--flag' found", false},
		{ProblemExitStatus, "exit status 1: unknown option: --json", false},
		{ProblemExitStatus, "exit status 1: Please log in first", false},
		{ProblemAgentError, "model gpt-9 does not exist", false},
		{ProblemExitStatus, "exit status 1", false},
		{ProblemAgentError, "You've hit your limit · resets 11pm (UTC)", true},
		{ProblemAgentError, "You've hit your session limit · resets Nov 23, 5am (UTC)", true},
		{ProblemAgentError, "5-hour limit reached ∙ resets 11pm", true},
		{ProblemAgentError, "Weekly limit reached", true},
		{ProblemAgentError, "You've hit your Opus limit", true},
		{ProblemAgentError, "You've reached your monthly spend limit", false},
		{ProblemAgentError, "turn limit reached", false},
		{ProblemAgentError, "the context limit was reached", false},
		{ProblemExitStatus, "exit status 1: file size limit reached", false},
		{ProblemExitStatus, "exit status 1: (node:7) [DEP0040] DeprecationWarning: the rate limit helper is deprecated",
			false},
		{ProblemExitStatus, "exit status 1: Warning: 429 is retried from now on; error: no space left", false},
		{ProblemExitStatus, "exit status 1: 2026-01-02T03:04:05Z INFO asked with a rate limit of 5", false},
		{ProblemExitStatus, "exit status 1: timestamp=1 level=INFO prompt=\"handle 503\"", false},
		{ProblemExitStatus, "exit status 1: error: 429 Too Many Requests; x.py:3: DeprecationWarning: api_key", true},
		{ProblemExitStatus, "exit status 1: error: rate limit reached: a warning was sent", true},
		{ProblemEmptyOutput, "warning: the usage limit is near", false},
		{ProblemIdle, "no output for 10m0s: Warning: unknown model, falling back", true},
		{ProblemEmptyOutput, "it ended without a final message", false},
		{ProblemKilled, "SIGKILL", false},
		{ProblemPermissionDenied, "permission denied: Edit", false},
		{"", "", false},
	} {
		if got := (Answer{Problem: tc.problem, Detail: tc.detail}).Transient(); got != tc.want {
			t.Errorf("%s %q: %v", tc.problem, tc.detail, got)
		}
	}
}

// If the provider says when to retry, that time is used whatever the message is, and a time in
// the past means at once.
func TestAgain(t *testing.T) {
	now := time.Unix(2000000000, 0)
	for again, want := range map[time.Time]time.Duration{
		now.Add(4 * time.Second): 4 * time.Second, now: time.Second, now.Add(-time.Hour): time.Second,
		now.AddDate(1, 0, 0): maxRetryAfter,
	} {
		a := Answer{Problem: ProblemAgentError, Detail: "No more today, resets 11pm (UTC)", Again: again}
		if got := a.RetryAfter(now); !a.Transient() || got != want {
			t.Errorf("%s: %v, %s", again, a.Transient(), got)
		}
	}
	if (Answer{Problem: ProblemPermissionDenied, Again: now}).Transient() {
		t.Error("a refusal is no limit")
	}
}
