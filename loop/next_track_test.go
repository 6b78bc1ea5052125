package loop

import (
	"slices"
	"testing"

	"git-runr/loop/internal/roundtest"
	"git-runr/loop/internal/runtest"
	"git-runr/loop/record"
	"git-runr/loop/reply"
)

// refusedRun is a run whose reviews refused with the requests of rounds, as
// roundtest.Read reads them, and whose last event is the newest of them.
func refusedRun(t *testing.T, rounds ...string) record.Run {
	plan := runtest.Plan()
	plan.Policy.MaxRetries = 9
	s := &story{t: t, tree: "tree-0"}
	s.add(record.EventRunStarted.Name, plan)
	for i, text := range rounds {
		s.line([]string{"implement", "fix"}[min(i, 1)])
		s.line("check ok")
		s.rounds++
		round := roundOf(s.rounds, text)
		round.Attempt, round.Reviewer, round.Tree = s.attempt, "rev", s.tree
		round.Census = record.Census{Files: 1, Lines: 3, SentFiles: 1, SentLines: 3}
		if round.Report.Findings == nil {
			round.Report.Findings = []reply.Finding{}
		}
		s.add(record.EventRoundCompleted.Name, record.RoundPayload{Step: "review", Round: round})
	}
	return foldRun(t, s.events)
}

func TestNextTracksRequests(t *testing.T) {
	moved := "auth.go:40 warning: the result of `Decode` is used without checking its error"
	for _, test := range []struct {
		name   string
		rounds []string
		want   []string
	}{
		{"a finding with other words at another line", []string{
			"auth.go:12 warning: error from `Decode` is ignored", "auth.go:14 warning: `Decode`: its error is not checked", moved,
		}, []string{reply.FindingID(roundOf(1, moved).Report.Findings[0])}},
		{"two findings in one file", []string{
			"auth.go:12 warning: error from `Decode` is ignored", "auth.go:12 warning: the token is written to the log", "auth.go:12 warning: missing test for expired sessions",
		}, nil},
		{"findings that take turns", []string{
			"auth.go:12 warning: error from `Decode` is ignored", "auth.go:12 warning: the token is written to the log", moved,
		}, nil},
		{"a request in prose, reworded", []string{"Add test coverage for new function", "The new function still needs test coverage", "Test coverage for the new function is missing"},
			[]string{"Test coverage for the new function is missing"}},
		{"prose that became a finding", []string{"Check the error of `Decode` in auth.go", "auth.go:12 warning: error from `Decode` is ignored", moved},
			[]string{reply.FindingID(roundOf(1, moved).Report.Findings[0])}},
		{"requests that take turns", []string{"Use a mutex", "Use a channel", "Use a mutex"}, nil},
		{"opposite requests", []string{"Log the token", "Do not log the token", "Log the token"}, nil},
		{"twice only", []string{"Fix type errors", "Fix type errors"}, nil},
		{"in the last three", []string{"Use a channel", "Fix type errors", "Resolve the type errors", "Type errors remain"}, []string{"Type errors remain"}},
		{"a note may stay", []string{"a.go:3 note: trailing whitespace", "a.go:3 note: trailing whitespace", "a.go:3 note: trailing whitespace"}, nil},
		{"an id that is another's place", []string{"a.go:3 warning: the loop never ends", "a.go:3 warning: the loop never ends\nFix type errors", "a.go:9 warning: the loop never ends\nFix type errors"},
			[]string{reply.FindingID(reply.Finding{File: "a.go", Issue: "the loop never ends"})}},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := refusedRun(t, test.rounds...)
			step := Next(run, run.Plan.Policy)
			if !slices.Equal(step.Repeated, test.want) || (step.Action == DoExhaust) != (test.want != nil) {
				t.Errorf("next is %s, repeated %q, want %q", step.Action, step.Repeated, test.want)
			}
		})
	}
}

func roundOf(number int, text string) record.Round {
	round := record.Round{Number: number}
	var failed bool
	if round.Report, failed = roundtest.Read(text); failed {
		round.Failure = &record.Failure{Reason: record.ReasonAgentFailed}
	}
	return round
}
