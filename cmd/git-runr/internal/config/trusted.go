package config

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/nearest"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
)

// Reviewer is the reviewer called name, or why it cannot be run.
func (c *Config) Reviewer(name string) (role.Reviewer, *record.Failure) {
	if name == role.Builtin {
		return builtin.Reviewer{Repo: c.repo}, nil
	}
	caller, failure := c.caller(name, agent.Reviewer)
	if failure != nil {
		return nil, failure
	}
	return caller.Reviewer(), nil
}

// Implementer is the implementer called name, or why it cannot be run.
func (c *Config) Implementer(name string) (role.Implementer, *record.Failure) {
	caller, failure := c.caller(name, agent.Implementer)
	if failure != nil {
		return nil, failure
	}
	return caller.Implementer(), nil
}

// caller is the agent called name, or why it cannot be run as what. One that only the
// repository's file defines needs trust, and its program must be there.
func (c *Config) caller(name string, what agent.Role) (agent.Caller, *record.Failure) {
	if name == record.Human {
		return agent.Caller{}, &record.Failure{Reason: record.ReasonHuman, Detail: "the next step is a person's"}
	}
	spec, fromRepository, known := c.agent(name)
	switch {
	case !known:
		return agent.Caller{}, &record.Failure{Reason: record.ReasonAgentNotFound, Detail: fmt.Sprintf("no agent %q is configured", name)}
	case fromRepository && !c.trusted():
		return agent.Caller{}, &record.Failure{Reason: record.ReasonUntrusted, Detail: fmt.Sprintf("agent %q; type: git runr trust", name)}
	}
	_, model, _ := strings.Cut(name, "@")
	caller := agent.Caller{
		Spec: spec, Profile: c.Loop.Profile, Model: model, Cache: c.cache,
		Bounds:  role.Limits{MaxBytes: int64(c.Review.MaxBytes), MaxParts: c.Review.MaxParts},
		Setting: func(key, value string) runplan.Setting { return c.setting("agents."+spec.Name+"."+key, value) },
	}
	return caller, caller.Ready(what, os.Environ())
}

// agent is how the agent called name, or NAME@MODEL, is run: as configured, or a preset.
// What it runs may be the repository's word and then needs trust. A person and the
// built-in reviewer are not agents.
func (c *Config) agent(name string) (spec agent.Spec, fromRepository, known bool) {
	name, model, chosen := strings.Cut(name, "@")
	if chosen && !isModel(model) {
		return agent.Spec{Name: name}, false, false
	}
	if table, ok := c.agents[name]; ok {
		return table.spec, table.fromRepository, true
	}
	return agent.Spec{Name: name}, false, slices.Contains(agent.Presets(), name)
}

// WithModel is the agent called name with model in place of the configured one, "" for none.
// A model that name brings along stays; who is no agent takes none.
func WithModel(name, model string) (string, error) {
	switch {
	case model == "" || strings.Contains(name, "@"):
		return name, nil
	case role.Reserved(name):
		return "", exit.Problemf(exit.Usage, "--model: %s takes no model; NAME@MODEL is of one agent", name)
	}
	return name + "@" + model, nil
}

// CheckModel refuses what cannot be the name of a model.
func CheckModel(flag, model string) error {
	if model == "" || isModel(model) {
		return nil
	}
	return exit.Problemf(exit.Usage, "%s: must be %s, not %s", flag, modelKind.wants, describe(model))
}

// KnownAgent refuses a name that is no agent, or a model of one that takes none; what says what the name is for.
func (c *Config) KnownAgent(what, name string) error {
	spec, _, known := c.agent(name)
	if _, _, chosen := strings.Cut(name, "@"); known && chosen && !spec.TakesModel() {
		return exit.Problemf(exit.Usage, "%s: %s takes no model%s", what, spec.Name, map[bool]string{true: ": put {model} into its command"}[len(spec.Command) > 0])
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

// Checks are the configured checks that may be run, and why others may not.
func (c *Config) Checks() (run []runplan.Check, not []string) {
	for _, check := range c.checks {
		if check.fromRepository && !c.trusted() {
			not = append(not, fmt.Sprintf("check %s: .runr.toml is not trusted; type: git runr trust", check.Name))
			continue
		}
		run = append(run, check.Check)
	}
	return run, not
}

// Worktree is what worktrees are given; nothing, and why, where the repository's file says some of it and is not trusted.
func (c *Config) Worktree() (given runplan.Worktree, not []string) {
	if c.executed["worktree"] != nil && !c.trusted() {
		return given, []string{"[worktree]: .runr.toml is not trusted; type: git runr trust"}
	}
	return c.worktree, nil
}

// Notify is the command that hears of reviews, none where it needs trust that it has not.
func (c *Config) Notify() []string {
	if c.origin("hooks.notify") == FileName && !c.trusted() {
		return nil
	}
	return c.notify
}

// HasCheck reports whether a check with this command is configured, trusted or not.
func (c *Config) HasCheck(command string) bool {
	return slices.ContainsFunc(c.checks, func(known checkTable) bool { return known.Command == command })
}

// Trust is what the user has said about the repository's commands as they are now; news
// are what is new or changed since, a line each.
func (c *Config) Trust() (state TrustState, news []string) {
	state, approved := c.trust.status(c.repo.CommonDir, c.commands())
	return state, trustDiff(approved, c.executables())
}

func (c *Config) trusted() bool {
	state, _ := c.Trust()
	return state == Trusted
}

// Approve trusts the repository's commands as they are now, and its standard checks, on the code that is checked out.
func (c *Config) Approve(ctx context.Context, now time.Time) error {
	consent := c.Consent(ctx)
	consent.Standard, consent.Declined = true, false
	if head, err := c.repo.Head(ctx); err == nil {
		consent.Known = slices.DeleteFunc(consent.Known, func(id gitstore.ID) bool { return id == head })
		consent.Known = append([]gitstore.ID{head}, consent.Known[:min(len(consent.Known), maxKnown-1)]...)
	}
	return c.trust.approve(c.repo.CommonDir, c.commands(), consent, now)
}

// commands are executables, or none.
func (c *Config) commands() []byte {
	if commands := c.executables(); commands != nil {
		return commands
	}
	return []byte("{}")
}

// Revoke takes back what was approved.
func (c *Config) Revoke() error { return c.trust.revoke(c.repo.CommonDir) }

// Executes reports whether the repository's file names commands.
func (c *Config) Executes() bool { return len(c.executed) > 0 }

// executables is the canonical JSON of what the repository's file wants to run,
// nil when it runs nothing: table, then key. It is what trust approves, so the
// same commands give the same bytes however the file is laid out.
func (c *Config) executables() []byte {
	if len(c.executed) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c.executed); err != nil {
		return nil // unreachable: the values are strings and lists of strings
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
