package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/background"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/notify"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/progress"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/worker"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/queue"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) workCommand() *cli.Command {
	return &cli.Command{
		Name: "work", Usage: "do the open reviews of this clone, or of all clones",
		Description: `Runs the reviewers of open requests, loop.parallel at a time in this clone, and ends. The
post-commit hook and git runr review start it in the background; cron jobs and CI can run it, and several may run side
by side. A reviewer that hit a limit, was cut off or was too slow is asked again after 1, 5 and 25 minutes, or when its
provider says, by the next worker. One whose review needs an object that is missing here is asked again by every
worker.

--for-all also does what other clones asked for, if its agents can run here. It syncs, takes a lease on the remote
(refs/runr/leases/), and syncs the result. Others' reviews run with the agents and checks that are configured and
trusted here; only code and text are theirs. Checks run on the code of people you consented to: git runr trust
--code-of NAME.

--drain waits until nothing is left to do. It waits for a remote that cannot be reached only with --timeout. --watch
stays until interrupted.
Exit status of --drain: 0 if nothing is left; 75 if something is, because --timeout was too short or a commit could not
be fetched; the status of the failure if a reviewer failed for good.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "once", Usage: "do what can be done now and end; the default"},
			&cli.BoolFlag{Name: "drain", Usage: "end when nothing is left; wait for other workers and for limits to pass"},
			&cli.BoolFlag{Name: "watch", Usage: "stay and do new requests as they come"},
			&cli.BoolFlag{Name: "for-all", Usage: "also do what other clones asked for, if its agents can run here"},
			&cli.DurationFlag{Name: "timeout", Usage: "end after `DURATION`, such as 10m, even if something is left",
				DefaultText: "none"},
			&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "at most `N` reviewers at once in this process",
				DefaultText: "loop.parallel"},
			noChecksFlag(),
			&cli.BoolFlag{Name: "retry",
				Usage: "also ask reviewers that could not run before, and now those that wait for a limit to pass"},
		},
		Action: p.action(work),
	}
}

// worked is the result of git runr work.
type worked struct {
	Reviews   int             `json:"reviews"`
	Busy      bool            `json:"busy"`           // other workers use all slots of this clone
	Held      []heldJSON      `json:"held,omitempty"` // reviews not done: the reviewer failed, or something is missing
	Elsewhere []elsewhereJSON `json:"elsewhere,omitempty"`
}

// heldJSON is a review that cannot be done now, and why.
type heldJSON struct {
	ID      string         `json:"review_id"`
	Failure record.Failure `json:"failure"`
	Next    []string       `json:"next"` // commands to type
}

// elsewhereJSON is a review that another clone is doing.
type elsewhereJSON struct {
	ID    string    `json:"review_id"`
	By    string    `json:"by"`
	Until time.Time `json:"until"` // end of its lease, which it may renew
}

// heldShown is the maximum number of such reviews that are printed.
const heldShown = 5

// workMode returns the mode of --once, --drain or --watch.
func (s *session) workMode() (mode worker.Mode, err error) {
	modes := map[string]worker.Mode{"once": worker.Once, "drain": worker.Drain, "watch": worker.Watch}
	for _, name := range slices.Sorted(maps.Keys(modes)) {
		if !s.Bool(name) {
			continue
		}
		if err != nil || mode != worker.Once {
			return mode, exit.Problemf(exit.Usage, "--once, --drain and --watch exclude each other").WithHint("git runr work -h")
		}
		mode = modes[name]
	}
	return mode, nil
}

func work(s *session) error {
	duty, err := s.duty()
	if err != nil {
		return err
	}
	progress := s.progress()
	defer progress.Close()
	duty.Worker = func(conf *config.Config) *queue.Worker {
		worker := s.worker(duty.Store, conf, progress)
		if s.Bool("no-checks") {
			worker.Checks = nil
		}
		return worker
	}
	ctx := s.ctx
	if limit := s.Duration("timeout"); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	waiting, err := duty.Run(ctx)
	if late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil; err != nil && !late {
		return err
	}
	if ctx.Err() != nil { // still report what is left
		if waiting, err = duty.Queue(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	progress.Close()
	doc := worked{Reviews: duty.Reviews, Busy: duty.Busy}
	for _, turn := range waiting {
		switch {
		case doc.Busy: // they are being done
		case turn.Failure != nil:
			doc.Held = append(doc.Held, heldJSON{turn.Review, *turn.Failure, turn.Failure.Next().Commands})
		case turn.State == queue.StateElsewhere:
			doc.Elsewhere = append(doc.Elsewhere, elsewhereJSON{turn.Review, turn.By, turn.Until})
		}
	}
	if err := s.print(doc, doc.show); err != nil || duty.Mode != worker.Drain {
		return err
	}
	for _, t := range waiting {
		if t.State == queue.StateFailed && !t.Wants() { // a permanent failure
			return stopStatus(t.Failure.Reason)
		}
	}
	if len(waiting) > 0 {
		return exit.With(exit.Busy)
	}
	return nil
}

// duty returns the worker's task for the flags. It waits until git has finished a rebase.
func (s *session) duty() (*worker.Duty, error) {
	mode, err := s.workMode()
	if err != nil {
		return nil, err
	}
	if s.Int("jobs") < 0 || s.IsSet("jobs") && s.Int("jobs") == 0 || s.Duration("timeout") < 0 {
		return nil, exit.Problemf(exit.Usage, "--jobs must be at least 1, and --timeout not negative")
	}
	store, conf, err := s.configured()
	if err != nil {
		return nil, err
	}
	duty := &worker.Duty{Store: store, Conf: conf, Mode: mode, Jobs: s.Int("jobs"), Retry: s.Bool("retry"),
		ForAll: s.Bool("for-all"), Tell: s.tell}
	duty.Read = func() (*config.Config, error) { return s.configuration(store) }
	if !duty.ForAll {
		duty.Remote = s.electedRemote(store)
	} else if duty.Remote, err = store.Repo.ElectRemote(conf.Sync.Remote); err != nil {
		return nil, err
	}
	return duty, worker.AwaitRewrite(s.ctx, store.Repo, time.Duration(conf.Hooks.Debounce))
}

func (doc worked) show(w io.Writer) {
	if doc.Busy {
		fmt.Fprintln(w, "Another worker is doing them.")
		return
	}
	safetext.Fprintf(w, "%s done.\n", prose.Count(doc.Reviews, "review"))
	for _, h := range doc.Held[:min(len(doc.Held), heldShown)] {
		safetext.Fprintf(w, "Left alone: %s, %s\n", h.ID, cmp.Or(h.Failure.Detail, h.Failure.Reason))
		render.NextSteps(w, h.Failure)
	}
	render.More(w, "", len(doc.Held)-heldShown)
	for _, e := range doc.Elsewhere[:min(len(doc.Elsewhere), heldShown)] {
		safetext.Fprintf(w, "In another clone: %s, by %s until %s or longer\n", e.ID, e.By,
			e.Until.UTC().Format(time.DateTime+"Z"))
	}
}

// worker returns a Worker with this session's configuration.
func (c *console) worker(store *store.Store, conf *config.Config, progress *progress.Display) *queue.Worker {
	worker := conf.Worker(store)
	worker.Progress, worker.Heard = progress, c.hears(store, conf)
	return worker
}

// hears returns what a background worker does after each review: if the review did not pass it runs hooks.notify and
// shows a desktop notification, and it tidies up once a day. Errors are printed and change nothing.
func (c *console) hears(store *store.Store, conf *config.Config) func(context.Context, record.Review) {
	return func(ctx context.Context, review record.Review) {
		defer c.tidy(ctx, store)
		line := review.Summary()
		if line.Outcome != record.OutcomeFailed {
			return
		}
		said := notify.Of(line, cmp.Or(store.Repo.WorkTree, store.Repo.GitDir))
		if err := said.Command(ctx, conf.Notify()); err != nil {
			safetext.Fprintf(c.err, "hooks.notify: %v\n", err) // even if quiet: it goes to the worker's log
		}
		if !conf.Hooks.Desktop {
			return
		}
		if err := said.Desktop(ctx, c.getenv); err != nil {
			safetext.Fprintf(c.err, "hooks.desktop: %v\n", err)
		}
	}
}

// startWorker starts git runr work in the background, and says so if that fails.
func (c *console) startWorker(repo *gitstore.Repo) {
	if err := background.Work(repo); err != nil {
		c.say("the background worker did not start (%v); type: git runr work", err)
	}
}
