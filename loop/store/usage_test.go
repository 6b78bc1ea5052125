package store

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/spend"
)

// The usage that a log claims is bounded: a negative cost adds nothing to a budget, and a sum can always be written
// as JSON.
func TestSpendingOfHostileEvents(t *testing.T) {
	run := record.Run{}
	start := eventAt(1, record.EventRunStarted.Name, runplan.Plan{})
	start.Run = "20260102030405-abc123"
	if err := run.Apply(start); err != nil {
		t.Fatal(err)
	}
	for i, u := range []spend.Usage{{Calls: 1, Input: 10, Cost: 1}, {Input: -100, Cost: -5},
		{Input: math.MaxInt64, Cost: math.MaxFloat64}, {Output: math.MaxInt64, Cost: math.MaxFloat64}} {
		e := eventAt(i+2, record.EventAttemptCompleted.Name,
			record.Attempt{Number: 1, Agent: "a", Spent: spend.Spent{Usage: u}})
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
		if run.Usage.Cost < 1 || run.Usage.Tokens() < 10 {
			t.Errorf("after %+v: %+v", u, run.Usage)
		}
	}
	if _, err := json.Marshal(run); err != nil {
		t.Error(err)
	}
}

func TestRaisedLimits(t *testing.T) {
	for _, tc := range []struct {
		setting runplan.Setting
		spent   spend.Usage
		want    string
	}{
		{runplan.Setting{Name: runplan.SettingCost, Value: "2"}, spend.Usage{Cost: 2.111},
			"git runr resume RUN --max-cost 4.23"},
		{runplan.Setting{Name: runplan.SettingTokens, Value: "1000"}, spend.Usage{Input: 10},
			"git runr resume RUN --max-tokens 2000"},
		{runplan.Setting{Name: runplan.SettingDayCost, Value: "2"}, spend.Usage{}, "git config runr.loop.maxCostPerDay 4"},
		{runplan.Setting{Name: runplan.SettingDayTokens, Value: "2"}, spend.Usage{Output: 7},
			"git config runr.loop.maxTokensPerDay 14"},
	} {
		stop := record.Stop{Reason: record.ReasonSpent, Setting: &tc.setting, Reached: tc.spent}
		if got := stop.Explained().Next[0].Command; got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// The usage of a call counts even if its result arrived too late to count.
func TestLostEventsCostAllTheSame(t *testing.T) {
	const id = "20260102030405-abc123"
	event := func(n int, kind string, payload any) record.Event {
		e := eventAt(n, kind, payload)
		e.Review, e.Run = id, id
		return e
	}
	answer := record.Submission{Reviewer: "bot", Tree: "1234567890123456789012345678901234567890",
		Spent: spend.Spent{Usage: spend.Usage{Calls: 1, Input: 7}}}
	review, bad := record.FoldReview([]record.Event{
		event(1, record.EventReviewRequested.Name, record.ReviewRequest{Reviewer: "bot"}),
		event(2, record.EventReviewFailed.Name, record.Failure{Reason: record.ReasonAgentKilled, Spent: answer.Spent}),
		event(3, record.EventReviewSubmitted.Name, answer), event(4, record.EventReviewSubmitted.Name, answer),
	})
	if len(review.Lost) != 1 || len(review.Submissions) != 1 || len(bad) > 0 ||
		review.Usage != (spend.Usage{Calls: 3, Input: 21}) {
		t.Errorf("%v, lost %+v, %v", review.Usage.Input, review.Lost, bad)
	}
	attempt := record.Attempt{Number: 1, Agent: "bot", Spent: answer.Spent}
	run, bad := record.FoldRun([]record.Event{
		event(1, record.EventRunStarted.Name, runplan.Plan{}), event(2, record.EventAttemptCompleted.Name, attempt),
		event(3, record.EventAttemptCompleted.Name, attempt),
		event(4, record.EventRunAborted.Name, struct{}{}), event(5, record.EventAttemptCompleted.Name, attempt),
	})
	if len(run.Attempts) != 1 || len(run.Lost) != 1 || len(bad) > 0 || run.Usage != (spend.Usage{Calls: 3, Input: 21}) ||
		run.Spending["bot"] != run.Usage {
		t.Errorf("%v, lost %+v, %v", run.Usage.Input, run.Lost, bad)
	}
}
