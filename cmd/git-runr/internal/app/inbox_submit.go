package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/editdiff"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/exit"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/screen"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/stdio"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/steps"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/store"
)

func (p *program) inboxSubmitCommand() *cli.Command {
	return &cli.Command{
		Name: "submit", Usage: "submit your comments and your verdict", ArgsUsage: "ID",
		Description: `Submits your draft of a review, together with the comments in --file, a JSON list of {"file",
"startLine", "endLine", "selectedText", "comment"}. Without a verdict it only comments.`,
		Flags: []cli.Flag{
			messageFlag("a comment on the whole change, `TEXT` in Markdown; - reads standard input"),
			&cli.BoolFlag{Name: "approve", Usage: "verdict: the change is good"},
			&cli.BoolFlag{Name: "request-changes", Usage: "verdict: the change needs work"},
			&cli.StringFlag{Name: "file", Usage: "read a JSON list of comments from `FILE`, or - for standard input"},
			asFlag(),
		},
		Action: p.inRepo(inboxSubmit),
	}
}

func inboxSubmit(s *session, records *store.Store) error {
	person, err := s.submission()
	if err != nil {
		return err
	}
	defer records.Together()()
	if person.Actor, err = s.person(records); err != nil {
		return err
	}
	review, err := records.Review(s.ctx, s.Args().First())
	if err != nil {
		return err
	}
	if review.Request.Reviewer == record.Human {
		if err := s.requirePerson(records); err != nil {
			return err
		}
	}
	draft, err := records.Draft(review, person.Actor)
	if err != nil {
		return err
	}
	person.Message = cmp.Or(person.Message, draft.Message)
	fromFile, err := s.fileComments(records, review.Request.Subject)
	if err != nil {
		return err
	}
	person.Comments = append(draft.Comments, fromFile...)
	if err := review.MayComment(person.Actor, records.Now()); err != nil && person.Empty() {
		return err
	}
	if person.Empty() {
		return exit.Problemf(exit.Usage, "%w", person.Check()).WithHint("git runr inbox submit "+review.ID+" --approve",
			"git runr inbox submit "+review.ID+" --request-changes -m TEXT",
			"git runr inbox comment "+review.ID+" FILE:LINE -m TEXT")
	}
	requester := review.RequestedBy
	if review, err = s.steps(records).Submit(s.ctx, review.ID, person); err == nil {
		review, err = records.Carrying(s.ctx, review)
	}
	if missing := new(gitstore.MissingError); errors.As(err, &missing) && missing.Try != "" {
		return exit.Classify(err).WithHint("if no remote has it, " + requester + " has to push it first")
	}
	if err != nil {
		return err
	}
	return s.print(render.NewReviewDocument(review), func(w io.Writer) {
		writeSubmitted(w, review, person)
		if run := review.Request.Run; run != "" && person.Decision != record.CommentOnly {
			safetext.Fprintf(w, "Continue run %s with it: git runr resume %s\n", run, run)
		}
	})
}

func writeSubmitted(w io.Writer, review record.Review, person record.Person) {
	sub, _ := review.Newest(person.Actor)
	if why := review.Overruled(person); why != "" {
		safetext.Fprintf(w, "Submitted to %s: %s. %s\n", review.ID, person.Decision.Words(), why)
		return
	}
	safetext.Fprintf(w, "Submitted to %s: %s, %s.\n", review.ID, sub.Decision.Words(),
		prose.Count(len(sub.Comments), "comment"))
	if why := review.Uncounted(sub); why != "" {
		safetext.Fprintf(w, "%s\n", why)
	}
	screen.When(w, sub.Decision == record.Approve && len(review.Request.Subject.Paths) > 0,
		"It was limited to %s, so that it does not make the whole change approved.\n",
		strings.Join(review.Request.Subject.Paths, " "))
	if review.ClosedAt.IsZero() {
		writeStanding(w, review.Summary(), sub.Decision, review.OwnersMissing())
	}
}

