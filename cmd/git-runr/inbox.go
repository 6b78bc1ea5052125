package main

import (
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"git-runr/loop"
)

// inboxLimit is how many reviews a list shows unless --limit says otherwise.
const inboxLimit = 50

func (p *program) inboxCommand() *cli.Command {
	list := &cli.Command{
		Name: "list", Usage: "what waits for somebody, newest submitted first",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "status", Value: "inbox", Usage: "inbox, all, open, submitted, claimed, resolved or cancelled"},
			&cli.IntFlag{Name: "limit", Value: inboxLimit, Usage: "at most `N`; 0 for all"},
		},
		Action: p.action(inboxList),
	}
	get := &cli.Command{Name: "get", Usage: "one review with its findings", ArgsUsage: "ID", Action: p.action(inboxGet)}
	return &cli.Command{
		Name: "inbox", Usage: "reviews: list and get", Flags: list.Flags, Action: p.action(inboxList),
		Subcommands: []*cli.Command{list, get},
	}
}

type inboxJSON struct {
	Reviews []loop.ReviewSummary `json:"reviews"`
	Total   int                  `json:"total"` // that fit the filter, shown or not
}

func inboxList(s *session) error {
	if s.NArg() > 0 {
		return problemf(exitUsage, "inbox knows no %q", s.Args().First()).withHint("git runr inbox -h")
	}
	filter := loop.Filter{Limit: s.Int("limit")}
	var err error
	if filter.Status, err = loop.StatusFilter(s.String("status")); err != nil {
		return problemf(exitUsage, "%w", err)
	}
	store, conf, err := s.configured()
	if err != nil {
		return err
	}
	filter.ClosedSince = s.now().Add(-time.Duration(conf.Inbox.Retention))
	reviews, total, err := store.Reviews(s.ctx, filter)
	if err != nil {
		return err
	}
	return s.print(inboxJSON{reviews, total}, func(w io.Writer) { writeInbox(w, reviews, total) })
}

func inboxGet(s *session) error {
	id, err := s.arg(loop.Latest)
	if err != nil {
		return err
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	review, err := store.Review(s.ctx, id)
	if err != nil {
		return err
	}
	return s.print(reviewDocument(review), func(w io.Writer) { writeReview(w, review) })
}
