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
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/share"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/suggest"
)

func (p *program) inboxApplyCommand() *cli.Command {
	return &cli.Command{
		Name: "apply", Usage: "commit the suggestions of comments, on a separate branch", ArgsUsage: "ID FINDING… | ID --all",
		Description: `A suggestion is a fenced block of the language suggestion, in a comment or finding; it replaces
the lines that the comment is on. Each becomes a commit of yours on runr/suggestions/…, a branch that starts at the
reviewed code. Suggestions that no longer fit are left out (exit status 3). HEAD, working trees and checked-out
branches are not touched. If a comment has several, FINDING.2 is the second. git runr undo takes them back.`,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "all suggestions of findings that are not settled"},
			&cli.StringFlag{Name: "onto", Usage: "commit to `BRANCH`, which must not be checked out; a missing one is created"},
		},
		Action: p.inRepo(inboxApply),
	}
}

type appliedJSON struct {
	ID      string       `json:"review_id"`
	Branch  string       `json:"branch"`
	Base    gitstore.ID  `json:"base"`   // the code of the review
	Commit  gitstore.ID  `json:"commit"` // tip of the branch, "" if there is none
	Applied []appliedOne `json:"applied"`
	Refused []refusedOne `json:"refused"`
	Undo    string       `json:"undo,omitempty"`
}

type appliedOne struct {
	suggest.Change
	Commit  gitstore.ID `json:"commit"`
	Already bool        `json:"already"` // the branch had it before
}

type refusedOne struct {
	ID     string      `json:"id"`
	Status exit.Status `json:"status"`
	Why    string      `json:"message"`
}

func inboxApply(s *session, store *store.Store) error {
	review, err := store.Review(s.ctx, s.Args().First())
	if err != nil {
		return err
	}
	ids := s.Args().Slice()[1:]
	if s.Bool("all") {
		ids = nil
		for _, c := range suggest.Of(review) {
			if said, _ := review.Finding(c.Finding); !review.SettledFinding(said.Finding) {
				ids = each.Once(ids, c.Finding)
			}
		}
	}
	doc := appliedJSON{ID: review.ID, Branch: s.String("onto"), Applied: []appliedOne{}, Refused: []refusedOne{}}
	var changes []suggest.Change
	var problems []*exit.Problem
	refuse := func(id string, err error) {
		problem := exit.Classify(applyProblem(review, err))
		problems = append(problems, problem)
		doc.Refused = append(doc.Refused, refusedOne{id, problem.Status, problem.Msg})
	}
	for _, id := range ids {
		change, err := suggest.Pick(review, id)
		if err != nil {
			refuse(id, err)
			continue
		}
		changes = append(changes, change)
	}
	done, err := suggest.Apply(s.ctx, store, review, changes, doc.Branch)
	if err != nil {
		return applyProblem(review, err)
	}
	doc.Branch, doc.Base, doc.Commit = done.Branch, done.Base, done.Commit
	for _, one := range done.Done {
		if one.Err != nil {
			refuse(one.ID, one.Err)
			continue
		}
		doc.Applied = append(doc.Applied, appliedOne{one.Change, one.Commit, one.Already})
	}
	if done.Undo.Name != "" {
		doc.Undo = "git runr undo"
	}
	return s.showApplied(review, doc, problems)
}

// showApplied shows what was applied. If nothing was, and one suggestion was refused, that is the error; otherwise it
// prints a line for each refusal.
func (s *session) showApplied(review record.Review, doc appliedJSON, problems []*exit.Problem) error {
	if len(problems) == 1 && len(doc.Applied) == 0 {
		return problems[0]
	}
	err := s.print(doc, func(w io.Writer) { writeApplied(w, review, doc) })
	worst := exit.OK
	for _, problem := range problems {
		s.failedLine(problem)
		if worst = max(worst, problem.Status); len(doc.Applied) > 0 {
			worst = exit.Conflict
		}
	}
	if worst != exit.OK {
		err = errors.Join(err, exit.With(worst))
	}
	return err
}

func writeApplied(w io.Writer, review record.Review, doc appliedJSON) {
	var next []string
	for _, one := range doc.Applied {
		how := "Applied"
		if one.Already {
			how = "There already:"
		}
		safetext.Fprintf(w, "%s %s to %s, %s\n", how, one.ID, one.Place, one.Commit.Short())
		if _, answered := review.AnswerTo(one.Finding); !answered {
			next = append(next, "git runr inbox answer "+doc.ID+" "+one.Finding+" fixed --commit "+one.Commit.Short())
		}
	}
	if doc.Commit == "" {
		safetext.Fprintf(w, "Nothing was applied.\n")
		return
	}
	safetext.Fprintf(w, "%s is at %s.\n", doc.Branch, doc.Commit.Short())
	if line, ok := safetext.CommandLine("git", "merge", doc.Branch); ok {
		next = append([]string{line}, next...)
	}
	screen.Next(w, next...)
}

// applyProblem adds to err what to type if a suggestion could not be applied.
func applyProblem(review record.Review, err error) error {
	refused, elsewhere := new(suggest.RefusedError), new(gitstore.CheckedOutError)
	switch {
	case errors.As(err, &refused):
		status := exit.State
		if refused.Moved {
			status = exit.Conflict
		}
		finding, _, _ := strings.Cut(refused.ID, ".") // without the number of the suggestion
		return exit.Problemf(status, "%w", err).
			WithHint("git runr run --review " + review.ID + " --finding " + finding + "   lets an agent do it")
	case errors.As(err, &elsewhere):
		problem := exit.Problemf(exit.Conflict, "%w", err)
		if line, ok := safetext.CommandLine("git", "-C", elsewhere.Dir, "switch", "--detach"); ok {
			problem = problem.WithHint(line + "   leaves the branch where it is")
		}
		return problem.WithHint("git runr inbox apply " + review.ID + " FINDING --onto BRANCH   another branch")
	}
	return err
}

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
		return exit.Problemf(exit.Usage, "which review to redact is missing").WithHint("git runr inbox redact -h")
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
		fmt.Fprintln(w, "This clone's own log has nothing of it.")
		return
	}
	shared := func(log store.ReplacedLog) bool { return !records.Repo.Audience(log.Writer).Private }
	screen.When(w, slices.ContainsFunc(done.Logs, shared), "git runr sync puts it in place of the log at the remote.\n")
	fmt.Fprintln(w, "What may still have the texts: git runr help security")
}
