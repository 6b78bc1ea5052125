package reviewing

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/spend"
)

// The agents of a crew are called in turn until one answers. If none answers, the failure names all causes, or the
// call is repeated when a limit ends in time.
func TestCallsInTurn(t *testing.T) {
	limited := func(after time.Duration) record.Failure {
		return record.Failure{Reason: record.ReasonAgentFailed, Detail: "429", Transient: true,
			RetryAfter: duration.Duration(after)}
	}
	missing := record.Failure{Reason: record.ReasonAgentNotFound, Detail: "gone"}
	for name, tc := range map[string]struct {
		crew   string
		script []record.Failure // of each call; one without a reason is an answer
		wait   time.Duration
		asked  string
		reason string
		detail string
	}{
		"one that answers": {"a b", []record.Failure{{}}, 0, "a", "", ""},
		"the next one":     {"a b c", []record.Failure{missing, {}}, 0, "a b", "", ""},
		"nobody": {"a b", []record.Failure{missing, missing}, 0, "a b", record.ReasonAgentNotFound,
			"gone; gone"},
		"who may answer first": {"a b c", []record.Failure{missing, limited(0), limited(time.Hour)}, 0, "a b c",
			record.ReasonAgentFailed, "gone; 429; 429"},
		"what needs a person": {"a b", []record.Failure{{Reason: record.ReasonUntrusted}}, 0, "a",
			record.ReasonUntrusted, ""},
		"a quota that comes back": {"a b", []record.Failure{missing, limited(time.Minute), missing, {}}, time.Hour,
			"a b a b", "", ""},
		"and does not": {"a", []record.Failure{limited(40 * time.Minute), limited(40 * time.Minute)}, time.Hour,
			"a a", record.ReasonAgentFailed, "429"},
		"of which it is not said":    {"a", []record.Failure{limited(0)}, time.Hour, "a", record.ReasonAgentFailed, "429"},
		"what is not over by itself": {"a", []record.Failure{missing}, time.Hour, "a", record.ReasonAgentNotFound, "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			c := &Calls{crew: strings.Fields(tc.crew), say: func(string) {}, now: time.Now,
				Refuse: func(context.Context, spend.Usage) (*record.Failure, error) { return nil, nil }}
			c.Pause = func(_ context.Context, f record.Failure, waited time.Duration) (time.Duration, error) {
				if pause := time.Duration(f.RetryAfter); f.Transient && pause > 0 && waited+pause <= tc.wait {
					return pause, nil
				}
				return 0, nil
			}
			failure, err := c.Ask(t.Context(), func(name string) (spend.Usage, *record.Failure, error) {
				f := tc.script[len(asked)]
				asked = append(asked, name)
				if f.Reason == "" {
					return spend.Usage{Calls: 1}, nil, nil
				}
				return spend.Usage{Calls: 1}, &f, nil
			})
			if err != nil || strings.Join(asked, " ") != tc.asked || len(c.Made) != len(asked) {
				t.Errorf("asked %v, made %+v, %v", asked, c.Made, err)
			}
			if failure == nil {
				failure = &record.Failure{}
			}
			if failure.Reason != tc.reason || failure.Detail != tc.detail {
				t.Errorf("failure %+v", *failure)
			}
		})
	}
}

// After the first call, a call is refused if the budget is used up, and is not made if the tree cannot be restored.
// Calls that were made stay recorded.
func TestCallsThatAreNotMade(t *testing.T) {
	fails := func(string) (spend.Usage, *record.Failure, error) {
		return spend.Usage{Calls: 1, Input: 10}, &record.Failure{Reason: record.ReasonAgentKilled, Detail: "killed"}, nil
	}
	refused := &record.Failure{Reason: record.ReasonSpent}
	c := &Calls{crew: []string{"a", "b", "c"}, say: func(string) {}, now: time.Now,
		Refuse: func(_ context.Context, spent spend.Usage) (*record.Failure, error) {
			if spent.Tokens() >= 20 {
				return refused, nil
			}
			return nil, nil
		}}
	if failure, err := c.Ask(t.Context(), fails); failure != refused || err != nil || len(c.Made) != 2 {
		t.Errorf("%+v, %v, made %+v", failure, err, c.Made)
	}
	c = &Calls{crew: []string{"a", "b"}, say: func(string) {}, now: time.Now, Again: func() (bool, error) {
		return false, nil
	}, Refuse: func(context.Context, spend.Usage) (*record.Failure, error) { return nil, nil }}
	if failure, err := c.Ask(t.Context(), fails); failure == nil || failure.Detail != "killed" || err != nil ||
		len(c.Made) != 1 {
		t.Errorf("%+v, %v, made %+v", failure, err, c.Made)
	}
	at := time.Time{}
	c = &Calls{crew: []string{"a", "b"}, say: func(string) {}, now: func() time.Time {
		at = at.Add(time.Minute)
		return at
	}, Refuse: func(_ context.Context, spent spend.Usage) (*record.Failure, error) {
		if spent.Time != duration.Duration(time.Minute) {
			t.Errorf("it took %s", spent.Time)
		}
		return refused, nil
	}}
	if failure, err := c.Ask(t.Context(), fails); failure != refused || err != nil {
		t.Errorf("%+v, %v", failure, err)
	}
	stopped := errors.New("interrupted")
	c = &Calls{crew: []string{"a", "b"}, say: func(string) {}, now: time.Now}
	_, err := c.Ask(t.Context(), func(string) (spend.Usage, *record.Failure, error) {
		return spend.Usage{Calls: 1, Input: 3}, nil, stopped
	})
	if err != stopped || len(c.Made) != 1 || c.Made[0].Usage.Input != 3 {
		t.Errorf("%v, made %+v", err, c.Made)
	}
}
