package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/config"
	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/progress"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
	"git-runr/loop/share"
)

func (p *program) workCommand() *cli.Command {
	return &cli.Command{
		Name: "work", Usage: "do the open reviews that this clone asked for, or all",
		Description: `Runs the reviewers of open requests, loop.parallel at a time in this clone, and ends. The post-commit
hook and git runr review start it in the background; any cron job or CI can run it, and several may
run side by side. A reviewer that was limited, cut off or too slow is asked again by the next work
that comes 1, 5 and 25 minutes later, or when its provider says, and one whose review wants an object
that is not here by every next work.

With --for-all also what was asked for in other clones, of agents that can be run here: after a sync,
under a lease on the remote (refs/runr/leases/), and the result is synced. What is run for others is
what is configured and trusted here, agents and checks alike; only their code and words are theirs.

--drain waits until nothing is left to do, and ends with 0; with 75 when --timeout was too short, and
with the status of the failure when a reviewer failed for good. --watch stays until it is interrupted.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "once", Usage: "do what can be done now and end, as without any of these"},
			&cli.BoolFlag{Name: "drain", Usage: "end when nothing is left: wait for other workers, and for limits to pass"},
			&cli.BoolFlag{Name: "watch", Usage: "stay and do what comes"},
			&cli.BoolFlag{Name: "for-all", Usage: "also what other clones asked for, of agents that can be run here"},
			&cli.DurationFlag{Name: "timeout", Usage: "end after `DURATION`, such as 10m, whatever is left", DefaultText: "none"},
			&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "at most `N` reviewers at once in this process", DefaultText: "loop.parallel"},
			&cli.BoolFlag{Name: "retry", Usage: "also those whose reviewer could not be run before, and now those that wait for a limit to pass"},
		},
		Action: p.action(work),
	}
}

// worked is the answer of git runr work.
type worked struct {
	Reviews   int             `json:"reviews"`
	Busy      bool            `json:"busy"`           // others have all that may be at work here at once
	Held      []heldJSON      `json:"held,omitempty"` // reviews that were not done: their reviewer failed, or something is missing
	Elsewhere []elsewhereJSON `json:"elsewhere,omitempty"`
}

// heldJSON is a review that is left alone, and why.
type heldJSON struct {
	ID      string         `json:"review_id"`
	Failure record.Failure `json:"failure"`
	Next    []string       `json:"next"` // what to type
}

// elsewhereJSON is a review that another clone is doing.
type elsewhereJSON struct {
	ID    string    `json:"review_id"`
	By    string    `json:"by"`
	Until time.Time `json:"until"` // unless that clone renews its lease
}

// leave takes up what is left of the queue.
func (w *worked) leave(queue []loop.Turn) {
	for _, turn := range queue {
		switch {
		case turn.Failure != nil:
			w.Held = append(w.Held, heldJSON{turn.Review, *turn.Failure, turn.Failure.Next().Commands})
		case turn.State == loop.TurnElsewhere:
			w.Elsewhere = append(w.Elsewhere, elsewhereJSON{turn.Review, turn.By, turn.Until})
		}
	}
}

// heldShown is how many reviews that are left alone are told of.
const heldShown = 5

func writeHeld(w io.Writer, held []heldJSON) {
	for _, h := range held[:min(len(held), heldShown)] {
		safetext.Fprintf(w, "Left alone: %s, %s\n", h.ID, cmp.Or(h.Failure.Detail, h.Failure.Reason))
		render.NextSteps(w, h.Failure)
	}
	render.More(w, "", len(held)-heldShown)
}

// workMode is how long work goes on.
type workMode int

const (
	workOnce workMode = iota
	workDrain
	workWatch
)

func (s *session) workMode() (mode workMode, err error) {
	modes := map[string]workMode{"once": workOnce, "drain": workDrain, "watch": workWatch}
	for _, name := range slices.Sorted(maps.Keys(modes)) {
		if !s.Bool(name) {
			continue
		}
		if err != nil || mode != workOnce {
			return mode, exit.Problemf(exit.Usage, "--once, --drain and --watch exclude each other").WithHint("git runr work -h")
		}
		mode = modes[name]
	}
	return mode, nil
}

// duty is one git runr work.
type duty struct {
	*session
	store    *record.Store
	mode     workMode
	forAll   bool
	remote   string // that leases are taken on, "" for none
	retry    bool
	progress *progress.Display
	result   worked
}

func work(s *session) error {
	d := &duty{session: s, forAll: s.Bool("for-all"), retry: s.Bool("retry")}
	conf, err := d.prepare()
	if err != nil {
		return err
	}
	if err := awaitRewrite(s.ctx, d.store.Repo, time.Duration(conf.Hooks.Debounce)); err != nil {
		return err
	}
	d.progress = s.progress()
	defer d.progress.Close()
	ctx := s.ctx
	if limit := s.Duration("timeout"); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	queue, err := d.run(ctx)
	if late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil; err != nil && !late {
		return err
	}
	if ctx.Err() != nil { // what is left is still to be told
		if queue, err = d.worker(conf).Queue(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	d.progress.Close()
	if !d.result.Busy {
		d.result.leave(queue)
	}
	if err := s.print(d.result, d.show); err != nil || d.mode != workDrain {
		return err
	}
	return drained(queue)
}

// prepare opens the repository and reads the command line.
func (d *duty) prepare() (conf *config.Config, err error) {
	if d.mode, err = d.workMode(); err != nil {
		return nil, err
	}
	if d.Int("jobs") < 0 || d.Duration("timeout") < 0 {
		return nil, exit.Problemf(exit.Usage, "--jobs and --timeout are not negative")
	}
	if d.store, conf, err = d.configured(); err != nil {
		return nil, err
	}
	if d.forAll {
		d.remote, err = d.store.Repo.ElectRemote(conf.Sync.Remote)
	} else {
		d.remote = d.sharedRemote(d.store)
	}
	return conf, err
}

// worker does reviews with the configuration as it is now.
func (d *duty) worker(conf *config.Config) *loop.Worker {
	worker := d.console.worker(d.store, conf, d.progress)
	worker.Retry, worker.Jobs, worker.ForAll, worker.Remote = d.retry, d.Int("jobs"), d.forAll, d.remote
	worker.Sync = func(ctx context.Context) error {
		done, err := share.Sync(ctx, d.store, d.remote, share.Terms{Since: syncTerms(conf).Since})
		for _, lost := range done.Lost {
			d.tell("not counted: " + lost)
		}
		if err == nil && done.Refused != nil {
			err = done.Refused
		}
		return err
	}
	return worker
}

// round does what can be done now, with the configuration as it is now, and gives what is
// left then.
func (d *duty) round(ctx context.Context) ([]loop.Turn, error) {
	conf, err := d.configuration(d.store)
	if err != nil {
		return nil, err
	}
	worker := d.worker(conf)
	before := d.result.Reviews
	for {
		if err := conf.Batch().Join(ctx, d.store); err != nil {
			return nil, err
		}
		done, err := worker.Work(ctx)
		d.result.Reviews += done.Reviews
		d.result.Busy = done.Busy
		if err != nil {
			return nil, err
		}
		worker.Retry, d.retry = false, false // once is what was asked for
		if done.Reviews+done.Failed == 0 {   // looked again: a request that came meanwhile found us busy
			break
		}
	}
	if d.forAll && d.result.Reviews > before { // the notes once, and not with each review
		if _, err := share.Sync(ctx, d.store, d.remote, syncTerms(conf)); err != nil {
			return nil, err
		}
	}
	return worker.Queue(ctx)
}

// run goes on as long as the mode says, and gives what is left.
func (d *duty) run(ctx context.Context) (queue []loop.Turn, err error) {
	if d.mode == workOnce {
		return d.round(ctx)
	}
	leave, err := (&loop.Worker{Store: d.store}).Stay()
	if err != nil {
		return nil, err
	}
	defer leave()
	for {
		tips, err := d.tips(ctx)
		if err == nil {
			queue, err = d.round(ctx)
		}
		switch {
		case ctx.Err() != nil && d.mode == workWatch: // that is how it ends
			return nil, nil
		case errors.Is(err, gitstore.ErrRemote) && ctx.Err() == nil && d.mode == workWatch:
			d.tell(err.Error())
		case err != nil:
			return queue, err
		case d.mode == workDrain && !pending(queue):
			return queue, nil
		}
		if err := d.wait(ctx, tips, queue); err != nil {
			if d.mode == workWatch {
				err = nil
			}
			return queue, err
		}
	}
}

// pending reports whether something of the queue may still be done without a person.
func pending(queue []loop.Turn) bool {
	return slices.ContainsFunc(queue, func(t loop.Turn) bool { return t.State != loop.TurnFailed && !t.Wants() })
}

// Pauses of a worker that stays.
const (
	lookPause   = time.Second      // between two looks at the logs of this clone
	remotePause = 30 * time.Second // between two looks at the remote
	othersPause = 2 * time.Second  // between two looks at what others are doing, when that is waited for
)

// tips are where the logs and the branches are: what a worker would see news by.
func (d *duty) tips(ctx context.Context) (map[string]gitstore.ID, error) {
	tips, err := d.store.Repo.Refs(ctx, "refs/runr/log/")
	if err != nil {
		return nil, err
	}
	branches, err := d.store.Repo.Refs(ctx, "refs/heads/")
	maps.Copy(tips, branches)
	return tips, err
}

// wait returns when there may be something to do: something is not at tips any more, a time
// of the queue has come, or others may have ended.
func (d *duty) wait(ctx context.Context, tips map[string]gitstore.ID, queue []loop.Turn) error {
	var limit time.Duration
	if d.forAll {
		limit = remotePause
	}
	earlier := func(t time.Duration) {
		if t > 0 && (limit == 0 || t < limit) {
			limit = t
		}
	}
	for _, t := range queue {
		if t.State == loop.TurnLater && !t.Wants() {
			earlier(t.Until.Sub(d.now()))
		} else if d.mode == workDrain && t.State != loop.TurnFailed || t.State == loop.TurnDue {
			earlier(othersPause)
		}
	}
	for began := time.Now(); limit == 0 || time.Since(began) < limit; {
		if err := sleep(ctx, lookPause); err != nil {
			return err
		}
		now, err := d.tips(ctx)
		if err != nil || !maps.Equal(now, tips) {
			return err
		}
	}
	return nil
}

func (d *duty) show(w io.Writer) {
	if d.result.Busy {
		fmt.Fprintln(w, "Another worker is at it.")
		return
	}
	safetext.Fprintf(w, "%s done.\n", prose.Count(d.result.Reviews, "review"))
	writeHeld(w, d.result.Held)
	for _, e := range d.result.Elsewhere[:min(len(d.result.Elsewhere), heldShown)] {
		safetext.Fprintf(w, "In another clone: %s, by %s until %s or longer\n", e.ID, e.By, e.Until.UTC().Format(time.DateTime+"Z"))
	}
}

// drained is the exit status of --drain by what is left.
func drained(queue []loop.Turn) error {
	for _, t := range queue {
		if t.State == loop.TurnFailed || t.Wants() {
			return stopStatus(t.Failure.Reason)
		}
	}
	if len(queue) > 0 {
		return exit.With(exit.Busy)
	}
	return nil
}
