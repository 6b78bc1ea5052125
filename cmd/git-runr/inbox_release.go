package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"git-runr/loop/record"
	"git-runr/loop/safetext"
)

func (p *program) inboxReleaseCommand() *cli.Command {
	return &cli.Command{
		Name: "release", Usage: "give a claim back", ArgsUsage: "ID", Flags: []cli.Flag{asFlag(), claimFlag(), forceFlag()},
		Action: p.action(func(s *session) error {
			return s.act(func(store *record.Store, id, actor string) (record.Review, error) {
				return s.steps(store).Release(s.ctx, id, s.hold(actor))
			}, func(w io.Writer, done actorDone) { safetext.Fprintf(w, "Released %s.\n", done.ID) })
		}),
	}
}
