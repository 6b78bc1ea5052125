package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

func (p *program) inboxResolveCommand() *cli.Command {
	return &cli.Command{
		Name: "resolve", Usage: "close a review that is dealt with", ArgsUsage: "ID… | --all",
		Description: "--all resolves what was submitted or claimed, as far as the filters fit, such as\ngit runr inbox resolve --all --verdict pass_with_notes --since 7d. A line for each; the exit\nstatus is the worst.",
		Flags:       append([]cli.Flag{&cli.StringFlag{Name: "m", Usage: "what became of it; - reads standard input"}, asFlag(), claimFlag(), forceFlag()}, eachFlags()...),
		Action: p.action(func(s *session) error {
			note, err := s.message(false)
			if err != nil {
				return err
			}
			resolve := func(store *record.Store, id, actor string) (record.Review, error) {
				return s.steps(store).Resolve(s.ctx, id, s.hold(actor), note)
			}
			return s.actEach(inboxStep{"inbox", "Resolve", resolve, func(w io.Writer, done actorDone) {
				safetext.Fprintf(w, "Resolved %s.\n", done.ID)
				if done.Open > 0 {
					safetext.Fprintf(w, "%s still open.\n", prose.Count(done.Open, "finding"))
				}
			}})
		}),
	}
}
