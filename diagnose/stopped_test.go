package diagnose

import (
	"time"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/runplan"
)

const (
	runID = "20260107120000-abcdef"
	base  = gitstore.ID("0123456789012345678901234567890123456789")
	first = gitstore.ID("1111111222222233333334444444555555566666")
	head  = gitstore.ID("abc1234222222233333334444444555555566666")
)

var epoch = time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC)

// npmChecks returns the checks of a JavaScript project.
func npmChecks() []runplan.Check {
	return []runplan.Check{
		{Name: "typecheck", Command: "npm run typecheck"},
		{Name: "test", Command: "npm test -- --coverage"},
		{Name: "lint", Command: "npm run lint"},
		{Name: "build", Command: "npm run build"},
	}
}

// asked returns a round that did not pass and made these requests.
func asked(number int, requests ...string) record.Round {
	return record.Round{Number: number, Attempt: number, At: epoch,
		Report: reply.Report{Effective: reply.NeedsFix, Requests: requests}}
}

// stoppedRun returns a run that stopped in a loop: the reviewer made the same two requests twice, and two of three
// attempts have a commit.
func stoppedRun() record.Run {
	wanted := []string{"Fix type errors", "Add test coverage for new function"}
	return record.Run{
		ID: runID, Status: record.RunReviewing, CreatedAt: epoch, UpdatedAt: epoch.Add(time.Hour),
		Plan: runplan.Plan{
			Entity: runplan.Entity{Identifier: "T1", Title: "Add a thing"}, Base: base, Checks: npmChecks(),
			Policy: runplan.Policy{Workflow: runplan.DefaultWorkflow(), MaxRetries: 2},
		},
		Attempts: []record.Attempt{
			{Number: 1, Commit: first, Files: []string{"src/a.ts"}, StartedAt: epoch, EndedAt: epoch},
			{Number: 2, Commit: head, Files: []string{"src/a.ts", "src/b.ts"}, StartedAt: epoch, EndedAt: epoch},
			{Number: 3, StartedAt: epoch, EndedAt: epoch},
		},
		Checks: []record.CheckRun{checked(head,
			record.CheckResult{Name: "typecheck", Command: "npm run typecheck", ExitCode: 2, Said: "3 errors"},
			record.CheckResult{Name: "test", Command: "npm test -- --coverage", ExitCode: 1, Said: "65%, need 80%"},
			record.CheckResult{Name: "lint", Command: "npm run lint"},
		)},
		Rounds: []record.Round{asked(1, wanted[0]), asked(2, wanted...), asked(3, wanted...)},
		Stop: &record.Stop{Reason: record.ReasonReviewLoop, Round: 3, MaxRounds: 2, Unmet: wanted,
			At: epoch.Add(time.Hour)},
	}
}

// checked returns a check step on tree after the third attempt.
func checked(tree gitstore.ID, results ...record.CheckResult) record.CheckRun {
	return record.CheckRun{Step: "check", Attempt: 3, Tree: tree, Results: results, At: epoch}
}

// stoppedFor returns stoppedRun with another stop reason, and without reviews and checks.
func stoppedFor(reason, detail string) record.Run {
	run := stoppedRun()
	run.Rounds, run.Checks = nil, nil
	run.Stop = &record.Stop{Reason: reason, Detail: detail, At: epoch.Add(time.Hour)}
	return run
}

func diagnosisOf(run record.Run) Diagnosis { return Of(run, *run.Stop) }

// footer returns the footer of a run for a terminal of that width.
func footer(run record.Run, width int) string { return Footer(run, Place{Width: width}) }

// Block returns the block of a run that stopped.
func Block(run record.Run, place Place) string { return Of(run, *run.Stop).Block(place) }

// Digest returns the digest of a run that stopped for stop.
func Digest(run record.Run, stop record.Stop) string { return Of(run, stop).Digest() }
