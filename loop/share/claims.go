package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/internal/strictjson"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// claimRefs are refs on the shared remote only. Whoever created refs/runr/claims/<review> holds the review, whatever
// other clones record meanwhile.
const claimRefs = "refs/runr/claims/"

// claimTimeout bounds how long a claim waits for a remote.
const claimTimeout = 10 * time.Second

// sharedClaim is the message of the commit that a claim's or lease's ref names.
type sharedClaim struct {
	V      int       `json:"v"`
	Review string    `json:"review"`
	Actor  string    `json:"actor"`
	Writer string    `json:"writer"`
	At     time.Time `json:"at"`
	Until  time.Time `json:"until,omitzero"`
}

// Ungranted reports whether no remote granted a claim although there is one: the claim may hold in one clone only.
func Ungranted(repo *gitstore.Repo, claim *record.Claim) bool {
	return claim != nil && !claim.Shared && len(repo.Remotes()) > 0
}

// Claim claims a review on remote, which decides for all clones, and records the claim. provisional says why the claim
// holds in this clone only; it is "" if the remote granted the claim. Claim returns a *record.StateError with a Holder
// if somebody else holds the review, here or elsewhere.
func Claim(ctx context.Context, s *store.Store, remote, id string,
	by record.Hold) (review record.Review, provisional string, err error) {
	if review, err = s.Review(ctx, id); err != nil {
		return review, "", err
	}
	if refused := review.Claimable(by, s.Repo.WriterFor(s.Repo.Audience(review.Writer)), s.Now()); refused != nil {
		return review, "", refused
	}
	asking, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	claim, err := claimCommit(asking, s, "claim", review.ID, by)
	if err == nil {
		err = takeRef(asking, s, remote, claimRefs+review.ID, claim, func(held gitstore.ID) error {
			return heldBy(asking, s, review, held, by)
		})
	}
	if outOfReach(ctx, err) {
		claim, provisional = "", err.Error()
	} else if err != nil {
		return review, "", err
	}
	by.Shared = claim != ""
	review, err = s.ClaimReview(ctx, review.ID, by)
	if err != nil && claim != "" { // somebody in this clone was faster
		err = errors.Join(err, s.Repo.SwapShared(ctx, remote, claimRefs+review.ID, "", claim))
	}
	return review, provisional, err
}

// outOfReach reports whether err, from asking a remote under a timeout of its own below ctx, means that the remote did
// not decide. After a timeout it may have decided nevertheless.
func outOfReach(ctx context.Context, err error) bool {
	return errors.Is(err, gitstore.ErrRemote) || ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded)
}

// RenewClaim restarts the lease of a claim that by.Actor holds, on remote as well unless that is "". It does not take
// again a claim that was released or taken away: then it returns a *record.StateError.
func RenewClaim(ctx context.Context, s *store.Store, remote, id string, by record.Hold) error {
	review, err := s.Review(ctx, id)
	if err != nil {
		return err
	}
	gone := &record.StateError{What: "review " + review.ID, Status: string(review.Status), Cannot: "renewed"}
	switch own := review.Claim; {
	case review.Status != record.ReviewClaimed:
		return gone
	case !record.SameActor(own.By, by.Actor) || !s.Repo.Owns(own.Writer) || by.Claim != "" && !own.Is(by.Claim):
		gone.Holder = record.HolderFor(own.By, by.Actor)
		return gone
	}
	if remote == "" {
		_, err = s.ClaimReview(ctx, review.ID, by)
		return err
	}
	_, _, err = Claim(ctx, s, remote, review.ID, by)
	return err
}

// takeRef makes a ref on the remote name claim if the ref does not exist, or if free returns nil for the claim that it
// names now.
func takeRef(ctx context.Context, s *store.Store, remote, ref string, claim gitstore.ID,
	free func(held gitstore.ID) error) error {
	err := s.Repo.SwapShared(ctx, remote, ref, claim, "")
	if !errors.Is(err, gitstore.ErrLostRace) {
		return err
	}
	held, err := s.Repo.ReadShared(ctx, remote, ref)
	if err != nil {
		return err
	}
	if err := free(held); err != nil {
		return err
	}
	return s.Repo.SwapShared(ctx, remote, ref, claim, held)
}

