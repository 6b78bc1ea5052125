package app

import (
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
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
		Name: "redact", Usage: "withdraw text of a review", ArgsUsage: "[ID] [FINDING|TEXT]",
		Description: `Replaces text with [redacted], here and in each clone that has synced since: the whole review,
the thread of a finding or comment, or every text that contains TEXT, also what is said there later. What a later round
says anew is not covered. Severity, place and state stay. What is attached to the review's events, such as an agent's
whole answer, is withdrawn with it, and so are quotes of the text in other rounds and in the runs about the review. The
event stays in the log, and whoever has the log can read it: git runr help security.

--replace-log also writes this clone's own log again without everything that is redacted, here and with the next sync at
the remote. git has to be able to sign the result; other clones accept it if they can verify that, and if it says
nothing else than before. Its events have new ids. Logs of others stay as they are. Without ID it redacts nothing more.`,
		Flags: []cli.Flag{asFlag(),
			&cli.BoolFlag{Name: "replace-log", Usage: "write this clone's own log again without what is redacted"}},
		Action: p.inRepo(inboxRedact),
	}
}

type replacedLog = store.ReplacedLog

// redactedJSON is the result of git runr inbox redact.
type redactedJSON struct {
	*render.ReviewDocument
	Logs []replacedLog `json:"replaced_logs,omitempty"`
}

func inboxRedact(s *session, store *store.Store) error {
	actor, err := s.actor(store)
	if err != nil {
		return err
	}
	replace := s.Bool("replace-log")
	if s.NArg() == 0 && !replace {
		return exit.Problemf(exit.Usage, "which review to redact is missing").WithHint("git runr inbox redact -h")
	}
	if s.NArg() > 1 && s.Args().Get(1) == "" {
		return exit.Problemf(exit.Usage, "the text to redact is empty").
			WithHint("without TEXT, all of the review is redacted")
	}
	var doc redactedJSON
	if s.NArg() > 0 {
		review, err := store.RedactReview(s.ctx, s.Args().First(), s.Args().Get(1), actor)
		if err != nil {
			return err
		}
		shown := render.NewReviewDocument(review)
		doc.ReviewDocument = &shown
	}
	s.project(s.ctx, store)
	if replace {
		if doc.Logs, err = store.ReplaceLogs(s.ctx, actor); err != nil {
			return err
		}
	}
	return s.print(doc, func(w io.Writer) {
		writeRedacted(w, doc, replace)
		_, err := store.Repo.ElectRemote("")
		shared := func(log replacedLog) bool { return !store.Repo.Audience(log.Writer).Private }
		screen.When(w, err == nil && slices.ContainsFunc(doc.Logs, shared),
			"git runr sync puts it in place of the log at the remote.\n")
	})
}

func writeRedacted(w io.Writer, doc redactedJSON, replaced bool) {
	if doc.ReviewDocument != nil {
		newest := doc.Redactions[len(doc.Redactions)-1]
		safetext.Fprintf(w, "Redacted: %s of %s, and what was attached to it.\n",
			prose.Count(len(newest.Texts), "text"), doc.ID)
		fmt.Fprintln(w, "Other clones show it no more once they have synced: git runr sync")
	}
	if !replaced {
		fmt.Fprintln(w, "The log still has it: git runr help security")
		return
	}
	for _, log := range doc.Logs {
		safetext.Fprintf(w, "Log %s was written again without redacted texts of %s and %s.\n", log.Writer,
			prose.Count(log.Events, "event"), prose.Count(log.Attachments, "attached file"))
	}
	if len(doc.Logs) == 0 {
		fmt.Fprintln(w, "This clone's own log has nothing of what is redacted.")
		return
	}
	fmt.Fprintln(w, "What may still have the texts: git runr help security")
}
