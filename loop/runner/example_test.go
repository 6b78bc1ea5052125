package runner_test

import (
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/runplan"
)

// exampleTime is the fixed clock of the example.
var exampleTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// A run is the sum of its events; the next step depends only on them.
func ExampleNext() {
	plan := runplan.Plan{Task: "say hello", Implementer: "mine", Policy: runplan.Policy{
		MaxRetries: 2,
		Workflow: []runplan.WorkStep{
			{Name: "implement", Kind: runplan.StepAgent}, {Name: "check", Kind: runplan.StepCheck},
			{Name: "review", Kind: runplan.StepReview},
		},
	}}
	var events []record.Event
	happened := func(eventType string, payload any) {
		body, err := json.Marshal(payload)
		if err != nil {
			log.Fatal(err)
		}
		events = append(events, record.Event{
			V: record.FormatVersion, Clock: uint64(len(events) + 1), Writer: "0123456789ab", Timestamp: exampleTime,
			Type: eventType, Run: "20260102030405-abcdef", Payload: body,
		})
		run, unreadable := record.FoldRun(events)
		if len(unreadable) > 0 {
			log.Fatal(unreadable)
		}
		step := runner.Next(run, plan.Policy)
		fmt.Printf("%s: %s\n", eventType, strings.TrimSpace(fmt.Sprint(step.Action, " ", step.Mode)))
	}
	attempt := record.Attempt{Number: 1, Step: "implement", Mode: record.ModeImplement, Commit: "c1", Tree: "t1",
		Files: []string{"hello.txt"}}
	happened(record.EventRunStarted.Name, plan)
	happened(record.EventAttemptStarted.Name, attempt)
	happened(record.EventAttemptCompleted.Name, attempt)
	happened(record.EventChecksCompleted.Name, record.CheckRun{Step: "check"})
	happened(record.EventRoundCompleted.Name, record.Round{
		Number: 1, Attempt: 1, Commit: "c1", Tree: "t1",
		Census: record.Census{Files: 1, Lines: 1, SentFiles: 1, SentLines: 1},
		Report: reply.Report{Verdict: reply.NeedsFix, Effective: reply.NeedsFix, Requests: []string{"say please"}},
	})
	// Output:
	// run_started: attempt implement
	// attempt_started: attempt implement
	// attempt_completed: checks
	// checks_completed: review
	// review_completed: attempt fix
}