// CheckClaim returns the review, and a *record.StateError with a Holder if according to the remote somebody other than
// by holds it, which this clone may not know. If ask is false or the remote is unreachable, its last known answer
// counts.
func CheckClaim(ctx context.Context, s *store.Store, remote, id string, by record.Hold,
	ask bool) (record.Review, error) {
	review, err := s.Review(ctx, id)
	if err != nil || !review.ClosedAt.IsZero() {
		return review, err
	}
	asking, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	held := gitstore.ID("")
	if ask {
		held, err = s.Repo.ReadShared(asking, remote, claimRefs+review.ID)
	}
	if !ask || outOfReach(ctx, err) {
		held, err = s.Repo.LastShared(ctx, remote, claimRefs+review.ID)
	}
	if err != nil {
		return review, err
	}
	return review, heldBy(ctx, s, review, held, by)
}

// heldBy returns a *record.StateError if the commit held is a claim that keeps by from the review. held may be "". A
// claim that has lapsed, or is known to be over, keeps nobody.
func heldBy(ctx context.Context, s *store.Store, review record.Review, held gitstore.ID, by record.Hold) error {
	if held == "" || by.Force {
		return nil
	}
	holder, err := readClaim(ctx, s, held)
	if err != nil {
		return err
	}
	own := record.SameActor(holder.Actor, by.Actor) && s.Repo.Owns(holder.Writer)
	lapsed := (&record.Claim{Until: holder.Until}).Lapsed(s.Now())
	over := slices.ContainsFunc(review.Ended, func(e record.EndedClaim) bool {
		return record.SameActor(e.By, holder.Actor) && e.Writer == holder.Writer && !e.Lost && e.At.After(holder.At)
	})
	if own || lapsed || over {
		return nil
	}
	return &record.StateError{What: "review " + review.ID, Status: string(record.ReviewClaimed), Cannot: "claimed",
		Holder: record.HolderFor(holder.Actor, by.Actor)}
}

// claimCommit writes a commit without files that says who claims a review. what is "claim" or "lease", for people.
func claimCommit(ctx context.Context, s *store.Store, what, review string, by record.Hold) (gitstore.ID, error) {
	author, err := s.Repo.Identity(ctx)
	if err != nil {
		return "", err
	}
	empty, err := s.Repo.EmptyTree(ctx)
	if err != nil {
		return "", err
	}
	writer, err := s.Repo.EnsureWriter(ctx) // otherwise all clones that never wrote would be the same claimant
	if err != nil {
		return "", err
	}
	now := s.EventTime()
	claim := sharedClaim{V: record.FormatVersion, Review: review, Actor: by.Actor, Writer: writer, At: now}
	if by.Lease > 0 {
		claim.Until = now.Add(by.Lease)
	}
	body, err := json.Marshal(claim)
	if err != nil {
		return "", fmt.Errorf("encode claim: %w", err)
	}
	return s.Repo.WriteCommit(ctx, gitstore.Commit{
		Tree: empty, Author: author, Committer: author, AuthorWhen: now, CommitterWhen: now,
		Message: what + " of review " + review + "\n\n" + string(body) + "\n",
	})
}

// readClaim returns who holds a review. It attributes a claim that it cannot decode, perhaps of a newer program, to the
// commit's author; such a claim is not ours to break without force.
func readClaim(ctx context.Context, s *store.Store, id gitstore.ID) (sharedClaim, error) {
	commit, err := s.Repo.ReadCommit(ctx, id)
	if err != nil {
		return sharedClaim{}, fmt.Errorf("read claim: %w", err)
	}
	if claim := decodeClaim(commit.Message); claim.Actor != "" {
		return claim, nil
	}
	return sharedClaim{Actor: commit.Author.String()}, nil
}

// decodeClaim decodes the message of a claim's commit. It returns the zero value for an invalid one.
func decodeClaim(message string) sharedClaim {
	_, body, _ := strings.Cut(message, "\n\n")
	var read sharedClaim
	if err := strictjson.Decode([]byte(strings.TrimSpace(body)), &read); err != nil || read.Actor == "" {
		return sharedClaim{}
	}
	return read
}

// DropClaim releases a review's claim on the remote, if by.Actor holds or forces it. On an unreachable remote the claim
// stays until it lapses.
func DropClaim(ctx context.Context, s *store.Store, remote, id string, by record.Hold) error {
	ctx, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	held, err := s.Repo.ReadShared(ctx, remote, claimRefs+id)
	if err != nil || held == "" {
		return err
	}
	holder, err := readClaim(ctx, s, held)
	if err != nil || (!record.SameActor(holder.Actor, by.Actor) || !s.Repo.Owns(holder.Writer)) && !by.Force {
		return err
	}
	return s.Repo.SwapShared(ctx, remote, claimRefs+id, "", held)
}

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

// Leases returns the valid leases of other clones as of the last fetch, by review. There are none without a remote.
func Leases(ctx context.Context, s *store.Store, remote string) (map[string]*LeasedError, error) {
	if remote == "" {
		return nil, nil
	}
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
