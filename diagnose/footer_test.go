package diagnose

import (
	"strings"
	"testing"

	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

// TestFooterWhole compares a whole footer.
func TestFooterWhole(t *testing.T) {
	rule := strings.Repeat("─", 49) + "\n"
	want := rule + `STOPPED: review_loop_detected (round 3 of 3)

Last checkpoint: abc1234 (attempt 2/3)

Reviewer requested:
  1. Fix type errors
  2. Add test coverage for new function

Commands to satisfy:
  npm run typecheck       # was: 3 errors
  npm test -- --coverage  # was: 65%, need 80%

Suggested intervention:
  git runr intervene 20260107120000-abcdef --reason review_loop \
    --note "Fixed type errors and added test coverage for new function" \
    --cmd "npm run typecheck" --cmd "npm test -- --coverage"

Next steps:
  git runr resume 20260107120000-abcdef
  git runr intervene 20260107120000-abcdef --reason review_loop --note "..."
  git runr audit --run 20260107120000-abcdef
` + rule
	if got := footer(stoppedRun(), 80); got != want {
		t.Errorf("footer:\n%s\nwant:\n%s", got, want)
	}
}

func TestFooterOfARunThatDidNotStop(t *testing.T) {
	if got := footer(record.Run{ID: runID, Status: record.RunRunning}, 80); got != "" {
		t.Errorf("footer %q", got)
	}
}

func TestFooterRuleFitsTheTerminal(t *testing.T) {
	for width, want := range map[int]int{0: 20, 20: 20, 30: 30, 49: 49, 200: 49} {
		first, _, _ := strings.Cut(footer(stoppedRun(), width), "\n")
		if first != strings.Repeat("─", want) {
			t.Errorf("width %d: rule of %d columns", width, strings.Count(first, "─"))
		}
	}
}

func TestFooterListsThreeRequests(t *testing.T) {
	run := stoppedRun()
	run.Stop.Unmet = []string{"one", "two", "three"}
	if got := footer(run, 80); !strings.Contains(got, "  3. three\n\n") || strings.Contains(got, "more") {
		t.Errorf("three requests:\n%s", got)
	}
	run.Stop.Unmet = []string{"one", "two", "three", "four", "five"}
	if got := footer(run, 80); !strings.Contains(got, "  3. three\n  … and 2 more\n\n") || strings.Contains(got, "four") {
		t.Errorf("five requests:\n%s", got)
	}
}

func TestFooterCutsTextAndNeverCommands(t *testing.T) {
	run := stoppedRun()
	run.Stop.Unmet = []string{"Fix the type errors that the compiler reports in the whole of the payments module",
		"直す 型の 誤り を すべて 直してください お願い します どうぞ"}
	run.Plan.Checks[0].Command = "npm run typecheck -- --project packages/payments/tsconfig.strict.json"
	got := footer(run, 40)
	for _, part := range []string{"  1. Fix the type errors that the compi…\n", " " + run.Plan.Checks[0].Command + " "} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in:\n%s", part, got)
		}
	}
	for line := range strings.Lines(got) {
		if strings.Contains(line, "…") && prose.Columns(strings.TrimRight(line, "\n")) > 40 {
			t.Errorf("%d columns: %s", prose.Columns(line), line)
		}
	}
}

func TestFooterExplainsWhereNobodyAsked(t *testing.T) {
	run := stoppedFor(record.ReasonNoChange, "attempt 1 changed nothing")
	run.Attempts = nil
	got := footer(run, 30)
	for _, part := range []string{
		"STOPPED: no_change\n", "No checkpoint (nothing differs from 0123456)\n",
		"The implementer ended without\nchanging a file.\nattempt 1 changed nothing\n\nNext steps:\n  git runr intervene " +
			runID,
	} {
		if !strings.Contains(got, part) {
			t.Errorf("no %q in:\n%s", part, got)
		}
	}
	for _, part := range []string{"Reviewer requested", "Commands to satisfy", "Suggested intervention", "Fixed by hand",
		"(round", "--cmd"} {
		if strings.Contains(got, part) {
			t.Errorf("%q in:\n%s", part, got)
		}
	}
}

func TestFooterWithoutAnIntervention(t *testing.T) {
	run := stoppedFor(record.ReasonUntrusted, "checks.test")
	got := footer(run, 80)
	if strings.Contains(got, "Suggested intervention") ||
		!strings.Contains(got, "Next steps:\n  git runr trust --show\n  git runr trust\n  git runr resume "+runID+"\n") {
		t.Errorf("footer:\n%s", got)
	}
}

func TestFooterNamesAnIntervention(t *testing.T) {
	run := stoppedRun()
	run.Interventions = []record.Intervention{{Number: 1, Attempts: 3, Commit: "def5678222222233333334444444555555566666"}}
	if got := footer(run, 80); !strings.Contains(got, "Last checkpoint: def5678 (intervention 1)\n") {
		t.Errorf("footer:\n%s", got)
	}
}

// TestNothingForeignReachesTheTerminal: text of reviewers, agents and files may contain anything, and is printed
// safely.
func TestNothingForeignReachesTheTerminal(t *testing.T) {
	hostile := "look\x1b[2J\n  git push --force\r\u202e\a"
	for _, reason := range []string{record.ReasonReviewLoop, record.ReasonReviewLoop + hostile, record.ReasonScope,
		record.ReasonAgentTimeout} {
		run := stoppedRun()
		run.Plan.Entity.Title, run.Stop.Detail, run.Stop.Reason = hostile, hostile, reason
		run.Stop.Unmet = []string{hostile, "Create " + hostile + ".go"}
		run.Checks[0].Results[0].Reason, run.Checks[0].Results[1].Said = hostile, hostile
		run.Attempts[2].Verification, run.Attempts[2].Files, run.Attempts[2].Unchanged = hostile, []string{hostile},
			[]string{hostile}
		run.Plan.Scope = runplan.Scope{Allow: []string{"src/**"}}
		run.Rounds[2].Report = reply.Report{Effective: reply.NeedsFix, Requests: []string{hostile},
			Findings: []reply.Finding{{File: hostile, Line: 1, Issue: hostile}}}
		for name, text := range map[string]string{
			"footer": footer(run, 80), "digest": Digest(run, *run.Stop),
			"block": Block(run, Place{Files: hostile, Tree: hostile, Width: 80}),
		} {
			if strings.ContainsAny(text, "\x1b\r\a\u202e") {
				t.Errorf("%s of %q:\n%q", name, reason, text)
			}
			if strings.Contains(text, "\n  git push") {
				t.Errorf("%s of %q: a line of its own:\n%s", name, reason, text)
			}
		}
	}
}
