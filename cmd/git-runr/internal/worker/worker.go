// Package worker does the rounds of git runr work: one, or until nothing is left, or as long as it is let.
package worker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/config"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/queue"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

// Mode is how long work goes on.
type Mode int

const (
	Once  Mode = iota // what can be done now
	Drain             // until nothing is left that may be done without a person
	Watch             // until the context ends
)

// Duty is what is done in a repository. Store, Conf, Read, Worker and Tell are required.
type Duty struct {
	Store  *store.Store
	Conf   *config.Config                     // that of the newest round
	Read   func() (*config.Config, error)     // as it is now
	Worker func(*config.Config) *queue.Worker // does the reviews of this process
	Tell   func(line string)                  // to people
	Mode   Mode
	Jobs   int    // reviewers at once in this process; 0: as is configured
	Retry  bool   // in the first round also those whose reviewer could not be run before
	ForAll bool   // also what other clones asked for
	Remote string // that leases are taken on, "" for none; required with ForAll

	Reviews int  // that were done
	Busy    bool // others had all that may be at work here at once
}

// Run does rounds and gives what is left then, which may take as long as the context lets it.
func (d *Duty) Run(ctx context.Context) (waiting []queue.Entry, err error) {
	if d.Mode == Once {
		return d.round(ctx)
	}
	leave, err := (&queue.Worker{Store: d.Store}).Stay()
	if err != nil {
		return nil, err
	}
	defer leave()
	for away := error(nil); ; { // why the remote could not be reached in the last round
		tips, err := tipsOf(ctx, d.Store.Repo)
		if err == nil {
			waiting, err = d.round(ctx)
		}
		switch {
		case ctx.Err() != nil && d.Mode == Watch: // that is how it ends
			return nil, nil
		case errors.Is(err, gitstore.ErrRemote) && ctx.Err() == nil && d.Mode == Watch:
			d.Tell(err.Error())
		case isAway(ctx, err):
			if away == nil {
				d.Tell(err.Error())
			}
			away = err
			if duration.Sleep(ctx, othersPause) != nil {
				return waiting, away
			}
			continue
		case away != nil && ctx.Err() != nil:
			return waiting, away
		case err != nil:
			return waiting, err
		case d.Mode == Drain && !pending(waiting):
			return waiting, nil
		}
		away = nil
		if err := d.wait(ctx, tips, waiting); err != nil {
			if d.Mode == Watch {
				err = nil
			}
			return waiting, err
		}
	}
}

// isAway reports whether err is that the remote could not be reached, and ctx has time left in which it may come back.
func isAway(ctx context.Context, err error) bool {
	_, bounded := ctx.Deadline()
	return bounded && ctx.Err() == nil && errors.Is(err, gitstore.ErrRemote) && !errors.As(err, new(*gitstore.RefusedError))
}

// Queue is what is left now.
func (d *Duty) Queue(ctx context.Context) ([]queue.Entry, error) { return d.worker(d.Conf).Queue(ctx) }

func (d *Duty) worker(conf *config.Config) *queue.Worker {
	worker := d.Worker(conf)
	worker.Retry, worker.Jobs, worker.ForAll, worker.Remote = d.Retry, d.Jobs, d.ForAll, d.Remote
	worker.Sync = func(ctx context.Context) error {
		all, err := share.SyncAll(ctx, d.Store, d.Remote, share.Terms{Since: conf.SyncTerms().Since})
		for _, done := range all {
			for _, lost := range done.Lost {
				d.Tell("not counted: " + lost)
			}
			if err == nil && done.Refused != nil {
				err = done.Refused
			}
		}
		return err
	}
	return worker
}

// round does what can be done now, with the configuration as it is now, and gives what is
// left then.
func (d *Duty) round(ctx context.Context) ([]queue.Entry, error) {
	conf, err := d.Read()
	if err != nil {
		return nil, err
	}
	d.Conf = conf
	worker := d.worker(conf)
	before := d.Reviews
	for {
		if err := conf.Batch().Join(ctx, d.Store); err != nil {
			return nil, err
		}
		done, err := worker.Work(ctx)
		d.Reviews += done.Reviews
		d.Busy = done.Busy
		if err != nil {
			return nil, err
		}
		worker.Retry, d.Retry = false, false // once is what was asked for
		if done.Reviews+done.Failed == 0 {   // looked again: a request that came meanwhile found us busy
			break
		}
	}
	if d.ForAll && d.Reviews > before { // the notes once, and not with each review
		if _, err := share.SyncAll(ctx, d.Store, d.Remote, conf.SyncTerms()); err != nil {
			return nil, err
		}
	}
	return worker.Queue(ctx)
}

// pending reports whether something of the queue may still be done without a person.
func pending(waiting []queue.Entry) bool {
	return slices.ContainsFunc(waiting, func(t queue.Entry) bool { return t.State != queue.StateFailed && !t.Wants() })
}

// tipsOf are where the logs and the branches are: what a worker would see news by.
func tipsOf(ctx context.Context, repo *gitstore.Repo) (map[string]gitstore.ID, error) {
	tips, err := repo.Refs(ctx, "refs/runr/log/")
	if err != nil {
		return nil, err
	}
	branches, err := repo.Refs(ctx, "refs/heads/")
	maps.Copy(tips, branches)
	return tips, err
}

// Pauses of a worker that stays.
const (
	lookPause   = time.Second      // between two looks at the logs of this clone
	remotePause = 30 * time.Second // between two looks at the remote
	othersPause = 2 * time.Second  // between two looks at what others are doing, when that is waited for
)

// wait returns when there may be something to do: something is not at tips any more, a time
// of the queue has come, or others may have ended.
func (d *Duty) wait(ctx context.Context, tips map[string]gitstore.ID, waiting []queue.Entry) error {
	limit := d.patience(waiting)
	for began := time.Now(); limit == 0 || time.Since(began) < limit; {
		if err := duration.Sleep(ctx, lookPause); err != nil {
			return err
		}
		now, err := tipsOf(ctx, d.Store.Repo)
		if err != nil || !maps.Equal(now, tips) {
			return err
		}
	}
	return nil
}

// patience is how long nothing is to be done for what is left, where there is no news; 0 is for ever.
func (d *Duty) patience(waiting []queue.Entry) (limit time.Duration) {
	if d.ForAll {
		limit = remotePause
	}
	earlier := func(t time.Duration) {
		if t > 0 && (limit == 0 || t < limit) {
			limit = t
		}
	}
	for _, t := range waiting {
		if t.State == queue.StateLater && !t.Wants() {
			earlier(t.Until.Sub(d.Store.Now()))
		} else if d.Mode == Drain && t.State != queue.StateFailed || t.State == queue.StateDue {
			earlier(othersPause)
		}
	}
	return limit
}

// longestRewrite is how long a worker waits for git to end a rebase whose post-rewrite
// hook has started it: that takes milliseconds.
const longestRewrite = 2 * time.Second

// AwaitRewrite waits for debounce, and until git has put away what a rebase left: where
// reviewed commits went is looked at after that.
func AwaitRewrite(ctx context.Context, repo *gitstore.Repo, debounce time.Duration) error {
	if err := duration.Sleep(ctx, debounce); err != nil {
		return err
	}
	const step = 20 * time.Millisecond
	for waited := time.Duration(0); repo.Operation() == "rebase" && waited < longestRewrite; waited += step {
		if err := duration.Sleep(ctx, step); err != nil {
			return err
		}
	}
	return nil
}
