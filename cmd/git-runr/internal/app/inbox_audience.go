package app

import (
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/loop/prose"
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

func (p *program) inboxRedactCommand() *cli.Command {
	return &cli.Command{
		Name: "redact", Usage: "withdraw text of a review", ArgsUsage: "ID [FINDING|TEXT]",
		Description: `Replaces text with [redacted], here and in each clone that has synced since: the whole review,
the thread of a finding or comment, or every text that contains TEXT, also what is said there later. What a later round
says anew is not covered. Severity, place and state stay. What is attached to the review's events, such as an agent's
whole answer, is withdrawn with it, and so are quotes of the text in other rounds and in the runs about the review. The
event stays in the log, and whoever has the log can read it: git runr help security.`,
		Flags: []cli.Flag{asFlag()},
		Action: p.inRepo(func(s *session, store *store.Store) error {
			actor, err := s.actor(store)
			if err != nil {
				return err
			}
			if s.NArg() > 1 && s.Args().Get(1) == "" {
				return exit.Problemf(exit.Usage, "the text to redact is empty").
					WithHint("without TEXT, all of the review is redacted")
			}
			review, err := store.RedactReview(s.ctx, s.Args().First(), s.Args().Get(1), actor)
			if err != nil {
				return err
			}
			s.project(s.ctx, store)
			return s.print(render.NewReviewDocument(review), func(w io.Writer) {
				newest := review.Redactions[len(review.Redactions)-1]
				safetext.Fprintf(w, "Redacted: %s of %s, and what was attached to it.\n",
					prose.Count(len(newest.Texts), "text"), review.ID)
				fmt.Fprintln(w, "Other clones show it no more once they have synced: git runr sync")
				fmt.Fprintln(w, "The log still has it: git runr help security")
			})
		}),
	}
}
