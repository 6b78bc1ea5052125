package main

import (
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) inboxCommentCommand() *cli.Command {
	return &cli.Command{
		Name: "comment", Usage: "add a comment to your draft of a review", ArgsUsage: "ID [FILE[:LINE[-END]]]",
		Description: "Without lines the comment is on the file, without a file on the whole. The text is that of -m,\nor standard input. Nobody sees it before git runr inbox submit ID.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "m", Usage: "the comment, in Markdown; - reads standard input"},
			&cli.StringFlag{Name: "side", Value: string(record.SideNew), Usage: "new, or old: the file as it was before the change"},
			&cli.StringFlag{Name: "severity", Usage: "critical, warning or note"},
			&cli.BoolFlag{Name: "edit", Usage: "write comments into the diff in your editor, and submit them with your draft"},
			asFlag(), &cli.BoolFlag{Name: "list", Usage: "show your draft"},
			&cli.StringFlag{Name: "drop", Usage: "take the comment `COMMENT_ID` out of your draft"},
		},
		Action: p.action(inboxComment),
	}
}

// commented is the answer of git runr inbox comment.
type commented struct {
	ID       string           `json:"review_id"`
	Reviewer string           `json:"reviewer"`
	Comment  *record.Comment  `json:"comment,omitempty"` // that was added
	Draft    []record.Comment `json:"draft"`
	Message  string           `json:"message,omitempty"`
}

func inboxComment(s *session) error {
	id, err := s.oneID(1, "a review and a place are wanted")
	if err != nil {
		return err
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	person, err := s.person(store)
	if err != nil {
		return err
	}
	review, err := store.Review(s.ctx, id)
	if err != nil {
		return err
	}
	switch {
	case (s.Bool("list") || s.IsSet("drop")) && s.NArg() > 1, s.Bool("list") && s.IsSet("drop"):
		return exit.Problemf(exit.Usage, "--list and --drop COMMENT_ID go with a review alone")
	case s.Bool("edit"):
		return s.editInbox(store, review, person)
	case s.Bool("list"):
		draft, err := store.Draft(review, person)
		if err != nil {
			return err
		}
		return s.showDraft(review, draft, nil)
	case s.IsSet("drop"):
		return s.dropComment(store, review, person)
	}
	return s.addComment(store, review, person)
}

func (s *session) dropComment(records *store.Store, review record.Review, person string) error {
	id := s.String("drop")
	draft, err := records.EditDraft(s.ctx, review.ID, person, func(d *store.Draft) error {
		if d.Remove(id) != nil {
			return &record.NotFoundError{What: "comment", ID: id, Where: "in your draft"}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.showDraft(review, draft, nil)
}

func (s *session) addComment(records *store.Store, review record.Review, person string) error {
	comment := record.Comment{Side: record.Side(s.String("side")), Severity: reply.Severity(s.String("severity"))}
	switch comment.Severity {
	case "", reply.Critical, reply.Warning, reply.Note:
	default:
		return exit.Problemf(exit.Usage, "severity %q is none of critical, warning, note", comment.Severity)
	}
	comment, err := locate.AnchorTyped(s.ctx, records, review.Request.Subject, comment, s.Args().Get(1))
	if errors.As(err, new(*record.NotFoundError)) && comment.Side != record.SideOld {
		return exit.Problemf(exit.NotFound, "%w", err).WithHint("--side old   where the change removed it")
	}
	if object := new(gitstore.MissingError); errors.As(err, &object) {
		return exit.Problemf(exit.NotFound, "%w", err).WithHint(object.Try, "git runr inbox comment "+review.ID+" -m TEXT   comments on the whole")
	}
	if err != nil {
		return err
	}
	if comment.Comment, err = s.message(true); err != nil {
		return err
	}
	if comment.Comment == "" {
		return exit.Problemf(exit.Usage, "a comment is wanted").WithHint("git runr inbox comment ID FILE:LINE -m TEXT")
	}
	var added record.Comment
	draft, err := records.EditDraft(s.ctx, review.ID, person, func(d *store.Draft) error {
		added = d.Add(comment)
		return nil
	})
	if errors.Is(err, store.ErrDraftFull) {
		return exit.Problemf(exit.State, "%w", err).WithHint("git runr inbox submit " + review.ID)
	}
	if err != nil {
		return err
	}
	return s.showDraft(review, draft, &added)
}

func (c *console) showDraft(review record.Review, draft store.Draft, added *record.Comment) error {
	doc := commented{ID: review.ID, Reviewer: draft.Actor, Comment: added, Draft: draft.Comments, Message: draft.Message}
	return c.print(doc, func(w io.Writer) {
		if added != nil {
			safetext.Fprintf(w, "Added %s to your draft (%s).\n", added.ID, prose.Count(len(draft.Comments), "comment"))
			safetext.Fprintf(w, "Nobody sees it before: git runr inbox submit %s\n", review.ID)
			return
		}
		render.Draft(w, review.ID, draft)
	})
}
