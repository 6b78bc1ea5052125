package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/record"
)

func TestTheNewestEvidenceCounts(t *testing.T) {
	run := stoppedRun()
	later := checked(head, record.CheckResult{Name: "typecheck"})
	later.At = epoch.Add(time.Minute)
	run.Checks = []record.CheckRun{later, run.Checks[0]} // events of two clones may arrive in any order
	if e := proofOf(run)["typecheck"]; e.state != passed || e.was != "ok" {
		t.Errorf("evidence %+v", e)
	}
	run.Interventions = []record.Intervention{{Attempts: 3, At: epoch.Add(time.Hour), Commands: []record.CheckResult{
		{Name: "typecheck", ExitCode: 2, Said: "1 error", Tree: string(head)},
		{Command: "npm run lint", ExitCode: 1}, {Command: "ls"},
	}}}
	known := proofOf(run)
	if e := known["typecheck"]; e.state != failed || e.was != "1 error" {
		t.Errorf("after an intervention: %+v", e)
	}
	if e := known["lint"]; e.state != failed || e.was != "exit 1" {
		t.Errorf("a check by its command: %+v", e)
	}
	if got := provided(run, known); !slices.Contains(got, "ls: ok") {
		t.Errorf("provided %q", got)
	}
	run.Attempts = append(run.Attempts, record.Attempt{Number: 4, Commit: first})
	run.Checks = append(run.Checks, record.CheckRun{Attempt: 4, Tree: first, At: epoch,
		Results: []record.CheckResult{{Name: "typecheck"}}})
	if e := proofOf(run)["typecheck"]; e.state != passed {
		t.Errorf("a check after the next attempt, by another clock: %+v", e)
	}
}

func TestWasOfEachState(t *testing.T) {
	run := stoppedRun()
	run.Attempts[0].Reverted = &record.Reverted{Attempt: 1}
	other := record.CheckRun{Attempt: 2, At: epoch, Tree: base, Results: []record.CheckResult{{Name: "build"}}}
	undone := record.CheckRun{Attempt: 1, At: epoch, Tree: first,
		Results: []record.CheckResult{{Name: "lint", ExitCode: -1, Reason: "timeout"}}}
	run.Checks = []record.CheckRun{undone, other,
		checked(head, record.CheckResult{Name: "typecheck", ExitCode: -1, Reason: "signal:KILL"})}
	known := proofOf(run)
	for i, want := range []evidence{
		{state: failed, was: "signal:KILL"}, {state: neverRun, was: "never run"},
		{state: stale, was: "timeout, on attempt 1, which was reverted"}, {state: stale, was: "ok, before the last attempt"},
	} {
		if got := known.of(run.Plan.Checks[i]); got.state != want.state || got.was != want.was {
			t.Errorf("%s: %d %q, want %d %q", run.Plan.Checks[i].Name, got.state, got.was, want.state, want.was)
		}
	}
}

func TestProvidedTellsWhatTheImplementerClaims(t *testing.T) {
	run := stoppedRun()
	run.Attempts[2].Verification, run.Attempts[2].Unchanged = "I ran it\nand it worked", []string{"ghost.txt"}
	want := []string{"typecheck: 3 errors", "test: 65%, need 80%", "lint: ok", "implementer: I ran it and it worked",
		"reported as changed, but unchanged: ghost.txt"}
	if got := provided(run, proofOf(run)); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
