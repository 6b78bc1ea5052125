package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/spend"
)

// claudeReader reads the events of claude -p --output-format stream-json, and of tools with
// the same format: amp, cursor-agent and qwen.
type claudeReader struct {
	outcome
	messages map[string]spend.Usage // usage of messages that no result has summed up yet, by message id
	names    map[string]string      // of tools, by the id of the call
}

type claudeUsage struct {
	Input   int64 `json:"input_tokens"`
	Created int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
	Total   int64 `json:"total_tokens"` // qwen's, whose Input includes Read
}

func (u claudeUsage) usage() spend.Usage {
	input := u.Input + u.Created + u.Read
	if u.Total > 0 {
		input = u.Total - u.Output
	}
	return spend.Usage{Input: input, Cached: u.Read, Output: u.Output}
}

// claudeEvent is one line of the stream.
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
	case "user": // results of tools
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

// retry records that the agent retries by itself, perhaps for longer than allowed.
func (c *claudeReader) retry(ev claudeEvent) string {
	if status := string(ev.Status); status == "401" || status == "403" {
		c.turnedAway++
	} else {
		c.turnedAway = 0
	}
	c.fail = strings.TrimSpace(fmt.Sprintf("HTTP %s %s", ev.Status, strings.Trim(string(ev.Error), `"`)))
	return c.fail + ", trying again"
}

// result reads the last event, which holds the whole answer.
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

// errorWords returns the text of an error that is a string or an object with a message.
func errorWords(raw json.RawMessage) string {
	var text string
	var object said
	if json.Unmarshal(raw, &text) != nil {
		_ = json.Unmarshal(raw, &object)
	}
	return cmp.Or(text, object.Message)
}

// message reads a message and returns what to show of it.
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
			if c.names == nil {
				c.names = map[string]string{}
			}
			c.names[p.ID] = p.Name
			show = cmp.Or(show, toolCall(p.Name, p.Input))
		case p.Type == "tool_result" && p.IsError:
			c.failedCall(p.Of, c.names[p.Of], string(p.Content))
		}
	}
	return cmp.Or(show, joinText(m.Content))
}

// count adds the usage of a message until the result reports the sum, which never comes if
// the call is stopped. A message is reported once for each of its parts.
func (c *claudeReader) count(id string, u spend.Usage) {
	if id == "" {
		c.taken = c.taken.Add(u)
		return
	}
	if c.messages == nil {
		c.messages = map[string]spend.Usage{}
	}
	c.taken = c.taken.Add(spend.Usage{
		Input: u.Input - c.messages[id].Input, Cached: u.Cached - c.messages[id].Cached,
		Output: u.Output - c.messages[id].Output,
	})
	c.messages[id] = u
}

// cursorCall is a tool call of cursor-agent, under a key that ends in ToolCall.
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
