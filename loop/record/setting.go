package record

import (
	"git-runr/gitstore"
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

// Setting is the one called name as the plan has it, or else with the value alone.
func (p RunPlan) Setting(name, value string) *Setting {
	for _, s := range p.Settings {
		if s.Name == name {
			return &s
		}
	}
	return &Setting{Name: name, Value: value}
}

// ScopeSetting is the list of patterns that keeps the first of files that it does from
// being changed.
func (p RunPlan) ScopeSetting(files []string) *Setting {
	outside := p.Scope.Outside(files)
	if len(outside) == 0 {
		return nil
	}
	name, globs := SettingAllow, p.Scope.Allow
	if gitstore.CompileGlobs(p.Scope.Deny).Match(outside[0]) {
		name, globs = SettingDeny, p.Scope.Deny
	}
	return p.Setting(name, GlobList(globs))
}
