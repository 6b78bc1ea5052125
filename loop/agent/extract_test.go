package agent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// readerOf returns a preset's reader, as a call does.
func readerOf(t testing.TB, name string) reader {
	t.Helper()
	inv, err := Spec{Name: name}.Invocation(Ask{Role: Reviewer, Dir: "/none"})
	if err != nil {
		t.Fatal(err)
	}
	return inv.reader
}

// streaming returns the presets that answer in events.
func streaming() []string {
	return slices.DeleteFunc(Presets(), func(name string) bool { return presetCalled(name).reader() == nil })
}

// feed passes text to r as Run would, and returns the shown and the kept lines.
func feed(r reader, text string) (shown, kept []string) {
	l := lines{max: maxEvent, fn: func(line []byte) {
		show, noise := r.event(line)
		if show != "" {
			shown = append(shown, show)
		}
		if !noise {
			kept = append(kept, string(line))
		}
	}}
	l.add([]byte(text))
	l.flush()
	return shown, kept
}

// Recorded outputs of the agents and the expected results. The lines contain only the fields
// that are used.
var transcripts = []struct {
	name, preset, out     string
	text, problem, detail string // detail is a part of it
}{
	{"codex answer", "codex", `{"type":"thread.started","thread_id":"01a1"}
{"type":"item.completed","item":{"id":"item_0","type":"error","message":"Model metadata not found."}}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_1","type":"reasoning","text":"hm"}}
{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"plain answer\n### Verdict: PASS"}}
{"type":"turn.completed","usage":{"input_tokens":100}}`, "plain answer\n### Verdict: PASS", "", ""},
	{"codex after a tool", "codex", `{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"I will edit first."}}
{"type":"item.started","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'echo x'","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_2","type":"command_execution","command":"/bin/bash -lc 'echo x'","aggregated_output":"","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"Done editing."}}
{"type":"turn.completed"}`, "Done editing.", "", ""},
	{"codex ends in a tool", "codex", `{"type":"turn.started"}
{"type":"item.completed","item":{"type":"agent_message","text":"I will edit first."}}
{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"a","kind":"update"}]}}
{"type":"turn.completed"}`, "", ProblemEmptyOutput, "without a final message"},
	{"codex empty", "codex", `{"type":"turn.started"}
{"type":"turn.completed","usage":{}}`, "", ProblemEmptyOutput, "without a final message"},
	{"codex failed", "codex", `{"type":"turn.started"}
{"type":"item.completed","item":{"type":"agent_message","text":"### Verdict: PASS"}}
{"type":"error","message":"bad thing"}
{"type":"turn.failed","error":{"message":"worse thing"}}`, "", ProblemAgentError, "worse thing"},
	{"codex reconnecting", "codex", `{"type":"turn.started"}
{"type":"error","message":"Reconnecting... 1/5"}`, "", ProblemAgentError, "Reconnecting... 1/5"},
	{"codex reconnected", "codex", `{"type":"turn.started"}
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"item.completed","item":{"type":"agent_message","text":"fine"}}
{"type":"turn.completed"}`, "fine", "", ""},

	{"claude answer", "claude", `{"type":"system","subtype":"init","tools":["Glob","Grep","Read"]}
{"type":"assistant","message":{"content":[{"text":"I will read first.","type":"text"}],"role":"assistant"}}
{"type":"assistant","message":{"content":[{"id":"toolu_1","input":{"file_path":"/r/a.txt"},"name":"Read","type":"tool_use"}],"role":"assistant"}}
{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"hello"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"### Verdict: PASS","permission_denials":[]}`, "### Verdict: PASS", "", ""},
	{"claude denied and done", "claude",
		`{"type":"result","subtype":"success","is_error":false,"result":"Done anyway.","permission_denials":[{"tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"curl | sh"}},{"tool_name":"Bash","tool_use_id":"u","tool_input":{}}]}`,
		"Done anyway.", "", "permission denied: Bash"},
	{"claude denied and silent", "claude",
		`{"type":"result","subtype":"success","is_error":false,"result":"","permission_denials":[{"tool_name":"Write"}]}`,
		"", ProblemPermissionDenied, "permission denied: Write"},
	{"claude empty", "claude",
		`{"type":"result","subtype":"success","is_error":false,"result":"","permission_denials":[]}`, "", ProblemEmptyOutput,
		""},
	{"claude error called success", "claude",
		`{"type":"assistant","message":{"content":[{"type":"text","text":"API Error: 400 bad thing"}]}}
{"type":"result","subtype":"success","is_error":true,"result":"API Error: 400 bad thing","terminal_reason":"api_error"}`, "", ProblemAgentError, "API Error: 400 bad thing"},
	{"claude out of turns", "claude", `{"type":"result","subtype":"error_max_turns","is_error":false}`, "",
		ProblemAgentError, "error_max_turns"},
	{"codex broke off", "codex", `{"type":"turn.started"}
{"type":"item.completed","item":{"type":"agent_message","text":"### Verdict: PASS"}}`, "", ProblemEmptyOutput, "before its answer was complete"},
	{"claude without a result", "claude",
		`{"type":"assistant","message":{"content":[{"type":"text","text":"### Verdict: PASS"}]}}`, "", ProblemEmptyOutput,
		"before its answer was complete"},

	{"gemini answer", "gemini", `{"type":"init","session_id":"f9","model":"gemini"}
{"type":"message","role":"user","content":"please review"}
{"type":"message","role":"assistant","content":"I will edit first.","delta":true}
{"type":"tool_use","tool_name":"replace","tool_id":"replace__replace_1_0","parameters":{"file_path":"/r/a.txt"}}
{"type":"tool_result","tool_id":"replace__replace_1_0","status":"success"}
{"type":"message","role":"assistant","content":"Done ","delta":true}
{"type":"message","role":"assistant","content":"editing.","delta":true}
{"type":"result","status":"success","stats":{"total_tokens":220}}`, "Done editing.", "", ""},
	{"gemini refused", "gemini",
		`{"type":"tool_use","tool_name":"replace","tool_id":"replace__replace_1_0","parameters":{}}
{"type":"tool_result","tool_id":"replace__replace_1_0","status":"error","error":{"type":"invalid_tool_params","message":"Access denied: plan path"}}
{"type":"message","role":"assistant","content":"Done editing.","delta":true}
{"type":"result","status":"success"}`, "Done editing.", "", "permission denied: replace"},
	{"gemini error", "gemini", `{"type":"message","role":"assistant","content":"### Verdict: PASS","delta":true}
{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: bad thing]"}}`, "", ProblemAgentError, "[API Error: bad thing]"},
	{"gemini warning", "gemini", `{"type":"error","severity":"warning","message":"loop detected"}
{"type":"message","role":"assistant","content":"fine","delta":true}
{"type":"result","status":"success"}`, "fine", "", ""},
	{"gemini broke off", "gemini", `{"type":"message","role":"assistant","content":"### Verdict: PASS","delta":true}
{"type":"error","severity":"error","message":"connection lost"}`, "", ProblemAgentError, "connection lost"},
	{"gemini without a result", "gemini",
		`{"type":"message","role":"assistant","content":"### Verdict: PASS","delta":true}`, "", ProblemEmptyOutput,
		"before its answer was complete"},
	{"gemini echoes the prompt", "gemini", `{"type":"message","role":"user","content":"say ### Verdict: PASS"}
{"type":"result","status":"success"}`, "", ProblemEmptyOutput, ""},

	{"opencode answer", "opencode", `{"type":"step_start","part":{"type":"step-start"}}
{"type":"text","part":{"type":"text","text":"I will read first."}}
{"type":"tool_use","part":{"type":"tool","tool":"read","state":{"status":"completed","input":{"filePath":"a.txt"},"output":"hello"}}}
{"type":"step_finish","part":{"reason":"tool-calls","type":"step-finish"}}
{"type":"step_start","part":{"type":"step-start"}}
{"type":"text","part":{"type":"text","text":"Done"}}
{"type":"text","part":{"type":"text","text":"reading."}}
{"type":"step_finish","part":{"reason":"stop","type":"step-finish"}}`, "Done\nreading.", "", ""},
	{"opencode refused", "opencode", `{"type":"step_start","part":{"type":"step-start"}}
{"type":"text","part":{"type":"text","text":"I will edit first."}}
{"type":"tool_use","part":{"type":"tool","tool":"bash","state":{"status":"error","input":{"command":"echo x"},"error":"The user rejected permission to use this specific tool call."}}}
{"type":"step_finish","part":{"reason":"tool-calls","type":"step-finish"}}`, "", ProblemPermissionDenied, "permission denied: bash"},
	{"opencode empty", "opencode", `{"type":"step_start","part":{}}
{"type":"step_finish","part":{"reason":"stop"}}`, "", ProblemEmptyOutput, ""},
	{"opencode error", "opencode",
		`{"type":"error","error":{"name":"APIError","data":{"message":"bad thing","statusCode":400}}}`, "", ProblemAgentError,
		"bad thing"},
	{"opencode cut", "opencode", `{"type":"step_start","part":{}}
{"type":"text","part":{"text":"### Verdict: PA"}}
{"type":"step_finish","part":{"reason":"length"}}`, "", ProblemAgentError, "cut short: length"},
	{"opencode broke off", "opencode", `{"type":"step_start","part":{}}
{"type":"text","part":{"text":"### Verdict: PASS"}}`, "", ProblemEmptyOutput, ""},

	{"pi answer", "pi", `{"type":"session","version":3}
{"type":"agent_start"}
{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"please"}]}}
{"type":"message_update","assistantMessageEvent":{"type":"text_delta"},"message":{"role":"assistant","content":[{"type":"text","text":"I wi"}]}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"I will edit first."},{"type":"toolCall","name":"bash","arguments":{}}],"stopReason":"toolUse"}}
{"type":"tool_execution_start","toolName":"bash","args":{"command":"echo x"}}
{"type":"message_end","message":{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"(no output)"}]}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Done editing."}],"stopReason":"stop"}}
{"type":"agent_end","messages":[]}`, "Done editing.", "", ""},
	{"pi ends in a tool", "pi",
		`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"I will edit first."}],"stopReason":"toolUse"}}
{"type":"agent_end","messages":[]}`, "", ProblemEmptyOutput, ""},
	{"pi empty", "pi", `{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"stop"}}`, "",
		ProblemEmptyOutput, ""},
	{"pi error with exit 0", "pi",
		`{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"400 bad thing"}}`, "", ProblemAgentError, "400 bad thing"},
	{"pi error after text", "pi",
		`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"### Verdict: PASS"}],"stopReason":"aborted"}}`, "", ProblemAgentError, "aborted"},
	{"pi tried again", "pi",
		`{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429"}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"fine"}],"stopReason":"stop"}}`, "fine", "", ""},
}

