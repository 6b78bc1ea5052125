package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	acp "github.com/coder/acp-go-sdk"
)

// claudeOptions restricts an agent that is built on Claude's SDK as the arguments of the preset claude do; other
// agents ignore it. claude-agent-acp has no arguments for that, and the checkout's settings may hold hooks.
func claudeOptions(role Role) map[string]any {
	options := map[string]any{"settingSources": []string{"user"}, "strictMcpConfig": true}
	if role != Implementer {
		options["tools"] = []string{"Read", "Grep", "Glob"}
	}
	return map[string]any{"claudeCode": map[string]any{"options": options}}
}

// askFirst selects a mode in which the agent asks its client before it acts, if it offers modes: in some, a model
// decides instead. Modes are known by name only, so a reviewer without a known mode is refused. A proven preset
// asks, or its arguments keep it from writing.
func (c *conversation) askFirst(session opened) error {
	asking := []string{"default", "ask"}
	if c.ask.Role != Implementer {
		asking = append(asking, "read-only", "plan")
	}
	current, offered, option := session.modes()
	if c.form.Proven || len(offered) == 0 || slices.Contains(asking, current) {
		return nil
	}
	at := slices.IndexFunc(asking, func(mode string) bool { return slices.Contains(offered, mode) })
	switch {
	case at < 0 && c.ask.Role == Implementer:
		return nil
	case at < 0:
		return fmt.Errorf("as a reviewer it would act without asking: it is in mode %q, and offers %s", visible(current),
			visible(strings.Join(offered, ", ")))
	case option != "":
		return c.request(acp.AgentMethodSessionSetConfigOption,
			map[string]any{"sessionId": session.ID, "configId": option, "value": asking[at]}, nil)
	}
	return c.request(acp.AgentMethodSessionSetMode,
		acp.SetSessionModeRequest{SessionId: session.ID, ModeId: acp.SessionModeId(asking[at])}, nil)
}

// modes returns the session's mode, the modes that the agent offers, and the option that selects one; "" if the
// protocol has a method for that.
func (o opened) modes() (current string, offered []string, option string) {
	for _, of := range o.Options {
		if cmp.Or(of.Category, of.ID) != "mode" {
			continue
		}
		var choices []struct {
			Value string `json:"value"`
		}
		_ = json.Unmarshal(of.Choices, &choices) // choices of another shape count as none
		for _, choice := range choices {
			offered = append(offered, choice.Value)
		}
		current, _ = of.Current.(string)
		return current, offered, of.ID
	}
	var modes struct {
		Current   string `json:"currentModeId"`
		Available []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	}
	_ = json.Unmarshal(o.Modes, &modes) // modes of another shape count as none
	for _, mode := range modes.Available {
		offered = append(offered, mode.ID)
	}
	return modes.Current, offered, ""
}
