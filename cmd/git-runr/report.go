package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/screen"
	"git-runr/diagnose"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
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
	in, err := diagnose.ReadReport(s.ctx, store, run, events)
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
