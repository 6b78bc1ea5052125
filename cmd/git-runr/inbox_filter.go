package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/pick"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// filterFlags choose among reviews, for a list and for --all.
func filterFlags() []cli.Flag {
	return append([]cli.Flag{&cli.StringFlag{Name: "reviewer", Usage: "only what `NAME` was asked for"}}, changeFlags()...)
}

// changeFlags are filterFlags without that of the reviewer.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "claimed-by", Usage: "only what `ACTOR` holds"},
		&cli.BoolFlag{Name: "mine", Usage: "only what you asked for or hold"},
		&cli.StringFlag{Name: "verdict", Usage: "only those with this `VERDICT`: critical, needs_fix, " +
			"pass_with_notes, pass, checked, partial, commented, nothing, unreadable, or none while nobody gave one"},
		&cli.StringFlag{Name: "branch", Usage: "only what was asked for on `BRANCH`"},
		&cli.StringFlag{Name: "since", Usage: "only what was asked for since `TIME`: a duration such as 2d or 3h, or a date such as 2026-01-31 or 2026-01-31T15:04Z"},
		&cli.StringFlag{Name: "author", Usage: "only commits of an author whose name or address has `TEXT` in it"},
		&cli.StringFlag{Name: "file", Usage: "only changes of files that `PATH`, a directory or a glob as in .gitignore, names"},
	}
}

// wish is what the flags of changeFlags say.
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

// inboxFilter is what a list's flags say; status is that of the list unless --status says
// another.
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
