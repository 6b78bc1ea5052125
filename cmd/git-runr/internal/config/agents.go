package config

import (
	"context"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
)

// AgentNames are the agents that can be named here, sorted: the configured ones and the presets.
func (c *Config) AgentNames() []string {
	names := append(slices.Collect(maps.Keys(c.agents)), agent.Presets()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// CheckNames lists the configured checks, in their order.
func (c *Config) CheckNames() (names []string) {
	for _, check := range c.checks {
		names = append(names, check.Name)
	}
	return names
}

// Agent is one that can be named, and what stands in the way of running it.
type Agent struct {
	agent.Tool
	Problem string `json:"problem,omitempty"`
}

// Agents are all agents, with what can be told of them without a call. Programs are asked for
// their versions, those that only the repository's file names not before it is trusted.
func (c *Config) Agents(ctx context.Context) []Agent {
	names := c.AgentNames()
	all := make([]Agent, len(names))
	trusted := c.trusted()
	var looks sync.WaitGroup
	for i, name := range names {
		spec, fromRepository, _ := c.agent(name)
		if fromRepository && !trusted {
			all[i] = Agent{agent.Tool{Name: name, Preset: spec.Preset, SignedIn: agent.SignedInUnknown, Roles: []agent.Role{}}, "the repository's command is not trusted; type: git runr trust"}
			continue
		}
		looks.Go(func() { all[i].Tool = spec.Look(ctx, os.Environ()) })
	}
	looks.Wait()
	return all
}

// CheckPrompt is what an agent is asked to see whether it answers.
const CheckPrompt = "This is a check whether you can be reached. Use no tools. Answer with the one word: ready\n"

// CheckLimit is how long an agent has for that one word: less than a person waits.
const CheckLimit = time.Minute

// Ask has the agent called name answer CheckPrompt in dir, as a reviewer does, within limit.
func (c *Config) Ask(ctx context.Context, name, dir string, limit time.Duration) (role.ReviewAnswer, *record.Failure, error) {
	caller, failure := c.caller(name, agent.Reviewer)
	if failure != nil {
		return role.ReviewAnswer{}, failure, nil
	}
	short := caller.Spec.Timeout == 0 || caller.Spec.Timeout > limit
	if short {
		caller.Spec.Timeout = limit
	}
	answer, err := caller.Reviewer().Review(ctx, role.ReviewJob{Dir: dir, Prompt: func() string { return CheckPrompt }})
	if answer.Failure != nil && short && answer.Failure.Reason == record.ReasonAgentTimeout {
		answer.Failure.Setting = nil // nobody can set it
	}
	return answer, answer.Failure, err
}
