package runner

import (
	"github.com/git-runr/git-runr/loop/checking"
	"reflect"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/role"
	"github.com/git-runr/git-runr/loop/store"
)

// Without a reviewer the round's census is empty, because nobody saw the change.
func TestNoCensusWithoutAReviewer(t *testing.T) {
	missing := &record.Failure{Reason: record.ReasonAgentNotFound}
	turn := &execution{Runner: &Runner{Store: store.NewStore(nil, time.Now), Progress: checking.Quiet{},
		Reviewer: func(string) (role.Reviewer, *record.Failure) { return nil, missing }}, ctx: t.Context()}
	var round record.Round
	answer, err := turn.answer("nobody", &round)
	if err != nil || answer.Failure == nil || !reflect.DeepEqual(*answer.Failure, *missing) ||
		!reflect.DeepEqual(round.Census, record.Census{}) {
		t.Errorf("%+v, census %+v, %v", answer, round.Census, err)
	}
	run := foldRun(t, tell(t, runtest.Plan(), "implement", "check ok", "review PASS failure="+record.ReasonAgentNotFound))
	if got := stepText(Next(run, run.Plan.Policy)); got != "stop "+record.ReasonAgentNotFound {
		t.Errorf("next is %q", got)
	}
}
