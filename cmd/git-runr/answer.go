package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/loop"
	"git-runr/loop/runplan"
)

func (p *program) answerCommand() *cli.Command {
	return &cli.Command{
		Name: "answer", Usage: "decide on a run that gave up: commit, skip or stop", ArgsUsage: "RUN commit|skip|stop",
		Action: p.action(func(s *session) error {
			choice := runplan.Choice(s.Args().Get(1))
			if s.NArg() != 2 || !slices.Contains([]runplan.Choice{runplan.ChoiceCommit, runplan.ChoiceSkip, runplan.ChoiceStop}, choice) {
				return exit.Problemf(exit.Usage, "a run and an answer are wanted").WithHint("git runr answer RUN commit|skip|stop")
			}
			store, err := s.open()
			if err != nil {
				return err
			}
			run, err := store.Run(s.ctx, s.Args().First())
			if err != nil {
				return err
			}
			run, left, err := loop.AnswerRun(s.ctx, store, run, choice)
			if err != nil {
				return err
			}
			if left != "" {
				s.say("what was in its worktree and in no commit is kept: %s", restoreLine(run.ID, left))
			}
			s.project(s.ctx, store)
			if err := s.showEnd(store, run); choice != runplan.ChoiceStop {
				return err
			}
			return nil
		}),
	}
}
