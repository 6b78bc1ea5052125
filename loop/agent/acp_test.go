//go:build unix

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/spend"
)

// spoken is the result of a call of a scripted ACP agent.
type spoken struct {
	Answer
	Result
	heard  string // by the agent, a line a message
	worked string
	dir    string
}

type spokenCall struct {
	script        string
	status        string
	model         string
	role          Role
	timeout, idle time.Duration
	opts          CallOptions
}

func (s spokenCall) call(t *testing.T, ctx context.Context, dir string) spoken {
	t.Helper()
	notes := t.TempDir()
	heard, worked := filepath.Join(notes, "heard"), filepath.Join(notes, "worked")
	spec := Spec{
		Name: "spoken", Protocol: ACP, Command: []string{executablePath(), "acp", s.script}, Timeout: s.timeout, Idle: s.idle,
		Env: []string{helperVar, "HEARD", "WORKED", "TREE", "STATUS"},
	}
	base := []string{"PATH=" + os.Getenv("PATH"), helperVar + "=1", "HEARD=" + heard, "WORKED=" + worked, "TREE=" + dir,
		"STATUS=" + s.status, "ANTHROPIC_API_KEY=k"}
	answer, result, err := Call(ctx, spec, Ask{Role: s.role, Model: s.model, Dir: dir, Prompt: "the prompt\n", Base: base},
		s.opts)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := os.ReadFile(heard)
	w, _ := os.ReadFile(worked)
	return spoken{answer, result, string(h), string(w), dir}
}

func TestACPAnswers(t *testing.T) {
	for _, tc := range []struct {
		script, status string
		want           Answer
	}{
		{"fine", "0", Answer{Text: "All is well."}},
		{"fine", "9", Answer{Text: "All is well."}}, // after its answer
		{"stays", "0", Answer{Text: "All is well."}},
		{"answers and dies", "0", Answer{Text: "fine"}},
		{"banner", "0", Answer{Text: "All is well."}},
		{"odd session", "0", Answer{Text: "All is well."}},
		{"notice", "0", Answer{Text: "**Warning:** billed as before\n\nAll is well."}},
		{"writes unasked", "0", Answer{Problem: ProblemAgentError,
			Detail: `as a reviewer it did "Change sum.go" without asking, so nothing keeps it from writing`}},
		{"runs unasked", "0", Answer{Problem: ProblemAgentError,
			Detail: `as a reviewer it did "Change sum.go" without asking, so nothing keeps it from writing`}},
		{"auto alone", "0", Answer{Problem: ProblemAgentError,
			Detail: `as a reviewer it would act without asking: it is in mode "auto", and offers auto`}},
		{"says nothing", "0", Answer{Problem: ProblemEmptyOutput, Detail: "it ended without a final message"}},
		{"ends with max_tokens", "0", Answer{Problem: ProblemAgentError, Detail: "the answer was cut short: max_tokens"}},
		{"ends with max_turn_requests", "0", Answer{Problem: ProblemAgentError,
			Detail: "the answer was cut short: max_turn_requests"}},
		{"ends with refusal", "0", Answer{Problem: ProblemAgentError, Detail: "it refused: All is well."}},
		{"ends with cancelled", "0", Answer{Problem: ProblemAgentError, Detail: "it cancelled its turn"}},
		{"ends with ", "0", Answer{Problem: ProblemAgentError, Detail: `it ended its turn for no known reason: ""`}},
		{"fails", "0", Answer{Problem: ProblemAgentError, Detail: `Internal error {"details":"429 Too Many Requests"}`}},
		{"version 2", "0", Answer{Problem: ProblemAgentError,
			Detail: "it speaks version 2 of the Agent Client Protocol, not 1"}},
		{"no session", "0", Answer{Problem: ProblemAgentError, Detail: "it opened no session"}},
		{"no protocol", "0", Answer{Problem: ProblemExitStatus, Detail: "exit status 2: unknown option: --acp"}},
		{"half", "0", Answer{Problem: ProblemAgentError, Detail: "it ended and did not answer session/prompt"}},
		{"leaves", "0", Answer{Problem: ProblemAgentError, Detail: "it ended and did not answer session/prompt"}},
		{"dies", "0", Answer{Problem: ProblemExitStatus, Detail: "exit status 3: out of luck"}},
		{"is killed", "0", Answer{Problem: ProblemKilled, Detail: "SIGKILL: it did not answer session/prompt"}},
		{"floods", "0", Answer{Problem: ProblemAgentError, Detail: "the answer is longer than 4194304 bytes"}},
		{"one long message", "0", Answer{Problem: ProblemAgentError, Detail: "it wrote a message of more than 9 MiB"}},
		{"signed out", "0", Answer{Problem: ProblemAgentError,
			Detail: "not signed in: Authentication required: Log in: run `tool login`; Key; set here, but not passed on to " +
				"it: ANTHROPIC_API_KEY (name them in env under [agents.spoken])"}},
	} {
		t.Run(tc.script+tc.status, func(t *testing.T) {
			t.Parallel()
			got := spokenCall{script: tc.script, status: tc.status, role: Reviewer}.call(t, t.Context(), t.TempDir())
			if got.Answer != tc.want {
				t.Errorf("got %+v, want %+v", got.Answer, tc.want)
			}
		})
	}
}