// writeStanding prints whether an open review counts as approved after somebody's decision, and who is still asked.
func writeStanding(w io.Writer, s record.ReviewSummary, decided record.Decision, owners []string) {
	still := strings.Join(s.StillAsked, ", ")
	if len(s.Refusers) > 0 {
		names := each.Of(s.Refusers, func(by record.Speaker) string { return by.By })
		screen.When(w, decided == record.Approve || s.Approved > 0,
			"Refused by %s; it does not count as approved.\n", strings.Join(names, ", "))
		screen.When(w, still != "", "Still asked: %s.\n", still)
		return
	}
	if words := s.ApprovedWords(); words != "" {
		switch {
		case still != "":
			safetext.Fprintf(w, "It is %s; still asked: %s.\n", words, still)
		case len(s.People) == 0:
			safetext.Fprintf(w, "It is %s; still asked: anybody else.\n", words)
		default:
			safetext.Fprintf(w, "It is %s, and everybody who was asked by name has answered.\n", words)
		}
		return
	}
	screen.When(w, len(owners) > 0 && decided == record.Approve, "The approval of an owner is missing: %s.\n",
		strings.Join(owners, ", "))
}

// submission returns the verdict and message of the flags.
func (s *session) submission() (record.Person, error) {
	p := record.Person{Decision: record.CommentOnly}
	switch {
	case s.Bool("approve") && s.Bool("request-changes"):
		return p, exit.Problemf(exit.Usage, "use either --approve or --request-changes, not both")
	case s.Bool("approve"):
		p.Decision = record.Approve
	case s.Bool("request-changes"):
		p.Decision = record.RequestChanges
	}
	if s.String("m") == "-" && s.String("file") == "-" {
		return p, exit.Problemf(exit.Usage, "-m - and --file - cannot both read standard input")
	}
	var err error
	p.Message, err = s.message(false)
	return p, err
}

// fileComments reads the comments of --file and anchors them to the lines of subject.
func (s *session) fileComments(store *store.Store, subject record.Subject) ([]record.Comment, error) {
	name := s.String("file")
	if name == "" {
		return nil, nil
	}
	data, err := s.readInput(name)
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

func (p *program) inboxCommentCommand() *cli.Command {
	return &cli.Command{
		Name: "comment", Usage: "add a comment to your draft of a review", ArgsUsage: "ID [FILE[:LINE[-END]]]",
		Description: `Without LINE the comment is on the file, without FILE on the whole change. The text comes from -m
or standard input. Nobody sees it before git runr inbox submit ID.`,
		Flags: []cli.Flag{
			messageFlag("the comment, `TEXT` in Markdown; - reads standard input"),
			&cli.StringFlag{Name: "side", Value: string(record.SideNew),
				Usage: "`SIDE` of the diff: new, or old, the file as it was before the change"},
			&cli.StringFlag{Name: "severity", Usage: "`SEVERITY`: critical, warning or note"},
			&cli.BoolFlag{Name: "edit", Usage: "write comments into the diff in your editor, and submit them with your draft"},
			asFlag(), &cli.BoolFlag{Name: "list", Usage: "show your draft"},
			&cli.StringFlag{Name: "drop", Usage: "remove the comment `COMMENT_ID` from your draft"},
		},
		Action: p.inRepo(inboxComment),
	}
}

// commented is the result of git runr inbox comment.
type commented struct {
	ID       string           `json:"review_id"`
	Reviewer string           `json:"reviewer"`
	Comment  *record.Comment  `json:"comment,omitempty"` // the new comment
	Draft    []record.Comment `json:"draft"`
	Message  string           `json:"message,omitempty"`
}

func inboxComment(s *session, records *store.Store) error {
	person, err := s.person(records)
	if err != nil {
		return err
	}
	review, err := records.Review(s.ctx, s.Args().First())
	if err != nil {
		return err
	}
	switch {
	case (s.Bool("list") || s.IsSet("drop")) && (s.NArg() > 1 || s.IsSet("m")), s.Bool("list") && s.IsSet("drop"):
		return exit.Problemf(exit.Usage, "--list and --drop take only a review")
	case s.Bool("edit"):
		return s.editInbox(records, review, person)
	case s.Bool("list"):
		draft, err := records.Draft(review, person)
		if err != nil {
			return err
		}
		return s.showDraft(review, draft, nil)
	case s.IsSet("drop"):
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
	return s.addComment(records, review, person)
}

func (s *session) addComment(records *store.Store, review record.Review, person string) error {
	comment := record.Comment{Side: record.Side(s.String("side")), Severity: reply.Severity(s.String("severity"))}
	switch comment.Severity {
	case "", reply.Critical, reply.Warning, reply.Note:
	default:
		return exit.Problemf(exit.Usage, "unknown severity %q: use critical, warning or note", comment.Severity)
	}
	comment, err := locate.AnchorTyped(s.ctx, records, review.Request.Subject, comment, s.Args().Get(1))
	if errors.As(err, new(*record.NotFoundError)) && comment.Side != record.SideOld {
		return exit.Problemf(exit.NotFound, "%w", err).WithHint("--side old   where the change removed it")
	}
	if object := new(gitstore.MissingError); errors.As(err, &object) {
		return exit.Problemf(exit.NotFound, "%w", err).WithHint(object.Try,
			"git runr inbox comment "+review.ID+" -m TEXT   comments on the whole")
	}
	if err != nil {
		return err
	}
	if comment.Comment, err = s.message(true); err != nil {
		return err
	}
	if comment.Comment == "" {
		return exit.Problemf(exit.Usage, "the comment is empty").WithHint("git runr inbox comment ID FILE:LINE -m TEXT")
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
			safetext.Fprintf(w, "To record it, type: git runr inbox submit %s\n", review.ID)
			return
		}
		render.Draft(w, review.ID, draft)
	})
}

