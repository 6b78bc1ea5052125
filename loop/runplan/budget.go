package runplan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/spend"
)

// Budget limits the usage of calls of agents together. 0 means no limit.
type Budget struct {
	Cost   float64 `json:"max_cost_usd,omitempty"` // US dollars
	Tokens int64   `json:"max_tokens,omitempty"`
}

// DayBudget limits the usage of all calls of a clone in a day. 0 means no limit.
type DayBudget struct {
	Budget
	Time duration.Duration // the sum over all calls
}

// Used returns the limit of b that today's usage has reached, if any.
func (b DayBudget) Used(spent spend.Usage) (reached Setting, used bool) {
	if b.Time > 0 && spent.Time >= b.Time {
		return Setting{Name: SettingDayTime, Value: b.Time.String()}, true
	}
	return b.Budget.Used(spent, SettingDayCost, SettingDayTokens)
}

// Used returns the limit of b that spent has reached, if any: of cost or of tokens. The parameters cost and tokens are
// the names of the settings.
func (b Budget) Used(spent spend.Usage, cost, tokens string) (reached Setting, used bool) {
	switch {
	case b.Cost > 0 && spent.Cost >= b.Cost:
		return Setting{Name: cost, Value: Amount(b.Cost)}, true
	case b.Tokens > 0 && spent.Tokens() >= b.Tokens:
		return Setting{Name: tokens, Value: fmt.Sprint(b.Tokens)}, true
	}
	return Setting{}, false
}

// Amount formats an amount of US dollars as in the configuration.
func Amount(dollars float64) string { return strconv.FormatFloat(dollars, 'f', -1, 64) }

// RunLimits are the limits of a run that a resumption reads from the configuration again, and their origin.
type RunLimits struct {
	Budget       Budget            `json:"budget,omitzero"`
	WaitForQuota duration.Duration `json:"wait_for_quota_ms,omitzero"`
	Settings     []Setting         `json:"settings,omitempty"`
}

// Limits returns the limits of the plan that a resumption may change.
func (p Plan) Limits() RunLimits {
	return RunLimits{Budget: p.Policy.Budget, WaitForQuota: p.Policy.WaitForQuota,
		Settings: each.Where(p.Settings, Setting.IsLimit)}
}

// LimitsFrom returns the limits of a resumed run for the current configuration now. Limits from the run's command line
// stay until another command line changes them.
func (p Plan) LimitsFrom(now RunLimits) RunLimits {
	had := p.Limits()
	for _, s := range had.Settings {
		i := slices.IndexFunc(now.Settings, func(n Setting) bool { return n.Name == s.Name })
		if !s.typed() || i >= 0 && now.Settings[i].typed() {
			continue
		}
		switch s.Name {
		case SettingCost:
			now.Budget.Cost = had.Budget.Cost
		case SettingTokens:
			now.Budget.Tokens = had.Budget.Tokens
		case SettingQuota:
			now.WaitForQuota = had.WaitForQuota
		}
		if now.Settings = slices.Clone(now.Settings); i >= 0 {
			now.Settings[i] = s
		} else {
			now.Settings = append(now.Settings, s)
		}
	}
	return now
}

// typed reports whether the value was given on a command line.
func (s Setting) typed() bool { return strings.HasPrefix(s.From, "--") }

// IsLimit reports whether the setting is one of RunLimits.
func (s Setting) IsLimit() bool {
	return s.Name == SettingCost || s.Name == SettingTokens || s.Name == SettingQuota
}

// SetLimits replaces the plan's limits.
func (p *Plan) SetLimits(limits RunLimits) {
	p.Policy.Budget, p.Policy.WaitForQuota = limits.Budget, limits.WaitForQuota
	settings := each.Where(p.Settings, func(s Setting) bool { return !s.IsLimit() })
	p.Settings = append(settings, limits.Settings...)
}
