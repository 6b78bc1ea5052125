package diagnose

import (
	"context"
	"errors"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// ReadReport collects the input of a report: a run, its events, and what the repository knows. Commits that are not in
// this clone have no line counts: logs travel without them.
func ReadReport(ctx context.Context, store *store.Store, run record.Run, events []record.Event) (ReportInput, error) {
	in := ReportInput{
		Run: run, Events: events, Live: run.Status == record.RunRunning && workspace.Live(store, run.ID),
		Died:     workspace.Status(store, run.Summary()) == record.RunDied,
		Attempts: map[int][]gitstore.FileStat{},
	}
	for _, a := range run.Attempts {
		stat, err := diffStat(ctx, store, a.From, a.Commit)
		if err != nil {
			return in, err
		}
		if stat != nil {
			in.Attempts[a.Number] = stat
		}
	}
	var err error
	if in.Changes, err = diffStat(ctx, store, run.Plan.Base, run.Head()); err != nil {
		return in, err
	}
	in.Attachments, err = store.Attached(ctx, events)
	return in, err
}

// diffStat returns nil if a commit is missing in this clone or was never made.
func diffStat(ctx context.Context, store *store.Store, from, to gitstore.ID) ([]gitstore.FileStat, error) {
	if from == "" || to == "" {
		return nil, nil
	}
	stat, err := store.Repo.DiffStat(ctx, gitstore.DiffSpec{From: from, To: to})
	var git *gitstore.GitError
	if errors.As(err, &git) || errors.Is(err, gitstore.ErrNotFound) {
		return nil, nil
	}
	return stat, err
}
