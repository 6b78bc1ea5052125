package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
)

// FixLine returns the command that starts a run for a review's findings. If no implementer is configured, it returns
// the command that configures an installed one, or that lists the agents.
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

// ReadyToRun returns an error if a run of plan could not begin here. For finished work a missing implementer is only
// a warning, because it is called only if the review finds something.
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
	if not := slices.Concat(checks, given); len(not) > 0 {
		return "", NotTrusted(not[0])
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
			warning = "its findings cannot be fixed here: " + failure.Detail
		default:
			return warning, exit.Problemf(exit.Status(record.ReasonOf(failure.Reason).Status), "%s", failure.Detail).WithHint(
				"install it, or configure another agent: git runr help agents")
		}
	}
	return warning, nil
}

// A run recorded by another clone contains that clone's checks. Anybody who can push a log may have written them. So
// they are suggested only if this repository's configuration has them too, and run only if they are trusted here.

// Offered returns run without the commands of checks that must not be suggested to the user. The checks stay listed.
// read is called only if the configuration is needed.
func Offered(repo *gitstore.Repo, run record.Run, read func() (*Config, error)) (record.Run, error) {
	if repo.Owns(run.Writer) {
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
		if !slices.ContainsFunc(conf.checks, func(known checkTable) bool { return known.Command == c.Command }) {
			run.Plan.Checks[i].Command = ""
		}
	}
	return run, nil
}

// Request returns a request to the configured reviewers, with their quorum and judge.
func (c *Config) Request() record.ReviewRequest {
	return c.requestOf(strings.Split(c.Review.Reviewer, ","))
}

func (c *Config) requestOf(names []string) record.ReviewRequest {
	request := record.ReviewRequest{Reviewer: names[0], Others: names[1:], Panel: record.Panel{Judge: c.Review.Judge}}
	request.Others = request.Reviewers()[1:]
	if c.Review.Quorum > 1 {
		request.Quorum = c.Review.Quorum
	}
	return request
}

// Batch returns how requests of the hooks are combined.
func (c *Config) Batch() intake.Batch {
	return intake.Batch{Rows: c.Hooks.Debounce > 0, Branch: c.Hooks.Scope == "branch"}
}

// RequestOf is Request for the named reviewers, or the configured ones without names, and for a kind of review, ""
// for a general one. It returns an error for unknown names and kinds.
func (c *Config) RequestOf(names []string, kind string) (record.ReviewRequest, error) {
	configured := len(names) == 0
	if configured {
		names = []string{c.Review.Reviewer}
	}
	names = strings.Split(strings.Join(names, ","), ",")
	request := c.requestOf(names)
	if err := c.checkPanel(names, configured); err != nil {
		return request, err
	}
	for _, name := range request.Reviewers() {
		if err := c.KnownAgent("reviewer", name); err != nil {
			return request, err
		}
		if kind != "" && name == role.Builtin {
			return request, exit.Problemf(exit.Usage,
				"--kind needs an agent or a person: the built-in reviewer always looks for the same").
				WithHint("git runr review --kind " + reviewing.KindNames()[0] + " --reviewer NAME")
		}
	}
	if judge := request.Judge; role.Reserved(judge) {
		return request, exit.Problemf(exit.Usage, "review.judge (%s): %s cannot judge; name an agent",
			c.origin("review.judge"), judge)
	} else if judge != "" {
		if err := c.KnownAgent(fmt.Sprintf("review.judge (%s)", c.origin("review.judge")), judge); err != nil {
			return request, err
		}
	}
	request.Kind, request.KindPrompt = kind, c.kinds[kind]
	own := reviewing.KindNames()
	if _, configured := c.kinds[kind]; configured || kind == "" || slices.Contains(own, kind) {
		return request, nil
	}
	all := append(own, slices.Sorted(maps.Keys(c.kinds))...)
	return request, exit.Problemf(exit.Usage, "unknown --kind %q: use %s, or one of [review.kinds.NAME]", kind,
		strings.Join(all, ", ")).WithHint("git runr help config")
}

// checkPanel returns an error if a reviewer is named twice, or if the quorum is larger than the number of agents. A
// configured quorum is not an error for reviewers named on the command line.
func (c *Config) checkPanel(names []string, configured bool) error {
	agents := 0
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return exit.Problemf(exit.Usage, "reviewer: %q is named twice", name)
		}
		if name != record.Human {
			agents++
		}
	}
	from := c.origin("review.quorum")
	if c.Review.Quorum <= max(1, agents) || from != originFlag && !configured {
		return nil
	}
	where := "--quorum"
	if from != originFlag {
		where = "review.quorum (" + from + ")"
	}
	return exit.Problemf(exit.Usage, "%s: a quorum of %d needs more agents: %d %s asked", where, c.Review.Quorum, agents,
		map[bool]string{true: "is", false: "are"}[agents == 1])
}

// Terms returns the budget, backups and waits under which agents are called here.
func (c *Config) Terms() reviewing.Terms {
	return reviewing.Terms{Backup: c.backups, Day: c.Loop.Day, Setting: c.setting, WaitForQuota: c.Loop.WaitForQuota}
}

// RunLimits returns the limits of a run that is resumed now, with the origins of those that are set.
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
