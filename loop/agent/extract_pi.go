package agent

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/git-runr/git-runr/loop/spend"
)

// piReader reads pi --mode json.
type piReader struct{ outcome }

func (p *piReader) event(line []byte) (string, bool) {
	// Every token repeats the whole message so far, twice: megabytes for a page of text.
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
		ID       string          `json:"id"` // of the session
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

// message reads a whole message. Each assistant message replaces the one before it, because
// pi retries after errors.
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
	p.taken = p.taken.Add(spend.Usage{Input: u.Input + u.CacheRead + u.CacheWrite, Cached: u.CacheRead, Output: u.Output,
		Cost: u.Cost.Total})
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
