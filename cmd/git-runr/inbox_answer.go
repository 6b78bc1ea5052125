package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
)

func (p *program) inboxAnswerCommand() *cli.Command {
	return &cli.Command{
		Name: "answer", Usage: "say what became of one finding or comment", ArgsUsage: "ID FINDING fixed|refuted|deferred|gone|open",
		Description: "fixed and gone want --commit REV, refuted wants the reason (-m). What is fixed is claimed fixed until who\n" +
			"objected, a rule or git runr verify confirms it, and a critical finding stays open until then; open takes an\n" +
			"answer back. The ids are in git runr show ID.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "commit", Usage: "the commit `REV` that fixed it, or in which the code is gone"},
			&cli.StringFlag{Name: "m", Usage: "the reason; - reads standard input"}, asFlag(), forceFlag(),
		},
		Action: p.action(inboxAnswer),
	}
}

func inboxAnswer(s *session) error {
	if s.NArg() != 3 {
		return exit.Problemf(exit.Usage, "a review, a finding and an answer are wanted").WithHint("git runr inbox answer ID FINDING fixed --commit REV")
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	answer := record.Answer{Finding: s.Args().Get(1), Kind: record.AnswerKind(s.Args().Get(2))}
	if answer.Reason, err = s.message(false); err != nil {
		return err
	}
	if answer.Actor, err = s.actor(store); err != nil {
		return err
	}
	if rev := s.String("commit"); rev != "" {
		if answer.Commit, err = store.Repo.Resolve(s.ctx, rev); err != nil {
			return err
		}
	}
	review, err := s.steps(store).Answer(s.ctx, s.Args().First(), answer, s.Bool("force"))
	if err != nil {
		return s.claimedHint(err, review)
	}
	return s.showAct(store, review, answer.Actor, &answer, func(w io.Writer, done actorDone) {
		given, _ := review.AnswerTo(answer.Finding)
		safetext.Fprintf(w, "%s %s; %s of %s still open.\n", answer.Finding, given.What(), prose.Count(done.Open, "finding"), done.ID)
		if done.Status == record.ReviewResolved {
			safetext.Fprintf(w, "Resolved %s.\n", done.ID)
		}
	})
}
