//go:build unix

package agent

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/spend"
)

// played is a scripted agent: its output and its end.
type played struct {
	preset        string // "" for a custom command
	says          string
	complains     string
	status        string // exit status, or hang
	timeout, idle time.Duration
}

// call runs the scripted agent as a call does, and returns the result.
func (p played) call(t *testing.T, ctx context.Context, role Role,
	opts CallOptions) (Answer, Result, []string, string) {
	t.Helper()
	dir := t.TempDir()
	says, heard, args := filepath.Join(dir, "says"), filepath.Join(dir, "heard"), filepath.Join(dir, "args")
	if err := os.WriteFile(says, []byte(p.says), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := Spec{
		Name: "played", Preset: p.preset, Command: []string{executablePath(), "agent"}, Timeout: p.timeout, Idle: p.idle,
		Env: []string{helperVar, "SAYS", "HEARD", "ARGS", "COMPLAINS", "STATUS"},
	}
	base := []string{
		"PATH=" + os.Getenv("PATH"), helperVar + "=1", "UNNAMED=secret",
		"SAYS=" + says, "HEARD=" + heard, "ARGS=" + args, "COMPLAINS=" + p.complains, "STATUS=" + p.status,
	}
	answer, result, err := Call(ctx, spec, Ask{Role: role, Dir: dir, Prompt: "the prompt\n", Base: base}, opts)
	if err != nil {
		t.Fatal(err)
	}
	prompt, _ := os.ReadFile(heard)
	argv, _ := os.ReadFile(args)
	return answer, result, strings.Split(string(argv), "\n"), string(prompt)
}

const (
	codexFine = `{"type":"turn.started"}
{"type":"item.completed","item":{"type":"agent_message","text":"All is well."}}
{"type":"turn.completed"}
`
	codexFailed = `{"type":"turn.failed","error":{"message":"no credit"}}
`
	limited = `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":2000000000,"rateLimitType":"five_hour"}}
{"type":"result","is_error":true,"result":"API Error: Request rejected (429)"}
`
	sessionLimit = `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":2000000000,"rateLimitType":"five_hour"}}
{"type":"result","subtype":"success","is_error":true,"result":"You've hit your limit · resets 11pm (UTC)"}
`
	turnedAway = `{"type":"system","subtype":"api_retry","error_status":401,"error":"authentication_failed"}
`
)

func TestCallAnswers(t *testing.T) {
	for _, tc := range []struct {
		name   string
		played played
		want   Answer
	}{
		{"custom", played{says: "\nfine \x1b[1mindeed\x1b[0m\n\n", status: "0"}, Answer{Text: "fine indeed"}},
		{"custom, nothing", played{says: " \n", complains: "a\nb\n\nc\nno key\n", status: "0"},
			Answer{Problem: ProblemEmptyOutput, Detail: "b; c; no key"}},
		{"custom, failed", played{says: "### Verdict: PASS", complains: "no \x1b[31mkey\x1b[0m\n", status: "7"},
			Answer{Problem: ProblemExitStatus, Detail: "exit status 7: no key"}},
		{"custom, failed in silence", played{status: "1"}, Answer{Problem: ProblemExitStatus, Detail: "exit status 1"}},
		{"custom, says why on the wrong stream", played{says: "working\n429 Too Many Requests\n", status: "1"},
			Answer{Problem: ProblemExitStatus, Detail: "exit status 1: working; 429 Too Many Requests"}},
		{"preset, says why in no event", played{preset: "codex", says: "not logged in\n{\"type\":\"turn.started\"}\n",
			status: "1"}, Answer{Problem: ProblemExitStatus, Detail: "exit status 1: not logged in"}},
		{"preset, tried again", played{preset: "claude",
			says: `{"type":"system","subtype":"api_retry","error_status":429,"error":"rate_limit"}` + "\n", status: "1"},
			Answer{Problem: ProblemAgentError, Detail: "exit status 1: HTTP 429 rate_limit"}},
		{"preset, turned away once", played{preset: "claude",
			says: turnedAway + `{"type":"assistant","message":{}}` + "\n" + turnedAway + `{"type":"result","result":"fine"}` +
				"\n", status: "0"}, Answer{Text: "fine"}},
		{"preset, says when its limit is over", played{preset: "claude", says: limited, status: "1"},
			Answer{Problem: ProblemAgentError,
				Detail: "exit status 1: API Error: Request rejected (429); again at 2033-05-18 03:33:20Z",
				Again:  time.Unix(2000000000, 0)}},
		{"preset, has reached its limit", played{preset: "claude", says: sessionLimit, status: "1"},
			Answer{Problem: ProblemAgentError,
				Detail: "exit status 1: You've hit your limit · resets 11pm (UTC); again at 2033-05-18 03:33:20Z",
				Again:  time.Unix(2000000000, 0)}},
		{"preset, has got over its limit", played{preset: "claude",
			says: limited + `{"type":"result","result":"fine"}` + "\n", status: "0"}, Answer{Text: "fine"}},
		{"preset, near its limit", played{preset: "claude", says: strings.Replace(limited, "rejected", "allowed_warning", 1),
			status: "1"}, Answer{Problem: ProblemAgentError, Detail: "exit status 1: API Error: Request rejected (429)"}},
		{"preset, tried again and well", played{preset: "claude",
			says: `{"type":"system","subtype":"api_retry","error_status":529,"error":"overloaded"}` + "\n" +
				`{"type":"assistant","message":{}}` + "\n" + `{"type":"result","result":"fine"}` + "\n", status: "0"},
			Answer{Text: "fine"}},
		{"unknown option before a help", played{preset: "gemini",
			complains: "Unknown argument: skip-trust\n\nOptions:\n  -v, --version\n  -h, --help  Show help  [boolean]\n",
			status:    "1"}, Answer{Problem: ProblemExitStatus, Detail: "exit status 1: Unknown argument: skip-trust"}},
		{"unexpected argument", played{preset: "codex",
			complains: "error: unexpected argument '--sandbox' found\n\nUsage: codex exec [OPTIONS]\n\n" +
				"For more information, try '--help'.\n", status: "2"},
			Answer{Problem: ProblemExitStatus, Detail: "exit status 2: unexpected argument '--sandbox' found"}},
		{"nothing but a help", played{preset: "opencode",
			complains: "opencode run [message..]\n\nOptions:\n  -h, --help         show help\n  -v, --version      show\n",
			status:    "1"}, Answer{Problem: ProblemExitStatus, Detail: "exit status 1: unknown option: it printed its help"}},
		{"a status before a stack", played{preset: "gemini",
			complains: "Attempt 4 failed with status 429. Retrying with backoff... _ApiError: try again in 5 minutes\n" +
				"    at throwErrorIfNotOK (x.js:1:2)\n    at y\n    at z\n", status: "1"},
			Answer{Problem: ProblemExitStatus,
				Detail: "exit status 1: Attempt 4 failed with status 429. Retrying with backoff... _ApiError: try again in 5 " +
					"minutes"}},
		{"an error in a log", played{preset: "opencode",
			complains: `level=ERROR message="stream error" modelID=m error.error="AI_APICallError: rate limit reached"` + "\n",
			status:    "1"}, Answer{Problem: ProblemExitStatus, Detail: "exit status 1: AI_APICallError: rate limit reached"}},
		{"a warning beside the cause",
			played{complains: "(node:7) DeprecationWarning: rate limit helper\nerror: disk full\nWarning: 429 is retried\n",
				status: "1"}, Answer{Problem: ProblemExitStatus, Detail: "exit status 1: error: disk full"}},
		{"nothing but a warning", played{complains: "Warning: 429 is retried\n", status: "1"},
			Answer{Problem: ProblemExitStatus, Detail: "exit status 1: Warning: 429 is retried"}},
		{"the prompt said again", played{complains: "user\nthe prompt\nerror: disk full\n", status: "1"},
			Answer{Problem: ProblemExitStatus, Detail: "exit status 1: user; error: disk full"}},
		{"a status that it got over", played{preset: "gemini",
			complains: "Attempt 1 failed with status 429. Retrying with backoff...\n    at y (x.js:1:2) {\n  status: 429\n}\n" +
				"TypeError: x is undefined\n    at z (x.js:3:4)\n", status: "1"},
			Answer{Problem: ProblemExitStatus, Detail: "exit status 1: TypeError: x is undefined"}},
		{"an error in a log that it got over",
			played{preset: "opencode", complains: `level=ERROR error.error="rate limit reached"` + "\nError: no such session\n",
				status: "1"}, Answer{Problem: ProblemExitStatus, Detail: "exit status 1: Error: no such session"}},
		{"preset", played{preset: "codex", says: codexFine, status: "0"}, Answer{Text: "All is well."}},
		{"preset, failed with an answer", played{preset: "codex", says: codexFine, status: "1"},
			Answer{Problem: ProblemExitStatus, Detail: "exit status 1"}},
		{"preset, failed and says why", played{preset: "codex", says: codexFailed, complains: "noise\n", status: "1"},
			Answer{Problem: ProblemAgentError, Detail: "exit status 1: no credit"}},
		{"preset, error with exit 0", played{preset: "codex", says: codexFailed, status: "0"},
			Answer{Problem: ProblemAgentError, Detail: "no credit"}},
		{"preset, no events", played{preset: "pi", says: "All is well.\n", status: "0"},
			Answer{Problem: ProblemEmptyOutput, Detail: "it wrote no event that this version of git-runr understands"}},
	} {
		got, result, _, prompt := tc.played.call(t, t.Context(), Reviewer, CallOptions{})
		if got != tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
		if prompt != "the prompt\n" || result.ExitCode != atoi(tc.played.status) {
			t.Errorf("%s: heard %q, exit %d", tc.name, prompt, result.ExitCode)
		}
	}
}

func TestCallArguments(t *testing.T) {
	_, _, args, _ := played{preset: "pi", status: "0"}.call(t, t.Context(), Implementer, CallOptions{})
	if got := strings.Join(args, " "); got != "-p --mode json -ne -ns -np -nc --no-session" {
		t.Errorf("%q", got)
	}
}

func TestCallTimeout(t *testing.T) {
	t.Parallel()
	p := played{preset: "codex", says: codexFine + `{"type":"error","message":"Reconnecting... 1/5"}` + "\n",
		status: "hang", timeout: time.Second}
	got, result, _, _ := p.call(t, t.Context(), Reviewer, CallOptions{})
	if got.Problem != ProblemTimeout || got.Text != "" || !strings.HasPrefix(got.Detail, "no answer within 1s") ||
		!result.TimedOut {
		t.Errorf("%+v, %+v", got, result)
	}
}

func TestCallIdle(t *testing.T) {
	t.Parallel()
	got, result, _, _ := played{says: "### Verdict: PASS\n", status: "hang", idle: 500 * time.Millisecond}.call(t,
		t.Context(), Reviewer, CallOptions{})
	if got != (Answer{Problem: ProblemIdle, Detail: "no output for 500ms: ### Verdict: PASS"}) || !result.Idled {
		t.Errorf("%+v, %+v", got, result)
	}
}

// Events about retries do not count as output: the idle limit stops the agent, and the detail names their cause.
func TestCallIdleTryingAgain(t *testing.T) {
	t.Parallel()
	const retry = `{"type":"system","subtype":"api_retry","error_status":429,"error":"rate_limit"}`
	for _, tc := range []struct {
		name, preset, script, want string
	}{
		{"claude", "claude", "while :; do echo '" + retry + "'; sleep 0.1; done", "no output for 700ms: HTTP 429 rate_limit"},
		{"a log", "opencode", `while :; do echo 'level=ERROR error.error="rate limit reached"' >&2; sleep 0.1; done`,
			"no output for 700ms: rate limit reached"},
		{"denied", "claude",
			`echo '{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"content":"This command requires approval"}]}}'; sleep 60`, "no output for 700ms: permission denied: a tool"},
	} {
		spec := Spec{Name: "x", Preset: tc.preset, Command: []string{"sh", "-c", tc.script, "sh"},
			Idle: 700 * time.Millisecond, Timeout: time.Minute}
		got, result, err := Call(t.Context(), spec, Ask{Role: Implementer, Dir: t.TempDir()}, CallOptions{})
		if err != nil || got.Problem != ProblemIdle || got.Detail != tc.want || !result.Idled || result.Usage.Calls != 1 {
			t.Errorf("%s: %+v, %+v, %v", tc.name, got, result.Usage, err)
		}
	}
}

// An agent whose credentials are rejected twice in a row is stopped, because it would retry for minutes.
func TestCallTurnedAway(t *testing.T) {
	t.Parallel()
	p := played{preset: "claude", says: turnedAway + turnedAway, status: "hang", idle: time.Minute}
	got, result, _, _ := p.call(t, t.Context(), Reviewer, CallOptions{})
	if got != (Answer{Problem: ProblemAgentError, Detail: "HTTP 401 authentication_failed; it was still retrying"}) ||
		got.Transient() || result.Idled {
		t.Errorf("%+v, %+v", got, result)
	}
}

func TestCallCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	got, result, _, _ := played{says: "### Verdict: PASS\n", status: "hang"}.call(t, ctx, Reviewer,
		CallOptions{OnLine: func(string) { cancel() }})
	if got != (Answer{Problem: ProblemCancelled}) || !result.Cancelled {
		t.Errorf("%+v, %+v", got, result)
	}
}

