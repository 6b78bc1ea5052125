package config

import (
	"context"
	"os"
	"time"

	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/agent"
	"git-runr/loop/builtin"
	"git-runr/loop/checklog"
	"git-runr/loop/intake"
	"git-runr/loop/record"
	"git-runr/loop/runplan"
	"git-runr/loop/share"
)

// Worker does the reviews of a repository as is configured. Its Progress is still to be set.
func (c *Config) Worker(store *record.Store) *loop.Worker {
	return &loop.Worker{
		Store: store, Reviewer: c.Reviewer, Checker: c.Checker(),
		Checks: func(ctx context.Context, review record.Review, change loop.Change) ([]runplan.Check, []string) {
			run, not := c.reviewChecks(ctx, store, review, change)
			if _, given := c.Worktree(); len(run) > 0 {
				not = append(not, given...)
			}
			return run, not
		},
		Instructed: c.Review.Instructions == "base", Terms: c.Terms(), Closing: c.Inbox.Closing,
		Exclude: c.Review.Exclude, ExcludedBy: c.ExcludedBy(), Generated: c.Review.Generated, Parallel: c.Loop.Parallel, KeepChecked: !c.Sync.Checked,
		Ask: func(ctx context.Context, commit gitstore.ID) error { return c.askMade(ctx, store, commit) },
	}
}

// SyncTerms are what is configured of an exchange.
func (c *Config) SyncTerms() share.Terms {
	return share.Terms{Notes: c.Sync.Notes, Since: time.Duration(c.Sync.Since)}
}

// askMade asks for what the hook would have asked for, of a commit that it was silent about.
func (c *Config) askMade(ctx context.Context, store *record.Store, commit gitstore.ID) (err error) {
	if c.Hooks.PostCommit != "review" {
		return nil
	}
	request := c.Request()
	if request.Subject, err = store.Subject(ctx, string(commit)); err == nil {
		request.Subject.Spec = commit.Short()
		_, err = intake.Ask(ctx, store, request, c.Hooks.Skip, c.Batch())
	}
	return err
}

// Checker runs checks here.
func (c *Config) Checker() loop.Checker {
	given, _ := c.Worktree()
	return loop.Checker{Run: runCheck, Judge: builtin.Judge, Worktree: given}
}

// runCheck runs a check and reads what its output says.
func runCheck(ctx context.Context, check runplan.Check, dir string, tree gitstore.ID) record.CheckResult {
	result := agent.RunCheck(ctx, check, dir, agent.CheckEnviron(os.Environ()), string(tree))
	result.Said = checklog.Said(result.Command, result.Output, result.ExitCode)
	return result
}

// RunChecks are the standard checks of a run that begins at base, where none are configured.
func (c *Config) RunChecks(ctx context.Context, store *record.Store, base gitstore.ID) []runplan.Check {
	if run, not := c.Checks(); len(run)+len(not) > 0 || !c.Review.DetectChecks {
		return run
	}
	return detect(ctx, store, base, []string{"go.mod", "Cargo.toml", "package.json"})
}

// detect gives the standard checks for the changed paths of a tree whose programs are here.
func detect(ctx context.Context, store *record.Store, tree gitstore.ID, changed []string) []runplan.Check {
	read := func(file string) ([]byte, error) { return store.Repo.Blob(ctx, tree, file) }
	exists := func(file string) bool { _, err := read(file); return err == nil }
	return builtin.Detect(exists, read, Runnable, changed)
}

// Runnable reports whether the program that a command starts first is here.
func Runnable(command string) bool { return agent.Runnable(command, agent.CheckEnviron(os.Environ())) }

// reviewChecks are the checks to run for a review. Configured ones need trust
// when the repository named them. Where none are configured, the project's
// standard checks are found, and run only for code that is on a branch of this
// clone: what a person has there is what that person would run.
func (c *Config) reviewChecks(ctx context.Context, store *record.Store, review record.Review, change loop.Change) ([]runplan.Check, []string) {
	if run, not := c.Checks(); len(run)+len(not) > 0 {
		return run, not
	}
	if !c.Review.DetectChecks || review.Writer != store.Repo.Writer() { // found ones would be the requester's word
		return nil, nil
	}
	found := detect(ctx, store, change.Tree, change.Files)
	if len(found) == 0 {
		return nil, nil
	}
	if review.Source == "hook" {
		return nil, []string{"standard checks: the hook runs only configured ones; type: git runr init"}
	}
	onBranch := review.Request.Subject.Commit == "" // the working tree's own content
	if !onBranch {
		var err error
		if onBranch, err = store.Repo.ContainedInBranch(ctx, review.Request.Subject.Commit); err != nil {
			return nil, []string{"standard checks: " + err.Error()}
		}
	}
	if !onBranch {
		return nil, []string{"standard checks: the commit is on no branch of this clone"}
	}
	return found, nil
}
