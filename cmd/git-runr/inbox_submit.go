package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/loop/comment"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) inboxSubmitCommand() *cli.Command {
	return &cli.Command{
		Name: "submit", Usage: "hand in your comments and your verdict", ArgsUsage: "ID",
		Description: "Submits your draft of a review together with the comments of --file, a JSON list of\n{\"file\", \"startLine\", \"endLine\", \"selectedText\", \"comment\"}. Without a verdict it only comments.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "m", Usage: "what to say on the whole, in Markdown; - reads standard input"},
			&cli.BoolFlag{Name: "approve", Usage: "the change is good"},
			&cli.BoolFlag{Name: "request-changes", Usage: "the change is not good yet"},
			&cli.StringFlag{Name: "file", Usage: "JSON list of comments from `FILE`, or - for standard input"},
			asFlag(),
		},
		Action: p.action(inboxSubmit),
	}
}

func inboxSubmit(s *session) error {
	id, err := s.oneID(0, "a review is wanted")
	if err != nil {
		return err
	}
	person, err := s.submission()
	if err != nil {
		return err
	}
	store, err := s.open()
	if err != nil {
		return err
	}
	defer store.Together()()
	if person.Actor, err = s.person(store); err != nil {
		return err
	}
	review, err := store.Review(s.ctx, id)
	if err != nil {
		return err
	}
	if review.Request.Reviewer == record.Human {
		if err := s.byPerson(); err != nil {
			return err
		}
	}
	draft, err := store.Draft(review, person.Actor)
	if err != nil {
		return err
	}
	if person.Message == "" {
		person.Message = draft.Message
	}
	fromFile, err := s.fileComments(store, review.Request.Subject)
	if err != nil {
		return err
	}
	person.Comments = append(draft.Comments, fromFile...)
	if review, err = s.steps(store).Submit(s.ctx, review.ID, person); err != nil {
		return err
	}
	return s.print(render.NewReviewDocument(review), func(w io.Writer) {
		writeSubmitted(w, review, person.Actor)
		if run := review.Request.Run; run != "" && person.Decision != record.CommentOnly {
			safetext.Fprintf(w, "Run %s goes on from it: git runr resume %s\n", run, run)
		}
	})
}

func writeSubmitted(w io.Writer, review record.Review, actor string) {
	sub, _ := review.Newest(actor)
	safetext.Fprintf(w, "Submitted to %s: %s, %s.\n", review.ID, sub.Decision.Words(), prose.Count(len(sub.Comments), "comment"))
}

// submission reads the flags of a submission.
func (s *session) submission() (record.Person, error) {
	p := record.Person{Decision: record.CommentOnly}
	switch {
	case s.Bool("approve") && s.Bool("request-changes"):
		return p, exit.Problemf(exit.Usage, "a verdict is --approve or --request-changes, not both")
	case s.Bool("approve"):
		p.Decision = record.Approve
	case s.Bool("request-changes"):
		p.Decision = record.RequestChanges
	}
	if s.String("m") == "-" && s.String("file") == "-" {
		return p, exit.Problemf(exit.Usage, "standard input is the message or the comments, not both")
	}
	var err error
	p.Message, err = s.message(false)
	return p, err
}

// fileComments are the comments of --file, bound to the subject.
func (s *session) fileComments(store *store.Store, subject record.Subject) ([]record.Comment, error) {
	name := s.String("file")
	if name == "" {
		return nil, nil
	}
	data, err := s.readCommentsFile(name)
	if err != nil {
		return nil, err
	}
	comments, err := record.DecodeComments(data)
	if err != nil {
		return nil, exit.Problemf(exit.Usage, "%q: %w", name, err)
	}
	for i, c := range comments {
		if comments[i], err = locate.AnchorComment(s.ctx, store, subject, c); err != nil {
			return nil, fmt.Errorf("%q, comment %d: %w", name, i+1, err)
		}
	}
	return comments, nil
}

func (s *session) readCommentsFile(name string) ([]byte, error) {
	in := s.in
	if name != "-" {
		name = s.fromStart(name)
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil, exit.Problemf(exit.NotFound, "there is no file %q", name)
		case err == nil && !info.Mode().IsRegular():
			return nil, exit.Problemf(exit.Usage, "%q is not a file", name)
		}
		file, err := os.Open(name)
		if err != nil {
			return nil, exit.Problemf(exit.Usage, "%w", err)
		}
		defer file.Close()
		in = file
	}
	data, err := io.ReadAll(io.LimitReader(in, comment.MaxFile+1))
	if err != nil {
		return nil, exit.Problemf(exit.Usage, "%q: %w", name, err)
	}
	return data, nil
}
