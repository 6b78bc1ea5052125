package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// leaseRefs are on the shared remote only: who made refs/runr/leases/<review> is doing
// the review, until that lapses or is given back. Unlike a claim it is no step of the
// review: it only keeps two clones from doing the same.
const leaseRefs = "refs/runr/leases/"

// ownLeases name the leases that this clone has, from before they are pushed until they
// are given back: those of a process that was killed are found by them.
const ownLeases = "refs/runr-local/leases/"

// A lease lasts LeaseTime, and whoever works renews it. It counts a little longer, for
// clocks that differ.
const (
	LeaseTime = 10 * time.Minute
	leaseSkew = 2 * time.Minute
)

// Lease is a review that this clone is doing.
type Lease struct {
	Review string
	remote string
	id     gitstore.ID // of the commit that the remote's ref names
}

// LeasedError is that another clone is doing a review.
type LeasedError struct {
	Review string
	By     string    // whose clone it is
	Until  time.Time // when it lapses unless it is renewed
}

func (e *LeasedError) Error() string {
	return fmt.Sprintf("review %s is being done by %s, until %s or longer", e.Review, e.By, e.Until.UTC().Format(time.DateTime+"Z"))
}

// TakeLease says on remote that this clone does a review, which it must keep from being
// done by two processes itself. It is a *LeasedError when another clone does it, and
// ErrRemote when the remote cannot be asked.
func TakeLease(ctx context.Context, s *store.Store, remote, review string) (*Lease, error) {
	l := &Lease{Review: review, remote: remote}
	return l, holdLease(ctx, s, l, func(held gitstore.ID) error { return leasedBy(ctx, s, review, held) })
}

// RenewLease makes the time of a lease begin again. It is ErrLostRace when it is not this
// clone's any more.
func RenewLease(ctx context.Context, s *store.Store, l *Lease) error {
	return holdLease(ctx, s, l, func(held gitstore.ID) error {
		if held != l.id {
			return fmt.Errorf("lease of review %s: %w", l.Review, gitstore.ErrLostRace)
		}
		return nil
	})
}

func holdLease(ctx context.Context, s *store.Store, l *Lease, free func(held gitstore.ID) error) error {
	ctx, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	person, err := s.Repo.Identity(ctx)
	if err != nil {
		return err
	}
	next, err := claimCommit(ctx, s, "lease", l.Review, record.Hold{Actor: person.String(), Lease: LeaseTime})
	if err != nil {
		return err
	}
	own := ownLeases + l.Review
	before, err := s.Repo.Ref(ctx, own)
	if err == nil {
		err = s.Repo.SwapRef(ctx, own, next, before)
	}
	if err != nil {
		return err
	}
	if err = takeRef(ctx, s, l.remote, leaseRefs+l.Review, next, free); err == nil {
		l.id = next
		return nil
	}
	if !errors.Is(err, gitstore.ErrRemote) && ctx.Err() == nil { // it was decided: the remote's is not this one
		err = errors.Join(err, s.Repo.SwapRef(ctx, own, before, next))
	}
	return err
}

// DropLease gives a lease back, if it is still this clone's.
func DropLease(ctx context.Context, s *store.Store, l *Lease) error {
	ctx, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	own := ownLeases + l.Review
	noted, err := s.Repo.Ref(ctx, own)
	if err != nil || noted == "" {
		return err
	}
	ref := leaseRefs + l.Review
	held, err := s.Repo.ReadShared(ctx, l.remote, ref)
	if err == nil && held != "" && s.Repo.Owns(lease(ctx, s, held).Writer) {
		err = s.Repo.SwapShared(ctx, l.remote, ref, "", held)
	}
	if err != nil && !errors.Is(err, gitstore.ErrLostRace) {
		return err
	}
	return s.Repo.SwapRef(ctx, own, "", noted)
}

// OwnLeases are the leases of remote that this clone has or that its killed processes left.
func OwnLeases(ctx context.Context, s *store.Store, remote string) ([]*Lease, error) {
	refs, err := s.Repo.Refs(ctx, ownLeases)
	var own []*Lease
	for ref := range refs {
		own = append(own, &Lease{Review: path.Base(ref), remote: remote})
	}
	slices.SortFunc(own, func(a, b *Lease) int { return cmp.Compare(a.Review, b.Review) })
	return own, err
}

// FetchLeases asks remote who does which review, for Leases.
func FetchLeases(ctx context.Context, s *store.Store, remote string) error {
	return s.Repo.FetchShared(ctx, remote, leaseRefs)
}

// Leases are those of other clones that counted when the remote was asked last, by review.
func Leases(ctx context.Context, s *store.Store, remote string) (map[string]*LeasedError, error) {
	prefix := "refs/runr-remotes/" + remote + "/leases/"
	refs, err := s.Repo.Refs(ctx, prefix)
	leases := map[string]*LeasedError{}
	for ref, held := range refs {
		review, leased := strings.TrimPrefix(ref, prefix), new(LeasedError)
		if errors.As(leasedBy(ctx, s, review, held), &leased) {
			leases[review] = leased
		}
	}
	return leases, err
}

// leasedBy is a *LeasedError when the commit held, "" for none, is a lease of another
// clone's that counts. One that cannot be read keeps nobody from working: at the worst
// the same is done twice, and counted once.
func leasedBy(ctx context.Context, s *store.Store, review string, held gitstore.ID) error {
	if held == "" {
		return nil
	}
	lease := lease(ctx, s, held)
	if s.Repo.Owns(lease.Writer) || !lease.counts(review, s.Now()) {
		return nil
	}
	return &LeasedError{Review: review, By: lease.Actor, Until: lease.Until}
}

// lease reads a lease; one that cannot be read is the zero value, which counts for nothing.
func lease(ctx context.Context, s *store.Store, id gitstore.ID) sharedClaim {
	commit, err := s.Repo.ReadCommit(ctx, id)
	if err != nil {
		return sharedClaim{}
	}
	return decodeClaim(commit.Message)
}

// counts reports whether the lease is one of review, and has not lapsed. One that would
// last longer than leases do is of a clock that is far ahead, or nobody's.
func (c sharedClaim) counts(review string, now time.Time) bool {
	return c.Review == review && now.Before(c.Until.Add(leaseSkew)) && !c.Until.After(now.Add(LeaseTime+leaseSkew))
}

// Published reports whether remote had the request of this clone's own review by the last
// exchange, so that another clone may do it.
func Published(ctx context.Context, s *store.Store, remote, review string) (bool, error) {
	there, err := s.Repo.SharedTip(ctx, remote, s.Repo.WriterFor(s.Repo.AudienceOf(remote)))
	if err != nil || there == "" {
		return false, err
	}
	events, err := s.ReviewEvents(ctx, review)
	if err != nil || len(events) == 0 {
		return false, err
	}
	return s.Repo.IsAncestor(ctx, events[0].ID, there)
}
