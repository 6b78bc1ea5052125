package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/loop/spend"
)

// copilotReader reads copilot --output-format json.
type copilotReader struct{ outcome }

func (c *copilotReader) event(line []byte) (string, bool) {
	var ev struct {
		Type      string `json:"type"`
		Ephemeral bool   `json:"ephemeral"`
		Session   string `json:"sessionId"`
		Exit      int    `json:"exitCode"`
		Data      struct {
			Content   string            `json:"content"`
			Requests  []json.RawMessage `json:"toolRequests"`
			Message   string            `json:"message"`
			Failure   string            `json:"errorMessage"`
			Status    int               `json:"statusCode"`
			CallID    string            `json:"toolCallId"`
			Tool      string            `json:"toolName"`
			Arguments json.RawMessage   `json:"arguments"`
			Success   *bool             `json:"success"`
			Error     said              `json:"error"`
			Input     int64             `json:"inputTokens"`
			Cached    int64             `json:"cacheReadTokens"`
			Output    int64             `json:"outputTokens"`
		} `json:"data"`
	}
	if !decode(line, &ev) {
		return "", false
	}
	d := ev.Data
	switch ev.Type {
	case "assistant.message":
		c.seen, c.done, c.fail, c.text = true, true, "", d.Content
		if len(d.Requests) > 0 {
			c.text = ""
		}
		return d.Content, false
	case "assistant.usage":
		c.taken = c.taken.Add(spend.Usage{Input: d.Input, Cached: d.Cached, Output: d.Output})
	case "tool.execution_start":
		c.text = ""
		c.use(d.CallID, d.Tool, d.Arguments)
		return toolCall(d.Tool, d.Arguments), false
	case "tool.execution_complete":
		if d.Success != nil && !*d.Success {
			c.failedCall(d.CallID, d.Tool, d.Error.Message)
		}
	case "session.error", "model.call_failure":
		status := strings.TrimPrefix(fmt.Sprintf("HTTP %d %s", d.Status, d.Failure), "HTTP 0 ")
		c.fail = cmp.Or(d.Message, d.Error.Message, strings.TrimSpace(status), "unnamed error")
		return c.fail, false
	case "result":
		c.session(ev.Session)
		c.seen = true
		if ev.Exit != 0 {
			c.fail = cmp.Or(c.fail, fmt.Sprintf("it ended with status %d", ev.Exit))
		}
	}
	return "", ev.Ephemeral
}

// droidReader reads droid exec -o stream-json.
type droidReader struct{ outcome }

func (d *droidReader) event(line []byte) (string, bool) {
	var ev struct {
		Type    string          `json:"type"`
		Role    string          `json:"role"`
		Session string          `json:"session_id"`
		Text    string          `json:"text"`
		Final   string          `json:"finalText"`
		Message string          `json:"message"`
		ID      string          `json:"id"`
		Tool    string          `json:"toolName"`
		Input   json.RawMessage `json:"parameters"`
		IsError bool            `json:"isError"`
		Error   said            `json:"error"`
		Value   json.RawMessage `json:"value"`
		Usage   *claudeUsage    `json:"usage"`
	}
	if !decode(line, &ev) {
		return "", false
	}
	d.session(ev.Session)
	switch ev.Type {
	case "message":
		d.seen = true
		if ev.Role == "assistant" {
			return ev.Text, false
		}
	case "tool_call":
		d.use(ev.ID, ev.Tool, ev.Input)
		return toolCall(ev.Tool, ev.Input), false
	case "tool_result":
		if ev.IsError {
			d.failedCall(ev.ID, ev.Tool, ev.Error.Message+string(ev.Value))
		}
	case "completion":
		d.seen, d.done, d.fail, d.text = true, true, "", ev.Final
		if ev.Usage != nil {
			d.taken = ev.Usage.usage()
		}
	case "error":
		d.fail = cmp.Or(ev.Message, ev.Error.Message, "unnamed error")
		return d.fail, false
	}
	return "", false
}

// gooseReader reads goose run --output-format stream-json. Pieces of one message share its id.
type gooseReader struct {
	outcome
	message string // id of the message in text
}

func (g *gooseReader) event(line []byte) (string, bool) {
	var ev struct {
		Type    string `json:"type"`
		Error   string `json:"error"`
		Message struct {
			ID      string `json:"id"`
			Role    string `json:"role"`
			Content []part `json:"content"`
		} `json:"message"`
		Total  int64 `json:"total_tokens"`
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	}
	if !decode(line, &ev) {
		return "", false
	}
	switch ev.Type {
	case "message":
		g.seen, g.done = true, false
		if ev.Message.Role != "assistant" || ev.Message.ID != g.message {
			g.text = ""
		}
		g.message = ev.Message.ID
		if ev.Message.Role == "assistant" {
			return g.pieces(ev.Message.Content), false
		}
	case "complete":
		g.seen, g.done = true, true
		g.taken = spend.Usage{Input: max(ev.Input, ev.Total-ev.Output), Output: ev.Output}
	case "error":
		g.fail = cmp.Or(ev.Error, "unnamed error")
		return g.fail, false
	}
	return "", false
}

// pieces reads the pieces of a message and returns what to show of them.
func (g *gooseReader) pieces(content []part) (show string) {
	for _, p := range content {
		switch p.Type {
		case "text":
			g.text += p.Text
			show += p.Text
		case "toolRequest":
			g.text = ""
		}
	}
	return show
}
