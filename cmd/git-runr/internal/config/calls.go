package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
)

// Terms are on which terms agents are called here.
func (c *Config) Terms() loop.Terms {
	return loop.Terms{Backup: c.backups, Day: c.Loop.Day, Setting: c.setting, WaitForQuota: c.Loop.WaitForQuota}
}

// RunLimits are the limits of a run that is resumed now, with where those come from that
// are set.
func (c *Config) RunLimits() runplan.RunLimits {
	limits := runplan.RunLimits{Budget: c.Loop.Budget, WaitForQuota: c.Loop.WaitForQuota}
	for _, l := range []struct {
		set         bool
		name, value string
	}{
		{c.Loop.Budget.Cost > 0, runplan.SettingCost, runplan.Amount(c.Loop.Budget.Cost)},
		{c.Loop.Budget.Tokens > 0, runplan.SettingTokens, fmt.Sprint(c.Loop.Budget.Tokens)},
		{c.Loop.WaitForQuota > 0, runplan.SettingQuota, c.Loop.WaitForQuota.String()},
	} {
		if l.set {
			limits.Settings = append(limits.Settings, c.setting(l.name, l.value))
		}
	}
	return limits
}

// backups are those who are asked in turn where the agent called name gives no answer:
// its own backups, each followed by those of its own.
func (c *Config) backups(name string) []string {
	var all []string
	seen := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if table := c.agents[name]; table != nil {
			for _, backup := range table.backup {
				if !seen[backup] {
					seen[backup], all = true, append(all, backup)
					add(backup)
				}
			}
		}
	}
	add(name)
	return all
}

// checkBackups refuses backups that are no agents, and those that lead back to where they
// began.
func (c *Config) checkBackups() error {
	for _, name := range slices.Sorted(maps.Keys(c.agents)) {
		where := fmt.Sprintf("agents.%s.backup (%s)", name, c.origin("agents."+name+".backup"))
		for _, backup := range c.agents[name].backup {
			if role.Reserved(backup) {
				return exit.Problemf(exit.Usage, "%s: %s is no agent", where, backup)
			}
			if err := c.KnownAgent(where, backup); err != nil {
				return err
			}
		}
		if all := c.backups(name); slices.Contains(all, name) {
			return exit.Problemf(exit.Usage, "%s goes round in a circle: %s", where, strings.Join(all, ", "))
		}
	}
	return nil
}

// Ready is why neither the agent called name nor one of its backups can be run as what; nil
// when one can, and for who is no agent. Nothing is run.
func (c *Config) Ready(name string, what agent.Role) *record.Failure {
	if role.Reserved(name) {
		return nil
	}
	_, failure := c.caller(name, what)
	if failure == nil || failure.Reason == record.ReasonUntrusted {
		return failure
	}
	for _, backup := range c.backups(name) {
		if _, missing := c.caller(backup, what); missing == nil {
			return nil
		}
	}
	return failure
}
