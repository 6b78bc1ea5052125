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
)

// slotSource gives those who review a place to do it in, which they leave again.
type slotSource interface {
	enter(ctx context.Context) (leave func(), err error)
}

// slots bound how many reviewers work: as many as may be at work at once in this clone, each a
// lock that its process holds, and of them so many as this process may take.
type slots struct {
	repo *gitstore.Repo
	all  int
	mine chan struct{}
}

func newSlots(w *Worker) *slots {
	all := max(1, w.Parallel)
	return &slots{w.Store.Repo, all, make(chan struct{}, min(all, cmp.Or(w.Jobs, all)))}
}

// take takes a place; leave is nil when there is none.
func (p *slots) take() (leave func(), err error) {
	select {
	case p.mine <- struct{}{}:
	default:
		return nil, nil
	}
	for n := range p.all {
		unlock, err := tryLock(p.repo, slotLock(n+1))
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

// tryLock takes a lock; unlock is nil where somebody has it. Who only asks whether it is
// held holds it for a moment, and is waited for.
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

// held reports whether a process has a lock of which there is a file.
func held(repo *gitstore.Repo, name string) bool {
	unlock, free, err := repo.TryLock(name)
	if err == nil && free {
		unlock()
	}
	return err == nil && !free
}

// watchLock is held by a worker that stays although there is nothing to do.
const watchLock = "work/watch"

// AtWork reports whether a worker is at work in this clone, or stays to wait for some.
func AtWork(s *store.Store) bool {
	files, _ := os.ReadDir(filepath.Join(s.Repo.StateDir(), "work")) // without it nobody ever was
	return slices.ContainsFunc(files, func(file os.DirEntry) bool {
		name, isLock := strings.CutSuffix(file.Name(), ".lock")
		return isLock && held(s.Repo, "work/"+name)
	})
}

// Stay makes AtWork true until leave is called, whether there is something to do or not.
func (w *Worker) Stay() (leave func(), err error) {
	unlock, err := tryLock(w.Store.Repo, watchLock)
	if unlock == nil { // another stays already
		unlock = func() {}
	}
	return unlock, err
}

func slotLock(n int) string { return fmt.Sprintf("work/%d", n) }

// with are the places for the reviewers of one review, of which the first is taken already.
func (p *slots) with() *reviewSlots {
	r := &reviewSlots{slots: p, first: make(chan struct{}, 1)}
	r.first <- struct{}{}
	return r
}

// reviewSlots give their first place again and again, and others that become free.
type reviewSlots struct {
	*slots
	first chan struct{}
}

// slotPause is how long a reviewer waits between two looks for a place.
const slotPause = 50 * time.Millisecond

func (r *reviewSlots) enter(ctx context.Context) (leave func(), err error) {
	for {
		select {
		case <-r.first:
			return func() { r.first <- struct{}{} }, nil
		default:
		}
		if leave, err = r.take(); leave != nil || err != nil {
			return leave, err
		}
		if err := duration.Sleep(ctx, slotPause); err != nil {
			return nil, err
		}
	}
}

// ownSlots are slots for who waits for one review and takes no turns with others.
type ownSlots chan struct{}

func (w *Worker) ownSlots() ownSlots { return make(ownSlots, max(1, w.Parallel)) }

func (c ownSlots) enter(ctx context.Context) (leave func(), err error) {
	select {
	case c <- struct{}{}:
		return func() { <-c }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
