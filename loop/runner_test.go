package loop

import (
	"reflect"
	"testing"
)

// A census counts what a reviewer saw: nothing, when there was none.
func TestNoCensusWithoutAReviewer(t *testing.T) {
	missing := &Failure{Reason: ReasonAgentNotFound}
	turn := &turn{Runner: &Runner{Progress: quiet{}, Reviewer: func(string) (Reviewer, *Failure) { return nil, missing }}, ctx: t.Context()}
	var round Round
	answer, err := turn.answer("nobody", &round)
	if err != nil || answer.Failure != missing || !reflect.DeepEqual(round.Census, Census{}) {
		t.Errorf("%+v, census %+v, %v", answer, round.Census, err)
	}
	run := foldRun(t, tell(t, testPlan(), "implement", "check ok", "review PASS failure="+ReasonAgentNotFound))
	if got := stepText(Next(run, run.Plan.Policy)); got != "stop "+ReasonAgentNotFound {
		t.Errorf("next is %q", got)
	}
}
