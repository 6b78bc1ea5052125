// Package worker implements the rounds of git runr work: one round, rounds until nothing is left, or rounds until it
// is interrupted.
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

// Mode is how long work continues.
type Mode int

const (
	Once  Mode = iota // do what can be done now
	Drain             // until nothing is left that needs no person
	Watch             // until the context ends
)

// Duty is the task of a worker in a repository. Store, Conf, Read, Worker and Tell are required.
type Duty struct {
	Store  *store.Store
	Conf   *config.Config                     // configuration of the newest round
	Read   func() (*config.Config, error)     // reads the current configuration
	Worker func(*config.Config) *queue.Worker // returns the worker of this process
	Tell   func(line string)                  // prints a line for people
	Mode   Mode
	Jobs   int    // reviewers at once in this process; 0 means as configured
	Retry  bool   // in the first round, also reviews whose reviewer failed before
	ForAll bool   // also requests of other clones
	Remote string // remote for leases; "" for none; required with ForAll

	Reviews int  // result: reviews done
	Busy    bool // result: other workers used all slots of this clone
}

// Run works in rounds, as Mode says, until ctx ends at the latest, and returns what is left.
func (d *Duty) Run(ctx context.Context) (waiting []queue.Entry, err error) {
	if d.Mode == Once {
		return d.round(ctx)
	}
	leave, err := (&queue.Worker{Store: d.Store}).Stay()
	if err != nil {
		return nil, err
	}
	defer leave()
	for away := error(nil); ; { // away: why the remote could not be reached in the last round
		tips, err := tipsOf(ctx, d.Store.Repo)
		if err == nil {
			waiting, err = d.round(ctx)
		}
		switch {
		case ctx.Err() != nil && d.Mode == Watch: // the regular end of Watch
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

// isAway reports whether err means that the remote could not be reached, and ctx has a deadline before which it may
// come back.
func isAway(ctx context.Context, err error) bool {
	_, bounded := ctx.Deadline()
	return bounded && ctx.Err() == nil && errors.Is(err, gitstore.ErrRemote) &&
		!errors.As(err, new(*gitstore.RefusedError))
}

// Queue returns what is left now.
func (d *Duty) Queue(ctx context.Context) ([]queue.Entry, error) { return d.worker(d.Conf).Queue(ctx) }

func (d *Duty) worker(conf *config.Config) *queue.Worker {
	worker := d.Worker(conf)
	worker.Retry, worker.Jobs, worker.ForAll, worker.Remote = d.Retry, d.Jobs, d.ForAll, d.Remote
	worker.Sync = func(ctx context.Context) error {
		all, err := share.SyncAll(ctx, d.Store, d.Remote, false)
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

// round does what can be done now with the current configuration, and returns what is left.
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
		worker.Retry, d.Retry = false, false // retry only once
		if done.Reviews+done.Failed == 0 {   // again, because a request may have come meanwhile
			break
		}
	}
	if d.ForAll && d.Reviews > before { // push the notes once, not after each review
		if _, err := share.SyncAll(ctx, d.Store, d.Remote, conf.Sync.Notes); err != nil {
			return nil, err
		}
	}
	return worker.Queue(ctx)
}

// pending reports whether something in the queue can be done without a person.
func pending(waiting []queue.Entry) bool {
	return slices.ContainsFunc(waiting, func(t queue.Entry) bool { return t.State != queue.StateFailed && !t.Wants() })
}

// tipsOf returns the tips of logs and branches. A change of them is news for a worker.
func tipsOf(ctx context.Context, repo *gitstore.Repo) (map[string]gitstore.ID, error) {
	tips, err := repo.Refs(ctx, "refs/runr/log/")
	if err != nil {
		return nil, err
	}
	branches, err := repo.Refs(ctx, "refs/heads/")
	maps.Copy(tips, branches)
	return tips, err
}

// Pauses of a worker that waits.
const (
	lookPause   = time.Second      // between two checks of this clone's refs
	remotePause = 30 * time.Second // between two checks of the remote
	othersPause = 2 * time.Second  // between two checks of other workers
)

// wait returns when there may be something to do: a ref has changed since tips, a time in the queue has come, or
// another worker may have finished.
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

// patience returns how long to wait without news; 0 means forever.
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

// longestRewrite is the maximum wait for git to finish a rebase after its post-rewrite hook has started this worker.
// It usually takes milliseconds.
const longestRewrite = 2 * time.Second

// AwaitRewrite waits for debounce, and then until git has finished a rebase, so that the worker finds where the
// reviewed commits went.
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
