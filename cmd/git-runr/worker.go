package main

import (
	"cmp"
	"context"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/background"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/notify"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/progress"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// worker does reviews with this session's configuration.
func (c *console) worker(store *store.Store, conf *config.Config, progress *progress.Display) *loop.Worker {
	worker := conf.Worker(store)
	worker.Progress, worker.Heard = progress, c.hears(store, conf)
	return worker
}

// hears is what follows the reviews of a worker in the background: hooks.notify and the
// desktop hear of those that did not pass, and the day's tidying is done. What goes wrong
// there is said, and changes nothing.
func (c *console) hears(store *store.Store, conf *config.Config) func(context.Context, record.Review) {
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
