package record

import (
	"slices"

	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/track"
)

// Tracked converts rounds of the run for package track, which follows requests over rounds. Files that a revert or a
// person changed count as changed between any two rounds.
func (r Run) Tracked(rounds []Round) []track.Round {
	people := slices.Concat(each.Of(r.Interventions, func(iv Intervention) []string { return iv.Files })...)
	tracked, before := make([]track.Round, len(rounds)), 0
	for i, round := range rounds {
		files := slices.Clone(people)
		for _, a := range r.Attempts {
			if a.Reverted != nil || before < a.Number && a.Number <= round.Attempt {
				files = append(files, a.Files...)
			}
		}
		before = round.Attempt
		tracked[i] = track.Round{Number: round.Number, By: round.Reviewer, Report: round.Report, Failed: round.Failure != nil,
			Changed: files}
	}
	return tracked
}

// lastSaid returns the newest round with a usable answer, or nil.
func (r *Run) lastSaid() *Round {
	return last(each.Where(r.Rounds, Round.said))
}

// Open returns the findings and requests of the newest usable review, or else those of the plan.
func (r Run) Open() ([]reply.Finding, []string) {
	if round := r.lastSaid(); round != nil {
		return round.Report.Findings, round.Report.Requests
	}
	return r.Plan.Findings, r.Plan.Requests
}

// Said returns the newest usable review in its reviewer's own words, or else the plan's.
func (r Run) Said() []reply.Words {
	if round := r.lastSaid(); round != nil {
		return []reply.Words{round.Words()}
	}
	return r.Plan.Said
}

// Requests returns what was asked for over the rounds of the run: see track.
func (r Run) Requests() []track.Request { return track.Requests(r.Tracked(r.Rounds)) }

// Failure returns why the agent that the run waited for last gave no answer, or why its checks do not count, or nil.
func (r Run) Failure() *Failure {
	if a := r.LastAttempt(); a != nil && r.Last == EventAttemptCompleted.Name {
		return a.Failure
	}
	if round := r.LastRound(); round != nil && r.Last == EventRoundCompleted.Name {
		return round.Failure
	}
	if checks := r.LastChecks(); checks != nil && r.Last == EventChecksCompleted.Name {
		return checks.Failure
	}
	return nil
}

// Failing returns the newest check results that count against the run's work.
func (r Run) Failing() []CheckResult {
	checks := r.LastChecks()
	if a := r.LastAttempt(); checks == nil || a != nil && checks.Attempt != a.Number {
		return nil
	}
	return checks.Failures()
}
