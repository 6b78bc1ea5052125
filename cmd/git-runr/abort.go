package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

func (p *program) abortCommand() *cli.Command {
	return &cli.Command{
		Name: "abort", Usage: "give up a run and remove its worktree; its branch stays", ArgsUsage: "RUN",
		Action: p.action(func(s *session) error {
			if s.NArg() != 1 {
				return exit.Problemf(exit.Usage, "a run is wanted").WithHint("git runr abort RUN")
			}
			store, _, run, err := s.chosenRun()
			if err != nil {
				return err
			}
			run, left, err := loop.Abort(s.ctx, store, run)
			if err != nil {
				return err
			}
			doc := struct {
				record.RunSummary
				Left string `json:"restore,omitempty"`
			}{run.Summary(), restoreLine(run.ID, left)}
			return s.print(doc, func(w io.Writer) {
				safetext.Fprintf(w, "Aborted %s. Its work stays on %s.\n", run.ID, run.Plan.Branch)
				writeLeft(w, doc.Left)
			})
		}),
	}
}
