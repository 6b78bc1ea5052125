package gitdir

import (
	"context"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore/testrepo"
)

// TestLockInALoop: a process that has a lock again as soon as it gave it back does not shut another one out.
func TestLockInALoop(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	testrepo.Git(t, dir, "init", "-q")
	looping, err := Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan error, 1)
	for turn := range 200 {
		unlock, err := looping.Lock(ctx, "log")
		if err != nil {
			t.Fatal(err)
		}
		if turn == 0 {
			go func() {
				unlock, err := waiting.Lock(ctx, "log")
				if err == nil {
					unlock()
				}
				got <- err
			}()
		}
		time.Sleep(20 * time.Millisecond)
		unlock()
		select {
		case err := <-got:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
	t.Error("the other process did not get the lock")
	<-got
}

// TestTurns: the pause comes after a second of locking without one, and once.
func TestTurns(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var ours turns
	for _, at := range []struct {
		ms   int
		want time.Duration
	}{
		{0, 0}, {400, 0}, {900, 0}, {1100, longestPoll * 3 / 2}, {1200, 0}, {2000, 0}, {2300, longestPoll * 3 / 2},
		{2400, 0}, {4000, 0}, {4900, 0}, // 1.6 s without a lock begin a new row
	} {
		if got := ours.pause("log", begin.Add(time.Duration(at.ms)*time.Millisecond)); got != at.want {
			t.Errorf("after %d ms: a pause of %s, want %s", at.ms, got, at.want)
		}
	}
	if got := ours.pause("refs", begin.Add(1100*time.Millisecond)); got != 0 {
		t.Errorf("another lock: a pause of %s", got)
	}
}
