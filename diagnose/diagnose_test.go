package diagnose

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
	"github.com/git-runr/git-runr/loop/track"
)

func TestRequestsOfTheLastRound(t *testing.T) {
	run := stoppedRun()
	if d := Of(run, record.Stop{Reason: record.ReasonInterrupted}); !slices.Equal(d.LastReviewRequests,
		run.Rounds[2].Report.Requests) {
		t.Errorf("requests %q", d.LastReviewRequests)
	}
	run.Rounds = append(run.Rounds, record.Round{Number: 4,
		Report: reply.Report{Effective: reply.PassWithNotes, Requests: []string{"a nit"}}})
	if d := Of(run, record.Stop{Reason: record.ReasonInterrupted}); len(d.LastReviewRequests) > 0 {
		t.Errorf("a review that passed requests %q", d.LastReviewRequests)
	}
}

func TestRequestsOverTheRounds(t *testing.T) {
	run := stoppedRun()
	run.Rounds = []record.Round{asked(1, "Fix type errors", "Rename the helper"), asked(2, "Rename the helper"),
		asked(3, "fix type errors.")}
	got := map[string]track.State{}
	for _, r := range diagnosisOf(run).Requests {
		got[r.Text] = r.State
	}
	if len(got) != 2 || got["fix type errors."] != track.CameBack || got["Rename the helper"] != track.NotAsked {
		t.Errorf("requests %v", got)
	}
}

// A request is called met only if the newest evidence shows it.
func TestMetIsShown(t *testing.T) {
	run := stoppedRun()
	check := record.Round{Number: 1, Report: reply.Report{Effective: reply.NeedsFix, Findings: []reply.Finding{
		{Severity: reply.Warning, Issue: "check lint: 2 problems", Rule: record.RuleOfCheck + "lint"},
		{Severity: reply.Warning, Issue: "check typecheck: 3 errors", Rule: record.RuleOfCheck + "typecheck"},
	}}}
	run.Rounds = []record.Round{check, asked(2, "Provide the output of the lint check",
		"Please provide the typecheck output", "The lint rules are wrong"), asked(3, "Rename the helper")}
	got := map[string]track.State{}
	for _, r := range diagnosisOf(run).Requests {
		got[r.Text] = r.State
	}
	for text, want := range map[string]track.State{
		"check lint: 2 problems": track.Met, "check typecheck: 3 errors": track.NotAsked,
		"Provide the output of the lint check": track.Met,
		"Please provide the typecheck output":  track.NotAsked, "The lint rules are wrong": track.NotAsked,
		"Rename the helper": track.New,
	} {
		if got[text] != want {
			t.Errorf("%q is %q, want %q", text, got[text], want)
		}
	}
}

// TestEveryReasonHasNextSteps: each stop reason has one to three next steps. They name the run, and suggest resume
// only if the run can be resumed.
func TestEveryReasonHasNextSteps(t *testing.T) {
	codes := []string{"of_a_newer_program"}
	for _, r := range record.Reasons() {
		codes = append(codes, r.Code)
	}
	for _, code := range codes {
		d := diagnosisOf(stoppedFor(code, ""))
		if d.StopReason != code || d.Explanation == "" || len(d.NextSteps) == 0 || len(d.NextSteps) > 3 ||
			len(d.SuggestedActions) == 0 {
			t.Errorf("%s: %+v", code, d)
		}
		for _, s := range d.NextSteps {
			setting := strings.HasPrefix(s.Command, "git config runr.")
			aboutRun := strings.Contains(s.Command, runID) || strings.HasPrefix(s.Command, "git runr trust")
			if !setting && (!strings.HasPrefix(s.Command, "git runr ") || !aboutRun) || s.What == "" ||
				strings.Contains(s.Command, "RUN") {
				t.Errorf("%s: offers %q: %q", code, s.Command, s.What)
			}
		}
		resume := slices.ContainsFunc(d.NextSteps, func(s record.NextStep) bool {
			return s.Command == "git runr resume "+runID
		})
		if resume != d.Resumable && code != record.ReasonReviewNotPassed && code != record.ReasonHuman {
			t.Errorf("%s: resume is offered: %v", code, resume)
		}
	}
}

