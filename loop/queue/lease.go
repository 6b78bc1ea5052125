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

// reviewLock returns the name of the lock for working on a review in this clone.
func reviewLock(id string) string { return "review-" + id }

// lock keeps other processes of this clone from a review. unlock also removes its status file.
func (w *Worker) lock(id string) (unlock func(), err error) {
	free, err := tryLock(w.Store.Repo, reviewLock(id))
	if err == nil && free == nil {
		err = fmt.Errorf("review %s: another worker is doing it: %w", id, gitstore.ErrBusy)
	}
	return func() { dropStatus(w.Store, id); free() }, err
}

// interruptedRelease is the time that an interrupted worker has to release a lease.
const interruptedRelease = 10 * time.Second

// lease records on the remote that this clone works on a review, if another clone could do it too: a review requested
// elsewhere, or one that the remote knows. It brings the logs up to date and renews the lease until release is called,
// which shares the result. For a review of this clone, an unreachable remote is no error.
func (w *Worker) lease(ctx context.Context, review record.Review) (release func(context.Context) error, err error) {
	none := func(context.Context) error { return nil }
	remote := w.Store.Repo.RemoteOf(w.Store.Repo.Audience(review.Writer))
	if w.Remote == "" || remote == "" { // nobody else sees it
		return none, nil
	}
	if !w.ForAll {
		if published, err := share.Published(ctx, w.Store, remote, review.ID); err != nil || !published {
			return none, err
		}
	}
	lease, err := share.TakeLease(ctx, w.Store, remote, review.ID)
	if err == nil {
		if err = w.Sync(ctx); err != nil { // if this fails, the next worker drops the lease
			_ = share.DropLease(context.WithoutCancel(ctx), w.Store, lease)
		}
	}
	if w.unreachable(ctx, err) && !w.foreign(review.Writer) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	stop := Renew(ctx, share.LeaseTime, func(ctx context.Context) (lost bool) {
		return errors.Is(share.RenewLease(ctx, w.Store, lease), gitstore.ErrLostRace)
	})
	return func(ctx context.Context) error {
		stop()
		if ctx.Err() != nil {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), interruptedRelease)
			defer cancel()
		}
		if err := w.Sync(ctx); err != nil { // until it lapses, the lease keeps others from doing the review again
			return err
		}
		return share.DropLease(ctx, w.Store, lease)
	}, nil
}

// unreachable reports whether err means that the remote could not be reached.
func (w *Worker) unreachable(ctx context.Context, err error) bool {
	return ctx.Err() == nil && (errors.Is(err, gitstore.ErrRemote) || errors.Is(err, context.DeadlineExceeded))
}

// foreign reports whether a review was requested in another clone.
func (w *Worker) foreign(writer string) bool { return !w.Store.Repo.Owns(writer) }

// Renew calls renew at every third of lease, so that the lease survives two failed renewals. It ends when the lease is
// lost, ctx ends or stop is called; stop waits for a renewal in progress.
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

// dropLeases releases the leases of killed workers of this clone, once their work is shared. If the remote is
// unreachable, the next worker does it.
func (w *Worker) dropLeases(ctx context.Context) error {
	if w.Remote == "" {
		return nil
	}
	leases, err := share.OwnLeases(ctx, w.Store, w.Remote)
	if err != nil {
		return err
	}
	synced := w.ForAll // with ForAll, begin has synced
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
