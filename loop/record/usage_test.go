package record

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"
)

func TestUsageText(t *testing.T) {
	for _, tc := range []struct {
		u    Usage
		want string
	}{
		{Usage{}, ""},
		{Usage{Calls: 3}, ""},
		{Usage{Input: 1}, "1 token"},
		{Usage{Input: 999}, "999 tokens"},
		{Usage{Input: 12000, Cached: 11000, Output: 345, Cost: 0.42}, "12,345 tokens, $0.42"},
		{Usage{Input: 1234567}, "1,234,567 tokens"},
		{Usage{Cost: 0.0042}, "$0.0042"},
		{Usage{Cost: 0.00001}, "less than $0.0001"},
		{Usage{Cost: 1234.5}, "$1234.50"},
	} {
		if got := tc.u.String(); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.u, got, tc.want)
		}
	}
	if got := (Spending{"b": {Calls: 1}, "a": {Input: 5, Cost: 1}}).String(); got != "5 tokens, $1.00: a 5 tokens, $1.00; b does not tell" {
		t.Errorf("%q", got)
	}
}

func TestUsageAddsUp(t *testing.T) {
	sum := Usage{}
	for range 3 {
		sum = sum.Add(Usage{Calls: 1, Input: 10, Cached: 2, Output: 3, Cost: 0.1, Time: 7})
	}
	if want := (Usage{3, 30, 6, 9, 0.3, 21}); sum != want {
		t.Errorf("%+v, want %+v", sum, want)
	}
	if got := (Usage{Input: math.MaxInt64 - 1}).Add(Usage{Input: 5}).Input; got != math.MaxInt64 {
		t.Errorf("overflows to %d", got)
	}
}

