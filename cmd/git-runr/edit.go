package main

import (
	"errors"
	"io"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/editdiff"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/steps"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
)

// notWritten cancels: the person wrote nothing.
func notWritten() error {
	return exit.Problemf(exit.Nothing, "nothing was written, so nothing is recorded").
		WithHint("an editor that returns at once must be told to wait: git config core.editor \"code --wait\"")
}

// editNew is git runr review --edit: a review by oneself, asked for and submitted when
// something was written.
func (s *session) editNew(records *store.Store, request record.ReviewRequest) error {
	if len(s.StringSlice("reviewer")) > 0 || s.Bool("wait") {
		return exit.Problemf(exit.Usage, "--edit is a review by yourself, without --reviewer and --wait")
	}
	request.Reviewer, request.Others = record.Human, nil
	records.AddMessages(s.ctx, &request.Subject)
	return s.editAndSubmit(records, request.Subject, store.Draft{}, func() (record.Review, error) {
		made, err := records.RequestReview(s.ctx, request, "cli")
		if err != nil {
			return made, err
		}
		return made, steps.Pin(s.ctx, records, made)
	})
}

// editInbox is git runr inbox comment ID --edit. The draft is handed in with it.
func (s *session) editInbox(store *store.Store, review record.Review, person string) error {
	if s.NArg() > 1 || s.IsSet("m") {
		return exit.Problemf(exit.Usage, "with --edit the comments are written in the editor").WithHint("git runr inbox comment " + review.ID + " --edit")
	}
	if review.Status == record.ReviewResolved || review.Status == record.ReviewCancelled {
		return &record.StateError{What: "review " + review.ID, Status: string(review.Status), Cannot: "submitted"}
	}
	draft, err := store.Draft(review, person)
	if err != nil {
		return err
	}
	return s.editAndSubmit(store, review.Request.Subject, draft, func() (record.Review, error) { return review, nil })
}

// editAndSubmit lets the person write into the diff of subject and submits that to the
// review that open gives. Whatever goes wrong, what was written stays in its file.
func (s *session) editAndSubmit(store *store.Store, subject record.Subject, draft store.Draft, open func() (record.Review, error)) error {
	actor, err := s.person(store)
	if err != nil {
		return err
	}
	file, err := editdiff.Open(s.ctx, store, subject, draft)
	if errors.Is(err, editdiff.ErrNoLines) {
		return exit.Problemf(exit.Nothing, "there is nothing to review: %w", err)
	}
	if err != nil {
		return err
	}
	person := record.Person{Actor: actor, Message: draft.Message, Comments: draft.Comments}
	review, err := s.writeAndSubmit(store, file, subject, &person, open)
	if err != nil {
		return keep(file, err)
	}
	file.Drop()
	return s.print(render.NewReviewDocument(review), func(w io.Writer) {
		writeSubmitted(w, review, person.Actor)
	})
}

// writeAndSubmit adds to person what is written, and submits that.
func (s *session) writeAndSubmit(store *store.Store, file editdiff.File, subject record.Subject, person *record.Person, open func() (record.Review, error)) (review record.Review, err error) {
	written, err := s.write(store, file)
	if err != nil {
		return review, err
	}
	comments, err := written.Bind(s.ctx, store, subject)
	if err != nil {
		return review, exit.Problemf(exit.Usage, "%w", err)
	}
	person.Decision = written.Decision
	person.Message = strings.TrimSpace(person.Message + "\n\n" + written.Message)
	person.Comments = append(person.Comments, comments...)
	if review, err = open(); err != nil {
		return review, err
	}
	return s.steps(store).Submit(s.ctx, review.ID, *person)
}

// write opens the editor and reads what was written.
func (s *session) write(store *store.Store, file editdiff.File) (written editdiff.Written, err error) {
	editor, err := store.Repo.Editor(s.ctx)
	if err != nil {
		return written, exit.Problemf(exit.NotFound, "%w", err).WithHint("git config --global core.editor NAME")
	}
	if editor == gitstore.NoEditor {
		return written, exit.Problemf(exit.Usage, "your editor is %q, which edits nothing", editor).WithHint("git runr inbox comment ID FILE:LINE -m TEXT", "git config --global core.editor NAME")
	}
	if file.Found {
		s.say("going on with what was left in %s", file.Path)
	}
	terminal := gitstore.Terminal{In: s.in, Out: s.err, Err: s.err} // standard output is for the result
	if tty, _ := stdio.Terminal(s.out); tty {
		terminal.Out = stdio.Beneath(s.out).(io.Writer)
	}
	if err := store.Repo.EditFile(s.ctx, editor, file.Path, terminal); err != nil {
		return written, exit.Problemf(exit.Stopped, "%w", err)
	}
	if err := s.ctx.Err(); err != nil {
		return written, err
	}
	text, err := file.Read()
	if err != nil {
		return written, err
	}
	if written, err = file.Parse(text); err != nil {
		return written, exit.Problemf(exit.Usage, "%w", err)
	}
	if written.Empty() {
		return written, notWritten()
	}
	return written, nil
}

// keep says where the file is after err, or removes it when nothing is in it.
func keep(file editdiff.File, err error) error {
	if file.Untouched() {
		file.Drop()
		return err
	}
	return exit.Classify(err).WithHint("what you wrote is in "+file.Path, "the same command goes on with it")
}
