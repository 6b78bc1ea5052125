package diagnose

import (
	"fmt"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
)

// failuresShown is the maximum number of a check's failures in a diagnosis.
const failuresShown = 5

func failingChecks(results []record.CheckResult, event gitstore.ID) []FailingCheck {
	var failing []FailingCheck
	for _, c := range results {
		f := FailingCheck{Check: c.Name, State: c.State(), More: c.FailuresMore, Log: c.LogCommand(event)}
		for i, failure := range c.Failures {
			if i == failuresShown {
				f.More += len(c.Failures) - i
				break
			}
			f.Failures = append(f.Failures, oneLine(failure.String()))
		}
		failing = append(failing, f)
	}
	return failing
}

// transcriptOf returns the run's file with the whole output of the agent that caused the stop, or "".
func transcriptOf(run record.Run, family record.Family) string {
	if family != record.FamilyAgent && family != record.FamilyLimit {
		return ""
	}
	if round := run.LastRound(); round != nil && round.Failure != nil {
		return fmt.Sprintf("review-%d.log", round.Number)
	}
	if a := run.LastAttempt(); a != nil {
		return fmt.Sprintf("attempt-%d.log", a.Number)
	}
	return ""
}
