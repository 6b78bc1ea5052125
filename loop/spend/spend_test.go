package spend

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/duration"
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
	if got := (Spending{"b": {Calls: 1}, "a": {Input: 5,
		Cost: 1}}).String(); got != "5 tokens, $1.00: a 5 tokens, $1.00; b does not tell" {
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
		{[]Call{{Agent: "a", Reason: "x", Waited: duration.Duration(time.Minute)}, {Agent: "a"}}, "a", 2},
		{[]Call{{Agent: "a", Reason: "x"}, {Agent: "b"}, {Agent: "a", Reason: "x"}, {Agent: "c"}}, "b and c in place of a",
			4},
	} {
		spent := NewSpent("a", tc.calls)
		if by := spent.By("a"); by != tc.by || len(spent.Calls) != tc.keeps {
			t.Errorf("%+v: by %q, %d calls kept", tc.calls, by, len(spent.Calls))
		}
	}
	lines := NewSpent("a", []Call{{Agent: "a", Reason: "x", Detail: "y", Waited: duration.Duration(time.Minute)},
		{Agent: "a"}}).PassedOver()
	if want := []string{"a gave no answer: x: y; waited 1m"}; !reflect.DeepEqual(lines, want) {
		t.Errorf("%q", lines)
	}
}
