package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

func (p *program) inboxCancelCommand() *cli.Command {
	return &cli.Command{
		Name: "cancel", Usage: "withdraw a request that nobody has answered", ArgsUsage: "ID… | --all",
		Description: "--all withdraws every open request that the filters fit.",
		Flags:       append([]cli.Flag{&cli.StringFlag{Name: "m", Usage: "why; - reads standard input"}, asFlag()}, eachFlags()...),
		Action: p.action(func(s *session) error {
			note, err := s.message(false)
			if err != nil {
				return err
			}
			cancel := func(store *record.Store, id, actor string) (record.Review, error) {
				return store.CancelReview(s.ctx, id, actor, note)
			}
			return s.actEach(inboxStep{"open", "Cancel", cancel, func(w io.Writer, done actorDone) { safetext.Fprintf(w, "Cancelled %s.\n", done.ID) }})
		}),
	}
}