// TestReasonsOfStops lists for each reason what a person must be told.
func TestReasonsOfStops(t *testing.T) {
	scope := stoppedFor(record.ReasonScope, "go.mod")
	scope.Plan.Scope = runplan.Scope{Allow: []string{"src/**"}}
	scope.Attempts[2].Files = []string{"go.mod", "src/a.ts"}
	conflict := stoppedFor(record.ReasonRevertConflict, "1 file changed since attempt 3")
	conflict.Attempts[2].Reverted = &record.Reverted{Attempt: 3, Conflicts: []string{"src/b.ts"}}
	left := stoppedFor(record.ReasonRevertConflict, "1 file changed in your checkout since the executor")
	left.Attempts[2].Reverted = &record.Reverted{Attempt: 3, Left: []string{"src/c.ts"}}
	unclaimed := stoppedFor(record.ReasonUnclaimed, "mine.ts")
	unclaimed.Attempts[2].Unclaimed = []string{"mine.ts"}
	failing := stoppedFor(record.ReasonChecksFailed, "step \"check\" failed 3 times")
	failing.Checks = stoppedRun().Checks
	for _, test := range []struct {
		run    record.Run
		action Action // an action that must be suggested
		unmet  string
		by     string // reason of the intervention
	}{
		{stoppedRun(), Action{Command: "npm run typecheck"}, "typecheck_failed", "review_loop"},
		{failing, Action{Command: "npm test -- --coverage"}, "test_coverage_insufficient", "verification_failed"},
		{scope, Action{Edit: "go.mod"}, "", "scope_violation"},
		{conflict, Action{Edit: "src/b.ts"}, "", "revert_conflict"},
		{left, Action{Edit: "src/c.ts"}, "", "revert_conflict"},
		{unclaimed, Action{Edit: "mine.ts"}, "", "manual_fix"},
		{stoppedFor(record.ReasonAgentTimeout, "30m0s"), Action{Command: "git runr resume " + runID}, "", "stalled_timeout"},
		{stoppedFor(record.ReasonAgentIdle, "10m0s"), Action{Command: "git runr log " + runID}, "", "stalled_timeout"},
		{stoppedFor(record.ReasonAgentFailed, "exit 1"), Action{Command: "git runr resume " + runID}, "", "agent_failed"},
		{stoppedFor(record.ReasonAgentNotFound, "codex"), Action{Command: "git runr resume " + runID}, "", ""},
		{stoppedFor(record.ReasonAgentEmpty, ""), Action{Command: "git runr log " + runID}, "", "agent_failed"},
		{stoppedFor(record.ReasonAgentKilled, "signal:KILL"), Action{Command: "git runr resume " + runID}, "",
			"agent_failed"},
		{stoppedFor(record.ReasonReviewUnreadable, ""), Action{Command: "git runr log " + runID}, "", "review_loop"},
		{stoppedFor(record.ReasonNothing, ""), Action{Command: "git runr abort " + runID}, "", ""},
		{stoppedFor(record.ReasonUntrusted, "checks.test"), Action{Command: "git runr trust"}, "", ""},
		{stoppedFor(record.ReasonBudget, "2h"), Action{Command: "git runr resume " + runID}, "", "stalled_timeout"},
		{stoppedFor(record.ReasonNoChange, "attempt 3 changed nothing"), Action{Command: "git runr resume " + runID}, "",
			"no_progress"},
		{stoppedFor(record.ReasonNoProgress, "attempt 3 brought back the tree of attempt 1"),
			Action{Command: "git runr resume " + runID + " --commit"}, "", "no_progress"},
		{stoppedFor(record.ReasonBlocked, ""), Action{Command: "git runr abort " + runID}, "", "manual_fix"},
		{stoppedFor(record.ReasonInterrupted, ""), Action{Command: "git runr resume " + runID}, "", "other"},
		{stoppedFor(record.ReasonHuman, ""), Action{Command: "git runr show " + runID}, "", "manual_fix"},
		{stoppedFor("of_a_newer_program", "something"), Action{Command: "git runr log " + runID}, "", "other"},
	} {
		d := diagnosisOf(test.run)
		suggested := slices.ContainsFunc(d.SuggestedActions, func(a Action) bool {
			return a.Command == test.action.Command && a.Edit == test.action.Edit && a.Description != ""
		})
		if !suggested {
			t.Errorf("%s: %+v is not among %+v", d.StopReason, test.action, d.SuggestedActions)
		}
		if test.unmet != "" && !slices.Contains(d.UnmetChecks, test.unmet) || test.unmet == "" && len(d.UnmetChecks) > 0 {
			t.Errorf("%s: unmet %q", d.StopReason, d.UnmetChecks)
		}
		if d.Intervention != "" && (test.by == "" || !strings.Contains(d.Intervention, test.by)) {
			t.Errorf("%s: intervention %q", d.StopReason, d.Intervention)
		}
		reason := record.ReasonOf(d.StopReason)
		if d.Detail != test.run.Stop.Detail || d.Family != reason.Family || d.ExitStatus != reason.Status ||
			d.RunID != runID || d.Title != "T1: Add a thing" {
			t.Errorf("%s: %+v", d.StopReason, d)
		}
	}
}

