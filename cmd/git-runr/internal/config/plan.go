package config

import (
	"slices"
	"strconv"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/loop/plan"
	"git-runr/loop/record"
)

// Plan is what is configured for a run that begins now; skipped says which checks it
// goes without.
func (c *Config) Plan() (plan record.RunPlan, skipped []string, err error) {
	plan = record.RunPlan{
		Implementer: c.Loop.Implementer, Reviewer: c.Loop.Reviewer, Profile: c.Loop.Profile, Exclude: c.Review.Exclude, Generated: c.Review.Generated, Instructed: c.Review.Instructions == "base", Uninstructed: c.Loop.Instructions == "none",
		Scope: record.Scope{Allow: c.Scope.Allow, Deny: c.Scope.Deny}, Settings: c.limits(), CommitHooks: c.Loop.CommitHooks,
		KeepSessions: c.Loop.ResumeSession,
	}
	plan.Checks, skipped = c.Checks()
	plan.Policy, err = c.policy()
	return plan, skipped, err
}

// policy is how a run decides.
func (c *Config) policy() (record.Policy, error) {
	p := record.Policy{MaxRetries: c.Loop.MaxRetries, Threshold: c.Loop.Threshold, OnExhausted: c.Loop.OnExhausted, TimeBudget: c.Loop.TimeBudget,
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
func (c *Config) workStep(name string) (record.WorkStep, error) {
	for _, s := range plan.DefaultWorkflow() {
		if s.Name == name {
			return s, nil
		}
	}
	step, ok := c.steps[name]
	if !ok {
		return record.WorkStep{}, exit.Problemf(exit.Usage, "loop.workflow (%s): there is no step %q", c.origin("loop.workflow"), name).
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
func (c *Config) limits() []record.Setting {
	limits := []record.Setting{c.setting(plan.SettingRetries, strconv.Itoa(c.Loop.MaxRetries))}
	if c.Loop.TimeBudget > 0 {
		limits = append(limits, c.setting(plan.SettingBudget, c.Loop.TimeBudget.String()))
	}
	limits = append(limits, c.RunLimits().Settings...)
	if len(c.Scope.Allow) > 0 {
		limits = append(limits, c.setting(plan.SettingAllow, plan.GlobList(c.Scope.Allow)))
	}
	if len(c.Scope.Deny) > 0 {
		limits = append(limits, c.setting(plan.SettingDeny, plan.GlobList(c.Scope.Deny)))
	}
	return limits
}
