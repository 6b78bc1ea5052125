package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"git-runr/loop/spend"
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
	// Again is when its provider wants to be asked again; zero where it does not say.
	Again time.Time
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
	// turnedAway is how often in a row its provider did not let it in: a second time, a token
	// that ran out has been renewed, and it is the key.
	turnedAway int
	again      time.Time // when its provider wants to be asked again; zero where it does not say
	seen       bool      // an event was understood
	done       bool      // the final message is whole
	waits      string    // what it was asked and has not answered, "" where that is not known
	taken      spend.Usage
	id         string // of its session, "" where it tells none
	edits
}

func (o *outcome) told() *outcome { return o }

// trouble is what stood in the way so far, "" for nothing: of a call that is stopped it may
// well be the cause.
func (o *outcome) trouble() string { return cmp.Or(o.failure(), o.hint()) }

// failure is the error as it is told, "" for none.
func (o *outcome) failure() string {
	if o.fail == "" || o.again.IsZero() {
		return excerpt(o.fail)
	}
	return excerpt(o.fail) + "; again at " + o.again.UTC().Format(time.DateTime) + "Z"
}

// waiting says what it was asked in vain, "" for nothing.
func (o *outcome) waiting() string {
	if o.waits == "" {
		return ""
	}
	return "it did not answer " + o.waits
}

// session notes the id of the session, once.
func (o *outcome) session(id string) { o.id = cmp.Or(o.id, id) }

