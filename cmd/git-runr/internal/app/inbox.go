package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/pick"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

// inboxLimit is the default maximum number of reviews in a list.
const inboxLimit = 50

func (p *program) inboxCommand() *cli.Command {
	list := &cli.Command{
		Name: "list", Usage: "list waiting reviews; what needs a person comes first",
		Description: `The order: critical findings, other reviews that did not pass, reviewers that could not run,
requests to a person, partial reviews and comments, notes, and last what waits for an agent; the newest first within
each. The columns: result, unanswered findings by severity (✗ critical, ! warning, · note), id, commit, age, title.`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "status", Value: record.StatusWaiting,
				Usage: "`STATUS`: waiting (open, submitted, claimed), inbox (submitted, claimed), all, open, submitted, " +
					"claimed, resolved or cancelled"},
			&cli.BoolFlag{Name: "archived", Usage: "also reviews that git runr gc dropped from the lists"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: inboxLimit, Usage: "list at most `N`; 0 for all"},
		}, filterFlags()...),
		Action: p.inRepo(inboxList),
	}
	return &cli.Command{
		Name: "inbox", Usage: "list reviews; comment, submit, claim, resolve …", Flags: list.Flags,
		Action: p.inRepo(inboxList),
		Commands: slices.Concat([]*cli.Command{list, p.inboxCommentCommand(), p.inboxSubmitCommand()}, p.inboxStepCommands(),
			[]*cli.Command{p.inboxAnswerCommand(), p.inboxReplyCommand(), p.inboxApplyCommand(), p.inboxShareCommand(),
				p.inboxRedactCommand()}),
	}
}

type inboxJSON struct {
	Reviews []record.ReviewSummary `json:"reviews"`
	Total   int                    `json:"total"` // that match the filter, printed or not
}

// writeNotHere prints under an empty list why reviews may not be in this clone, if that is so.
func (s *session) writeNotHere(w io.Writer, store *store.Store) {
	why := s.notHere(s.ctx, store)
	screen.When(w, why != "", "%s\n  git runr sync\n", why)
}

func inboxList(s *session, store *store.Store) error {
	filter, err := s.inboxFilter(store, s.String("status"))
	if err != nil {
		return err
	}
	filter.Limit, filter.Carried = s.Int("limit"), true
	reviews, total, err := store.Reviews(s.ctx, filter)
	if err != nil {
		return err
	}
	return s.print(inboxJSON{reviews, total}, func(w io.Writer) {
		render.Inbox(w, reviews, total, s.listStyle())
		if total == 0 {
			s.writeNotHere(w, store)
		}
		if len(reviews) > 0 {
			screen.Next(w, "git runr show "+reviews[0].ID)
		}
	})
}

// listStyle returns the style of lists on standard output.
func (s *session) listStyle() render.ListStyle {
	style := render.ListStyle{Now: s.now(), ASCII: !s.utf8(), Columns: s.columns()}
	if me, err := s.person(s.store); err == nil {
		style.Me = me
	}
	if style.Columns > 0 {
		style.Short = s.store.ShortIDs
	}
	return style
}

// filterFlags returns the flags that select reviews, for lists and for --all.
func filterFlags() []cli.Flag {
	return append([]cli.Flag{&cli.StringFlag{Name: "reviewer",
		Usage: "only reviews that `NAME`, an agent or a person, was asked for"}}, changeFlags()...)
}

// changeFlags returns filterFlags without --reviewer.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "claimed-by", Usage: "only reviews claimed by `ACTOR`"},
		&cli.BoolFlag{Name: "mine", Usage: "only reviews that you requested, were asked for or claimed"},
		&cli.StringFlag{Name: "verdict", Usage: "only reviews with this `VERDICT`: critical, needs_fix, " +
			"pass_with_notes, pass, checked, partial, commented, nothing, unreadable, or none while nobody gave one"},
		&cli.StringFlag{Name: "branch", Usage: "only reviews requested on `BRANCH`"},
		&cli.StringFlag{Name: "since",
			Usage: "only reviews requested since `TIME`: a duration such as 2d or 3h, or a date such as 2026-01-31 or " +
				"2026-01-31T15:04Z"},
		&cli.StringFlag{Name: "author", Usage: "only commits whose author's name or address contains `TEXT`"},
		&cli.StringFlag{Name: "file", Usage: "only changes to `PATH`, a directory or a glob as in .gitignore"},
	}
}

// wish returns the selection that changeFlags describe.
func (s *session) wish(store *store.Store) (pick.Wish, error) {
	wish := pick.Wish{
		ClaimedBy: s.String("claimed-by"), Verdict: s.String("verdict"), Branch: s.String("branch"), Since: s.String("since"),
		Author: s.String("author"),
	}
	if s.Bool("mine") {
		me, err := store.Repo.Identity(s.ctx)
		person, personErr := s.person(store)
		actor, actorErr := s.actor(store)
		if err := cmp.Or(err, personErr, actorErr); err != nil {
			return wish, err
		}
		wish.Mine = &pick.Self{Identity: me.String(), Person: person, Actor: actor}
	}
	if file := s.String("file"); file != "" {
		paths, err := pathsInside(store, []string{file})
		if err != nil {
			return wish, err
		}
		wish.File = paths[0]
	}
	return wish, nil
}

