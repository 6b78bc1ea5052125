package share

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// leaseRefs are refs on the shared remote only. The clone that created refs/runr/leases/<review> is doing the review,
// until the lease lapses or is dropped. Unlike a claim, a lease is no event of the review: it only keeps two clones
// from doing the same work.
const leaseRefs = "refs/runr/leases/"

// ownLeases are local refs of the leases that this clone has, from before they are pushed until they are dropped. They
// make it possible to find the leases of a killed process.
const ownLeases = "refs/runr-local/leases/"

// A lease lasts LeaseTime and is renewed during the work. It counts for leaseSkew longer, because clocks differ.
const (
	LeaseTime = 10 * time.Minute
	leaseSkew = 2 * time.Minute
)

// Lease is a review that this clone is doing.
type Lease struct {
	Review string
	remote string
	id     gitstore.ID // the commit that the remote's ref names
}

// LeasedError reports that another clone is doing a review.
type LeasedError struct {
	Review string
	By     string    // the person whose clone it is
	Until  time.Time // when the lease lapses unless it is renewed
}

func (e *LeasedError) Error() string {
	return fmt.Sprintf("review %s is being done by %s, until %s or longer", e.Review, e.By,
		e.Until.UTC().Format(time.DateTime+"Z"))
}

// TakeLease takes a lease on remote for a review. It does not exclude other processes of this clone. It returns a
// *LeasedError if another clone has the lease, and gitstore.ErrRemote if the remote cannot be asked.
func TakeLease(ctx context.Context, s *store.Store, remote, review string) (*Lease, error) {
	l := &Lease{Review: review, remote: remote}
	return l, holdLease(ctx, s, l, func(held gitstore.ID) error { return leasedBy(ctx, s, review, held) })
}

// RenewLease restarts the time of a lease. It returns gitstore.ErrLostRace if this clone no longer has the lease.
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
	if err != nil {
		return err
	}
	if err := s.Repo.SwapRef(ctx, own, next, before); err != nil {
		return err
	}
	err = takeRef(ctx, s, l.remote, leaseRefs+l.Review, next, free)
	if err != nil && !errors.Is(err, gitstore.ErrRemote) && ctx.Err() == nil { // the remote decided against this lease
		return errors.Join(err, s.Repo.SwapRef(ctx, own, before, next))
	}
	if err != nil {
		return err
	}
	l.id = next
	return nil
}

// DropLease drops a lease, if this clone still has it.
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
	if lease, _ := readClaim(ctx, s, held); err == nil && s.Repo.Owns(lease.Writer) {
		err = s.Repo.SwapShared(ctx, l.remote, ref, "", held)
	}
	if err != nil && !errors.Is(err, gitstore.ErrLostRace) {
		return err
	}
	return s.Repo.SwapRef(ctx, own, "", noted)
}

// OwnLeases returns the leases of remote that this clone has, or that its killed processes left.
func OwnLeases(ctx context.Context, s *store.Store, remote string) ([]*Lease, error) {
	refs, err := s.Repo.Refs(ctx, ownLeases)
	return each.Of(each.Keys(refs), func(ref string) *Lease {
		return &Lease{Review: path.Base(ref), remote: remote}
	}), err
}

// FetchLeases fetches the leases of remote, for Leases.
func FetchLeases(ctx context.Context, s *store.Store, remote string) error {
	return s.Repo.FetchShared(ctx, remote, leaseRefs)
}

// Leases returns the valid leases of other clones as of the last fetch, by review.
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

// leasedBy returns a *LeasedError if the commit held is a valid lease of another clone. held may be "". An unreadable
// lease stops nobody: at worst two clones do the same review, and one result counts.
func leasedBy(ctx context.Context, s *store.Store, review string, held gitstore.ID) error {
	lease, _ := readClaim(ctx, s, held)
	if s.Repo.Owns(lease.Writer) || !lease.counts(review, s.Now()) {
		return nil
	}
	return &LeasedError{Review: review, By: lease.Actor, Until: lease.Until}
}

// counts reports whether c is a lease of review that is valid at now. A lease that would last too long is ignored: the
// clock that made it is far ahead.
func (c sharedClaim) counts(review string, now time.Time) bool {
	return c.Review == review && now.Before(c.Until.Add(leaseSkew)) && !c.Until.After(now.Add(LeaseTime+leaseSkew))
}

// Published reports whether remote had the request of this clone's own review at the last exchange, so that another
// clone may do the review.
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