// answer judges the outcome by itself; exit status and limits are judged by Call.
func (o *outcome) answer() Answer {
	switch {
	case o.fail != "":
		return Answer{Problem: ProblemAgentError, Detail: o.failure()}
	case o.waits != "":
		return Answer{Problem: ProblemAgentError, Detail: o.waiting()}
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
	return slices.ContainsFunc([]string{"permission", "denied", "rejected", "not allowed", "prevents you", "requires approval"},
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
	Content json.RawMessage `json:"content"` // of what came of a tool
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
		Thread  string    `json:"thread_id"`
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
	case "thread.started":
		c.session(ev.Thread)
		return "", false
	case "turn.started":
		c.done, c.fail = false, ""
	case "turn.completed":
		c.done, c.fail = true, "" // retries that it told of as errors ended well
		c.taken = c.taken.Add(spend.Usage{Input: ev.Usage.Input, Cached: ev.Usage.Cached, Output: ev.Usage.Output})
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

// claudeReader reads the events of claude -p --output-format stream-json, and of the tools
// that took over their form: amp, cursor-agent and qwen.
type claudeReader struct {
	outcome
	messages map[string]spend.Usage // of those whose usage the result has yet to sum up
	names    map[string]string      // of tools, by the id of their use
}

type claudeUsage struct {
	Input   int64 `json:"input_tokens"`
	Created int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
	Total   int64 `json:"total_tokens"` // qwen's, whose Input holds Read
}

func (u claudeUsage) usage() spend.Usage {
	input := u.Input + u.Created + u.Read
	if u.Total > 0 {
		input = u.Total - u.Output
	}
	return spend.Usage{Input: input, Cached: u.Read, Output: u.Output}
}

// claudeEvent is a line of claude's stream, and of those of tools that speak as it does.
type claudeEvent struct {
	Type    string          `json:"type"`
	Subtype string          `json:"subtype"`
	Session string          `json:"session_id"`
	IsError bool            `json:"is_error"`
	Result  string          `json:"result"`
	Status  json.RawMessage `json:"error_status"`
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
	Denials []struct {
		Tool string `json:"tool_name"`
	} `json:"permission_denials"`
	Limit struct {
		Status   string `json:"status"`
		ResetsAt int64  `json:"resetsAt"` // seconds since 1970
	} `json:"rate_limit_info"`
	Usage *claudeUsage `json:"usage"`
	Cost  float64      `json:"total_cost_usd"`
	Call  cursorCall   `json:"tool_call"`
	ID    string       `json:"call_id"`
}

func (c *claudeReader) event(line []byte) (string, bool) {
	var ev claudeEvent
	if !decode(line, &ev) {
		return "", false
	}
	switch ev.Type {
	case "system":
		c.session(ev.Session)
		if ev.Subtype == "api_retry" {
			return c.retry(ev), false
		}
	case "assistant":
		c.seen, c.fail, c.turnedAway = true, "", 0
		return c.message(ev.Message), false
	case "user": // what came of tools
		c.message(ev.Message)
	case "rate_limit_event":
		if c.again = (time.Time{}); ev.Limit.Status == "rejected" && ev.Limit.ResetsAt > 0 {
			c.again = time.Unix(ev.Limit.ResetsAt, 0)
		}
	case "tool_call":
		return c.cursorTool(ev.Subtype, ev.ID, ev.Call), false
	case "result":
		c.session(ev.Session)
		c.result(ev)
	}
	return "", false
}

// retry takes that it goes on by itself, perhaps for longer than it may.
func (c *claudeReader) retry(ev claudeEvent) string {
	if status := string(ev.Status); status == "401" || status == "403" {
		c.turnedAway++
	} else {
		c.turnedAway = 0
	}
	c.fail = strings.TrimSpace(fmt.Sprintf("HTTP %s %s", ev.Status, strings.Trim(string(ev.Error), `"`)))
	return c.fail + ", trying again"
}

// result takes the last event, which has all of the answer.
func (c *claudeReader) result(ev claudeEvent) {
	c.seen, c.done, c.text, c.fail, c.denied = true, true, ev.Result, "", nil
	for _, d := range ev.Denials {
		c.denied = append(c.denied, d.Tool)
	}
	if ev.IsError || strings.HasPrefix(ev.Subtype, "error") {
		c.fail = cmp.Or(ev.Result, errorWords(ev.Error), ev.Subtype, "unnamed error")
	}
	if ev.Usage != nil {
		c.taken, c.messages = ev.Usage.usage(), nil
	}
	c.taken.Cost = ev.Cost
}

// errorWords are the words of an error that is text or an object with a message.
func errorWords(raw json.RawMessage) string {
	var text string
	var object said
	if json.Unmarshal(raw, &text) != nil {
		_ = json.Unmarshal(raw, &object)
	}
	return cmp.Or(text, object.Message)
}

// message takes a message and gives what to show of it.
func (c *claudeReader) message(raw json.RawMessage) string {
	var m struct {
		ID      string      `json:"id"`
		Content []part      `json:"content"`
		Usage   claudeUsage `json:"usage"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	c.count(m.ID, m.Usage.usage())
	show := ""
	for _, p := range m.Content {
		switch {
		case p.Type == "tool_use":
			c.use(p.ID, p.Name, p.Input)
			c.name(p.ID, p.Name)
			show = cmp.Or(show, toolCall(p.Name, p.Input))
		case p.Type == "tool_result" && p.IsError:
			c.drop(p.Of)
			if refusal(string(p.Content)) {
				c.denied = append(c.denied, cmp.Or(c.names[p.Of], "a tool"))
			}
		}
	}
	return cmp.Or(show, joinText(m.Content))
}

func (c *claudeReader) name(id, tool string) {
	if c.names == nil {
		c.names = map[string]string{}
	}
	c.names[id] = tool
}

// count keeps what a message took until the result sums up: it never comes where the call
// is stopped. A message is told of once for each of its parts.
func (c *claudeReader) count(id string, u spend.Usage) {
	if id == "" {
		c.taken = c.taken.Add(u)
		return
	}
	if c.messages == nil {
		c.messages = map[string]spend.Usage{}
	}
	c.taken = c.taken.Add(spend.Usage{
		Input: u.Input - c.messages[id].Input, Cached: u.Cached - c.messages[id].Cached, Output: u.Output - c.messages[id].Output,
	})
	c.messages[id] = u
}

// cursorCall is the use of a tool as cursor-agent tells of it: under a key that ends in
// ToolCall.
type cursorCall map[string]struct {
	Args json.RawMessage `json:"args"`
}

func (c *claudeReader) cursorTool(subtype, id string, call cursorCall) string {
	for key, use := range call {
		name := strings.TrimSuffix(key, "ToolCall")
		if subtype == "started" {
			c.use(id, name, use.Args)
			return toolCall(name, use.Args)
		}
	}
	return ""
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
		Session    string          `json:"session_id"`
		Stats      struct {
			Input  int64 `json:"input_tokens"`
			Cached int64 `json:"cached"`
			Output int64 `json:"output_tokens"`
			Total  int64 `json:"total_tokens"` // with those of reasoning, which Output lacks
		} `json:"stats"`
	}
	if !decode(line, &ev) {
		return "", false
	}
	switch ev.Type {
	case "init":
		g.session(ev.Session)
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
		g.taken = spend.Usage{Input: ev.Stats.Input, Cached: ev.Stats.Cached, Output: max(ev.Stats.Output, ev.Stats.Total-ev.Stats.Input)}
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

// opencodeReader reads opencode run --format json, and that of kilo.
type opencodeReader struct{ outcome }

func (o *opencodeReader) event(line []byte) (string, bool) {
	var ev struct {
		Type    string `json:"type"`
		Session string `json:"sessionID"`
		Part    struct {
			Text   string         `json:"text"`
			Tool   string         `json:"tool"`
			Reason string         `json:"reason"`
			Cost   float64        `json:"cost"`
			Tokens opencodeTokens `json:"tokens"`
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
	o.session(ev.Session)
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
		o.taken = o.taken.Add(p.Tokens.usage(p.Cost))
	case "error":
		o.fail = cmp.Or(ev.Error.Data.Message, ev.Error.Name, "unnamed error")
		return o.fail, false
	}
	return "", false
}

type opencodeTokens struct {
	Input     int64 `json:"input"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning"`
	Cache     struct {
		Read  int64 `json:"read"`
		Write int64 `json:"write"`
	} `json:"cache"`
}

func (t opencodeTokens) usage(cost float64) spend.Usage {
	return spend.Usage{Input: t.Input + t.Cache.Read + t.Cache.Write, Cached: t.Cache.Read, Output: t.Output + t.Reasoning, Cost: cost}
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
		ID       string          `json:"id"` // of a session
	}
	if !decode(line, &ev) {
		return "", false
	}
	switch ev.Type {
	case "session":
		p.session(ev.ID)
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
		Usage      struct {
			Input      int64 `json:"input"`
			Output     int64 `json:"output"`
			CacheRead  int64 `json:"cacheRead"`
			CacheWrite int64 `json:"cacheWrite"`
			Cost       struct {
				Total float64 `json:"total"`
			} `json:"cost"`
		} `json:"usage"`
	}
	if json.Unmarshal(raw, &m) != nil || m.Role != "assistant" {
		return ""
	}
	p.seen, p.done, p.fail, p.text = true, true, "", joinText(m.Content)
	u := m.Usage
	p.taken = p.taken.Add(spend.Usage{Input: u.Input + u.CacheRead + u.CacheWrite, Cached: u.CacheRead, Output: u.Output, Cost: u.Cost.Total})
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
