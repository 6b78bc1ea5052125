package main

import (
	"context"
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/screen"
	"git-runr/diagnose"
	"git-runr/gitstore"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
	"git-runr/loop/workspace"
)

func (p *program) reportCommand() *cli.Command {
	return &cli.Command{
		Name: "report", Usage: "what a run did, step by step, and how long it took", ArgsUsage: "[RUN]",
		Description: "The timeline of a run (the newest without one): attempts with their files, checks, reviews, stops and\n" +
			"what people did; totals; and where the output of each check is kept. --md is for a pull request.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "md", Usage: "as Markdown"}},
		Action: p.action(reportRun),
	}
}

func reportRun(s *session) error {
	if s.Bool("md") && s.json {
		return exit.Problemf(exit.Usage, "a report is wanted once: --md or --json")
	}
	store, id, err := s.openFor(record.Latest)
	if err != nil {
		return err
	}
	named, err := store.Run(s.ctx, id)
	if err != nil {
		return err
	}
	events, err := store.RunEvents(s.ctx, named.ID)
	if err != nil {
		return err
	}
	run, unreadable := record.FoldRun(events)
	for _, why := range unreadable {
		s.say("%v", why)
	}
	in, err := reportInput(s.ctx, store, run, events)
	if err != nil {
		return err
	}
	report := diagnose.NewReport(in)
	return s.print(report, func(w io.Writer) {
		if s.Bool("md") {
			safetext.Fprintf(w, "%s", safetext.Block(report.Markdown()))
			return
		}
		screen.Document(w, report.Text())
	})
}

// reportInput adds what only the repository knows. Commits that are not in this
// clone have no counts of lines: the logs travel without them.
func reportInput(ctx context.Context, store *record.Store, run record.Run, events []record.Event) (diagnose.ReportInput, error) {
	in := diagnose.ReportInput{
		Run: run, Events: events, Live: run.Status == record.RunRunning && workspace.Live(store, run.ID),
		Attempts: map[int][]gitstore.FileStat{}, Attachments: map[gitstore.ID][]string{},
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
	for _, e := range events {
		if !leavesFiles[e.Type] {
			continue
		}
		paths, err := store.Repo.Attachments(ctx, e.ID)
		if err != nil {
			return in, err
		}
		in.Attachments[e.ID] = paths
	}
	return in, nil
}

// leavesFiles are the types of events that may have attachments.
var leavesFiles = map[string]bool{
	record.EventAttemptCompleted.Name: true, record.EventChecksCompleted.Name: true, record.EventRoundCompleted.Name: true, record.EventRunIntervened.Name: true,
	record.EventRunStopped.Name: true, record.EventReviewLoopDetected.Name: true,
}

// diffStat is nil when a commit is missing here, or was never made.
func diffStat(ctx context.Context, store *record.Store, from, to gitstore.ID) ([]gitstore.FileStat, error) {
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
