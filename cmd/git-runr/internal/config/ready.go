package config

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
)

// FixLine is what to type to have a review's findings fixed: the run, or, where no implementer is configured, what
// configures one that is on this machine, or lists those that could be.
func (c *Config) FixLine(review string) string {
	if c.Loop.Implementer != "" {
		return "git runr run --review " + review
	}
	for _, name := range agent.Presets() {
		if c.Ready(name, agent.Implementer) == nil {
			return "git config runr.loop.implementer " + name
		}
	}
	return "git runr agents"
}

// ReadyToRun refuses a run that could not begin here. Who would fix what is found in finished work is
// perhaps never asked: that it is missing is the warning.
func (c *Config) ReadyToRun(plan runplan.Plan) (warning string, err error) {
	if plan.Implementer == "" && plan.Context == nil {
		return "", exit.Problemf(exit.Usage, "no implementer is configured").WithHint(
			"git runr run --implementer NAME …   ("+strings.Join(agent.Presets(), ", ")+", or one of your own)",
			"or set implementer under [loop] in .runr.toml")
	}
	_, checks := c.Checks()
	if plan.NoChecks {
		checks = nil
	}
	_, given := c.Worktree()
	for _, not := range slices.Concat(checks, given) {
		return "", NotTrusted(not)
	}
	for _, name := range []string{plan.Implementer, plan.Reviewer} {
		if name == "" {
			continue
		}
		if err := c.KnownAgent("agent", name); err != nil {
			return "", err
		}
	}
	for _, step := range plan.Policy.Workflow {
		name, as := cmp.Or(step.Agent, plan.Implementer), agent.Implementer
		if step.Kind == runplan.StepReview {
			name, as = cmp.Or(step.Agent, plan.Reviewer), agent.Reviewer
		}
		if step.Kind == runplan.StepCheck || name == "" {
			continue
		}
		failure := c.Ready(name, as)
		switch {
		case failure == nil:
		case failure.Reason == record.ReasonUntrusted:
			return warning, NotTrusted(failure.Detail)
		case as == agent.Implementer && plan.Context != nil:
			warning = "what the review finds cannot be fixed here: " + failure.Detail
		default:
			return warning, exit.Problemf(exit.Status(record.ReasonOf(failure.Reason).Status), "%s", failure.Detail).WithHint(
				"install it, or name another agent: git runr help config tells how one is configured")
		}
	}
	return warning, nil
}

// NotTrusted refuses what would run something that nobody has approved.
func NotTrusted(what string) error {
	return exit.Problemf(exit.Untrusted, "%s", what).WithHint("git runr trust --show", "git runr trust")
}

// A run that another clone recorded names the checks of that clone. Whoever can push
// a log could have written them: they are offered only where this repository's
// configuration has them, too, and run only where they are trusted here.

// Offered is run with commands only of those checks that may be shown as something
// to type; the others still say what was asked for and shown. own is the writer of this clone; read is
// called where the configuration is wanted.
func Offered(own string, run record.Run, read func() (*Config, error)) (record.Run, error) {
	if run.Writer == own {
		return run, nil
	}
	run = run.Elsewhere()
	if len(run.Plan.Checks) == 0 {
		return run, nil
	}
	conf, err := read()
	if err != nil {
		return run, err
	}
	run.Plan.Checks = slices.Clone(run.Plan.Checks)
	for i, c := range run.Plan.Checks {
		if !conf.HasCheck(c.Command) {
			run.Plan.Checks[i].Command = ""
		}
	}
	return run, nil
}

// TrustedPlan refuses to run checks that only another clone's log names, and to run them on that clone's code
// without consent. Of a run of this clone both were seen to when it began.
func (c *Config) TrustedPlan(ctx context.Context, own string, run record.Run) error {
	if run.Writer == own {
		return nil
	}
	trusted, _ := c.Checks()
	for _, check := range run.Plan.Checks {
		if !slices.ContainsFunc(trusted, func(known runplan.Check) bool { return known.Command == check.Command }) {
			return NotTrusted("check " + check.Name + " of a run of another clone is not a trusted check of this one")
		}
	}
	tips := []gitstore.ID{run.Plan.Base}
	if head := run.Head(); head != "" {
		tips = append(tips, head)
	}
	if _, not := c.MayRun(ctx, run.Plan.Checks, nil, tips...); len(not) > 0 {
		return NotTrusted("checks not run: " + not[0])
	}
	return nil
}