// TestACPLimits: the limits stop an agent that never ends, and the detail names the unanswered request.
func TestACPLimits(t *testing.T) {
	for _, tc := range []struct{ script, want string }{
		{"silent", "it did not answer initialize"},
		{"garbage", "Welcome!; []"},
		{"hangs", "it did not answer session/prompt"},
		{"asks without end", "it did not answer session/prompt"},
	} {
		t.Run(tc.script, func(t *testing.T) {
			t.Parallel()
			got := spokenCall{script: tc.script, idle: 2 * time.Second}.call(t, t.Context(), t.TempDir())
			if want := (Answer{Problem: ProblemIdle, Detail: "no output for 2s: " + tc.want}); got.Answer != want {
				t.Errorf("got %+v, want %+v", got.Answer, want)
			}
		})
	}
}

func TestACPCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	got := spokenCall{script: "hangs", opts: CallOptions{OnLine: func(string) { cancel() }}}.call(t, ctx, t.TempDir())
	if got.Problem != ProblemCancelled || !got.Cancelled {
		t.Errorf("got %+v", got.Answer)
	}
}

func TestACPTells(t *testing.T) {
	var transcript bytes.Buffer
	var shown []string
	got := spokenCall{script: "fine", role: Reviewer,
		opts: CallOptions{Transcript: &transcript, OnLine: func(line string) { shown = append(shown, line) }}}.call(t,
		t.Context(), t.TempDir())
	if want := (spend.Usage{Calls: 1, Input: 40, Cached: 30, Output: 7, Cost: 0.25}); got.Usage != want {
		t.Errorf("usage %+v, want %+v", got.Usage, want)
	}
	if len(shown) == 0 || shown[len(shown)-1] != "All is well." {
		t.Errorf("shown: %q", shown)
	}
	for line := range strings.Lines(transcript.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("transcript: %q", line)
		}
	}
	if n := strings.Count(transcript.String(), "\n"); n != 12 {
		t.Errorf("%d lines in the transcript:\n%s", n, transcript.String())
	}
	for _, want := range []string{`"method":"initialize"`, `"fs":{"readTextFile":true}`,
		`"cwd":"` + got.dir + `","mcpServers":[]`, `"text":"the prompt\n"`} {
		if !strings.Contains(got.heard, want) {
			t.Errorf("%s was not said:\n%s", want, got.heard)
		}
	}
}

func TestACPModel(t *testing.T) {
	for _, tc := range []struct{ script, said, problem string }{
		{"model option", `"session/set_config_option","params":{"configId":"which","sessionId":"s1","value":"m1"}`, ""},
		{"models", `"session/set_model","params":{"modelId":"m1","sessionId":"s1"}`, ""},
		{"fine", "",
			`unknown model "m1": it accepts no choice of model; set it in the agent's own configuration, or with args`},
	} {
		got := spokenCall{script: tc.script, model: "m1", role: Reviewer}.call(t, t.Context(), t.TempDir())
		if !strings.Contains(got.heard, tc.said) || got.Detail != tc.problem ||
			strings.Contains(got.heard, "session/prompt") != (tc.problem == "") {
			t.Errorf("%s: %+v\n%s", tc.script, got.Answer, got.heard)
		}
	}
}

