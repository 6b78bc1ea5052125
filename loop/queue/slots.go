package queue

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

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