func TestReaders(t *testing.T) {
	for _, tc := range transcripts {
		r := readerOf(t, tc.preset)
		feed(r, tc.out)
		got := r.answer()
		if got.Text != tc.text || got.Problem != tc.problem || !strings.Contains(got.Detail, tc.detail) {
			t.Errorf("%s: %+v", tc.name, got)
		}
		if tc.text != "" && tc.detail == "" && got.Detail != "" {
			t.Errorf("%s: detail %q of a good answer", tc.name, got.Detail)
		}
	}
}

// The same events with CRLF line ends.
func TestReadersCRLF(t *testing.T) {
	for _, tc := range transcripts {
		r := readerOf(t, tc.preset)
		feed(r, strings.ReplaceAll(tc.out, "\n", "\r\n"))
		if got := r.answer(); got.Text != tc.text || got.Problem != tc.problem {
			t.Errorf("%s: %+v", tc.name, got)
		}
	}
}

// Output that is not an event is ignored, whatever it contains, and is not an answer.
func TestReadersForeignOutput(t *testing.T) {
	for _, name := range streaming() {
		for _, out := range []string{
			"", "\n\n", "### Verdict: PASS\n", "null\n", "[]", `"text"`, "{", `{"type":1}`, `{"type":"result"`,
			`{"type":null,"item":null,"message":null,"part":null}`, `{"type":"message_end","message":"x"}`,
			`{"type":"result","result":{}}`,
			strings.Repeat("[", 100000), "[12345 bytes left out]", "\xff\xfe",
			`{"type":"text","part":{"text":"` + "\u200b\u2060" + `"}}`,
		} {
			r := readerOf(t, name)
			feed(r, out)
			if got := r.answer(); got.Problem == "" || got.Text != "" {
				t.Errorf("%s, %.40q: %+v", name, out, got)
			}
		}
		r := readerOf(t, name)
		feed(r, "hello\n")
		if got := r.answer(); got.Problem != ProblemEmptyOutput || !strings.Contains(got.Detail, "understands") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestReadersShow(t *testing.T) {
	want := map[string]string{
		"codex after a tool": "I will edit first.|/bin/bash -lc 'echo x'|/bin/bash -lc 'echo x'|Done editing.",
		"claude answer":      "I will read first.|Read /r/a.txt",
		"gemini answer":      "I will edit first.|replace /r/a.txt|Done |editing.",
		"opencode answer":    "I will read first.|read a.txt|Done|reading.",
		"pi answer":          "I will edit first.|bash echo x|Done editing.",
	}
	for _, tc := range transcripts {
		if want[tc.name] == "" {
			continue
		}
		shown, _ := feed(readerOf(t, tc.preset), tc.out)
		if got := strings.Join(shown, "|"); got != want[tc.name] {
			t.Errorf("%s: %q", tc.name, got)
		}
		delete(want, tc.name)
	}
	if len(want) > 0 {
		t.Errorf("not tested: %v", want)
	}
}

// pi repeats the message at every token; the repetitions are not kept.
func TestPiNoise(t *testing.T) {
	_, kept := feed(readerOf(t, "pi"), `{"type":"message_update","message":{}}
{"type":"tool_execution_update","toolName":"bash"}
{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"stop"}}
`)
	if len(kept) != 1 || !strings.Contains(kept[0], "message_end") {
		t.Errorf("%q", kept)
	}
}

// FuzzReaders: no output makes a reader panic, return an empty success, or return text
// together with a problem.
func FuzzReaders(f *testing.F) {
	for _, tc := range transcripts {
		f.Add(tc.out)
	}
	recordings, _ := filepath.Glob("testdata/streams/*.jsonl")
	for _, file := range recordings {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, out string) {
		for _, name := range streaming() {
			r := readerOf(t, name)
			feed(r, out)
			a := r.answer()
			if (a.Problem == "") == blank(a.Text) || a.Problem != "" && a.Text != "" {
				t.Errorf("%s: %+v", name, a)
			}
			if !utf8.ValidString(a.Text) || a.Detail != excerpt(a.Detail) {
				t.Errorf("%s: not clean: %q, %q", name, a.Text, a.Detail)
			}
			if told := r.told(); told.trouble() != excerpt(told.trouble()) || told.fail != "" && a.Problem != ProblemAgentError {
				t.Errorf("%s: trouble %q, %+v", name, told.trouble(), a)
			}
			if again := r.answer(); again != a {
				t.Errorf("%s: asked twice: %+v, %+v", name, a, again)
			}
		}
	})
}

// The first line of an answer keeps its indentation: an indented verdict is a quotation.
func TestTrimAnswer(t *testing.T) {
	for text, want := range map[string]string{
		"": "", " \n\t\n": "", "\n \n    Verdict: PASS\n\nI refuse.\n \n": "    Verdict: PASS\n\nI refuse.", "a\n": "a",
		"\r\n a": " a",
	} {
		if got := trimAnswer(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
