package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/loop/record"
	"git-runr/loop/workspace"
)

func (p *program) continueCommand() *cli.Command {
	return &cli.Command{
		Name: "continue", Usage: "do the next thing that is safe to do for a run, or say why not", ArgsUsage: "[RUN]",
		Description: "Takes up a run that was interrupted, timed out or died, whose configuration is trusted by now, or\nin which you intervened. Anything else needs you: it says what. Nothing lands by itself.\nExit status: that of the run, 4 when it needs you.",
		Flags:       []cli.Flag{keepFlag()},
		Action:      p.action(continueRun),
	}
}

func continueRun(s *session) error {
	store, conf, run, err := s.chosenRun()
	if err != nil {
		return err
	}
	if run, err = s.takeUp(conf, store, run); err != nil {
		return err
	}
	if why := needsPerson(store, run); why != nil {
		return why
	}
	return s.resume(store, conf, run, nil)
}

// sameStopsAllowed is how often a run may stop for the same reason without getting
// on before continue leaves it to a person.
const sameStopsAllowed = 2

// needsPerson says why run is not taken up by itself; nil when it may be.
func needsPerson(store *record.Store, run record.Run) error {
	switch {
	case run.Status == record.RunRunning && workspace.Live(store, run.ID):
		return exit.Problemf(exit.Busy, "run %s is being carried out now", run.ID).WithHint("git runr log --follow " + run.ID)
	case run.Status == record.RunRunning:
		return nil
	case run.Status == record.RunCompleted && run.Landed == nil && !run.Plan.InPlace:
		return exit.Problemf(exit.Stopped, "run %s is completed; it is for you to land it", run.ID).WithHint("git runr land " + run.ID)
	case run.Stop == nil:
		return exit.Problemf(exit.State, "run %s is %s: there is nothing to continue", run.ID, run.Status)
	}
	reason := stopReason(run)
	hints := reason.Steps(run.ID)
	switch {
	case !reason.Resumable:
		return exit.Problemf(exit.Stopped, "run %s stopped for good: %s", run.ID, reason.Title).WithHint(hints...)
	case len(run.News()) > 0, reason.Code == record.ReasonUntrusted, run.Stop.Review != "":
		return nil // resume says what is missing
	case reason.Retry() && run.StoppedAlike() < sameStopsAllowed:
		return nil
	case reason.Retry():
		return exit.Problemf(exit.Stopped, "run %s stopped %d times for the same reason without getting on: %s", run.ID, run.StoppedAlike(), reason.Title).WithHint(hints...)
	}
	return exit.Problemf(exit.Stopped, "run %s needs you: %s", run.ID, strings.ToLower(reason.Explanation[:1])+reason.Explanation[1:]).WithHint(hints...)
}
