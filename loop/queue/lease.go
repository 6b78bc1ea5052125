package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/share"
)

// reviewLock names the lock of the process of this clone that does a review.
func reviewLock(id string) string { return "review-" + id }

// lock keeps other processes of this clone from a review.
func (w *Worker) lock(id string) (unlock func(), err error) {
	unlock, err = tryLock(w.Store.Repo, reviewLock(id))
	if err == nil && unlock == nil {
		err = fmt.Errorf("review %s: another worker is at it: %w", id, gitstore.ErrBusy)
	}
	return unlock, err
}

// interruptedRelease is how long a worker that was told to end takes to give a lease back.
const interruptedRelease = 10 * time.Second

// lease says on the remote that this clone does a review, where another could do it too:
// what others asked for, and what the remote has heard of. Afterwards the logs are as they
// are there, and until release is called, which shares what was done, the lease is renewed.
// An own review is also done where the remote cannot be asked.
func (w *Worker) lease(ctx context.Context, review record.Review) (release func(context.Context) error, err error) {
	none := func(context.Context) error { return nil }
	if w.Remote == "" {
		return none, nil
	}
	if !w.ForAll {
		if published, err := share.Published(ctx, w.Store, w.Remote, review.ID); err != nil || !published {
			return none, err
		}
	}
	lease, err := share.TakeLease(ctx, w.Store, w.Remote, review.ID)
	if err == nil {
		if err = w.Sync(ctx); err != nil { // what cannot be given back now is by the next worker
			_ = share.DropLease(context.WithoutCancel(ctx), w.Store, lease)
		}
	}
	if w.unreachable(ctx, err) && !w.foreign(review.Writer) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	stop := w.renew(ctx, lease)
	return func(ctx context.Context) error {
		stop()
		if ctx.Err() != nil {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), interruptedRelease)
			defer cancel()
		}
		if err := w.Sync(ctx); err != nil { // the lease keeps others from doing it again until it lapses
			return err
		}
		return share.DropLease(ctx, w.Store, lease)
	}, nil
}

// unreachable reports whether err is that the remote could not be asked.
func (w *Worker) unreachable(ctx context.Context, err error) bool {
	return ctx.Err() == nil && (errors.Is(err, gitstore.ErrRemote) || errors.Is(err, context.DeadlineExceeded))
}

// foreign reports whether a review was asked for in another clone.
func (w *Worker) foreign(writer string) bool { return !w.Store.Repo.Owns(writer) }

// renew renews a lease until stop is called, or it is somebody else's.
func (w *Worker) renew(ctx context.Context, lease *share.Lease) (stop func()) {
	return Renew(ctx, share.LeaseTime, func(ctx context.Context) (lost bool) {
		return errors.Is(share.RenewLease(ctx, w.Store, lease), gitstore.ErrLostRace)
	})
}

// Renew has something that lasts for lease renewed at every third of it, so that it outlives
// two renewals that fail, until it is lost, ctx ends or stop is called, which waits for one
// that is under way.
func Renew(ctx context.Context, lease time.Duration, renew func(context.Context) (lost bool)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(max(lease/3, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if renew(ctx) {
				return
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// dropLeases gives back what killed workers of this clone have leased, once what they did
// is shared. Where the remote cannot be asked that is for the next worker.
func (w *Worker) dropLeases(ctx context.Context) error {
	if w.Remote == "" {
		return nil
	}
	leases, err := share.OwnLeases(ctx, w.Store, w.Remote)
	if err != nil {
		return err
	}
	synced := w.ForAll // begin has
	for _, lease := range leases {
		unlock, free, err := w.Store.Repo.TryLock(reviewLock(lease.Review))
		if err != nil {
			return err
		}
		if !free {
			continue
		}
		if !synced {
			err = w.Sync(ctx)
			synced = err == nil
		}
		if err == nil {
			err = share.DropLease(ctx, w.Store, lease)
		}
		dropStatus(w.Store, lease.Review)
		unlock()
		if w.unreachable(ctx, err) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
