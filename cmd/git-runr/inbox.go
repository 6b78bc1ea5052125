package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/loop/record"
)

// inboxLimit is how many reviews a list shows unless --limit says otherwise.
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
		Action: p.action(inboxList),
	}
	return &cli.Command{
		Name: "inbox", Usage: "reviews: list, comment, submit, claim, resolve …", Flags: list.Flags, Action: p.action(inboxList),
		Subcommands: []*cli.Command{
			list, p.inboxCommentCommand(), p.inboxSubmitCommand(), p.inboxClaimCommand(), p.inboxReleaseCommand(),
			p.inboxResolveCommand(), p.inboxCancelCommand(), p.inboxReopenCommand(), p.inboxAnswerCommand(), p.inboxApplyCommand(),
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

// listStyle is that of standard output.
func (c *console) listStyle() render.ListStyle {
	style := render.ListStyle{Now: c.now(), ASCII: !c.utf8(), Columns: c.columns()}
	if style.Columns > 0 {
		style.Short = c.store.ShortIDs
	}
	return style
}
