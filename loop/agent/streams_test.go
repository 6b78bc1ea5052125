package agent

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/spend"
)

// recorded is the expected result of a stream in testdata/streams. The streams were recorded from
// the tools, at the version in their names, with a scripted model.
type recorded struct {
	text, problem, detail string // detail is a part of it
	usage                 spend.Usage
	edited                string
}

const passed = "I looked.\n\n### Verdict: PASS"

func used(input, output int64, cost float64) spend.Usage {
	return spend.Usage{Input: input, Output: output, Cost: cost}
}

var streams = map[string]recorded{
	"claude-2.1.296-429":    {problem: ProblemAgentError, detail: "HTTP 429 rate_limit"},
	"claude-2.1.296-answer": {text: passed, usage: used(100, 10, 0.0006)},
	"claude-2.1.296-edit":   {text: "Done editing.", usage: used(300, 30, 0.0018), edited: "/tree/a.txt"},
	"claude-2.1.296-empty": {problem: ProblemEmptyOutput, detail: "without a final message",
		usage: used(200, 20, 0.0012)},
	"claude-2.1.329-401":    {problem: ProblemAgentError, detail: "HTTP 401 authentication_failed"},
	"claude-2.1.329-429":    {problem: ProblemAgentError, detail: "HTTP 429 rate_limit"},
	"claude-2.1.329-500":    {problem: ProblemAgentError, detail: "HTTP 500 server_error"},
	"claude-2.1.329-answer": {text: passed, usage: used(100, 10, 0.0006)},
	"claude-2.1.329-denied": {text: "Done anyway.", detail: "permission denied: Bash", usage: used(200, 20, 0.0012)},
	"claude-2.1.329-edit":   {text: "Done editing.", usage: used(300, 30, 0.0018), edited: "/tree/a.txt"},
	"claude-2.1.329-empty": {problem: ProblemEmptyOutput, detail: "without a final message",
		usage: used(200, 20, 0.0012)},

	"codex-0.153.4-429":    {problem: ProblemAgentError, detail: "429"},
	"codex-0.153.4-answer": {text: passed, usage: used(100, 10, 0)},
	"codex-0.153.4-edit":   {text: "Done editing.", usage: used(200, 20, 0)},
	"codex-0.153.4-empty":  {problem: ProblemEmptyOutput, detail: "without a final message", usage: used(100, 10, 0)},
	"codex-0.169.0-401":    {problem: ProblemAgentError, detail: "401"},
	"codex-0.169.0-429":    {problem: ProblemAgentError, detail: "429"},
	"codex-0.169.0-500":    {problem: ProblemAgentError, detail: "high demand"},
	"codex-0.169.0-answer": {text: passed, usage: used(100, 10, 0)},
	"codex-0.169.0-edit":   {text: "Done editing.", usage: used(200, 20, 0)},
	"codex-0.169.0-empty":  {problem: ProblemEmptyOutput, detail: "without a final message", usage: used(100, 10, 0)},

	"copilot-1.0.102-401":    {problem: ProblemAgentError, detail: "Authentication failed with provider"},
	"copilot-1.0.102-429":    {problem: ProblemAgentError, detail: "HTTP 429"},
	"copilot-1.0.102-500":    {problem: ProblemAgentError, detail: "500"},
	"copilot-1.0.102-answer": {text: passed},
	"copilot-1.0.102-edit":   {text: "Done editing.", edited: "/tree/a.txt"},
	"copilot-1.0.102-empty":  {problem: ProblemAgentError},

	"gemini-0.54.4-429":    {problem: ProblemEmptyOutput, detail: "before its answer was complete"},
	"gemini-0.54.4-answer": {text: passed, usage: used(100, 10, 0)},
	"gemini-0.54.4-edit":   {text: "Done editing.", usage: used(200, 20, 0), edited: "/tree/a.txt"},
	"gemini-0.54.4-empty":  {problem: ProblemAgentError},
	"gemini-0.61.0-401":    {problem: ProblemAgentError, detail: "invalid x-api-key"},
	"gemini-0.61.0-429":    {problem: ProblemEmptyOutput, detail: "before its answer was complete"},
	"gemini-0.61.0-500":    {problem: ProblemEmptyOutput, detail: "before its answer was complete"},
	"gemini-0.61.0-answer": {text: passed, usage: used(100, 10, 0)},
	"gemini-0.61.0-edit":   {text: "Done editing.", usage: used(200, 20, 0), edited: "/tree/a.txt"},
	"gemini-0.61.0-empty":  {problem: ProblemAgentError},

	"kilo-7.7.7-answer": {text: passed, usage: used(100, 10, 0)},

	"opencode-1.17.11-answer": {text: passed, usage: used(100, 10, 0)},
	"opencode-1.17.11-edit":   {text: "Done editing.", usage: used(300, 30, 0), edited: "/tree/a.txt"},
	"opencode-1.17.11-empty":  {problem: ProblemEmptyOutput, usage: used(100, 10, 0)},
	"opencode-1.18.33-401":    {problem: ProblemAgentError, detail: "invalid x-api-key"},
	"opencode-1.18.33-answer": {text: passed, usage: used(100, 10, 0)},
	"opencode-1.18.33-edit":   {text: "Done editing.", usage: used(300, 30, 0), edited: "/tree/a.txt"},
	"opencode-1.18.33-empty":  {problem: ProblemEmptyOutput, usage: used(100, 10, 0)},

	"pi-0.65.2-429":    {problem: ProblemAgentError, detail: "429"},
	"pi-0.65.2-answer": {text: passed, usage: used(100, 10, 0)},
	"pi-0.65.2-edit":   {text: "Done editing.", usage: used(200, 20, 0), edited: "a.txt"},
	"pi-0.65.2-empty":  {problem: ProblemEmptyOutput, usage: used(100, 10, 0)},
	"pi-0.73.1-401":    {problem: ProblemAgentError, detail: "401 invalid x-api-key"},
	"pi-0.73.1-429":    {problem: ProblemAgentError, detail: "429"},
	"pi-0.73.1-500":    {problem: ProblemAgentError, detail: "500"},
	"pi-0.73.1-answer": {text: passed, usage: used(100, 10, 0)},
	"pi-0.73.1-edit":   {text: "Done editing.", usage: used(200, 20, 0), edited: "a.txt"},
	"pi-0.73.1-empty":  {problem: ProblemEmptyOutput, usage: used(100, 10, 0)},

	"qwen-0.24.4-401":    {problem: ProblemAgentError, detail: "401 invalid x-api-key"},
	"qwen-0.24.4-429":    {problem: ProblemEmptyOutput},
	"qwen-0.24.4-500":    {problem: ProblemEmptyOutput},
	"qwen-0.24.4-answer": {text: passed, usage: used(100, 10, 0)},
	"qwen-0.24.4-edit":   {text: "Done editing.", usage: used(300, 30, 0), edited: "/tree/a.txt"},
	"qwen-0.24.4-empty":  {problem: ProblemAgentError, detail: "empty", usage: used(500, 50, 0)},
}

var streamName = regexp.MustCompile(`^(.+)-([0-9.]+)-[a-z0-9]+$`)

// Every recorded stream gives the expected result, and each has its row.
func TestRecordedStreams(t *testing.T) {
	files, err := filepath.Glob("testdata/streams/*.jsonl")
	if err != nil || len(files) != len(streams) {
		t.Errorf("%d files, %d rows, %v", len(files), len(streams), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		want, known := streams[name]
		m := streamName.FindStringSubmatch(name)
		if !known || m == nil {
			t.Errorf("%s: no row", name)
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := readerOf(t, m[1])
		feed(r, string(data))
		got, told := r.answer(), r.told()
		if got.Text != want.text || got.Problem != want.problem || !strings.Contains(got.Detail, want.detail) {
			t.Errorf("%s: %+v", name, got)
		}
		told.taken.Cost = float64(int(told.taken.Cost*10000+0.5)) / 10000
		if told.taken != want.usage || strings.Join(told.edited(), " ") != want.edited {
			t.Errorf("%s: %+v, edited %q", name, told.taken, told.edited())
		}
		if told.id == "" {
			t.Errorf("%s: no session", name)
		}
	}
}
