package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"git-runr/cmd/git-runr/internal/editdiff"
	"git-runr/cmd/git-runr/internal/exit"
	"git-runr/cmd/git-runr/internal/render"
	"git-runr/cmd/git-runr/internal/stdio"
	"git-runr/cmd/git-runr/internal/steps"
	"git-runr/gitstore"
	"git-runr/gitstore/safefile"
	"git-runr/loop"
	"git-runr/loop/locate"
	"git-runr/loop/prose"
	"git-runr/loop/record"
	"git-runr/loop/role"
)

// maxEditPatch bounds the diff that is opened in an editor, in bytes.
const maxEditPatch = 32 << 20

// notWritten cancels: the person wrote nothing.
func notWritten() error {
	return exit.Problemf(exit.Nothing, "nothing was written, so nothing is recorded").
		WithHint("an editor that returns at once must be told to wait: git config core.editor \"code --wait\"")
}

// editNew is git runr review --edit: a review by oneself, asked for and submitted when
// something was written.
func (s *session) editNew(store *record.Store, request record.ReviewRequest) error {
	if len(s.StringSlice("reviewer")) > 0 || s.Bool("wait") {
		return exit.Problemf(exit.Usage, "--edit is a review by yourself, without --reviewer and --wait")
	}
	request.Reviewer, request.Others = record.Human, nil
	store.AddMessages(s.ctx, &request.Subject)
	return s.editAndSubmit(store, request.Subject, record.Draft{}, func() (record.Review, error) {
		made, err := store.RequestReview(s.ctx, request, "cli")
		if err != nil {
			return made, err
		}
		return made, steps.Pin(s.ctx, store, made)
	})
}

