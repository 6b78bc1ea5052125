package agent

import (
	"cmp"
	"strings"

	"github.com/git-runr/git-runr/loop/spend"
)

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
		c.done, c.fail = true, "" // errors before it were retries that succeeded
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

// codexItem is one thing that codex wrote or did.
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
