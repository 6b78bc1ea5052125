package record

import (
	"slices"
	"testing"

	"github.com/git-runr/git-runr/loop/runplan"
)

func TestStopInOtherNames(t *testing.T) {
	for _, test := range []struct {
		name, eventType, payload string
		want                     Stop
	}{
		{
			"our names", EventReviewLoopDetected.Name,
			`{"reason":"x","round":3,"max_rounds":2,"unmet_requests":["a"],"suggested_commands":["b"]}`,
			Stop{Reason: "x", Round: 3, MaxRounds: 2, Unmet: []string{"a"}, Commands: []string{"b"}},
		},
		{
			"runr's names", EventReviewLoopDetected.Name,
			`{"milestone_index":0,"review_rounds":3,"max_review_rounds":2,"same_fingerprint":true,"reviewer_requests":["a"],"commands_to_satisfy":["b"]}`,
			Stop{Reason: ReasonReviewLoop, Round: 3, MaxRounds: 2, Unmet: []string{"a"}, Commands: []string{"b"}},
		},
		{
			"both: ours count", EventReviewLoopDetected.Name,
			`{"round":3,"review_rounds":9,"max_review_rounds":2,"unmet_requests":["a"],"reviewer_requests":["z"],"commands_to_satisfy":["b"]}`,
			Stop{Reason: ReasonReviewLoop, Round: 3, MaxRounds: 2, Unmet: []string{"a"}, Commands: []string{"b"}},
		},
		{"runr's stop", EventRunStopped.Name, `{"reason":"stalled_timeout","error":"no progress"}`,
			Stop{Reason: ReasonAgentIdle, Detail: "no progress"}},
		{"no reason", EventRunStopped.Name, `{}`, Stop{}},
	} {
		e := eventAt(1, test.eventType, test.payload)
		got, err := EventRunStopped.Payload(e)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got.Reason != test.want.Reason || got.Detail != test.want.Detail || got.Round != test.want.Round ||
			got.MaxRounds != test.want.MaxRounds ||
			!slices.Equal(got.Unmet, test.want.Unmet) || !slices.Equal(got.Commands, test.want.Commands) ||
			!got.At.Equal(e.Timestamp) {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
	for _, bad := range []string{`[]`, `{"Round":3}`, `{"review_rounds":"3"}`, `{"Reviewer_Requests":[]}`} {
		if got, err := EventRunStopped.Payload(eventAt(1, EventReviewLoopDetected.Name, bad)); err == nil {
			t.Errorf("%s is read as %+v", bad, got)
		}
	}
}

// TestFoldReadsTheOtherNames: a run from a timeline in runr's format stops with the same status as a native one.
func TestFoldReadsTheOtherNames(t *testing.T) {
	stop := eventAt(2, EventReviewLoopDetected.Name, `{"review_rounds":3,"max_review_rounds":2,"reviewer_requests":["a"]}`)
	start := eventAt(1, EventRunStarted.Name,
		runplan.Plan{Base: "b", Policy: runplan.Policy{Workflow: runplan.DefaultWorkflow()}})
	start.Run, stop.Run = testRun, testRun
	run, bad := FoldRun([]Event{start, stop})
	if len(bad) > 0 || run.Stop == nil || run.Status != RunReviewing || run.Stop.Round != 3 ||
		!slices.Equal(run.Stop.Unmet, []string{"a"}) {
		t.Errorf("%v %+v, unreadable %v", run.Status, run.Stop, bad)
	}
}
