package app

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) inboxRedactCommand() *cli.Command {
	return &cli.Command{
		Name: "redact", Usage: "withdraw text of a review", ArgsUsage: "[ID] [FINDING|TEXT]",
		Description: `Replaces text with [redacted], here and in each clone that has synced since: the whole review,
the thread of a finding or comment, or every text that contains TEXT, also what is said there later. What a later round
says anew is not covered. Severity, place and state stay. What is attached to the review's events, such as an agent's
whole answer, is withdrawn with it, and so are quotes of the text in other rounds and in the runs about the review. The
event stays in the log, and whoever has the log can read it: git runr help security.

--replace-log, after that and a sync, writes this clone's own log again without what this clone redacted, or with ID
without all that is redacted in that review, also by others. The next sync puts it in place of the log at the remote,
which must allow that: until it does, it takes nothing more of this clone. git has to be able to sign the result; other
clones accept it if they can verify that, and if it says nothing else than before. Its events have new ids. Logs of
others stay as they are.`,
		Flags: []cli.Flag{asFlag(),
			&cli.BoolFlag{Name: "replace-log", Usage: "write this clone's own log again without what is redacted"}},
		Action: p.inRepo(inboxRedact),
	}
}

func inboxRedact(s *session, store *store.Store) error {
	actor, err := s.actor(store)
	if err != nil {
		return err
	}
	if s.Bool("replace-log") {
		return s.replaceLogs(store, actor)
	}
	if s.NArg() == 0 {
		return exit.Problemf(exit.Usage, "name the review to redact").WithHint("git runr inbox redact -h")
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
		if !store.Repo.Audience(review.Writer).Private && len(store.Repo.Remotes()) > 0 {
			fmt.Fprintln(w, "Other clones show it no more once they have synced: git runr sync")
		}
		fmt.Fprintln(w, "The log still has it: git runr help security")
	})
}

// replaceLogs replaces this clone's logs by ones without what is redacted.
func (s *session) replaceLogs(store *store.Store, actor string) error {
	if s.NArg() > 1 {
		return exit.Problemf(exit.Usage, "--replace-log redacts nothing: redact and sync first").
			WithHint(safetext.ShellLine(append([]string{"git", "runr", "inbox", "redact"}, s.Args().Slice()...)...))
	}
	remote, err := store.Repo.ElectRemote("")
	if shared := err == nil; shared {
		waiting, err := share.Unpushed(s.ctx, store, remote)
		if err != nil {
			return err
		}
		if waiting > 0 { // if the remote does not let a log be replaced, it takes nothing more
			return exit.Problemf(exit.State, "%s does not have %s of this clone yet, and has to have all first",
				remote, prose.Count(waiting, "event")).WithHint("git runr sync")
		}
	}
	done, err := store.ReplaceLogs(s.ctx, s.arg(""), actor)
	if errors.Is(err, gitstore.ErrSign) {
		return exit.Problemf(exit.Usage, "a log that replaces another one has to be signed: %w", err).
			WithHint("git config gpg.format ssh", "git config user.signingKey FILE.pub")
	}
	if err != nil {
		return err
	}
	return s.print(done, func(w io.Writer) { writeReplaced(w, store, done) })
}

func writeReplaced(w io.Writer, records *store.Store, done store.Replacement) {
	screen.Each(w, "following the redaction by %s\n", done.By)
	for _, log := range done.Logs {
		safetext.Fprintf(w, "Log %s was written again without redacted texts of %s and %s.\n", log.Writer,
			prose.Count(log.Events, "event"), prose.Count(log.Attachments, "attached file"))
	}
	screen.When(w, len(done.Others) > 0, "Logs of others have what is redacted too, until their owners do the same: %s\n",
		strings.Join(done.Others, ", "))
	if len(done.Logs) == 0 {
		fmt.Fprintln(w, "This clone's own log contains none of the redacted texts.")
		return
	}
	shared := func(log store.ReplacedLog) bool { return !records.Repo.Audience(log.Writer).Private }
	screen.When(w, slices.ContainsFunc(done.Logs, shared), "git runr sync puts it in place of the log at the remote.\n")
	fmt.Fprintln(w, "What may still have the texts: git runr help security")
}
