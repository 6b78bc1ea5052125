package record

import (
	"slices"

	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/track"
)

// Tracked returns rounds of the run in the form in which track follows requests. What a revert or a person changed
// counts as changed between any two of them.
func (r Run) Tracked(rounds []Round) []track.Round {
	var people []string
	for _, iv := range r.Interventions {
		people = append(people, iv.Files...)
	}
	tracked, before := make([]track.Round, len(rounds)), 0
	for i, round := range rounds {
		files := slices.Clone(people)
		for _, a := range r.Attempts {
			if a.Reverted != nil || before < a.Number && a.Number <= round.Attempt {
				files = append(files, a.Files...)
			}
		}
		before = round.Attempt
		tracked[i] = track.Round{Number: round.Number, By: round.Reviewer, Report: round.Report, Failed: round.Failure != nil, Changed: files}
	}
	return tracked
}

// lastSaid is the newest round whose reviewer came to an answer that says something;
// nil when there is none.
func (r *Run) lastSaid() *Round {
	for i := len(r.Rounds) - 1; i >= 0; i-- {
		if round := &r.Rounds[i]; round.said() {
			return round
		}
	}
	return nil
}

// Open are the findings and requests of the newest review that nobody has met.
func (r Run) Open() ([]reply.Finding, []string) {
	if round := r.lastSaid(); round != nil {
		return round.Report.Findings, round.Report.Requests
	}
	return r.Plan.Findings, r.Plan.Requests
}

// Said is the newest review in its reviewer's own words.
func (r Run) Said() []reply.Words {
	if round := r.lastSaid(); round != nil {
		return []reply.Words{round.Words()}
	}
	return r.Plan.Said
}

// Requests are what was asked for over the rounds of the run: see track.
func (r Run) Requests() []track.Request { return track.Requests(r.Tracked(r.Rounds)) }

// Failure is why the agent that the run waited for last gave no answer, or its checks none
// that counts; nil when they did.
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

// Failing are the newest results that count against the run's work.
func (r Run) Failing() []CheckResult {
	checks := r.LastChecks()
	if a := r.LastAttempt(); checks == nil || a != nil && checks.Attempt != a.Number {
		return nil
	}
	return checks.Failures()
}
