package main

import (
	"errors"
	"io"

	"github.com/urfave/cli/v2"

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
		Name: "list", Usage: "what waits for somebody, what needs a person first",
		Description: "First what needs a person most: critical findings, then what did not pass, reviewers that could not\nbe run, what a person was asked for, what was seen in part or commented on, notes, and last what waits\nfor an agent; of equals the newest. The columns: what came of it, findings without an answer by\nseverity (✗ critical, ! warning, · note), id, commit, age, title.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "status", Value: record.StatusWaiting, Usage: "waiting (open, submitted, claimed), inbox (submitted, claimed), all, open, submitted, claimed, resolved or cancelled"},
			&cli.BoolFlag{Name: "archived", Usage: "also what git runr gc has dropped from the lists"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: inboxLimit, Usage: "at most `N`; 0 for all"},
		}, filterFlags()...),
		Action: p.inRepo(inboxList),
	}
	return &cli.Command{
		Name: "inbox", Usage: "reviews: list, comment, submit, claim, resolve …", Flags: list.Flags, Action: p.inRepo(inboxList),
		Subcommands: []*cli.Command{
			list, p.inboxCommentCommand(), p.inboxSubmitCommand(), p.inboxClaimCommand(), p.inboxReleaseCommand(), p.inboxGiveCommand(),
			p.inboxResolveCommand(), p.inboxCancelCommand(), p.inboxReopenCommand(), p.inboxAnswerCommand(), p.inboxReplyCommand(), p.inboxApplyCommand(),
			p.inboxShareCommand(), p.inboxRedactCommand(),
		},
	}
}

type inboxJSON struct {
	Reviews []record.ReviewSummary `json:"reviews"`
	Total   int                    `json:"total"` // that match the filter, printed or not
}

func inboxList(s *session, store *store.Store) error {
	filter, err := s.inboxFilter(store, s.String("status"))
	if err != nil {
		return err
	}
	if filter.Limit = s.Int("limit"); filter.Limit < 0 {
		return exit.Problemf(exit.Usage, "--limit %d is below 0", filter.Limit)
	}
	reviews, total, err := store.Reviews(s.ctx, filter)
	if err != nil {
		return err
	}
	return s.print(inboxJSON{reviews, total}, func(w io.Writer) {
		render.Inbox(w, reviews, total, s.listStyle())
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
	return append([]cli.Flag{&cli.StringFlag{Name: "reviewer", Usage: "only what `NAME`, an agent or a person, was asked for"}}, changeFlags()...)
}

// changeFlags returns filterFlags without --reviewer.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "claimed-by", Usage: "only what `ACTOR` holds"},
		&cli.BoolFlag{Name: "mine", Usage: "only what you asked for, are asked for or hold"},
		&cli.StringFlag{Name: "verdict", Usage: "only those with this `VERDICT`: critical, needs_fix, " +
			"pass_with_notes, pass, checked, partial, commented, nothing, unreadable, or none while nobody gave one"},
		&cli.StringFlag{Name: "branch", Usage: "only what was asked for on `BRANCH`"},
		&cli.StringFlag{Name: "since", Usage: "only what was asked for since `TIME`: a duration such as 2d or 3h, or a date such as 2026-01-31 or 2026-01-31T15:04Z"},
		&cli.StringFlag{Name: "author", Usage: "only commits of an author whose name or address has `TEXT` in it"},
		&cli.StringFlag{Name: "file", Usage: "only changes of files that `PATH`, a directory or a glob as in .gitignore, names"},
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
		if err := errors.Join(err, personErr, actorErr); err != nil {
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
		Name: "reply", Usage: "say something in the thread of a finding or comment, or of the whole", ArgsUsage: "ID [FINDING]",
		Description: "Markdown, at any time, in any clone. It closes nothing: git runr inbox answer does.",
		Flags:       []cli.Flag{&cli.StringFlag{Name: "m", Usage: "what you say; - reads standard input"}, asFlag()},
		Action:      p.inRepo(inboxReply),
	}
}

// repliedJSON is the result of git runr inbox reply.
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
		Name: "answer", Usage: "say what became of one finding or comment", ArgsUsage: "ID FINDING ANSWER",
		Description: "ANSWER is fixed, refuted, deferred, gone, open or confirmed. fixed and gone need --commit REV, refuted\n" +
			"needs the reason (-m). What is fixed is claimed fixed until who\n" +
			"objected, a rule or git runr verify confirms it, and a critical finding stays open until then; open takes an\n" +
			"answer back. Once all is answered in a review in which a person asked for changes, it goes back to that person,\n" +
			"who says confirmed or open. The ids are in git runr show ID.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "commit", Usage: "the commit `REV` that fixed it, or in which the code is gone"},
			&cli.StringFlag{Name: "m", Usage: "the reason; - reads standard input"}, asFlag(), forceFlag(),
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
	review, err := s.steps(store).Answer(s.ctx, s.Args().First(), answer, s.Bool("force"))
	if err != nil {
		return s.claimedHint(err, review)
	}
	return s.showAct(store, review, answer.Actor, &answer, func(w io.Writer, done actorDone) {
		given, _ := review.AnswerTo(answer.Finding)
		safetext.Fprintf(w, "%s %s; %s of %s still open.\n", answer.Finding, given.What(), prose.Count(done.Open, "finding"), done.ID)
		if done.Status == record.ReviewResolved {
			safetext.Fprintf(w, "Resolved %s.\n", done.ID)
		}
	})
}
