package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

func (p *program) inboxReopenCommand() *cli.Command {
	return &cli.Command{
		Name: "reopen", Usage: "take a resolution or a cancellation back", ArgsUsage: "ID", Flags: []cli.Flag{asFlag()},
		Action: p.action(func(s *session) error {
			return s.act(func(store *record.Store, id, actor string) (record.Review, error) {
				return s.steps(store).Reopen(s.ctx, id, actor)
			}, func(w io.Writer, done actorDone) {
				safetext.Fprintf(w, "Reopened %s: it is %s.\n", done.ID, done.Status)
			})
		}),
	}
}
