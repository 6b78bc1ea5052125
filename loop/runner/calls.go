package runner

import (
	"context"
	"time"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// calls returns the calls that a step of the run makes to the agent called name.
func (t *execution) calls(name string) *reviewing.Calls {
	c := t.Terms.Calls(t.Store, t.Progress, name)
	today := c.Refuse
	c.Pause, c.Answered = t.patience().Wait, t.notTold
	c.Refuse = func(ctx context.Context, spent spend.Usage) (*record.Failure, error) {
		if refused := spentByRun(t.run, t.run.Plan.Policy, spent); refused != nil {
			return refused, nil
		}
		return today(ctx, spent)
	}
	return c
}

// notTold warns, once for each agent, that a limit has no effect because the agent's tool does not report cost or
// tokens.
func (t *execution) notTold(name string, took spend.Usage) {
	cost := t.run.Plan.Policy.Budget.Cost > 0 || t.Terms.Day.Cost > 0
	tokens := t.run.Plan.Policy.Budget.Tokens > 0 || t.Terms.Day.Tokens > 0
	if took.Calls == 0 || t.quiet[name] {
		return
	}
	if cost && took.Cost == 0 {
		t.Progress.Say(name + " does not report the cost of its calls: limits in dollars do not apply to it")
	}
	if tokens && took.Tokens() == 0 {
		t.Progress.Say(name + " does not report the tokens of its calls: limits in tokens do not apply to it")
	}
	t.quiet[name] = true
}

// affords returns step, or a stop if step calls an agent and today's budget is used up.
func (t *execution) affords(step Step) (Step, error) {
	if !asksAgent(t.run, step) {
		return step, nil
	}
	refused, err := t.Terms.SpentToday(t.ctx, t.Store, spend.Usage{})
	return step.unless(refused), err
}

func (t *execution) patience() reviewing.Patience {
	policy := t.run.Plan.Policy
	p := reviewing.Patience{Most: policy.WaitForQuota,
		Setting: t.run.Plan.Setting(runplan.SettingQuota, policy.WaitForQuota.String()), Store: t.Store, Tell: t.Progress}
	if policy.TimeBudget > 0 {
		p.End = t.run.Began.Add(time.Duration(policy.TimeBudget))
	}
	return p
}
