package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/gitstore"
	"git-runr/loop"
	"git-runr/loop/record"
)

// inboxLimit is how many reviews a list shows unless --limit says otherwise.
const inboxLimit = 50

func (p *program) inboxCommand() *cli.Command {
	list := &cli.Command{
		Name: "list", Usage: "what waits for somebody, newest submitted first",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "status", Value: record.StatusWaiting, Usage: "waiting (open, submitted, claimed), inbox (submitted, claimed), all, open, submitted, claimed, resolved or cancelled"},
			&cli.StringFlag{Name: "claimed-by", Usage: "only what `ACTOR` holds"},
			&cli.StringFlag{Name: "reviewer", Usage: "only what `NAME` was asked for"},
			&cli.BoolFlag{Name: "mine", Usage: "only what you asked for or hold"},
			&cli.BoolFlag{Name: "archived", Usage: "also what git runr gc has dropped from the lists"},
			&cli.IntFlag{Name: "limit", Value: inboxLimit, Usage: "at most `N`; 0 for all"},
		},
		Action: p.action(inboxList),
	}
	get := &cli.Command{
		Name: "get", Usage: "one review with its comments and findings", ArgsUsage: "[ID]",
		Description: "Shows the comments as Markdown for an agent or a person to address, each finding with its id,\nwhat became of it, and where it is now when the code has moved.",
		Action:      p.action(inboxGet),
	}
	return &cli.Command{
		Name: "inbox", Usage: "reviews: list, get, comment, submit, claim, resolve …", Flags: list.Flags, Action: p.action(inboxList),
		Subcommands: []*cli.Command{
			list, get, p.inboxCommentCommand(), p.inboxSubmitCommand(), p.inboxClaimCommand(), p.inboxReleaseCommand(),
			p.inboxResolveCommand(), p.inboxCancelCommand(), p.inboxReopenCommand(), p.inboxAnswerCommand(),
		},
	}
}

type inboxJSON struct {
	Reviews []record.ReviewSummary `json:"reviews"`
	Total   int                    `json:"total"` // that fit the filter, shown or not
}

func inboxList(s *session) error {
	if s.NArg() > 0 {
		return exit.Problemf(exit.Usage, "inbox knows no %q", s.Args().First()).WithHint("git runr inbox -h")
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	filter, err := s.inboxFilter(store)
	if err != nil {
		return err
	}
	reviews, total, err := store.Reviews(s.ctx, filter)
	if err != nil {
		return err
	}
	return s.print(inboxJSON{reviews, total}, func(w io.Writer) { writeInbox(w, reviews, total) })
}

// inboxFilter reads the flags of a list.
func (s *session) inboxFilter(store *record.Store) (record.Filter, error) {
	filter := record.Filter{Limit: s.Int("limit")}
	if filter.Limit < 0 {
		return filter, exit.Problemf(exit.Usage, "--limit %d is below 0", filter.Limit)
	}
	var err error
	if filter.Status, err = record.StatusFilter(s.String("status")); err != nil {
		return filter, exit.Problemf(exit.Usage, "%w", err)
	}
	if !s.Bool("archived") {
		if filter.ClosedSince, err = loop.ClosedSince(store); err != nil {
			return filter, err
		}
	}
	filter.Review, err = s.reviewFilter(store)
	return filter, err
}

// reviewFilter is what a list's flags say about people; nil when they say nothing.
func (s *session) reviewFilter(store *record.Store) (func(record.ReviewSummary) bool, error) {
	holder, reviewer, mine := s.String("claimed-by"), s.String("reviewer"), s.Bool("mine")
	if holder == "" && reviewer == "" && !mine {
		return nil, nil
	}
	me, person, actor := gitstore.Identity{}, "", ""
	if mine {
		var err, personErr, actorErr error
		me, err = store.Repo.Identity(s.ctx)
		person, personErr = s.person(store)
		actor, actorErr = s.actor(store)
		if err := errors.Join(err, personErr, actorErr); err != nil {
			return nil, err
		}
	}
	return func(r record.ReviewSummary) bool {
		switch {
		case holder != "" && !isActor(r.ClaimedBy, holder):
			return false
		case reviewer != "" && r.Reviewer != reviewer && !slices.Contains(r.Others, reviewer):
			return false
		}
		return !mine || r.RequestedBy == me.String() || r.ClaimedBy == actor || isActor(r.ClaimedBy, person)
	}, nil
}

// isActor reports whether actor is name, or name with more behind it: an address, or
// the terminal in which it acts.
func isActor(actor, name string) bool {
	return actor == name || strings.HasPrefix(actor, name+" ")
}

func inboxGet(s *session) error {
	store, id, err := s.openFor(record.Latest)
	if err != nil {
		return err
	}
	review, err := store.Review(s.ctx, id)
	if err != nil {
		return err
	}
	doc := reviewDocument(review)
	if err := placeComments(s.ctx, store, &doc); err != nil {
		return err
	}
	return s.print(doc, func(w io.Writer) { writeReviewDocument(w, doc) })
}

// placeComments finds where the comments of people are at HEAD.
func placeComments(ctx context.Context, store *record.Store, doc *reviewJSON) error {
	head, err := store.Repo.Head(ctx)
	if errors.Is(err, gitstore.ErrUnborn) {
		return nil
	}
	if err != nil {
		return err
	}
	var comments []record.Comment
	for _, c := range doc.Comments {
		comments = append(comments, c.Comment)
	}
	places, err := store.Places(ctx, comments, head)
	if err != nil {
		return err
	}
	for i, c := range doc.Comments {
		if c.File != "" && c.Side != record.SideOld { // HEAD is the other side
			doc.Comments[i].Now = &places[i]
		}
	}
	return nil
}
