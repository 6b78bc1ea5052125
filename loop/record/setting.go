package record

import (
	"strconv"
	"strings"

	"git-runr/loop/prose"
)

// Setting is a value of the configuration and where it comes from.
type Setting struct {
	Name  string `json:"name"` // as git runr help config has it: loop.max_retries
	Value string `json:"value"`
	From  string `json:"from,omitempty"` // default, .runr.toml, the user's file, git config or a flag
}

// SettingDefault is where a value comes from that nobody set.
const SettingDefault = "default"

// Names of settings that can end a run.
const (
	SettingRetries = "loop.max_retries"
	SettingBudget  = "loop.time_budget"
	SettingCost    = "loop.max_cost"
	SettingTokens  = "loop.max_tokens"
	SettingQuota   = "loop.wait_for_quota"
	SettingAllow   = "scope.allow"
	SettingDeny    = "scope.deny"
)

// Names of settings that bound what is spent in a day.
const (
	SettingDayCost   = "loop.max_cost_per_day"
	SettingDayTokens = "loop.max_tokens_per_day"
)

// raise are the steps that give a run that a limit of what is spent ended twice as much.
func (s Setting) raise() []NextStep {
	if flag := s.raisedFlag(); flag != "" {
		return []NextStep{{"git runr resume RUN " + flag, "let it take twice as much, all in all"}}
	}
	return []NextStep{{s.raised(), "let a day take twice as much; then resume"}, stepResume}
}

// raisedFlag is the limit of a run, doubled, as a flag; "" for that of a day.
func (s Setting) raisedFlag() string {
	if !limitSettings[s.Name] {
		return ""
	}
	amount, _ := strconv.ParseFloat(s.Value, 64)
	return "--" + strings.ReplaceAll(strings.TrimPrefix(s.Name, "loop."), "_", "-") + " " + Amount(2*amount)
}

// raised is a command that sets a limit of what is spent to twice its value.
func (s Setting) raised() string {
	amount, _ := strconv.ParseFloat(s.Value, 64)
	words := strings.Split(strings.TrimPrefix(s.Name, "loop."), "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return "git config runr.loop." + strings.Join(words, "") + " " + Amount(2*amount)
}

// String is the setting as a person reads it: "loop.max_retries = 2 (default)".
func (s Setting) String() string {
	text := prose.OneLine(s.Name + " = " + s.Value)
	if s.From != "" {
		text += " (" + prose.OneLine(s.From) + ")"
	}
	return text
}
