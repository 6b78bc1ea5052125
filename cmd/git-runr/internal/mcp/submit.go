package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/each"
	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// commented is the document of review_comment.
type commented struct {
	ID       string `json:"review_id"`
	Reviewer string `json:"reviewer"` // whose draft it is
	Comment  string `json:"comment_id"`
	Place    string `json:"place"`
	Draft    int    `json:"draft"` // comments in it
}

func (s *Server) comment(ctx context.Context, c call, in commentArgs) (outcome, error) {
	review, err := c.Store.Review(ctx, in.id())
	if err != nil {
		return outcome{}, err
	}
	comment, err := c.anchored(ctx, review, in.remark)
	if err != nil {
		return outcome{}, err
	}
	draft, err := c.Store.EditDraft(ctx, review.ID, c.actor, func(d *store.Draft) error {
		comment = d.Add(comment)
		return nil
	})
	if errors.Is(err, store.ErrDraftFull) {
		return outcome{}, refusef("Error: %v: review_submit.", err)
	}
	if err != nil {
		return outcome{}, err
	}
	doc := commented{review.ID, line(draft.Actor, 200), comment.ID, line(cmp.Or(comment.Place(), "the whole"), 500),
		len(draft.Comments)}
	return outcome{doc: doc,
		text: fmt.Sprintf("Added %s to your draft of review %s, on %s (%s). Nobody sees it before review_submit.",
			doc.Comment, doc.ID, doc.Place, prose.Count(doc.Draft, "comment"))}, nil
}

// anchored returns a remark as a comment on the lines that it names.
func (c call) anchored(ctx context.Context, review record.Review, r remark) (record.Comment, error) {
	comment := record.Comment{
		File: r.File, StartLine: r.Line, EndLine: r.EndLine, Side: record.Side(r.Side), Severity: reply.Severity(r.Severity),
		Comment: strings.TrimSpace(r.Text),
	}
	if comment.Comment == "" {
		return comment, refusal("Error: text is required: the comment is empty.")
	}
	if r.File == "" && r.Line > 0 {
		return comment, refusal("Error: file is required with line.")
	}
	placed, err := locate.AnchorComment(ctx, c.Store, review.Request.Subject, comment)
	if !record.Unknown(err) {
		return placed, err
	}
	paths, pathsErr := c.changedPaths(ctx, review.Request.Subject)
	if pathsErr != nil {
		return placed, pathsErr
	}
	if path, known := named(paths, r.File); known && path != r.File { // named as it was shown
		comment.File = path
		return locate.AnchorComment(ctx, c.Store, review.Request.Subject, comment)
	}
	return placed, err
}

// changedPaths returns the paths of files in the change under review, on both sides.
func (c call) changedPaths(ctx context.Context, subject record.Subject) ([]string, error) {
	from, err := c.Store.ComparedWith(ctx, subject)
	if err != nil {
		return nil, err
	}
	changes, err := c.Store.Repo.Changed(ctx, from, subject.Tree)
	return each.Of(changes, func(change gitstore.Change) string { return change.Path }), err
}

// submit submits a review as an agent: the draft's comments and those of the call. The review still waits for a person
// who was asked. An agent cannot approve.
func (s *Server) submit(ctx context.Context, c call, in submitArgs) (outcome, error) {
	person := record.Person{Actor: c.actor, Agent: true, Decision: record.Decision(in.Verdict), Message: in.Message}
	if person.Decision == record.Approve {
		return outcome{},
			refusal("Error: only people approve: submit request_changes or comment; the user can type: git runr inbox submit " +
				"ID --approve.")
	}
	review, err := c.Store.Review(ctx, in.id())
	if err != nil {
		return outcome{}, err
	}
	draft, err := c.Store.Draft(review, person.Actor)
	if err != nil {
		return outcome{}, err
	}
	person.Comments, person.Message = draft.Comments, cmp.Or(in.Message, draft.Message)
	for i, r := range in.Comments {
		comment, err := c.anchored(ctx, review, r)
		if err != nil {
			return outcome{}, refusef("comments[%d]: %v", i, explain(err))
		}
		person.Comments = append(person.Comments, comment)
	}
	if review, err = c.Submit(ctx, review.ID, person); err != nil {
		return outcome{}, err
	}
	sub, _ := review.Newest(person.Actor)
	text := fmt.Sprintf("Submitted to review %s: %s, %s. It is %s.", review.ID, sub.Decision.Words(),
		prose.Count(len(sub.Comments), "comment"), review.Status)
	return outcome{text: text, doc: changedDocument(review)}, nil
}
