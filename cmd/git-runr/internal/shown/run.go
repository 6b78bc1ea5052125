package shown

import (
	"context"

	"github.com/git-runr/git-runr/loop/landing"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/runner"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// RunActs are the commands that the present state of a run allows. The commands check their other conditions.
type RunActs struct {
	Stop, Resume, Accept, Skip, Intervene, Land, Abort bool
}

// RunActsOf returns what can be done to a run now. Land needs a working tree that is not a run's.
func RunActsOf(ctx context.Context, s *store.Store, run record.Run) (RunActs, error) {
	if workspace.Live(s, run.ID) {
		executing := run.Status == record.RunRunning
		return RunActs{Stop: executing, Intervene: executing, Abort: true}, nil
	}
	_, waits, err := runner.Waits(ctx, s, run)
	if err != nil {
		return RunActs{}, err
	}
	_, missing := s.Repo.ReadCommit(ctx, run.Head())
	here := missing == nil
	forGood := run.Stop != nil && !run.Stop.Explained().Resumable && len(run.News()) == 0
	undecided := run.Status == record.RunReviewing || run.Status == record.RunStopped
	allows := func(event string) bool { return run.Allow(event) == nil }
	return RunActs{
		Resume: here && !waits && !forGood &&
			(run.Status == record.RunRunning || allows(record.EventRunResumed.Name)),
		Accept:    undecided && landing.CanAccept(ctx, s, run) == nil,
		Skip:      undecided,
		Intervene: here && allows(record.EventRunIntervened.Name),
		Land: here && !run.Plan.InPlace && s.Repo.WorkTree != "" && !s.Repo.IsOwnWorktree() &&
			run.Head() != run.Plan.Base && allows(record.EventRunLanded.Name),
		Abort: allows(record.EventRunAborted.Name),
	}, nil
}