// What a log claims is bounded: a negative cost gives no budget back, and a sum is a
// number in JSON.
func TestSpendingOfHostileEvents(t *testing.T) {
	run := Run{}
	start := eventAt(1, EventRunStarted.Name, RunPlan{})
	start.Run = "20260102030405-abc123"
	if err := run.Apply(start); err != nil {
		t.Fatal(err)
	}
	for i, u := range []Usage{{Calls: 1, Input: 10, Cost: 1}, {Input: -100, Cost: -5}, {Input: math.MaxInt64, Cost: math.MaxFloat64}, {Output: math.MaxInt64, Cost: math.MaxFloat64}} {
		e := eventAt(i+2, EventAttemptCompleted.Name, Attempt{Number: 1, Agent: "a", Spent: Spent{Usage: u}})
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

func TestSpentBy(t *testing.T) {
	for _, tc := range []struct {
		calls []Call
		by    string
		keeps int // calls
	}{
		{nil, "a", 0},
		{[]Call{{Agent: "a"}, {Agent: "a"}}, "a", 0},
		{[]Call{{Agent: "a", Reason: "x"}}, "a", 0},
		{[]Call{{Agent: "a", Reason: "x"}, {Agent: "b"}}, "b in place of a", 2},
		{[]Call{{Agent: "a", Reason: "x"}, {Agent: "b", Reason: "y"}}, "a", 2},
		{[]Call{{Agent: "a"}, {Agent: "a", Reason: "x"}, {Agent: "b"}}, "a and b", 3},
		{[]Call{{Agent: "a", Reason: "x", Waited: Duration(time.Minute)}, {Agent: "a"}}, "a", 2},
		{[]Call{{Agent: "a", Reason: "x"}, {Agent: "b"}, {Agent: "a", Reason: "x"}, {Agent: "c"}}, "b and c in place of a", 4},
	} {
		spent := NewSpent("a", tc.calls)
		if by := spent.By("a"); by != tc.by || len(spent.Calls) != tc.keeps {
			t.Errorf("%+v: by %q, %d calls kept", tc.calls, by, len(spent.Calls))
		}
	}
	lines := NewSpent("a", []Call{{Agent: "a", Reason: "x", Detail: "y", Waited: Duration(time.Minute)}, {Agent: "a"}}).PassedOver()
	if want := []string{"a gave no answer: x: y; waited 1m"}; !reflect.DeepEqual(lines, want) {
		t.Errorf("%q", lines)
	}
}

func TestLimitsOfAResumption(t *testing.T) {
	typed, git := Setting{SettingCost, "1", "--max-cost"}, Setting{SettingCost, "5", "git config"}
	plan := RunPlan{Policy: Policy{Budget: Budget{Cost: 1, Tokens: 9}}, Settings: []Setting{{SettingRetries, "2", "default"}, typed, {SettingTokens, "9", ".runr.toml"}}}
	for name, tc := range map[string]struct{ now, want RunLimits }{
		"what was typed stays, what is configured is that of now": {RunLimits{Budget: Budget{Cost: 5}, Settings: []Setting{git}}, RunLimits{Budget: Budget{Cost: 1}, Settings: []Setting{typed}}},
		"where nothing is configured as well":                     {RunLimits{}, RunLimits{Budget: Budget{Cost: 1}, Settings: []Setting{typed}}},
		"until it is typed again":                                 {RunLimits{Budget: Budget{Cost: 7}, Settings: []Setting{{SettingCost, "7", "--max-cost"}}}, RunLimits{Budget: Budget{Cost: 7}, Settings: []Setting{{SettingCost, "7", "--max-cost"}}}},
	} {
		got := plan.LimitsFrom(tc.now)
		if !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
		resumed := plan
		resumed.setLimits(got)
		if !reflect.DeepEqual(resumed.Limits(), tc.want) || resumed.Settings[0].Name != SettingRetries {
			t.Errorf("%s: recorded as %+v", name, resumed.Settings)
		}
	}
}

func TestRaisedLimits(t *testing.T) {
	for _, tc := range []struct {
		setting Setting
		spent   Usage
		want    string
	}{
		{Setting{Name: SettingCost, Value: "2"}, Usage{Cost: 2.111}, "git runr resume RUN --max-cost 4.23"},
		{Setting{Name: SettingTokens, Value: "1000"}, Usage{Input: 10}, "git runr resume RUN --max-tokens 2000"},
		{Setting{Name: SettingDayCost, Value: "2"}, Usage{}, "git config runr.loop.maxCostPerDay 4"},
		{Setting{Name: SettingDayTokens, Value: "2"}, Usage{Output: 7}, "git config runr.loop.maxTokensPerDay 14"},
	} {
		stop := Stop{Reason: ReasonSpent, Setting: &tc.setting, Reached: tc.spent}
		if got := stop.Explained().Next[0].Command; got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// What calls took counts although what came of them came too late to count.
func TestLostEventsCostAllTheSame(t *testing.T) {
	const id = "20260102030405-abc123"
	event := func(n int, kind string, payload any) Event {
		e := eventAt(n, kind, payload)
		e.Review, e.Run = id, id
		return e
	}
	answer := Submission{Reviewer: "bot", Tree: "1234567890123456789012345678901234567890", Spent: Spent{Usage: Usage{Calls: 1, Input: 7}}}
	review, bad := FoldReview([]Event{
		event(1, EventReviewRequested.Name, ReviewRequest{Reviewer: "bot"}), event(2, EventReviewFailed.Name, Failure{Reason: ReasonAgentKilled, Spent: answer.Spent}),
		event(3, EventReviewSubmitted.Name, answer), event(4, EventReviewSubmitted.Name, answer),
	})
	if len(review.Lost) != 1 || len(review.Submissions) != 1 || len(bad) > 0 || review.Usage != (Usage{Calls: 3, Input: 21}) {
		t.Errorf("%v, lost %+v, %v", review.Usage.Input, review.Lost, bad)
	}
	attempt := Attempt{Number: 1, Agent: "bot", Spent: answer.Spent}
	run, bad := FoldRun([]Event{
		event(1, EventRunStarted.Name, RunPlan{}), event(2, EventAttemptCompleted.Name, attempt), event(3, EventAttemptCompleted.Name, attempt),
		event(4, EventRunAborted.Name, struct{}{}), event(5, EventAttemptCompleted.Name, attempt),
	})
	if len(run.Attempts) != 1 || len(run.Lost) != 1 || len(bad) > 0 || run.Usage != (Usage{Calls: 3, Input: 21}) || run.Spending["bot"] != run.Usage {
		t.Errorf("%v, lost %+v, %v", run.Usage.Input, run.Lost, bad)
	}
}
