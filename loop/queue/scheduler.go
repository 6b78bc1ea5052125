package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// scheduler carries out one call of Work: it runs reviews in parallel, as many as there are free slots.
type scheduler struct {
	*Worker
	slots    *slots
	seen     map[string]bool // reviews that were tried or are leased
	later    map[string]bool // those in seen that wait for the same change to be reviewed
	running  int
	ended    chan ended
	worked   Worked
	answered []string // reviews that agents answered
	refusals []error  // git's refusals of single reviews
}

type ended struct {
	review string
	done   outcome
	err    error
}

// outcome counts the turns of one review by result.
type outcome struct{ answered, failed int }

// run starts one review after another while there are free slots. It looks for work once more after the last slot was
// released: the worker of a request that came meanwhile may have found no free slot.
func (s *scheduler) run(ctx context.Context) (err error) {
	for idle := false; ; {
		var place func()
		next := ""
		if err == nil {
			place, next, err = s.pick(ctx)
		}
		switch {
		case next != "":
			s.start(ctx, next, place)
			idle = false
			continue
		case s.running == 0 && len(s.later) > 0 && place != nil && err == nil: // another process reviews it
			err = duration.Sleep(ctx, lookAgain)
			s.retryLater()
			continue
		case s.running == 0 && (idle || place == nil || err != nil):
			s.worked.Busy = place == nil && s.worked == Worked{}
			return err
		case s.running == 0:
			idle = true
			continue
		}
		end := <-s.ended
		s.running--
		if errors.Is(end.err, errSameChange) {
			s.later[end.review] = true
		} else {
			s.retryLater()
		}
		err = errors.Join(err, s.count(end))
		idle = false
	}
}

// retryLater forgets which requests were postponed, so that the next look tries them again.
func (s *scheduler) retryLater() {
	for id := range s.later {
		delete(s.seen, id)
	}
	clear(s.later)
}

// lookAgain is the pause before checking again whether another process has ended.
const lookAgain = 100 * time.Millisecond

// pick takes a slot and returns the next review for it. place is nil if no slot is free; next is "" if no slot is free
// or nothing is to do.
func (s *scheduler) pick(ctx context.Context) (place func(), next string, err error) {
	if place, err = s.slots.take(); place == nil {
		return nil, "", err
	}
	if next, err = s.next(ctx, s.seen); next == "" {
		place()
	} else if err == nil { // its commit may now consist of reviewed ones: then taking the review closes it
		err = s.follow(ctx)
	}
	return place, next, err
}

// start runs a review in a slot, and in other slots that become free.
func (s *scheduler) start(ctx context.Context, id string, place func()) {
	s.seen[id] = true
	s.running++
	go func() {
		done, err := s.one(ctx, id)
		place()
		s.ended <- ended{id, done, err}
	}()
}

// one runs a review, or examines a noted commit.
func (s *scheduler) one(ctx context.Context, id string) (done outcome, err error) {
	if !strings.Contains(id, "-") {
		return s.takeNoted(ctx, gitstore.ID(id))
	}
	review, err := s.Store.Review(ctx, id)
	if err == nil {
		_, done, err = s.take(ctx, review, s.slots.with())
	}
	return done, err
}

// count adds the result of a review; an error ends the work.
func (s *scheduler) count(end ended) error {
	leased, state, missing, refused := new(share.LeasedError), new(record.StateError), new(gitstore.MissingError),
		new(gitstore.GitError)
	switch err := end.err; {
	case errors.As(err, &leased), errors.As(err, &missing), errors.Is(err, gitstore.ErrBusy): // Queue shows these
	case errors.As(err, &state): // another process was faster
		s.Progress.Say(err.Error())
	case errors.As(err, &refused), errors.Is(err, gitstore.ErrRemote):
		s.refusals = append(s.refusals, err)
	case err != nil:
		return err
	case end.done.failed > 0:
		s.worked.Failed++
	case end.done.answered > 0:
		s.worked.Reviews++
		s.answered = append(s.answered, end.review)
	}
	return nil
}

// enter waits for a slot in which a reviewer runs; leave releases the slot.
type enter func(ctx context.Context) (leave func(), err error)

// slots limits the number of running reviewers: all in this clone, where each is a lock held by its process, and mine
// in this process.
type slots struct {
	repo *gitstore.Repo
	all  int
	mine chan struct{}
}

func newSlots(w *Worker) *slots {
	all := max(1, w.Parallel)
	return &slots{w.Store.Repo, all, make(chan struct{}, min(all, cmp.Or(w.Jobs, all)))}
}

// take takes a slot; leave is nil if none is free.
func (p *slots) take() (leave func(), err error) {
	select {
	case p.mine <- struct{}{}:
	default:
		return nil, nil
	}
	for n := range p.all {
		unlock, err := tryLock(p.repo, fmt.Sprintf("work/%d", n+1))
		switch {
		case err != nil:
			<-p.mine
			return nil, err
		case unlock != nil:
			return func() { unlock(); <-p.mine }, nil
		}
	}
	<-p.mine
	return nil, nil
}

// tryLock takes a lock; unlock is nil if another process has it. It tries a few times, because a process that only asks
// whether the lock is held holds it for a moment.
func tryLock(repo *gitstore.Repo, name string) (unlock func(), err error) {
	for range 3 {
		unlock, free, err := repo.TryLock(name)
		if err != nil || free {
			return unlock, err
		}
		time.Sleep(time.Millisecond)
	}
	return nil, nil
}

// watchLock is held by a worker that keeps running without work.
const watchLock = "work/watch"

// AtWork reports whether a worker is running in this clone, with or without work.
func AtWork(s *store.Store) bool {
	files, _ := os.ReadDir(filepath.Join(s.Repo.StateDir(), "work")) // without the directory no worker ever ran
	return slices.ContainsFunc(files, func(file os.DirEntry) bool {
		name, isLock := strings.CutSuffix(file.Name(), ".lock")
		return isLock && workspace.Held(s, "work/"+name)
	})
}

// Stay makes AtWork true until leave is called, even without work.
func (w *Worker) Stay() (leave func(), err error) {
	unlock, err := tryLock(w.Store.Repo, watchLock)
	if unlock == nil { // another worker stays already
		unlock = func() {}
	}
	return unlock, err
}

// slotPause is the pause between two tries to take a slot.
const slotPause = 50 * time.Millisecond

// with returns the slots for the reviewers of one review: the first slot, which it has taken already, and others that
// become free.
func (p *slots) with() enter {
	first := make(chan struct{}, 1)
	first <- struct{}{}
	return func(ctx context.Context) (leave func(), err error) {
		for {
			select {
			case <-first:
				return func() { first <- struct{}{} }, nil
			default:
			}
			if leave, err = p.take(); leave != nil || err != nil {
				return leave, err
			}
			if err := duration.Sleep(ctx, slotPause); err != nil {
				return nil, err
			}
		}
	}
}

// ownSlots returns the slots of a caller that waits for one review and does not compete with others.
func (w *Worker) ownSlots() enter {
	taken := make(chan struct{}, max(1, w.Parallel))
	return func(ctx context.Context) (leave func(), err error) {
		select {
		case taken <- struct{}{}:
			return func() { <-taken }, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
