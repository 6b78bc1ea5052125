package agent

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/git-runr/git-runr/loop/spend"
)

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
			Total  int64 `json:"total_tokens"` // includes reasoning, which Output lacks
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
		if tool, _, _ := strings.Cut(ev.ToolID, "__"); ev.Status == "error" {
			g.failedCall(ev.ToolID, tool, ev.Error.Message)
		}
	case "error":
		if ev.Severity == "error" {
			g.fail = cmp.Or(ev.Message, "unnamed error")
		}
		return ev.Message, false
	case "result":
		g.seen, g.done, g.fail = true, true, ""
		g.taken = spend.Usage{Input: ev.Stats.Input, Cached: ev.Stats.Cached,
			Output: max(ev.Stats.Output, ev.Stats.Total-ev.Stats.Input)}
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
