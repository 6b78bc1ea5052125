package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// TestBlockWhole compares a whole block. Its second code comes from the task's done criteria.
func TestBlockWhole(t *testing.T) {
	request := "Include npm run typecheck output in evidence"
	run := record.Run{
		ID: "20260106120000", Status: record.RunReviewing,
		Plan: runplan.Plan{
			Base: base, DoneCriteria: "- test coverage is reported\n", Checks: npmChecks()[:1],
			Policy: runplan.Policy{Workflow: runplan.DefaultWorkflow(), MaxRetries: 2},
		},
		Rounds: []record.Round{asked(1, request)},
		Stop:   &record.Stop{Reason: record.ReasonReviewLoop, Round: 3, MaxRounds: 2, Unmet: []string{request}},
	}
	want := `Run 20260106120000 STOPPED: review_loop_detected

Diagnostics:
  Loop count: 3
  Last reviewer request: "Include npm run typecheck output in evidence"

  Unmet checks:
    - typecheck_output_missing
    - test_coverage_not_reported

  Suggested actions:
    1. Run: npm run typecheck 2>&1 | tee .git/runr/runs/20260106120000/typecheck.log
    2. Resume: git runr resume 20260106120000

    Or use intervention:
       git runr intervene 20260106120000 --reason review_loop \
         --note "Ran typecheck manually" \
         --cmd "npm run typecheck"
`
	if got := Block(run, Place{Files: ".git/runr/runs/20260106120000", Width: 80}); got != want {
		t.Errorf("block:\n%s\nwant:\n%s", got, want)
	}
}

func TestBlockTellsHowRequestsFared(t *testing.T) {
	run := stoppedRun()
	run.Rounds = []record.Round{
		asked(1, "Rename the helper to parseDate", "Fix type errors"), asked(2, "Fix type errors"),
		asked(3, "Fix type errors", "Remove the debug output"),
	}
	run.Stop.Unmet = run.Rounds[2].Report.Requests
	got := Block(run, Place{Width: 80})
	want := `
  Requests:
    - Fix type errors (unmet: asked for 3 times, first in round 1)
    - Remove the debug output (new)
    - Rename the helper to parseDate (not asked for again since round 1)
`
	if !strings.Contains(got, want) {
		t.Errorf("block:\n%s\nwant in it:\n%s", got, want)
	}
}

func TestBlockSaysWhereAndWhen(t *testing.T) {
	run := stoppedFor(record.ReasonAgentIdle, "no output for 10m0s")
	run.Stop.LastActivity = run.Stop.At.Add(-10 * time.Minute)
	got := Block(run, Place{Tree: "my tree/it's", Width: 60})
	for _, part := range []string{
		"  The agent printed nothing for longer than its idle limit\n  and was stopped.\n  no output for 10m0s\n",
		"  Last activity: 2026-01-07T12:50:00Z, 10m0s before the stop\n", `  Working tree: 'my tree/it'\''s'` + "\n",
		"    1. Resume: git runr resume " + runID + "\n    2. Log: git runr log " + runID +
			"\n    3. Abort: git runr abort " + runID + "\n",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in:\n%s", part, got)
		}
	}
}

func TestBlockNamesPlacesToEdit(t *testing.T) {
	run := stoppedRun()
	run.Rounds[2].Report.Findings = []reply.Finding{{File: "src/a.ts", Line: 12, Issue: "The type is wrong"},
		{Issue: "No place"}}
	if got := Block(run, Place{Width: 80}); !strings.Contains(got,
		"    6. Edit: src/a.ts:12  The type is wrong\n\n    Or use") {
		t.Errorf("block:\n%s", got)
	}
}

func TestBlockNamesFiles(t *testing.T) {
	scope := stoppedFor(record.ReasonScope, "go.mod")
	scope.Plan.Scope = runplan.Scope{Allow: []string{"src/**"}}
	scope.Attempts[2].Files = []string{"src/a.ts", "go.mod"}
	conflict := stoppedFor(record.ReasonRevertConflict, "1 file changed since attempt 3")
	conflict.Attempts[2].Reverted = &record.Reverted{Attempt: 3, Conflicts: []string{"go.mod"}}
	for _, run := range []record.Run{scope, conflict} {
		got := Block(run, Place{Width: 80})
		if !strings.Contains(got, "  Files:\n    - go.mod\n") || !strings.Contains(got, ". Edit: go.mod  ") ||
			strings.Contains(got, "src/a.ts") {
			t.Errorf("%s:\n%s", run.Stop.Reason, got)
		}
	}
}

func TestBlockWithoutFilesHasNoTee(t *testing.T) {
	for _, dir := range []string{"", "a\nb"} {
		if got := Block(stoppedRun(), Place{Files: dir, Width: 80}); !strings.Contains(got, "1. Run: npm run typecheck\n") {
			t.Errorf("%q:\n%s", dir, got)
		}
	}
	if got := Block(stoppedRun(), Place{Files: "a b", Width: 80}); !strings.Contains(got,
		"1. Run: npm run typecheck 2>&1 | tee \"a b/typecheck.log\"\n") {
		t.Errorf("block:\n%s", got)
	}
}