// editInbox is git runr inbox comment ID --edit. The draft is handed in with it.
func (s *session) editInbox(store *record.Store, review record.Review, person string) error {
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
func (s *session) editAndSubmit(store *record.Store, subject record.Subject, draft record.Draft, open func() (record.Review, error)) error {
	actor, err := s.person(store)
	if err != nil {
		return err
	}
	file, err := editFileFor(s.ctx, store, subject, draft)
	if err != nil {
		return err
	}
	review, person, err := s.writeAndSubmit(s.ctx, store, file, subject, record.Person{Actor: actor, Message: draft.Message, Comments: draft.Comments}, open, s.steps(store).Submit)
	if err != nil {
		return file.keep(err)
	}
	file.drop()
	return s.print(render.NewReviewDocument(review), func(w io.Writer) {
		writeSubmitted(w, review, person)
	})
}

func (c *console) writeAndSubmit(ctx context.Context, store *record.Store, file editFile, subject record.Subject, person record.Person, open func() (record.Review, error), submit func(context.Context, string, record.Person) (record.Review, error)) (record.Review, record.Person, error) {
	written, err := c.write(ctx, store, file)
	if err != nil {
		return record.Review{}, person, err
	}
	person.Decision = written.Decision
	person.Message = strings.TrimSpace(person.Message + "\n\n" + written.Message)
	for _, said := range written.Comments {
		comment, err := locate.Anchor(ctx, store, subject, said.Path, said.Side, said.Start, said.End)
		if err != nil {
			return record.Review{}, person, exit.Problemf(exit.Usage, "line %d: %w", said.Line, err)
		}
		comment.Comment = said.Text
		person.Comments = append(person.Comments, comment)
	}
	review, err := open()
	if err != nil {
		return review, person, err
	}
	review, err = submit(ctx, review.ID, person)
	return review, person, err
}

// write opens the editor and reads what was written.
func (c *console) write(ctx context.Context, store *record.Store, file editFile) (editdiff.Written, error) {
	editor, err := store.Repo.Editor(ctx)
	if err != nil {
		return editdiff.Written{}, exit.Problemf(exit.NotFound, "%w", err).WithHint("git config --global core.editor NAME")
	}
	if editor == gitstore.NoEditor {
		return editdiff.Written{}, exit.Problemf(exit.Usage, "your editor is %q, which edits nothing", editor).WithHint("git runr inbox comment ID FILE:LINE -m TEXT", "git config --global core.editor NAME")
	}
	if file.found {
		c.say("going on with what was left in %s", file.path)
	}
	terminal := gitstore.Terminal{In: c.in, Out: c.err, Err: c.err} // standard output is for the result
	if tty, _ := stdio.Terminal(c.out); tty {
		terminal.Out = stdio.Beneath(c.out).(io.Writer)
	}
	if err := store.Repo.EditFile(ctx, editor, file.path, terminal); err != nil {
		return editdiff.Written{}, exit.Problemf(exit.Stopped, "%w", err)
	}
	if err := ctx.Err(); err != nil {
		return editdiff.Written{}, err
	}
	text, err := file.read()
	if err != nil {
		return editdiff.Written{}, err
	}
	written, err := file.Parse(text)
	if err != nil {
		return editdiff.Written{}, exit.Problemf(exit.Usage, "%w", err)
	}
	if written.Empty() {
		return editdiff.Written{}, notWritten()
	}
	return written, nil
}

// editFile is the file that a person writes in. Its name is that of the change, so that
// whoever comes back to the same change finds what was left there.
type editFile struct {
	editdiff.Text
	path  string
	found bool // it was there already
}

// editFileFor makes the file for a change, unless it is there.
func editFileFor(ctx context.Context, store *record.Store, subject record.Subject, draft record.Draft) (editFile, error) {
	change, err := loop.ReadChange(ctx, store, subject, role.Limits{Binary: true, Opens: true, Generated: true, MaxBytes: maxEditPatch})
	if err != nil {
		return editFile{}, err
	}
	if len(change.Patch) == 0 {
		return editFile{}, exit.Problemf(exit.Nothing, "there is nothing to review: no line is changed")
	}
	name := sha256.Sum256(change.Patch)
	made := editFile{
		Text: editdiff.New(change.Patch, editNotes(subject, change, draft)),
		path: filepath.Join(store.Repo.StateDir(), "edit", hex.EncodeToString(name[:6])+".diff"),
	}
	if text, err := made.read(); err == nil && text != "" {
		made.found = true
		return made, nil
	}
	if err := safefile.WriteFile(made.path, []byte(made.String()), 0o600); err != nil {
		return made, fmt.Errorf("open the diff: %w", err)
	}
	return made, nil
}

// editNotes tell the reader what the diff is, and what it leaves out.
func editNotes(subject record.Subject, change loop.Change, draft record.Draft) []string {
	notes := []string{fmt.Sprintf("The change: %s %s", subject.Spec, subject.Title)}
	for _, m := range subject.Messages {
		notes = append(notes, "commit "+m.Commit.Short())
		for line := range strings.Lines(m.Text) {
			notes = append(notes, "    "+strings.TrimRight(line, "\r\n"))
		}
	}
	for _, left := range change.Census.LeftOut {
		notes = append(notes, fmt.Sprintf("Not shown (%s): %s", left.Why, left.Path))
	}
	if n := len(draft.Comments); n > 0 {
		notes = append(notes, fmt.Sprintf("Your draft has %s already; handed in with what you write here.", prose.Count(n, "comment")))
	}
	return notes
}

// read gives the file's text; one that is gone was emptied.
func (f editFile) read() (string, error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read what was written: %w", err)
	}
	return string(text), nil
}

// drop removes the file. It may stay: then it is offered again.
func (f editFile) drop() { os.Remove(f.path) }

// keep says where the file is after err, or removes it when nothing is in it.
func (f editFile) keep(err error) error {
	text, readErr := f.read()
	written, parseErr := f.Parse(text)
	if readErr == nil && parseErr == nil && written.Empty() {
		f.drop()
		return err
	}
	known := exit.Classify(err)
	return known.WithHint("what you wrote is in "+f.path, "the same command goes on with it")
}
