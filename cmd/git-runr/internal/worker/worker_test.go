package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/queue"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// Requests that need a person or lack an object do not keep a drain from ending.
func TestPending(t *testing.T) {
	missing := &record.Failure{Reason: record.ReasonObjects}
	for name, c := range map[string]struct {
		queue []queue.Entry
		want  bool
	}{
		"nothing":             {nil, false},
		"one is due":          {[]queue.Entry{{State: queue.StateDue}}, true},
		"one is tried later":  {[]queue.Entry{{State: queue.StateLater}}, true},
		"one is elsewhere":    {[]queue.Entry{{State: queue.StateElsewhere}}, true},
		"one failed":          {[]queue.Entry{{State: queue.StateFailed}}, false},
		"one lacks an object": {[]queue.Entry{{State: queue.StateLater, Failure: missing}}, false},
		"one of both is left": {[]queue.Entry{{State: queue.StateFailed}, {State: queue.StateDue}}, true},
		"failed, and an object": {[]queue.Entry{{State: queue.StateFailed}, {State: queue.StateLater, Failure: missing}},
			false},
	} {
		if got := pending(c.queue); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A worker without news looks again when the first wait in its queue ends.
func TestPatience(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := func(d time.Duration) queue.Entry { return queue.Entry{State: queue.StateLater, Until: now.Add(d)} }
	for name, c := range map[string]struct {
		mode   Mode
		forAll bool
		queue  []queue.Entry
		want   time.Duration
	}{
		"nothing is left":          {Watch, false, nil, 0},
		"the remote may have more": {Watch, true, nil, remotePause},
		"the earlier time counts": {Watch, true, []queue.Entry{later(time.Minute), later(10 * time.Second)},
			10 * time.Second},
		"a time that has passed": {Watch, false, []queue.Entry{later(-time.Minute)}, 0},
		"one is due":             {Watch, false, []queue.Entry{later(time.Minute), {State: queue.StateDue}}, othersPause},
		"others are at it":       {Drain, true, []queue.Entry{{State: queue.StateElsewhere}}, othersPause},
		"others, and no hurry":   {Watch, true, []queue.Entry{{State: queue.StateElsewhere}}, remotePause},
		"it failed for good":     {Drain, false, []queue.Entry{{State: queue.StateFailed}}, 0},
	} {
		duty := Duty{Store: store.NewStore(nil, func() time.Time { return now }), Mode: c.mode, ForAll: c.forAll}
		if got := duty.patience(c.queue); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A remote is waited for only with a time limit, and not after it refused.
func TestIsAway(t *testing.T) {
	bounded, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	over, end := context.WithTimeout(t.Context(), time.Hour)
	end()
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want bool
	}{
		"away":             {bounded, gitstore.ErrRemote, true},
		"without a limit":  {t.Context(), gitstore.ErrRemote, false},
		"the time is over": {over, gitstore.ErrRemote, false},
		"another error":    {bounded, errors.New("broken"), false},
		"it refused":       {bounded, errors.Join(gitstore.ErrRemote, &gitstore.RefusedError{}), false},
		"no error":         {bounded, nil, false},
	} {
		if got := isAway(c.ctx, c.err); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
