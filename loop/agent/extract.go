package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"git-runr/loop/record"
)

// What was wrong with an answer. The zero Problem is a good answer.
const (
	ProblemTimeout          = "timeout"           // over its wall time
	ProblemIdle             = "idle_timeout"      // silent for too long
	ProblemCancelled        = "cancelled"         // by the context
	ProblemKilled           = "killed"            // by a signal that was not ours
	ProblemExitStatus       = "exit_status"       // it failed and did not say why in its events
	ProblemEmptyOutput      = "empty_output"      // it succeeded without a final message
	ProblemAgentError       = "agent_error"       // it reported an error, whatever its exit status
	ProblemPermissionDenied = "permission_denied" // it gave up at something it was not allowed to do
)

// Answer is what came of a call. Text is set exactly when Problem is "".
type Answer struct {
	Text    string // the final message, without surrounding space
	Problem string
	// Detail is one line for people: the cause of a problem, or with a good answer
	// what the agent was not allowed to do ("" for nothing). It holds no control characters.
	Detail string
}

// reader follows the events of one run of an agent, a line at a time, and knows
// the final message in the end. What was said before a tool was used is talk,
// not an answer.
type reader interface {
	// event takes one line of standard output. It returns what to show of it, and
	// whether the line only repeats others and is not worth keeping.
	event(line []byte) (show string, noise bool)
	answer() Answer
	told() *outcome
}

// outcome is what all readers gather.
type outcome struct {
	text   string   // the final message so far
	fail   string   // the error that the agent reported and has not got over
	denied []string // what it was not allowed to do
	seen   bool     // an event was understood
	done   bool     // the final message is whole
	taken  record.Usage
	edits
}

func (o *outcome) told() *outcome { return o }

// answer judges the outcome by itself; exit status and limits are judged by Call.
func (o *outcome) answer() Answer {
	switch {
	case o.fail != "":
		return Answer{Problem: ProblemAgentError, Detail: excerpt(o.fail)}
	case !o.seen:
		return Answer{Problem: ProblemEmptyOutput, Detail: "it wrote no event that this version of git-runr understands"}
	case !o.done:
		return Answer{Problem: ProblemEmptyOutput, Detail: "it ended before its answer was complete"}
	case !blank(o.text):
		return Answer{Text: trimAnswer(strings.ToValidUTF8(o.text, "\uFFFD")), Detail: o.hint()}
	case len(o.denied) > 0:
		return Answer{Problem: ProblemPermissionDenied, Detail: o.hint()}
	}
	return Answer{Problem: ProblemEmptyOutput, Detail: "it ended without a final message"}
}

// hint names what was denied, each once.
func (o *outcome) hint() string {
	if len(o.denied) == 0 {
		return ""
	}
	names := slices.Compact(slices.Sorted(slices.Values(o.denied)))
	return excerpt("permission denied: " + strings.Join(names, ", "))
}

// blank reports whether text shows nothing to a person.
func blank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && r != unicode.ReplacementChar
	})
}

// decode reads one event; other lines, and events of another shape, are not ok.
func decode(line []byte, into any) (ok bool) {
	line = bytes.TrimSpace(line)
	return bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, into) == nil
}

// refusal reports whether the error of a tool says that it was not allowed.
func refusal(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{"permission", "denied", "rejected", "not allowed", "prevents you"},
		func(word string) bool { return strings.Contains(message, word) })
}

// toolCall shows the use of a tool: its name and what it is used on.
func toolCall(name string, input json.RawMessage) string {
	var in struct {
		Command  string `json:"command"`
		FilePath string `json:"file_path"`
		Camel    string `json:"filePath"`
		Path     string `json:"path"`
		Pattern  string `json:"pattern"`
	}
	_ = json.Unmarshal(input, &in) // an input of another shape only shows less
	return strings.TrimSuffix(name+" "+cmp.Or(in.Command, in.FilePath, in.Camel, in.Path, in.Pattern), " ")
}

// said is an error as an agent tells it.
type said struct {
	Message string `json:"message"`
}

// part is a piece of a message.
type part struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Of      string          `json:"tool_use_id"`
	IsError bool            `json:"is_error"`
}