// inboxFilter returns the filter of a list's flags. status is a value of --status.
func (s *session) inboxFilter(records *store.Store, status string) (store.Filter, error) {
	filter := store.Filter{ByNeed: true}
	var err error
	if filter.Status, err = record.StatusFilter(status); err != nil {
		return filter, exit.Problemf(exit.Usage, "%w", err)
	}
	if !s.Bool("archived") {
		if filter.ClosedSince, err = loop.ClosedSince(records); err != nil {
			return filter, err
		}
	}
	wish, err := s.wish(records)
	if err != nil {
		return filter, err
	}
	wish.Reviewer = s.String("reviewer")
	filter.Review, err = wish.Test(s.ctx, records)
	return filter, err
}

func (p *program) inboxReplyCommand() *cli.Command {
	return &cli.Command{
		Name: "reply", Usage: "reply to a finding, to a comment or to the whole review", ArgsUsage: "ID [FINDING]",
		Description: `The text is Markdown. You can reply at any time, in any clone. A reply closes nothing; git runr
inbox answer does.`,
		Flags:  []cli.Flag{messageFlag("`TEXT` of the reply; - reads standard input"), asFlag()},
		Action: p.inRepo(inboxReply),
	}
}

type repliedJSON struct {
	ID    string       `json:"review_id"`
	Reply record.Reply `json:"reply"`
}

func inboxReply(s *session, store *store.Store) (err error) {
	reply := record.Reply{Finding: s.Args().Get(1)}
	if reply.Text, err = s.message(false); err != nil {
		return err
	}
	if reply.Actor, err = s.person(store); err != nil {
		return err
	}
	review, err := store.Reply(s.ctx, s.Args().First(), reply)
	if err != nil {
		return err
	}
	doc := repliedJSON{review.ID, review.Replies[len(review.Replies)-1]}
	return s.print(doc, func(w io.Writer) {
		what := doc.ID
		if doc.Reply.Finding != "" {
			what = doc.Reply.Finding + " of " + what
		}
		safetext.Fprintf(w, "Replied to %s.\n", what)
	})
}

func (p *program) inboxAnswerCommand() *cli.Command {
	return &cli.Command{
		Name: "answer", Usage: "record what became of a finding or comment", ArgsUsage: "ID FINDING ANSWER",
		Description: `ANSWER is fixed, refuted, deferred, gone, open or confirmed. fixed and gone need --commit REV,
refuted needs the reason (-m). fixed is a claim until its reporter, a rule or git runr verify confirms it; a critical
finding stays open until then. open withdraws an answer. When all findings of a review in which a person asked for
changes are answered, it goes back to that person, who answers confirmed or open. git runr show ID lists the ids.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "commit", Usage: "the commit, `REV`, that fixed it or removed the code"},
			messageFlag("the reason, as `TEXT`; - reads standard input"), asFlag(), forceFlag(),
		},
		Action: p.inRepo(inboxAnswer),
	}
}

func inboxAnswer(s *session, store *store.Store) (err error) {
	answer := record.Answer{Finding: s.Args().Get(1), Kind: record.AnswerKind(s.Args().Get(2))}
	if answer.Reason, err = s.message(false); err != nil {
		return err
	}
	if answer.Actor, err = s.actor(store); err != nil {
		return err
	}
	if rev := s.String("commit"); rev != "" {
		if answer.Commit, err = store.Repo.Resolve(s.ctx, rev); err != nil {
			return err
		}
	}
	needs := map[record.AnswerKind]string{
		record.AnswerFixed: " --commit REV", record.AnswerGone: " --commit REV", record.AnswerRefuted: " -m TEXT"}
	if err := answer.Check(); needs[answer.Kind] != "" && err != nil {
		return exit.Problemf(exit.Usage, "%w", err).
			WithHint(fmt.Sprintf("git runr inbox answer ID FINDING %s%s", answer.Kind, needs[answer.Kind]))
	}
	review, err := s.steps(store).Answer(s.ctx, s.Args().First(), answer, s.Bool("force"))
	if errors.As(err, new(*record.InputError)) && answer.Commit != "" && needs[answer.Kind] != "" {
		line := safetext.ShellLine("git", "runr", "inbox", "answer", review.ID, answer.Finding)
		return exit.Classify(err).WithHint(fmt.Sprintf("%s %s --commit REV   with the commit that does", line, answer.Kind),
			line+" refuted -m TEXT   if nothing has to change")
	}
	if errors.As(err, new(*record.InputError)) && answer.Kind == record.AnswerConfirmed {
		return exit.Classify(err).WithHint(safetext.ShellLine("git", "runr", "show", review.ID))
	}
	if err != nil {
		return s.claimedHint(err, review)
	}
	answer.Finding, _, _ = review.FindFinding(answer.Finding) // it was found already
	return s.showAct(store, review, answer.Actor, &answer, func(w io.Writer, done actorDone) {
		given, _ := review.AnswerTo(answer.Finding)
		what := given.What()
		if answer.Kind == record.AnswerConfirmed {
			what = "confirmed: " + what
		}
		safetext.Fprintf(w, "%s %s; %s of %s still open.\n", answer.Finding, what, prose.Count(done.Open, "finding"), done.ID)
		resolved := done.Status == record.ReviewResolved && review.SupersededBy() == "" // else a later round did that
		screen.When(w, resolved && !done.Refuses, "Resolved %s.\n", done.ID)
		screen.When(w, resolved && done.Refuses,
			"Resolved %s: what is deferred still holds the change back in audit and at the gate.\n", done.ID)
		people, waiting := review.BackTo()
		screen.When(w, waiting > 0, "%s to be confirmed by %s.\n", prose.Count(waiting, "answer"), strings.Join(people, ", "))
	})
}
