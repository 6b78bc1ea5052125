package record

import "git-runr/loop/prose"

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
	SettingAllow   = "scope.allow"
	SettingDeny    = "scope.deny"
)

// String is the setting as a person reads it: "loop.max_retries = 2 (default)".
func (s Setting) String() string {
	text := prose.OneLine(s.Name + " = " + s.Value)
	if s.From != "" {
		text += " (" + prose.OneLine(s.From) + ")"
	}
	return text
}
