package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// What waits for a person or for an object does not keep a drain from ending.
func TestPending(t *testing.T) {
	missing := &record.Failure{Reason: record.ReasonObjects}
	for name, c := range map[string]struct {
		queue []loop.Turn
		want  bool
	}{
		"nothing":               {nil, false},
		"one is due":            {[]loop.Turn{{State: loop.TurnDue}}, true},
		"one is tried later":    {[]loop.Turn{{State: loop.TurnLater}}, true},
		"one is elsewhere":      {[]loop.Turn{{State: loop.TurnElsewhere}}, true},
		"one failed":            {[]loop.Turn{{State: loop.TurnFailed}}, false},
		"one lacks an object":   {[]loop.Turn{{State: loop.TurnLater, Failure: missing}}, false},
		"one of both is left":   {[]loop.Turn{{State: loop.TurnFailed}, {State: loop.TurnDue}}, true},
		"failed, and an object": {[]loop.Turn{{State: loop.TurnFailed}, {State: loop.TurnLater, Failure: missing}}, false},
	} {
		if got := pending(c.queue); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A worker without news looks again when the first time of its queue comes.
func TestPatience(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := func(d time.Duration) loop.Turn { return loop.Turn{State: loop.TurnLater, Until: now.Add(d)} }
	for name, c := range map[string]struct {
		mode   Mode
		forAll bool
		queue  []loop.Turn
		want   time.Duration
	}{
		"nothing is left":          {Watch, false, nil, 0},
		"the remote may have more": {Watch, true, nil, remotePause},
		"the earlier time counts":  {Watch, true, []loop.Turn{later(time.Minute), later(10 * time.Second)}, 10 * time.Second},
		"a time that has passed":   {Watch, false, []loop.Turn{later(-time.Minute)}, 0},
		"one is due":               {Watch, false, []loop.Turn{later(time.Minute), {State: loop.TurnDue}}, othersPause},
		"others are at it":         {Drain, true, []loop.Turn{{State: loop.TurnElsewhere}}, othersPause},
		"others, and no hurry":     {Watch, true, []loop.Turn{{State: loop.TurnElsewhere}}, remotePause},
		"it failed for good":       {Drain, false, []loop.Turn{{State: loop.TurnFailed}}, 0},
	} {
		duty := Duty{Store: store.NewStore(nil, func() time.Time { return now }), Mode: c.mode, ForAll: c.forAll}
		if got := duty.patience(c.queue); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A remote is waited for only where there is a time limit, and not when it said no.
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