func TestLastActivity(t *testing.T) {
	run := stoppedFor(record.ReasonAgentTimeout, "30m0s")
	run.Stop.LastActivity = epoch.Add(50 * time.Minute)
	if d := diagnosisOf(run); !d.LastActivityAt.Equal(run.Stop.LastActivity) || d.TimeSinceActivity != 10*60*1000 {
		t.Errorf("activity %v, %d ms before", d.LastActivityAt, d.TimeSinceActivity)
	}
	run.Stop.LastActivity = time.Time{}
	run.Attempts[2].StartedAt, run.Attempts[2].EndedAt, run.Attempts[2].Failure = epoch.Add(30*time.Minute),
		epoch.Add(time.Hour), &record.Failure{Reason: record.ReasonAgentTimeout}
	if d := diagnosisOf(run); !d.LastActivityAt.Equal(epoch.Add(30*time.Minute)) || d.TimeSinceActivity != 30*60*1000 {
		t.Errorf("without a word of the agent's: %v, %d ms before", d.LastActivityAt, d.TimeSinceActivity)
	}
	if d := Of(run, record.Stop{Reason: record.ReasonAgentTimeout}); d.TimeSinceActivity != 30*60*1000 {
		t.Errorf("before the stop has a time: %d ms", d.TimeSinceActivity)
	}
	if d := diagnosisOf(stoppedRun()); !d.LastActivityAt.IsZero() {
		t.Errorf("a review loop's last activity is %v", d.LastActivityAt)
	}
}

func TestCheckpoint(t *testing.T) {
	run := stoppedRun()
	if c := diagnosisOf(run).Checkpoint; c == nil || *c != (Checkpoint{Commit: head, Attempt: 2, Attempts: 3}) {
		t.Errorf("checkpoint %+v", c)
	}
	run.Attempts[1].Reverted = &record.Reverted{Attempt: 2}
	if c := diagnosisOf(run).Checkpoint; c == nil || *c != (Checkpoint{Commit: first, Attempt: 1, Attempts: 3}) {
		t.Errorf("after a revert: %+v", c)
	}
	run.Attempts = run.Attempts[2:]
	if c := diagnosisOf(run).Checkpoint; c != nil {
		t.Errorf("of nothing: %+v", c)
	}
}

func TestEditsAreBounded(t *testing.T) {
	run := stoppedRun()
	for range 2 * editsShown {
		run.Rounds[2].Report.Findings = append(run.Rounds[2].Report.Findings,
			reply.Finding{File: "a.go", Line: 1, Issue: "x"})
	}
	if got := edits(run, *run.Stop, nil); len(got) != editsShown {
		t.Errorf("%d edits", len(got))
	}
}

func TestExplain(t *testing.T) {
	run := stoppedRun()
	given := record.Stop{Reason: record.ReasonReviewLoop, Round: 3, MaxRounds: 2}
	stop, files := Explain(run, given)
	if stop.Reason != given.Reason || stop.Round != 3 || stop.MaxRounds != 2 || len(given.Commands) != 0 {
		t.Errorf("stop %+v, given %+v", stop, given)
	}
	if !slices.Equal(stop.Unmet, run.Rounds[2].Report.Requests) ||
		!slices.Equal(stop.Commands, []string{"npm run typecheck", "npm test -- --coverage"}) ||
		!slices.Equal(stop.UnmetChecks, []string{"typecheck_failed", "test_coverage_insufficient"}) ||
		stop.Intervention == "" || len(stop.NextSteps) != 3 {
		t.Errorf("stop %+v", stop)
	}
	if len(files) != 2 || string(files["review_digest.md"]) != Digest(run, given) {
		t.Errorf("%d files, digest:\n%s", len(files), files["review_digest.md"])
	}
	var d map[string]any
	if err := json.Unmarshal(files["stop_diagnostics.json"], &d); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{
		"v", "stop_reason", "explanation", "loop_count", "last_review_requests", "last_evidence_provided", "unmet_checks",
		"suggested_actions",
		"run_id", "title", "family", "resumable", "exit_status", "round", "max_rounds", "checkpoint", "requests",
		"suggested_commands", "next_steps", "intervention",
	} {
		if d[field] == nil {
			t.Errorf("stop_diagnostics.json has no %s", field)
		}
	}
	if d["v"] != 1.0 || d["stop_reason"] != "review_loop_detected" || d["loop_count"] != 3.0 {
		t.Errorf("stop_diagnostics.json: %v", d)
	}
}

func TestCommandsAreConfiguredInJSONAndPortableOnTheTerminal(t *testing.T) {
	run := stoppedRun()
	run.Plan.Checks[0].Command = "npm ci && npm run typecheck"
	stop, _ := Explain(run, *run.Stop)
	d := diagnosisOf(run)
	if stop.Commands[0] != "npm ci && npm run typecheck" || d.SuggestedCommands[0].Command != stop.Commands[0] {
		t.Errorf("commands %q", stop.Commands)
	}
	if want := "sh -c 'npm ci && npm run typecheck'"; d.SuggestedActions[0].Command != want ||
		!strings.Contains(footer(run, 80), "\n  "+want+"  # was") {
		t.Errorf("action %+v, footer:\n%s", d.SuggestedActions[0], footer(run, 80))
	}
	if !strings.Contains(d.Intervention, "--cmd 'npm ci && npm run typecheck'") {
		t.Errorf("intervention %s", d.Intervention)
	}
}
