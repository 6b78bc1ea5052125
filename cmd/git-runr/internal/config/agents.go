package config

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/nearest"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
)

// AgentNames returns the names of the configured agents and the presets, sorted.
func (c *Config) AgentNames() []string {
	names := append(slices.Collect(maps.Keys(c.agents)), agent.Presets()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// CheckNames returns the names of the configured checks in their order.
func (c *Config) CheckNames() []string {
	return each.Of(c.checks, func(check checkTable) string { return check.Name })
}

// Agent is an agent that can be named, with the problem that prevents it from running, if any.
type Agent struct {
	agent.Tool
	Problem string `json:"problem,omitempty"`
}

// Agents returns all agents with what is known of them without a call. It runs their programs to get their versions,
// but untrusted commands of the repository's file it does not run.
func (c *Config) Agents(ctx context.Context) []Agent {
	names := c.AgentNames()
	all := make([]Agent, len(names))
	trusted := c.trusted()
	var looks sync.WaitGroup
	for i, name := range names {
		spec, fromRepository, _ := c.agent(name)
		if fromRepository && !trusted {
			all[i] = Agent{agent.Tool{Name: name, Preset: spec.Preset, SignedIn: agent.SignedInUnknown, Roles: []agent.Role{}},
				"the repository's command is not trusted; type: git runr trust"}
			continue
		}
		looks.Go(func() { all[i].Tool = spec.Look(ctx, os.Environ()) })
	}
	looks.Wait()
	return all
}

// checkPrompt is the prompt that tests whether an agent answers.
const checkPrompt = "This is a check whether you can be reached. Use no tools. Answer with the one word: ready\n"

// CheckLimit is the timeout of that test.
const CheckLimit = time.Minute

// Ask lets the agent called name answer checkPrompt in dir, as a reviewer, within limit.
func (c *Config) Ask(ctx context.Context, name, dir string,
	limit time.Duration) (role.ReviewAnswer, *record.Failure, error) {
	caller, failure := c.caller(name, agent.Reviewer)
	if failure != nil {
		return role.ReviewAnswer{}, failure, nil
	}
	short := caller.Spec.Timeout == 0 || caller.Spec.Timeout > limit
	if short {
		caller.Spec.Timeout = limit
	}
	answer, err := caller.Reviewer().Review(ctx, role.ReviewJob{Dir: dir, Prompt: func() string { return checkPrompt }})
	if answer.Failure != nil && short && answer.Failure.Reason == record.ReasonAgentTimeout {
		answer.Failure.Setting = nil // no setting caused this timeout
	}
	return answer, answer.Failure, err
}

// backups returns the agents to ask in turn if the agent called name does not answer: its backups, each followed by
// its own backups.
func (c *Config) backups(name string) []string {
	var all []string
	seen := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if table := c.agents[name]; table != nil {
			for _, backup := range table.Backup {
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

// checkBackups returns an error for backups that are not agents, and for cycles.
func (c *Config) checkBackups() error {
	for _, name := range slices.Sorted(maps.Keys(c.agents)) {
		where := fmt.Sprintf("agents.%s.backup (%s)", name, c.origin("agents."+name+".backup"))
		for _, backup := range c.agents[name].Backup {
			if role.Reserved(backup) {
				return exit.Problemf(exit.Usage, "%s: %s is not an agent", where, backup)
			}
			if err := c.KnownAgent(where, backup); err != nil {
				return err
			}
		}
		if all := c.backups(name); slices.Contains(all, name) {
			return exit.Problemf(exit.Usage, "%s is circular: %s", where, strings.Join(all, ", "))
		}
	}
	return nil
}

// Ready returns why neither the agent called name nor a backup of it can run as what. It returns nil if one can, and
// for names that are not agents. It runs nothing.
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

// Reviewer returns the reviewer called name, or why it cannot run.
func (c *Config) Reviewer(name string) (role.Reviewer, *record.Failure) {
	if name == role.Builtin {
		return builtin.Reviewer{Repo: c.repo, Secrets: c.Secrets}, nil
	}
	caller, failure := c.caller(name, agent.Reviewer)
	if failure != nil {
		return nil, failure
	}
	return caller.Reviewer(), nil
}

// Implementer returns the implementer called name, or why it cannot run.
func (c *Config) Implementer(name string) (role.Implementer, *record.Failure) {
	caller, failure := c.caller(name, agent.Implementer)
	if failure != nil {
		return nil, failure
	}
	return caller.Implementer(), nil
}

// caller returns the agent called name, or why it cannot run as what. Its program must be installed. An agent that
// only the repository's file defines requires trust.
func (c *Config) caller(name string, what agent.Role) (agent.Caller, *record.Failure) {
	if name == record.Human {
		return agent.Caller{}, &record.Failure{Reason: record.ReasonHuman, Detail: "a person has to take the next step"}
	}
	spec, fromRepository, known := c.agent(name)
	switch {
	case !known:
		return agent.Caller{}, &record.Failure{Reason: record.ReasonAgentNotFound,
			Detail: fmt.Sprintf("no agent %q is configured", name)}
	case fromRepository && !c.trusted():
		return agent.Caller{}, &record.Failure{Reason: record.ReasonUntrusted,
			Detail: fmt.Sprintf("agent %q: the repository's command for it is not trusted here; type: git runr trust",
				name)}
	case !fromRepository && c.agents[spec.Name] != nil && c.userPath != "" && c.trust.altered(c.userPath):
		return agent.Caller{}, &record.Failure{Reason: record.ReasonUntrusted, Detail: fmt.Sprintf(
			"agent %q: your own configuration was changed while an agent worked here; type: git runr guard", name)}
	}
	_, model, _ := strings.Cut(name, "@")
	caller := agent.Caller{
		Spec: spec, Profile: c.Loop.Profile, Model: model, Cache: c.cache,
		Bounds:  role.Limits{MaxBytes: int64(c.Review.MaxBytes), MaxParts: c.Review.MaxParts},
		Setting: func(key, value string) runplan.Setting { return c.setting("agents."+spec.Name+"."+key, value) },
	}
	return caller, caller.Ready(what, os.Environ())
}

// agent returns how to run the agent called name or NAME@MODEL, as configured or by its preset. fromRepository means
// that its command requires trust. known is false for people and the built-in reviewer, which are not agents.
func (c *Config) agent(name string) (spec agent.Spec, fromRepository, known bool) {
	name, model, chosen := strings.Cut(name, "@")
	if chosen && !isModel(model) {
		return agent.Spec{Name: name}, false, false
	}
	if table, ok := c.agents[name]; ok {
		return table.Spec, table.fromRepository, true
	}
	return agent.Spec{Name: name}, false, slices.Contains(agent.Presets(), name)
}

// WithModel returns name with model, unless model is "" or name has a model already. It returns an error for people
// and the built-in reviewer.
func WithModel(name, model string) (string, error) {
	switch {
	case model == "" || strings.Contains(name, "@"):
		return name, nil
	case role.Reserved(name):
		return "", exit.Problemf(exit.Usage, "--model: %s takes no model; NAME@MODEL sets that of one agent", name)
	}
	return name + "@" + model, nil
}

// CheckModel returns an error if model cannot be the name of a model.
func CheckModel(flag, model string) error {
	if model == "" || isModel(model) {
		return nil
	}
	return exit.Problemf(exit.Usage, "%s: must be %s, not %s", flag, modelKind.wants, describe(model))
}

// KnownAgent returns an error if name is neither an agent nor builtin nor human, or if it has a model and its agent
// accepts none. what says in the message what the name is for.
func (c *Config) KnownAgent(what, name string) error {
	spec, _, known := c.agent(name)
	if _, _, chosen := strings.Cut(name, "@"); known && chosen && !spec.TakesModel() {
		return exit.Problemf(exit.Usage, "%s: %s takes no model%s", what, spec.Name,
			map[bool]string{true: ": put {model} into its command"}[len(spec.Command) > 0])
	}
	if known || role.Reserved(name) {
		return nil
	}
	all := append(c.AgentNames(), role.Builtin, record.Human)
	unknown := exit.Problemf(exit.Usage, "%s: there is no agent %q", what, name)
	if near := nearest.To(name, all); near != "" {
		unknown = exit.Problemf(exit.Usage, "%s: there is no agent %q; did you mean %q?", what, name, near)
	}
	slices.Sort(all)
	return unknown.WithHint("agents are "+strings.Join(all, ", "), "git runr help config")
}