func TestCallKilled(t *testing.T) {
	spec := Spec{Name: "mine", Command: []string{"sh", "-c", "echo '### Verdict: PASS'; kill -KILL $$"}}
	got, _, err := Call(t.Context(), spec, Ask{Role: Reviewer, Dir: t.TempDir()}, CallOptions{})
	if err != nil || got != (Answer{Problem: ProblemKilled, Detail: "SIGKILL: ### Verdict: PASS"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCallNotFound(t *testing.T) {
	_, _, err := Call(t.Context(), Spec{Name: "codex"},
		Ask{Role: Reviewer, Dir: t.TempDir(), Base: []string{"PATH=/none"}}, CallOptions{})
	if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), `"codex"`) {
		t.Errorf("%v", err)
	}
	_, _, err = Call(t.Context(), Spec{Name: "human"}, Ask{Role: Reviewer, Dir: t.TempDir()}, CallOptions{})
	if !errors.Is(err, errReserved) {
		t.Errorf("%v", err)
	}
}

// The agent sees the allow-list, the names in its configuration and its preset's variables,
// and nothing else.
func TestCallEnvironment(t *testing.T) {
	spec := Spec{Name: "mine", Command: []string{"env"}, Env: []string{"NAMED"}}
	base := []string{"PATH=" + os.Getenv("PATH"), "NAMED=yes", "ANTHROPIC_API_KEY=secret", "GIT_DIR=/elsewhere"}
	got, _, err := Call(t.Context(), spec, Ask{Role: Reviewer, Dir: t.TempDir(), Base: base}, CallOptions{})
	if err != nil || !strings.Contains(got.Text, "NAMED=yes") || strings.Contains(got.Text, "secret") ||
		strings.Contains(got.Text, "GIT_DIR") {
		t.Errorf("%+v, %v", got, err)
	}
	c := Spec{Name: "opencode", Env: []string{"OPENCODE_PERMISSION"}}
	inv, err := c.Invocation(Ask{Role: Reviewer})
	if err != nil {
		t.Fatal(err)
	}
	env := c.command(inv, Ask{Base: []string{"OPENCODE_PERMISSION={}", "OPENAI_API_KEY=k"}}, CallOptions{}).Env
	if got := lastValue(env, "OPENCODE_PERMISSION"); !strings.Contains(got, `"edit":"deny"`) ||
		lastValue(env, "OPENAI_API_KEY") != "k" {
		t.Errorf("%q", env)
	}
}

func TestCallLimits(t *testing.T) {
	for _, tc := range []struct {
		spec          Spec
		timeout, idle time.Duration
	}{
		{Spec{Name: "codex"}, DefaultTimeout, DefaultIdle},
		{Spec{Name: "codex", Timeout: time.Hour, Idle: time.Minute}, time.Hour, time.Minute},
		{Spec{Name: "mine", Command: []string{"x"}}, DefaultTimeout, 0},
		{Spec{Name: "mine", Command: []string{"x"}, Idle: time.Minute}, DefaultTimeout, time.Minute},
	} {
		inv, err := tc.spec.Invocation(Ask{Role: Reviewer})
		if err != nil {
			t.Fatal(err)
		}
		if c := tc.spec.command(inv, Ask{}, CallOptions{}); c.Timeout != tc.timeout || c.Idle != tc.idle {
			t.Errorf("%+v: %v, %v", tc.spec, c.Timeout, c.Idle)
		}
	}
}

// An answer with a missing middle may lack its worst finding.
func TestCallAnswerTooLong(t *testing.T) {
	got, _, _, _ := played{says: strings.Repeat("a word ", defaultMaxOutput/7+10), status: "0"}.call(t, t.Context(),
		Reviewer, CallOptions{})
	if got.Problem != ProblemAgentError || got.Text != "" || !strings.Contains(got.Detail, "longer than") {
		t.Errorf("%.100q %+v", got.Text, got.Detail)
	}
}

// The answer of a session that is longer than the kept output is complete.
func TestCallLongSession(t *testing.T) {
	chatter := `{"type":"item.completed","item":{"type":"command_execution","command":"` + strings.Repeat("x", 2200<<10) +
		"\"}}\n"
	end := `{"type":"thread.ended","all":"` + strings.Repeat("y", 2200<<10) + "\"}\n"
	got, result, _, _ := played{preset: "codex", says: chatter + codexFine + end, status: "0"}.call(t, t.Context(),
		Reviewer, CallOptions{})
	if got.Text != "All is well." || result.Dropped == 0 {
		t.Errorf("%+v, %d dropped", got, result.Dropped)
	}
}

func TestCallTranscriptAndProgress(t *testing.T) {
	says := `{"type":"message_update","message":{}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"All is\nwell."}],"stopReason":"stop"}}`
	var transcript bytes.Buffer
	var last string
	opts := CallOptions{Transcript: &transcript, OnLine: func(line string) { last = line }}
	got, _, _, _ := played{preset: "pi", says: says, status: "0"}.call(t, t.Context(), Reviewer, opts)
	if got.Text != "All is\nwell." || last != "All is well." {
		t.Errorf("%+v, shown %q", got, last)
	}
	_, want, _ := strings.Cut(says, "\n")
	if transcript.String() != want+"\n" {
		t.Errorf("transcript %q", transcript.String())
	}
}

// In a continued session codex reports its tokens, and claude its cost, for the whole session;
// the call's usage is the difference.
func TestCallUsageOfSession(t *testing.T) {
	for _, tc := range []struct {
		preset, says string
		before, want spend.Usage
	}{
		{"codex", `{"type":"thread.started","thread_id":"s1"}` + "\n" + `{"type":"turn.started"}` + "\n" +
			`{"type":"turn.completed","usage":{"input_tokens":300,"cached_input_tokens":50,"output_tokens":30}}`,
			spend.Usage{Input: 100, Cached: 20, Output: 10}, spend.Usage{Calls: 1, Input: 200, Cached: 30, Output: 20}},
		{"codex", `{"type":"thread.started","thread_id":"s2"}` + "\n" +
			`{"type":"turn.completed","usage":{"input_tokens":300,"output_tokens":30}}`,
			spend.Usage{Input: 100, Output: 10}, spend.Usage{Calls: 1, Input: 300, Output: 30}},
		{"claude", `{"type":"result","session_id":"s1","result":"x","total_cost_usd":0.75,"usage":{"input_tokens":100,"cache_read_input_tokens":40,"output_tokens":10}}`,
			spend.Usage{Input: 100, Output: 10, Cost: 0.25},
			spend.Usage{Calls: 1, Input: 140, Cached: 40, Output: 10, Cost: 0.5}},
		{"opencode",
			`{"type":"step_finish","sessionID":"s1","part":{"reason":"stop","cost":0.5,"tokens":{"input":100,"output":10,"reasoning":5,"cache":{"read":40,"write":2}}}}`,
			spend.Usage{Input: 10, Output: 1, Cost: 0.25}, spend.Usage{Calls: 1, Input: 142, Cached: 40, Output: 15, Cost: 0.5}},
	} {
		spec := Spec{Name: "x", Preset: tc.preset, Command: []string{"sh", "-c", "echo '" + tc.says + "'", "sh"}}
		ask := Ask{Role: Implementer, Dir: t.TempDir(), Keep: true, Session: spend.Session{ID: "s1", Taken: tc.before}}
		_, result, err := Call(t.Context(), spec, ask, CallOptions{})
		if err != nil || result.Usage != tc.want || result.Session.ID == "" {
			t.Errorf("%s: %+v, %+v, %v", tc.preset, result.Usage, result.Session, err)
		}
	}
}