// TestACPAsksFirst: agents that would decide themselves are put into a mode in which they ask.
func TestACPAsksFirst(t *testing.T) {
	byMethod, byOption := `"session/set_mode","params":{"modeId":"default"`,
		`"session/set_config_option","params":{"configId":"how","sessionId":"s1","value":"read-only"}`
	for _, tc := range []struct {
		script string
		role   Role
		said   string
	}{
		{"auto", Reviewer, byMethod},
		{"auto", Implementer, byMethod},
		{"auto by option", Reviewer, byOption},
		{"auto by option", Implementer, ""},
		{"auto alone", Implementer, ""},
		{"asking", Reviewer, ""},
	} {
		got := spokenCall{script: tc.script, role: tc.role}.call(t, t.Context(), t.TempDir())
		said := strings.Contains(got.heard, "set_mode") || strings.Contains(got.heard, "set_config_option")
		if got.Text != "All is well." || !strings.Contains(got.heard, tc.said) || said != (tc.said != "") {
			t.Errorf("%s as %s: %+v\n%s", tc.script, tc.role, got.Answer, got.heard)
		}
		if reads := strings.Contains(got.heard, `"tools":["Read","Grep","Glob"]`); reads != (tc.role == Reviewer) ||
			!strings.Contains(got.heard, `"settingSources":["user"]`) {
			t.Errorf("%s as %s: %s", tc.script, tc.role, got.heard)
		}
	}
}

// workingTree returns a tree with links that lead outside.
func workingTree(t *testing.T) (dir, outside string) {
	t.Helper()
	top := t.TempDir()
	dir, outside = filepath.Join(top, "tree"), filepath.Join(top, "elsewhere")
	for _, d := range []string{dir, outside} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{".git": "gitdir: x", "binary": "\xff\x00"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": ".git", "out": outside} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, outside
}

const yes, no = `{"outcome":{"optionId":"once","outcome":"selected"}}`,
	`{"outcome":{"optionId":"no","outcome":"selected"}}`

func TestACPImplementer(t *testing.T) {
	dir, outside := workingTree(t)
	got := spokenCall{script: "works", role: Implementer}.call(t, t.Context(), dir)
	want := `write {}
empty {}
outside error -32600: "TREE/../outside.txt": it is not a file below the working tree
git error -32600: "TREE/.git": it is not a file below the working tree
GIT error -32600: "TREE/sub/.Git/config": it is not a file below the working tree
link error -32600: "TREE/link": it is not a file below the working tree
behind link error -32600: "TREE/out/x": it is not a file below the working tree
read {"content":"one\ntwo\nthree\n"}
lines {"content":"two\n"}
past {"content":""}
none error -32002: Resource not found: statat none: no such file or directory
binary error -32600: "TREE/binary": it is not a text file
passwd error -32600: "/etc/passwd": it is not a file below the working tree
may edit ` + yes + `
may edit announced ` + yes + `
may move announced outside ` + no + `
may read announced ` + no + `
may edit outside ` + no + `
may edit git ` + no + `
may edit nothing ` + no + `
may execute ` + no + `
may read ` + no + `
terminal error -32601: Method not found
odd error -32602: Invalid params`
	if got.worked != want {
		t.Errorf("it was answered:\n%s\nwant:\n%s", got.worked, want)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, ".git")); string(data) != "gitdir: x" {
		t.Errorf(".git holds %q", data)
	}
	if there, _ := os.ReadDir(outside); len(there) > 0 || fileExists(filepath.Join(filepath.Dir(dir), "outside.txt")) {
		t.Error("it wrote outside of its tree")
	}
	if want := []string{"new/file.txt", "empty.txt", "b.txt", "edited.txt", "late.txt"}; !slices.Equal(got.Edited, want) {
		t.Errorf("edited %q, want %q", got.Edited, want)
	}
	if !strings.Contains(got.heard, `"writeTextFile":true`) || got.Text != "All is well." ||
		!strings.Contains(got.Detail, "permission denied: edit") {
		t.Errorf("%+v", got.Answer)
	}
}

func TestACPReviewerWritesNothing(t *testing.T) {
	dir, _ := workingTree(t)
	got := spokenCall{script: "works", role: Reviewer}.call(t, t.Context(), dir)
	if strings.Contains(got.worked, yes) || strings.Contains(got.worked, "{}") || fileExists(filepath.Join(dir, "new")) {
		t.Errorf("it was answered:\n%s", got.worked)
	}
	if !strings.HasPrefix(got.Detail, `as a reviewer it did "Write" without asking`) ||
		strings.Contains(got.heard, "writeTextFile") {
		t.Errorf("%+v", got.Answer)
	}
}
