package config

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/agent"
	"github.com/git-runr/git-runr/loop/builtin"
	"github.com/git-runr/git-runr/loop/checking"
	"github.com/git-runr/git-runr/loop/checklog"
	"github.com/git-runr/git-runr/loop/intake"
	"github.com/git-runr/git-runr/loop/lineage"
	"github.com/git-runr/git-runr/loop/queue"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reviewing"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/store"
)

// Worker returns a queue.Worker with this configuration. The caller sets its Progress.
func (c *Config) Worker(store *store.Store) *queue.Worker {
	excludedBy := ""
	if c.origin("review.exclude") == FileName {
		excludedBy = FileName
	}
	return &queue.Worker{
		Store: store, Reviewer: c.Reviewer, Checker: c.Checker(),
		Checks: func(ctx context.Context, review record.Review, change reviewing.Change) ([]runplan.Check, []string) {
			run, not := c.reviewChecks(ctx, store, review, change)
			if _, given := c.Worktree(); len(run) > 0 {
				not = append(not, given...)
			}
			return run, not
		},
		Instructed: c.Review.Instructions == "base", Terms: c.Terms(), Closing: c.Inbox.Closing,
		Exclude: c.Review.Exclude, ExcludedBy: excludedBy, Generated: c.Review.Generated, Parallel: c.Loop.Parallel,
		KeepChecked: !c.Sync.Checked,
		Ask:         func(ctx context.Context, commit gitstore.ID) error { return c.askMade(ctx, store, commit) },
	}
}

// Follow records where reviewed code went, as a worker does before it works.
func (c *Config) Follow(ctx context.Context, store *store.Store) error {
	followed, err := lineage.Follow(ctx, store)
	for _, commit := range followed.Made {
		err = errors.Join(err, c.askMade(ctx, store, commit))
	}
	return err
}

// askMade requests the review that the post-commit hook would have requested for a commit.
func (c *Config) askMade(ctx context.Context, store *store.Store, commit gitstore.ID) (err error) {
	if c.Hooks.PostCommit != "review" {
		return nil
	}
	request := c.Request()
	if request.Subject, err = store.Subject(ctx, string(commit)); err != nil {
		return err
	}
	request.Subject.Spec = commit.Short()
	_, err = intake.Ask(ctx, store, request, c.Hooks.Skip, c.Batch())
	return err
}

// Checker returns what runs checks with this configuration.
func (c *Config) Checker() checking.Checker {
	given, _ := c.Worktree()
	return checking.Checker{Run: c.runCheck, Judge: builtin.Judge, Worktree: given}
}

// runCheck runs a check and parses its output.
func (c *Config) runCheck(ctx context.Context, check runplan.Check, dir string, tree gitstore.ID) record.CheckResult {
	run := agent.RunCheck
	if c.sandbox {
		run = agent.RunConfined
	}
	result := run(ctx, check, dir, agent.CheckEnviron(os.Environ()), string(tree))
	result.Said = checklog.Said(result.Command, result.Output, result.ExitCode)
	return result
}

// RunChecks returns the checks of a run that begins at base, and why others do not run: the configured checks, or the
// standard ones if none are configured. It does not check whether they may run on the code; see MayRun.
func (c *Config) RunChecks(ctx context.Context, store *store.Store,
	base gitstore.ID) (run []runplan.Check, not []string) {
	run, not = c.Checks()
	if len(run)+len(not) == 0 && c.Review.DetectChecks {
		run, not = c.mayDetect(ctx, c.Standard(ctx, store, base))
	}
	return run, not
}

// Standard returns the standard checks of the whole project at a commit.
func (c *Config) Standard(ctx context.Context, store *store.Store, at gitstore.ID) []runplan.Check {
	return detect(ctx, store, at, []string{"go.mod", "Cargo.toml", "package.json"})
}

// mayDetect returns the standard checks found if the user has allowed them, else why they do not run.
func (c *Config) mayDetect(ctx context.Context, found []runplan.Check) (run []runplan.Check, not []string) {
	if c.Consent(ctx).Standard {
		return found, nil
	}
	for _, check := range found {
		not = append(not, check.Name+": found in the project, but not trusted; type: git runr trust")
	}
	return nil, not
}

