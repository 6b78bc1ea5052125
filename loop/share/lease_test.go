package share

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/store"
)

func TestLeaseCounts(t *testing.T) {
	now := runtest.Epoch
	for name, c := range map[string]struct {
		until  time.Duration // counted from now
		review string
		want   bool
	}{
		"taken now":                     {LeaseTime, "r", true},
		"about to lapse":                {time.Second, "r", true},
		"lapsed, by clocks that differ": {-leaseSkew + time.Second, "r", true},
		"lapsed":                        {-leaseSkew, "r", false},
		"lapsed long ago":               {-1000 * time.Hour, "r", false},
		"of a clock a little ahead":     {LeaseTime + leaseSkew, "r", true},
		"of a clock far ahead":          {LeaseTime + leaseSkew + time.Second, "r", false},
		"for ever":                      {100 * 365 * 24 * time.Hour, "r", false},
		"of another review":             {LeaseTime, "s", false},
	} {
		lease := sharedClaim{Review: c.review, Actor: "ann", Writer: "w", Until: now.Add(c.until)}
		if got := lease.counts("r", now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if (sharedClaim{Review: "r", Actor: "ann"}).counts("r", now) {
		t.Error("a lease without an end counts")
	}
}

// FuzzLease: whatever a hostile remote stores in the place of a lease, it blocks a review no longer than a lease
// lasts.
func FuzzLease(f *testing.F) {
	f.Add("lease of review r\n\n" +
		"{\"v\":1,\"review\":\"r\",\"actor\":\"ann\",\"writer\":\"w\"," +
		"\"at\":\"2026-01-07T12:00:00Z\",\"until\":\"2026-01-07T12:10:00Z\"}\n")
	f.Add("lease\n\n{\"review\":\"r\",\"actor\":\"a\",\"until\":\"9999-12-31T23:59:59Z\"}")
	f.Add("x\n\n{\"review\":\"r\",\"actor\":\"a\",\"Until\":\"2026-01-07T12:10:00Z\"}")
	f.Add("\n\n{}")
	f.Add("")
	f.Fuzz(func(t *testing.T, message string) {
		lease := decodeClaim(message)
		after := runtest.Epoch.Add(2*(LeaseTime+leaseSkew) + time.Second)
		if lease.counts("r", runtest.Epoch) && lease.counts("r", after) {
			t.Errorf("it counts for ever: %+v", lease)
		}
		if lease.counts("r", runtest.Epoch) && !strings.Contains(message, `"r"`) {
			t.Errorf("it is of another review: %+v", lease)
		}
	})
}

// leasedClones returns two clones, of which the first has a lease of the review.
func leasedClones(t *testing.T, now *time.Time) (a, b *store.Store, lease *Lease) {
	t.Helper()
	a, b, id := twoClones(t, now)
	lease, err := TakeLease(context.Background(), a, "origin", id)
	if err != nil {
		t.Fatal(err)
	}
	return a, b, lease
}

func TestTakeLeaseIsExclusive(t *testing.T) {
	ctx, now := context.Background(), runtest.Epoch
	a, b, lease := leasedClones(t, &now)
	id := lease.Review
	leased := new(LeasedError)
	if _, err := TakeLease(ctx, b, "origin", id); !errors.As(err, &leased) || leased.Review != id ||
		!leased.Until.Equal(now.Add(LeaseTime)) {
		t.Errorf("two have it: %v", err)
	}
	if known, err := Leases(ctx, b, "origin"); err != nil || known[id] == nil {
		t.Errorf("%v, %v", known, err)
	}
	if own, err := OwnLeases(ctx, b, "origin"); err != nil || len(own) > 0 {
		t.Errorf("a lease that was not had is noted: %v, %v", own, err)
	}
	now = now.Add(time.Second)
	if _, err := TakeLease(ctx, a, "origin", id); err != nil {
		t.Errorf("the clone that has it: %v", err)
	}
	now = now.Add(time.Second)
	if err := RenewLease(ctx, a, lease); !errors.Is(err, gitstore.ErrLostRace) {
		t.Errorf("a lease that was taken anew is renewed by who had it before: %v", err)
	}
	if err := DropLease(ctx, a, lease); err != nil {
		t.Fatal(err)
	}
	if _, err := TakeLease(ctx, b, "origin", id); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
}

func TestLapsedLeaseIsTakenOver(t *testing.T) {
	ctx, now := context.Background(), runtest.Epoch
	a, b, lease := leasedClones(t, &now)
	id := lease.Review
	now = now.Add(LeaseTime)
	if err := RenewLease(ctx, a, lease); err != nil {
		t.Fatal(err)
	}
	now = now.Add(LeaseTime)
	if _, err := TakeLease(ctx, b, "origin", id); !errors.As(err, new(*LeasedError)) {
		t.Errorf("a renewed lease was taken over: %v", err)
	}
	now = now.Add(leaseSkew)
	if _, err := TakeLease(ctx, b, "origin", id); err != nil {
		t.Errorf("a lapsed lease is not to be had: %v", err)
	}
	if err := RenewLease(ctx, a, lease); !errors.Is(err, gitstore.ErrLostRace) {
		t.Errorf("a lost lease was renewed: %v", err)
	}
	if err := DropLease(ctx, a, lease); err != nil {
		t.Fatal(err)
	}
	if _, err := TakeLease(ctx, a, "origin", id); !errors.As(err, new(*LeasedError)) {
		t.Errorf("giving back took somebody else's: %v", err)
	}
}

// An object that is no lease, in the place of a lease, blocks nobody.
func TestHostileLease(t *testing.T) {
	ctx := context.Background()
	now := runtest.Epoch
	a, _, id := twoClones(t, &now)
	head, err := a.Repo.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []gitstore.ID{head, mustTree(t, a)} {
		if err := a.Repo.SwapShared(ctx, "origin", leaseRefs+id, what, ""); err != nil {
			t.Fatal(err)
		}
		if err := FetchLeases(ctx, a, "origin"); err != nil {
			t.Fatal(err)
		}
		if known, err := Leases(ctx, a, "origin"); err != nil || len(known) > 0 {
			t.Errorf("%v, %v", known, err)
		}
		lease, err := TakeLease(ctx, a, "origin", id)
		if err == nil {
			err = DropLease(ctx, a, lease)
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func mustTree(t *testing.T, s *store.Store) gitstore.ID {
	t.Helper()
	tree, err := s.Repo.EmptyTree(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestLeaseAwayFromItsRemote(t *testing.T) {
	ctx := context.Background()
	now := runtest.Epoch
	a, _, id := twoClones(t, &now)
	if err := a.Repo.SetConfig(ctx, "remote.origin.url", t.TempDir()+"/gone"); err != nil {
		t.Fatal(err)
	}
	if _, err := TakeLease(ctx, a, "origin", id); !errors.Is(err, gitstore.ErrRemote) {
		t.Errorf("%v", err)
	}
	if own, err := OwnLeases(ctx, a, "origin"); err != nil || len(own) != 1 {
		t.Errorf("it may have been pushed, and is not noted: %v, %v", own, err)
	}
}
