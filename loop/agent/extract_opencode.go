package agent

import (
	"cmp"
	"encoding/json"

	"github.com/git-runr/git-runr/loop/spend"
)

// opencodeReader reads opencode run --format json, and the same format of kilo.
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
	return spend.Usage{Input: t.Input + t.Cache.Read + t.Cache.Write, Cached: t.Cache.Read, Output: t.Output + t.Reasoning,
		Cost: cost}
}

// finish ends a step. A step that ends in tool calls holds only announcements: after a
// denied call no further step and no answer follow.
func (o *opencodeReader) finish(reason string) {
	o.done = true
	switch reason {
	case "tool-calls":
		o.text = ""
	case "length", "content-filter", "error":
		o.fail = "the answer was cut short: " + reason
	}
}