// detect returns the standard checks for the changed paths of a tree whose programs are installed.
func detect(ctx context.Context, store *store.Store, tree gitstore.ID, changed []string) []runplan.Check {
	read := func(file string) ([]byte, error) { return store.Repo.Blob(ctx, tree, file) }
	exists := func(file string) bool { _, err := read(file); return err == nil }
	return builtin.Detect(exists, read, Runnable, changed)
}

// Runnable reports whether the first program of a command is installed.
func Runnable(command string) bool { return agent.Runnable(command, agent.CheckEnviron(os.Environ())) }

// reviewChecks returns the checks to run for a review, and why others do not run. Configured checks of the
// repository's file require trust. Without configured checks it detects the project's standard ones, which require
// trust too. None runs the code of somebody to whom the user has not consented.
func (c *Config) reviewChecks(ctx context.Context, store *store.Store, review record.Review,
	change reviewing.Change) ([]runplan.Check, []string) {
	if review.Request.NoChecks {
		return nil, nil
	}
	run, not := c.Checks()
	// Requests of other clones do not detect checks.
	if len(run)+len(not) == 0 && c.Review.DetectChecks && store.Repo.Owns(review.Writer) {
		found := detect(ctx, store, change.Tree, change.Files)
		if len(found) > 0 && review.Source == "hook" {
			return nil, []string{"standard checks: the hook runs only configured ones; type: git runr init"}
		}
		run, not = c.mayDetect(ctx, found)
	}
	return c.MayRun(ctx, run, not, checkedTips(store, review)...)
}

// Plan returns the configured plan of a run that begins now, without checks.
func (c *Config) Plan() (plan runplan.Plan, err error) {
	plan = runplan.Plan{
		Implementer: c.Loop.Implementer, Reviewer: c.Loop.Reviewer, Profile: c.Loop.Profile, Exclude: c.Review.Exclude,
		Generated: c.Review.Generated, Instructed: c.Review.Instructions == "base",
		Uninstructed: c.Loop.Instructions == "none",
		Scope:        runplan.Scope{Allow: c.Scope.Allow, Deny: c.Scope.Deny}, Settings: c.limits(),
		CommitHooks:  c.Loop.CommitHooks,
		KeepSessions: c.Loop.ResumeSession,
	}
	plan.Policy, err = c.policy()
	return plan, err
}

// policy returns the rules by which a run decides.
func (c *Config) policy() (runplan.Policy, error) {
	p := runplan.Policy{MaxRetries: c.Loop.MaxRetries, Threshold: c.Loop.Threshold, OnExhausted: c.Loop.OnExhausted,
		TimeBudget: c.Loop.TimeBudget,
		Budget:     c.Loop.Budget, WaitForQuota: c.Loop.WaitForQuota}
	for i, name := range c.Loop.Workflow {
		step, err := c.workStep(name)
		if err != nil {
			return p, err
		}
		if slices.Contains(c.Loop.Workflow[:i], name) {
			return p, exit.Problemf(exit.Usage, "loop.workflow (%s): step %q is listed twice", c.origin("loop.workflow"), name)
		}
		p.Workflow = append(p.Workflow, step)
	}
	if len(p.Workflow) == 0 {
		return p, exit.Problemf(exit.Usage, "loop.workflow (%s) has no steps", c.origin("loop.workflow"))
	}
	return p, nil
}

// workStep returns the workflow step called name. It returns an error if its checks or agent are unknown.
func (c *Config) workStep(name string) (runplan.WorkStep, error) {
	for _, s := range runplan.DefaultWorkflow() {
		if s.Name == name {
			return s, nil
		}
	}
	step, ok := c.steps[name]
	if !ok {
		return runplan.WorkStep{}, exit.Problemf(exit.Usage, "loop.workflow (%s): there is no step %q",
			c.origin("loop.workflow"), name).
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

// limits returns the settings that can end a run.
func (c *Config) limits() []runplan.Setting {
	limits := []runplan.Setting{c.setting(runplan.SettingRetries, strconv.Itoa(c.Loop.MaxRetries))}
	if c.Loop.OnExhausted == runplan.ChoiceCommit || c.Loop.OnExhausted == runplan.ChoiceSkip {
		limits = append(limits, c.setting(runplan.SettingExhausted, string(c.Loop.OnExhausted)))
	}
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

// Private returns the patterns of the branches whose reviews and runs stay in this clone.
func (c *Config) Private() (gitstore.Globs, error) { return gitstore.CompileGlobs(c.Sync.Private), nil }
