package share

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/testrepo"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// twoClones returns two clones of one remote, both with a submitted review. Both read the time from now.
func twoClones(t *testing.T, now *time.Time) (a, b *store.Store, review string) {
	t.Helper()
	ctx := context.Background()
	a, b, _ = runtest.Clones(t, func() time.Time { return *now })
	subject, err := a.Subject(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	made, err := a.RequestReview(ctx, record.ReviewRequest{Subject: subject, Reviewer: record.Human}, "cli")
	if err == nil {
		_, err = a.SubmitPerson(ctx, made.ID, record.Person{Actor: "ann", Decision: record.RequestChanges,
			Message: "mend it"})
	}
	for _, s := range []*store.Store{a, b} {
		if err == nil {
			_, err = Sync(ctx, s, "origin", false)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return a, b, made.ID
}

func holderOf(err error) string {
	state := new(record.StateError)
	if errors.As(err, &state) {
		return state.Holder
	}
	return ""
}

func TestClaimIsDecidedOnTheRemote(t *testing.T) {
	ctx := context.Background()
	now := runtest.Epoch
	a, b, id := twoClones(t, &now)
	claimed, provisional, err := Claim(ctx, a, "origin", id, record.Hold{Actor: "one"})
	if err != nil || provisional != "" || !claimed.Claim.Shared {
		t.Fatalf("%q, %+v, %v", provisional, claimed.Claim, err)
	}
	if _, _, err := Claim(ctx, b, "origin", id, record.Hold{Actor: "two"}); holderOf(err) != "one" {
		t.Errorf("claimed in a clone that has not heard of it: %v", err)
	}
	if err := DropClaim(ctx, a, "origin", id, record.Hold{Actor: "one"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Claim(ctx, b, "origin", id, record.Hold{Actor: "two"}); err != nil {
		t.Errorf("after it was given back: %v", err)
	}
}

func TestRenewedClaimHoldsOnTheRemote(t *testing.T) {
	ctx := context.Background()
	now := runtest.Epoch
	a, b, id := twoClones(t, &now)
	hold := record.Hold{Actor: "one", Lease: 30 * time.Minute}
	if _, _, err := Claim(ctx, a, "origin", id, hold); err != nil {
		t.Fatal(err)
	}
	now = now.Add(20 * time.Minute)
	if err := RenewClaim(ctx, a, "origin", id, hold); err != nil {
		t.Fatal(err)
	}
	now = now.Add(20 * time.Minute)
	if _, _, err := Claim(ctx, b, "origin", id, record.Hold{Actor: "two"}); holderOf(err) != "one" {
		t.Errorf("a renewed claim was taken over: %v", err)
	}
	now = now.Add(20 * time.Minute)
	if _, _, err := Claim(ctx, b, "origin", id, record.Hold{Actor: "two"}); err != nil {
		t.Errorf("a lapsed claim is not to be had: %v", err)
	}
}

func TestRenewingTakesNothingBack(t *testing.T) {
	ctx := context.Background()
	now := runtest.Epoch
	a, _, id := twoClones(t, &now)
	hold := record.Hold{Actor: "one", Lease: time.Hour}
	if _, _, err := Claim(ctx, a, "origin", id, hold); err != nil {
		t.Fatal(err)
	}
	if _, err := a.ReleaseReview(ctx, id, record.Hold{Actor: "ann", Force: true}); err != nil {
		t.Fatal(err)
	}
	if err := RenewClaim(ctx, a, "origin", id, hold); !errors.As(err, new(*record.StateError)) {
		t.Errorf("a released claim is renewed: %v", err)
	}
	if review, err := a.Review(ctx, id); err != nil || review.Status != record.ReviewSubmitted {
		t.Errorf("%s, %v", review.Status, err)
	}
}

// TestProvisionalClaimThatIsRefused: if a provisional claim is refused, nothing is undone on the remote, because it
// never arrived there.
func TestProvisionalClaimThatIsRefused(t *testing.T) {
	ctx := context.Background()
	now := runtest.Epoch
	a, _, id := twoClones(t, &now)
	testrepo.Git(t, a.Repo.WorkTree, "remote", "set-url", "origin", filepath.Join(t.TempDir(), "gone"))
	gone := runtest.GitStore(t, a.Repo.WorkTree)
	clock := 0
	gone.Now = func() time.Time { // somebody claims it while the remote is asked
		if clock++; clock == 2 {
			if _, err := a.ClaimReview(ctx, id, record.Hold{Actor: "two"}); err != nil {
				t.Error(err)
			}
		}
		return now
	}
	_, _, err := Claim(ctx, gone, "origin", id, record.Hold{Actor: "one"})
	if holderOf(err) != "two" || errors.Is(err, gitstore.ErrRemote) {
		t.Errorf("%v", err)
	}
}

// A claim that the remote has not confirmed is not recorded as shared.
func TestProvisionalClaimIsNotShared(t *testing.T) {
	now := runtest.Epoch
	a, _, id := twoClones(t, &now)
	testrepo.Git(t, a.Repo.WorkTree, "remote", "set-url", "origin", filepath.Join(t.TempDir(), "gone"))
	claimed, provisional, err := Claim(t.Context(), runtest.GitStore(t, a.Repo.WorkTree), "origin", id,
		record.Hold{Actor: "one"})
	if err != nil || provisional == "" || claimed.Claim.Shared {
		t.Errorf("%q, %+v, %v", provisional, claimed.Claim, err)
	}
}

// The time limit for the remote may pass just as the remote answers.
func TestOutOfReach(t *testing.T) {
	ctx, ended := context.Background(), context.Background()
	ended, cancel := context.WithCancel(ended)
	cancel()
	late := fmt.Errorf("take a lock: %w", context.DeadlineExceeded)
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want bool
	}{
		"it has the claim":          {ctx, nil, false},
		"somebody else has it":      {ctx, &record.StateError{Holder: "bob"}, false},
		"it did not answer":         {ctx, fmt.Errorf("%w: gone", gitstore.ErrRemote), true},
		"it refused":                {ctx, &gitstore.RefusedError{Remote: "origin"}, true},
		"the time is over":          {ctx, late, true},
		"the caller gave up":        {ended, late, false},
		"something else goes wrong": {ctx, errors.New("disk"), false},
	} {
		if got := outOfReach(c.ctx, c.err); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSharedClaimKeepsOthersFromTheReview: a shared claim holds even before its event arrives, and after the remote
// became unreachable, until its end is known.
func TestSharedClaimKeepsOthersFromTheReview(t *testing.T) {
	ctx := context.Background()
	now := runtest.Epoch
	a, b, id := twoClones(t, &now)
	url := testrepo.Git(t, b.Repo.WorkTree, "remote", "get-url", "origin")
	away := func(s *store.Store) {
		testrepo.Git(t, s.Repo.WorkTree, "remote", "set-url", "origin", filepath.Join(t.TempDir(), "gone"))
	}
	if _, _, err := Claim(ctx, a, "origin", id, record.Hold{Actor: "one"}); err != nil {
		t.Fatal(err)
	}
	check := func(actor string, force bool) string {
		_, err := CheckClaim(ctx, b, "origin", id, record.Hold{Actor: actor, Force: force}, true)
		if err != nil && holderOf(err) == "" {
			t.Error(err)
		}
		return holderOf(err)
	}
	if got := []string{check("two", false), check("one", false), check("two", true)}; !slices.Equal(got,
		[]string{"one", "one (another claim)", ""}) {
		t.Errorf("held by %q", got)
	}
	away(b)
	if holder := check("two", false); holder != "one" {
		t.Errorf("with the remote away: held by %q", holder)
	}
	away(a) // the claim's ref on the remote stays
	now = now.Add(time.Minute)
	if _, err := a.ReleaseReview(ctx, id, record.Hold{Actor: "one"}); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*store.Store{a, b} {
		testrepo.Git(t, s.Repo.WorkTree, "remote", "set-url", "origin", url)
		if _, err := Sync(ctx, s, "origin", false); err != nil {
			t.Fatal(err)
		}
	}
	if holder := check("two", false); holder != "" {
		t.Errorf("it was given back, and is held by %q", holder)
	}
	if _, _, err := Claim(ctx, b, "origin", id, record.Hold{Actor: "two"}); err != nil {
		t.Errorf("it was given back, and cannot be claimed: %v", err)
	}
}
