package runner

import (
	"slices"
	"testing"

	"github.com/git-runr/git-runr/loop/internal/roundtest"
	"github.com/git-runr/git-runr/loop/internal/runtest"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// refusedRun returns a run whose reviews refused with the requests of rounds, in the format of roundtest.Read. Its
// last event is the newest review.
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
	const decode = "auth.go:12 warning: error from `Decode` is ignored"
	const changed = "a.go:3 warning: the loop never ends" // each attempt changes a.go
	for _, test := range []struct {
		name   string
		rounds []string
		want   []string
	}{
		{"the same words of a line that nobody touched", []string{decode, decode, decode + "."},
			[]string{reply.FindingID(roundOf(1, decode).Report.Findings[0])}},
		{"the file was changed: nobody knows", []string{changed, changed, changed}, nil},
		{"other words", []string{decode, "auth.go:12 warning: `Decode`: its error is not checked", decode}, nil},
		{"another line", []string{decode, decode, "auth.go:14 warning: error from `Decode` is ignored"}, nil},
		{"another name", []string{decode, "auth.go:12 warning: error from `Encode` is ignored", decode}, nil},
		{"two findings in one file", []string{
			decode, "auth.go:12 warning: the token is written to the log",
			"auth.go:12 warning: missing test for expired sessions",
		}, nil},
		{"findings that take turns", []string{decode, "auth.go:12 warning: the token is written to the log", decode}, nil},
		{"prose has no place", []string{"Fix type errors", "Fix type errors", "Fix type errors"}, nil},
		{"opposite requests", []string{"Log the token", "Do not log the token", "Log the token"}, nil},
		{"twice only", []string{decode, decode}, nil},
		{"in the last three", []string{"Use a channel", decode, decode, decode},
			[]string{reply.FindingID(roundOf(1, decode).Report.Findings[0])}},
		{"a note may stay", []string{"b.go:3 note: trailing whitespace", "b.go:3 note: trailing whitespace",
			"b.go:3 note: trailing whitespace"}, nil},
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
