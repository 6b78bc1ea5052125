package runplan

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/spend"
)

// Setting is a value of the configuration and its origin.
type Setting struct {
	Name  string `json:"name"` // as in git runr help config: loop.max_retries
	Value string `json:"value"`
	From  string `json:"from,omitempty"` // default, .runr.toml, the user's file, git config or a flag
}

// SettingDefault is the origin of a value that nobody set.
const SettingDefault = "default"

// Names of settings that can end a run.
const (
	SettingRetries   = "loop.max_retries"
	SettingExhausted = "loop.on_exhausted"
	SettingBudget    = "loop.time_budget"
	SettingCost      = "loop.max_cost"
	SettingTokens    = "loop.max_tokens"
	SettingQuota     = "loop.wait_for_quota"
	SettingAllow     = "scope.allow"
	SettingDeny      = "scope.deny"
)

// Names of settings that limit what is spent in a day.
const (
	SettingDayCost   = "loop.max_cost_per_day"
	SettingDayTokens = "loop.max_tokens_per_day"
	SettingDayTime   = "loop.time_budget_per_day"
)

// Raised returns a command that raises a limit above what was spent.
func (s Setting) Raised(spent spend.Usage) string {
	words := strings.Split(strings.TrimPrefix(s.Name, "loop."), "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return "git config runr.loop." + strings.Join(words, "") + " " + s.Double(spent)
}

// Double returns twice the limit, or twice what was spent if that is more.
func (s Setting) Double(spent spend.Usage) string {
	if s.Name == SettingDayTime {
		limit, _ := time.ParseDuration(s.Value)
		return duration.Duration(2 * max(limit, time.Duration(spent.Time))).String()
	}
	limit, _ := strconv.ParseFloat(s.Value, 64)
	if s.Name == SettingTokens || s.Name == SettingDayTokens {
		return Amount(2 * max(limit, float64(spent.Tokens())))
	}
	return Amount(math.Ceil(200*max(limit, spent.Cost)) / 100)
}

// String formats the setting for people: "loop.max_retries = 2 (default)".
func (s Setting) String() string {
	text := prose.OneLine(s.Name + " = " + s.Value)
	if s.From != "" {
		text += " (" + prose.OneLine(s.From) + ")"
	}
	return text
}

// Source names the setting and its origin without its value: "loop.on_exhausted of .runr.toml".
func (s Setting) Source() string {
	if s.From == "" {
		return s.Name
	}
	return s.Name + " of " + prose.OneLine(s.From)
}
