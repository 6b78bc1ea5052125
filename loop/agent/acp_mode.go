package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	acp "github.com/coder/acp-go-sdk"
)

// claudeOptions has an agent that is built on Claude's SDK work as the preset claude does by its arguments; others
// ignore it. No argument of claude-agent-acp says so, and the checkout's settings may hold hooks.
func claudeOptions(role Role) map[string]any {
	options := map[string]any{"settingSources": []string{"user"}, "strictMcpConfig": true}
	if role != Implementer {
		options["tools"] = []string{"Read", "Grep", "Glob"}
	}
	return map[string]any{"claudeCode": map[string]any{"options": options}}
}

// askFirst has the agent work in a mode in which it asks its client before it acts, where it offers modes: some let
// a model of their own decide instead. Only names are known of modes, so that a reviewer whose modes all have
// others is refused. A proven preset asks, or is kept from writing by its arguments.
func (c *conversation) askFirst(conn *acp.Connection, session opened) error {
	asking := []string{"default", "ask"}
	if c.ask.Role != Implementer {
		asking = append(asking, "read-only", "plan")
	}
	current, offered, option := session.modes()
	if c.form.proven || len(offered) == 0 || slices.Contains(asking, current) {
		return nil
	}
	at := slices.IndexFunc(asking, func(mode string) bool { return slices.Contains(offered, mode) })
	switch {
	case at < 0 && c.ask.Role == Implementer:
		return nil
	case at < 0:
		return fmt.Errorf("as a reviewer it would not ask before it acts: it is in its mode %q, and offers %s", visible(current), visible(strings.Join(offered, ", ")))
	case option != "":
		return c.request(conn, acp.AgentMethodSessionSetConfigOption, map[string]any{"sessionId": session.ID, "configId": option, "value": asking[at]}, nil)
	}
	return c.request(conn, acp.AgentMethodSessionSetMode, acp.SetSessionModeRequest{SessionId: session.ID, ModeId: acp.SessionModeId(asking[at])}, nil)
}

// modes are the mode that the session is in, those that the agent offers, and the option that chooses among them;
// "" where the protocol has a method for that.
func (o opened) modes() (current string, offered []string, option string) {
	for _, of := range o.Options {
		if cmp.Or(of.Category, of.ID) != "mode" {
			continue
		}
		var choices []struct {
			Value string `json:"value"`
		}
		_ = json.Unmarshal(of.Choices, &choices) // choices of another shape are none
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
	_ = json.Unmarshal(o.Modes, &modes) // modes of another shape are none
	for _, mode := range modes.Available {
		offered = append(offered, mode.ID)
	}
	return modes.Current, offered, ""
}