func joinText(parts []part) string {
	var texts []string
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// codexReader reads codex exec --json.
type codexReader struct{ outcome }

func (c *codexReader) event(line []byte) (string, bool) {
	var ev struct {
		Type    string    `json:"type"`
		Message string    `json:"message"`
		Error   said      `json:"error"`
		Item    codexItem `json:"item"`
		Usage   struct {
			Input  int64 `json:"input_tokens"`
			Cached int64 `json:"cached_input_tokens"`
			Output int64 `json:"output_tokens"`
		} `json:"usage"`
	}
	if !decode(line, &ev) {
		return "", false
	}
	switch ev.Type {
	case "turn.started":
		c.done, c.fail = false, ""
	case "turn.completed":
		c.done, c.fail = true, "" // retries that it told of as errors ended well
		c.taken = c.taken.Add(record.Usage{Input: ev.Usage.Input, Cached: ev.Usage.Cached, Output: ev.Usage.Output})
	case "turn.failed":
		c.fail = cmp.Or(ev.Error.Message, "turn failed")
	case "error":
		c.fail = cmp.Or(ev.Message, "unnamed error")
		return c.fail, false
	case "item.started", "item.completed":
		return c.item(ev.Item), false
	default:
		return "", false
	}
	c.seen = true
	return "", false
}

// codexItem is something that codex said or did.
type codexItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Text    string `json:"text"`
	Command string `json:"command"`
	Status  string `json:"status"`
	Changes []struct {
		Path string `json:"path"`
	} `json:"changes"`
}

func (c *codexReader) item(item codexItem) string {
	switch item.Type {
	case "agent_message":
		c.text = item.Text
		return item.Text
	case "command_execution":
		c.text = ""
		return item.Command
	case "file_change":
		for _, change := range item.Changes {
			c.add(item.ID, change.Path)
		}
		if item.Status == "failed" {
			c.drop(item.ID)
		}
		fallthrough
	case "mcp_tool_call", "web_search", "collab_tool_call":
		c.text = ""
		return strings.ReplaceAll(item.Type, "_", " ")
	}
	return ""
}

// claudeReader reads claude -p --output-format stream-json.
type claudeReader struct{ outcome }

func (c *claudeReader) event(line []byte) (string, bool) {
	var ev struct {
		Type    string          `json:"type"`
		Subtype string          `json:"subtype"`
		IsError bool            `json:"is_error"`
		Result  string          `json:"result"`
		Status  json.RawMessage `json:"error_status"`
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Denials []struct {
			Tool string `json:"tool_name"`
		} `json:"permission_denials"`
		Usage struct {
			Input   int64 `json:"input_tokens"`
			Created int64 `json:"cache_creation_input_tokens"`
			Read    int64 `json:"cache_read_input_tokens"`
			Output  int64 `json:"output_tokens"`
		} `json:"usage"`
		Cost float64 `json:"total_cost_usd"`
	}
	if !decode(line, &ev) {
		return "", false
	}
	switch ev.Type {
	case "system":
		if ev.Subtype == "api_retry" { // it goes on by itself, perhaps for longer than it may
			c.fail = strings.TrimSpace(fmt.Sprintf("HTTP %s %s", ev.Status, strings.Trim(string(ev.Error), `"`)))
			return c.fail + ", trying again", false
		}
	case "assistant":
		c.seen, c.fail = true, ""
		return c.message(ev.Message), false
	case "user": // what came of tools
		c.message(ev.Message)
	case "result":
		c.seen, c.done, c.text, c.fail, c.denied = true, true, ev.Result, "", nil
		for _, d := range ev.Denials {
			c.denied = append(c.denied, d.Tool)
		}
		if ev.IsError || strings.HasPrefix(ev.Subtype, "error") {
			c.fail = cmp.Or(ev.Result, ev.Subtype, "unnamed error")
		}
		u := ev.Usage
		c.taken = record.Usage{Input: u.Input + u.Created + u.Read, Cached: u.Read, Output: u.Output, Cost: ev.Cost}
	}
	return "", false
}

