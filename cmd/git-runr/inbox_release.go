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
				by := s.hold(actor)
				if review, err := s.heldElsewhere(s.ctx, store, id, by, true); err != nil {
					return review, err
				}
				review, err := store.ReleaseReview(s.ctx, id, by)
				if err == nil {
					s.unshare(store, review, by)
				}
				return review, err
			}, func(w io.Writer, done actorDone) { safetext.Fprintf(w, "Released %s.\n", done.ID) })
		}),
	}
}
