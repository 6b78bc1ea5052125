package main

import (
	"cmp"
	"context"
	"os"

	"git-runr/cmd/git-runr/internal/background"
	"git-runr/cmd/git-runr/internal/config"
	"git-runr/cmd/git-runr/internal/notify"
	"git-runr/cmd/git-runr/internal/progress"
	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/agent"
	"git-runr/loop/builtin"
	"git-runr/loop/checklog"
	"git-runr/loop/intake"
	"git-runr/loop/record"
	"git-runr/loop/runplan"
	"git-runr/loop/safetext"
)

// worker does reviews with this session's configuration.
func (c *console) worker(store *record.Store, conf *config.Config, progress *progress.Display) *loop.Worker {
	return &loop.Worker{
		Store: store, Reviewer: conf.Reviewer, Checker: checker,
		Checks: func(ctx context.Context, review record.Review, change loop.Change) ([]runplan.Check, []string) {
			return reviewChecks(ctx, store, conf, review, change)
		},
		Instructed: conf.Review.Instructions == "base", Terms: conf.Terms(),
		Closing: conf.Inbox.Closing, Heard: c.hears(store, conf),
		Exclude: conf.Review.Exclude, ExcludedBy: conf.ExcludedBy(), Generated: conf.Review.Generated, Progress: progress, Parallel: conf.Loop.Parallel,
		Ask: func(ctx context.Context, commit gitstore.ID) error { return askMade(ctx, store, conf, commit) },
	}
}

// hears is what follows the reviews of a worker in the background: hooks.notify and the
// desktop hear of those that did not pass, and the day's tidying is done. What goes wrong
// there is said, and changes nothing.
func (c *console) hears(store *record.Store, conf *config.Config) func(context.Context, record.Review) {
	return func(ctx context.Context, review record.Review) {
		defer c.tidy(ctx, store)
		line := review.Summary()
		if line.Outcome != record.OutcomeFailed {
			return
		}
		said := notify.Of(line, cmp.Or(store.Repo.WorkTree, store.Repo.GitDir))
		if err := said.Command(ctx, conf.Notify()); err != nil {
			safetext.Fprintf(c.err, "hooks.notify: %v\n", err) // also of a quiet worker: its log is where one looks
		}
		if !conf.Hooks.Desktop {
			return
		}
		if err := said.Desktop(ctx, c.getenv); err != nil {
			safetext.Fprintf(c.err, "hooks.desktop: %v\n", err)
		}
	}
}

// startWorker starts git runr work in the background, and says so where it does not start.
func (c *console) startWorker(repo *gitstore.Repo) {
	if err := background.Work(repo); err != nil {
		c.say("the background worker did not start (%v); type: git runr work", err)
	}
}

// askMade asks for what the hook would have asked for, of a commit that it was silent about.
func askMade(ctx context.Context, store *record.Store, conf *config.Config, commit gitstore.ID) error {
	if conf.Hooks.PostCommit != "review" {
		return nil
	}
	request := conf.Request()
	var err error
	if request.Subject, err = store.Subject(ctx, string(commit)); err == nil {
		request.Subject.Spec = commit.Short()
		_, err = intake.Ask(ctx, store, request, conf.Hooks.Skip)
	}
	return err
}

// checker runs checks here.
var checker = loop.Checker{Run: runCheck, Judge: builtin.Judge}

// runCheck runs a check and reads what its output says.
func runCheck(ctx context.Context, check runplan.Check, dir string, tree gitstore.ID) record.CheckResult {
	result := agent.RunCheck(ctx, check, dir, agent.CheckEnviron(os.Environ()), string(tree))
	result.Said = checklog.Said(result.Command, result.Output, result.ExitCode)
	return result
}

// reviewChecks are the checks to run for a review. Configured ones need trust
// when the repository named them. Where none are configured, the project's
// standard checks are found, and run only for code that is on a branch of this
// clone: what a person has there is what that person would run.
func reviewChecks(ctx context.Context, store *record.Store, conf *config.Config, review record.Review, change loop.Change) ([]runplan.Check, []string) {
	if run, not := conf.Checks(); len(run)+len(not) > 0 {
		return run, not
	}
	if !conf.Review.DetectChecks || review.Writer != store.Repo.Writer() { // found ones would be the requester's word
		return nil, nil
	}
	tree := change.Tree
	read := func(file string) ([]byte, error) { return store.Repo.Blob(ctx, tree, file) }
	exists := func(file string) bool { _, err := read(file); return err == nil }
	found := builtin.Detect(exists, read, change.Files)
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
