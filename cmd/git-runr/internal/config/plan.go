package config

import (
	"slices"
	"strconv"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/loop/runplan"
)

// Plan is what is configured for a run that begins now; skipped says which checks it
// goes without.
func (c *Config) Plan() (plan runplan.Plan, skipped []string, err error) {
	plan = runplan.Plan{
		Implementer: c.Loop.Implementer, Reviewer: c.Loop.Reviewer, Profile: c.Loop.Profile, Exclude: c.Review.Exclude, Generated: c.Review.Generated, Instructed: c.Review.Instructions == "base", Uninstructed: c.Loop.Instructions == "none",
		Scope: runplan.Scope{Allow: c.Scope.Allow, Deny: c.Scope.Deny}, Settings: c.limits(), CommitHooks: c.Loop.CommitHooks,
		KeepSessions: c.Loop.ResumeSession,
	}
	plan.Checks, skipped = c.Checks()
	plan.Policy, err = c.policy()
	return plan, skipped, err
}

// policy is how a run decides.
func (c *Config) policy() (runplan.Policy, error) {
	p := runplan.Policy{MaxRetries: c.Loop.MaxRetries, Threshold: c.Loop.Threshold, OnExhausted: c.Loop.OnExhausted, TimeBudget: c.Loop.TimeBudget,
		Budget: c.Loop.Budget, WaitForQuota: c.Loop.WaitForQuota}
	for i, name := range c.Loop.Workflow {
		step, err := c.workStep(name)
		if err != nil {
			return p, err
		}
		if slices.Contains(c.Loop.Workflow[:i], name) {
			return p, exit.Problemf(exit.Usage, "loop.workflow (%s): step %q is there twice", c.origin("loop.workflow"), name)
		}
		p.Workflow = append(p.Workflow, step)
	}
	if len(p.Workflow) == 0 {
		return p, exit.Problemf(exit.Usage, "loop.workflow (%s) has no steps", c.origin("loop.workflow"))
	}
	return p, nil
}

// workStep is the step of the workflow called name, with what it refers to.
func (c *Config) workStep(name string) (runplan.WorkStep, error) {
	for _, s := range runplan.DefaultWorkflow() {
		if s.Name == name {
			return s, nil
		}
	}
	step, ok := c.steps[name]
	if !ok {
		return runplan.WorkStep{}, exit.Problemf(exit.Usage, "loop.workflow (%s): there is no step %q", c.origin("loop.workflow"), name).
			WithHint("add [steps." + name + "], see git runr help config")
	}
	for _, check := range step.Checks {
		if !slices.ContainsFunc(c.checks, func(t checkTable) bool { return t.Name == check }) {
			return *step, exit.Problemf(exit.Usage, "steps.%s (%s): there is no check %q", name, c.origin("steps."+name), check)
		}
	}
	if step.Agent == "" {
		return *step, nil
	}
	return *step, c.KnownAgent("steps."+name, step.Agent)
}

// limits are the settings that can end a run.
func (c *Config) limits() []runplan.Setting {
	limits := []runplan.Setting{c.setting(runplan.SettingRetries, strconv.Itoa(c.Loop.MaxRetries))}
	if c.Loop.TimeBudget > 0 {
		limits = append(limits, c.setting(runplan.SettingBudget, c.Loop.TimeBudget.String()))
	}
	limits = append(limits, c.RunLimits().Settings...)
	if len(c.Scope.Allow) > 0 {
		limits = append(limits, c.setting(runplan.SettingAllow, runplan.GlobList(c.Scope.Allow)))
	}
	if len(c.Scope.Deny) > 0 {
		limits = append(limits, c.setting(runplan.SettingDeny, runplan.GlobList(c.Scope.Deny)))
	}
	return limits
}
