package app

import (
	"io"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) inboxShareCommand() *cli.Command {
	return &cli.Command{
		Name: "share", Usage: "make a private review visible to others, as a copy", ArgsUsage: "ID",
		Description: `Copies the request, the comments and the answers into the log that git runr sync sends to the
elected remote. The copy has its own id, and leaves out what was redacted. The private review is closed.`,
		Flags: []cli.Flag{asFlag(), &cli.StringFlag{Name: "remote", Usage: "send it to `REMOTE` instead"}},
		Action: p.inRepo(func(s *session, store *store.Store) error {
			actor, err := s.actor(store)
			if err != nil {
				return err
			}
			if _, err := s.configuration(store); err != nil {
				return err
			}
			remote, err := store.Repo.ElectRemote(s.String("remote"))
			if err != nil {
				return err
			}
			shared, err := store.ShareReview(s.ctx, s.Args().First(), store.Repo.AudienceOf(remote), actor)
			if err != nil {
				return err
			}
			doc := struct {
				ID     string `json:"review_id"`
				From   string `json:"from"` // as it was typed
				Remote string `json:"remote"`
			}{shared.ID, s.Args().First(), remote}
			return s.print(doc, func(w io.Writer) {
				safetext.Fprintf(w, "Shared as %s; it goes to %s with: git runr sync %s\n", doc.ID, remote, remote)
			})
		}),
	}
}
