package config

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/runplan"
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

// Request is what is asked for where nobody names a reviewer: of the configured ones, with
// their quorum and their judge.
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

// Batch says which requests that the hooks made become one.
func (c *Config) Batch() intake.Batch {
	return intake.Batch{Rows: c.Hooks.Debounce > 0, Branch: c.Hooks.Scope == "branch"}
}

// RequestOf is Request of those who are named, none for the configured ones, looking for
// what kind says, "" for everything. It is an error where one of the names is nobody's.
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
			return request, exit.Problemf(exit.Usage, "the built-in reviewer looks for the same always: --kind wants an agent or a person").WithHint("git runr review --kind " + reviewing.KindNames()[0] + " --reviewer NAME")
		}
	}
	if judge := request.Judge; role.Reserved(judge) {
		return request, exit.Problemf(exit.Usage, "review.judge (%s): %s cannot judge: an agent is wanted", c.origin("review.judge"), judge)
	} else if judge != "" {
		if err := c.KnownAgent(fmt.Sprintf("review.judge (%s)", c.origin("review.judge")), judge); err != nil {
			return request, err
		}
	}
	prompt, err := c.kindPrompt(kind)
	request.Kind, request.KindPrompt = kind, prompt
	return request, err
}

// checkPanel refuses reviewers of whom one is named twice, and a quorum that they cannot
// reach. One that is configured for others is no more than they are.
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
	return exit.Problemf(exit.Usage, "%s: %d agents cannot agree, %d %s asked", where, c.Review.Quorum, agents, map[bool]string{true: "is", false: "are"}[agents == 1])
}

// kindPrompt is what is configured for a kind of review; "" for one of the program's own,
// and for none.
func (c *Config) kindPrompt(kind string) (string, error) {
	if prompt, ok := c.kinds[kind]; ok || kind == "" {
		return prompt, nil
	}
	all := slices.Sorted(maps.Keys(c.kinds))
	if own := reviewing.KindNames(); slices.Contains(own, kind) {
		return "", nil
	} else {
		all = append(own, all...)
	}
	return "", exit.Problemf(exit.Usage, "--kind: there is no kind of review called %q: %s, or one of [review.kinds.NAME]", kind, strings.Join(all, ", ")).WithHint("git runr help config")
}

// Terms returns the budget, backups and waits under which agents are called here.
func (c *Config) Terms() reviewing.Terms {
	return reviewing.Terms{Backup: c.backups, Day: c.Loop.Day, Setting: c.setting, WaitForQuota: c.Loop.WaitForQuota}
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

// Ready returns why neither the agent called name nor one of its backups can be run as what. It returns nil when one
// can, and for names that are no agents. Nothing is run.
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
