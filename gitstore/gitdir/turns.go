package gitdir

import (
	"context"
	"sync"
	"time"
)

// longestPoll is the pause between two tries to get a lock that another holds.
const longestPoll = 50 * time.Millisecond

// turns keeps a process that locks in a loop from shutting others out. Who waits for a lock polls, and such a process
// has it again before the next poll. So after a second of locking it first waits as long as a poll takes.
type turns struct {
	mu    sync.Mutex
	locks map[string]turn
}

// turn is a row of acquisitions of one lock, none of them a second after the one before.
type turn struct{ first, last time.Time }

// pause returns how long to wait before the next try to get the lock name. A nil turns never waits.
func (t *turns) pause(name string, now time.Time) time.Duration {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.locks == nil {
		t.locks = map[string]turn{}
	}
	row := t.locks[name]
	switch {
	case now.Sub(row.last) > time.Second:
		t.locks[name] = turn{first: now, last: now}
		return 0
	case now.Sub(row.first) < time.Second:
		t.locks[name] = turn{first: row.first, last: now}
		return 0
	}
	delete(t.locks, name)
	return longestPoll * 3 / 2 // the jitter of WaitFor included
}

// wait gives others a chance at the lock name.
func (t *turns) wait(ctx context.Context, name string) error {
	pause := t.pause(name, time.Now())
	if pause == 0 {
		return nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