// editNew implements git runr review --edit. The review is requested only after the person wrote something, and then
// submitted.
func (s *session) editNew(records *store.Store, request record.ReviewRequest) error {
	if len(s.StringSlice("reviewer")) > 0 || s.Bool("wait") {
		return exit.Problemf(exit.Usage, "--edit excludes --reviewer and --wait: you are the reviewer")
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

// editInbox implements git runr inbox comment ID --edit, which also submits the draft.
func (s *session) editInbox(records *store.Store, review record.Review, person string) error {
	if s.NArg() > 1 || s.IsSet("m") {
		return exit.Problemf(exit.Usage, "--edit takes no comments on the command line").
			WithHint("git runr inbox comment " + review.ID + " --edit")
	}
	if review.Status == record.ReviewResolved || review.Status == record.ReviewCancelled {
		return &record.StateError{What: "review " + review.ID, Status: string(review.Status), Cannot: record.CannotComment}
	}
	draft, err := records.Draft(review, person)
	if err != nil {
		return err
	}
	return s.editAndSubmit(records, review.Request.Subject, draft, func() (record.Review, error) { return review, nil })
}

// editAndSubmit lets the person write comments into the diff of subject and submits them to the review that open
// returns. After an error the text stays in its file.
func (s *session) editAndSubmit(store *store.Store, subject record.Subject, draft store.Draft,
	open func() (record.Review, error)) error {
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
	if err != nil && !file.Untouched() {
		return exit.Classify(err).WithHint("what you wrote is in "+file.Path, "the same command continues with it")
	}
	file.Drop()
	if err != nil {
		return err
	}
	return s.print(render.NewReviewDocument(review), func(w io.Writer) {
		writeSubmitted(w, review, person)
	})
}

// writeAndSubmit adds what is written in the editor to person and submits it.
func (s *session) writeAndSubmit(store *store.Store, file editdiff.File, subject record.Subject, person *record.Person,
	open func() (record.Review, error)) (review record.Review, err error) {
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

// write opens the editor and parses the result.
func (s *session) write(store *store.Store, file editdiff.File) (written editdiff.Written, err error) {
	editor, err := store.Repo.Editor(s.ctx)
	if err != nil {
		return written, exit.Problemf(exit.NotFound, "%w", err).WithHint("git config --global core.editor NAME")
	}
	if editor == gitstore.NoEditor {
		return written, exit.Problemf(exit.Usage, "the editor %q does not edit; set core.editor", editor).
			WithHint("git runr inbox comment ID FILE:LINE -m TEXT", "git config --global core.editor NAME")
	}
	if file.Found {
		s.say("continuing with your text in %s", file.Path)
	}
	terminal := gitstore.Terminal{In: s.in, Out: s.err, Err: s.err} // standard output is reserved for the result
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
		return written, exit.Problemf(exit.Nothing, "nothing was written, so nothing is recorded").
			WithHint("if your editor returns at once, make it wait: git config core.editor \"code --wait\"")
	}
	return written, nil
}