// message takes a message and gives what to show of it.
func (c *claudeReader) message(raw json.RawMessage) string {
	var m struct {
		Content []part `json:"content"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	show := ""
	for _, p := range m.Content {
		switch {
		case p.Type == "tool_use":
			c.use(p.ID, p.Name, p.Input)
			show = cmp.Or(show, toolCall(p.Name, p.Input))
		case p.Type == "tool_result" && p.IsError:
			c.drop(p.Of)
		}
	}
	return cmp.Or(show, joinText(m.Content))
}

// geminiReader reads gemini -o stream-json.
type geminiReader struct{ outcome }

func (g *geminiReader) event(line []byte) (string, bool) {
	var ev struct {
		Type       string          `json:"type"`
		Role       string          `json:"role"`
		Content    string          `json:"content"`
		ToolName   string          `json:"tool_name"`
		ToolID     string          `json:"tool_id"`
		Parameters json.RawMessage `json:"parameters"`
		Status     string          `json:"status"`
		Severity   string          `json:"severity"`
		Message    string          `json:"message"`
		Error      said            `json:"error"`
	}
	if !decode(line, &ev) {
		return "", false
	}
	switch ev.Type {
	case "message":
		return g.message(ev.Role, ev.Content), false
	case "tool_use":
		g.text = ""
		g.use(ev.ToolID, ev.ToolName, ev.Parameters)
		return toolCall(ev.ToolName, ev.Parameters), false
	case "tool_result":
		g.text = ""
		if ev.Status == "error" {
			g.drop(ev.ToolID)
		}
		if ev.Status == "error" && refusal(ev.Error.Message) {
			tool, _, _ := strings.Cut(ev.ToolID, "__")
			g.denied = append(g.denied, cmp.Or(tool, "a tool"))
		}
	case "error":
		if ev.Severity == "error" {
			g.fail = cmp.Or(ev.Message, "unnamed error")
		}
		return ev.Message, false
	case "result":
		g.seen, g.done, g.fail = true, true, ""
		if ev.Status != "success" {
			g.fail = cmp.Or(ev.Error.Message, "ended with status "+ev.Status)
		}
	}
	return "", false
}

func (g *geminiReader) message(role, content string) string {
	g.seen, g.done = true, false
	if role != "assistant" {
		g.text = ""
		return ""
	}
	g.text += content
	return content
}

// opencodeReader reads opencode run --format json.
type opencodeReader struct{ outcome }

func (o *opencodeReader) event(line []byte) (string, bool) {
	var ev struct {
		Type string `json:"type"`
		Part struct {
			Text   string `json:"text"`
			Tool   string `json:"tool"`
			Reason string `json:"reason"`
			State  struct {
				Status string          `json:"status"`
				Error  string          `json:"error"`
				Input  json.RawMessage `json:"input"`
			} `json:"state"`
		} `json:"part"`
		Error struct {
			Name string `json:"name"`
			Data said   `json:"data"`
		} `json:"error"`
	}
	if !decode(line, &ev) {
		return "", false
	}
	p := ev.Part
	switch ev.Type {
	case "step_start":
		o.seen, o.done, o.text = true, false, ""
	case "text":
		o.text += p.Text + "\n"
		return p.Text, false
	case "tool_use":
		if p.State.Status != "error" {
			o.use("", p.Tool, p.State.Input)
		} else if refusal(p.State.Error) {
			o.denied = append(o.denied, p.Tool)
		}
		return toolCall(p.Tool, p.State.Input), false
	case "step_finish":
		o.finish(p.Reason)
	case "error":
		o.fail = cmp.Or(ev.Error.Data.Message, ev.Error.Name, "unnamed error")
		return o.fail, false
	}
	return "", false
}

// finish ends a step. One that ends in a call of tools has only announced it:
// after a refusal there is no further step and no answer.
func (o *opencodeReader) finish(reason string) {
	o.done = true
	switch reason {
	case "tool-calls":
		o.text = ""
	case "length", "content-filter", "error":
		o.fail = "the answer was cut short: " + reason
	}
}

// piReader reads pi --mode json.
type piReader struct{ outcome }

func (p *piReader) event(line []byte) (string, bool) {
	// Every token repeats the message so far, twice: megabytes for a page of text.
	for _, repeat := range []string{`{"type":"message_update"`, `{"type":"tool_execution_update"`} {
		if bytes.HasPrefix(line, []byte(repeat)) {
			return "", true
		}
	}
	var ev struct {
		Type     string          `json:"type"`
		CallID   string          `json:"toolCallId"`
		ToolName string          `json:"toolName"`
		Args     json.RawMessage `json:"args"`
		IsError  bool            `json:"isError"`
		Message  json.RawMessage `json:"message"`
	}
	if !decode(line, &ev) {
		return "", false
	}
	switch ev.Type {
	case "tool_execution_start":
		p.use(ev.CallID, ev.ToolName, ev.Args)
		return toolCall(ev.ToolName, ev.Args), false
	case "tool_execution_end":
		if ev.IsError {
			p.drop(ev.CallID)
		}
	case "message_end":
		return p.message(ev.Message), false
	}
	return "", false
}

// message takes a whole message; each one of the assistant's replaces what was
// before it, for pi tries again after errors.
func (p *piReader) message(raw json.RawMessage) string {
	var m struct {
		Role       string `json:"role"`
		Content    []part `json:"content"`
		StopReason string `json:"stopReason"`
		Error      string `json:"errorMessage"`
	}
	if json.Unmarshal(raw, &m) != nil || m.Role != "assistant" {
		return ""
	}
	p.seen, p.done, p.fail, p.text = true, true, "", joinText(m.Content)
	shown := p.text
	switch m.StopReason {
	case "stop":
	case "toolUse":
		p.text = ""
	default:
		p.fail = cmp.Or(m.Error, "the answer was cut short: "+m.StopReason)
	}
	return shown
}

// trimAnswer drops what is blank around an answer, but not the indentation of its first
// line: an indented one is a quotation.
func trimAnswer(text string) string {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	for {
		line, rest, more := strings.Cut(text, "\n")
		if !more || strings.TrimSpace(line) != "" {
			return text
		}
		text = rest
	}
}
