package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/gitstore"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// commentJSON is a comment: first the five names that existing clients know, then ours. Commit and blob are ignored in
// requests and taken from the code; selectedText must match the code.
type commentJSON struct {
	File         string `json:"file"`      // "" for the review as a whole
	StartLine    int    `json:"startLine"` // from 1; 0 for a whole file
	EndLine      int    `json:"endLine"`
	SelectedText string `json:"selectedText"`
	Comment      string `json:"comment"` // Markdown

	ID       string `json:"id"`
	Side     string `json:"side,omitempty"` // old or new; omitted means new
	Severity string `json:"severity,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Blob     string `json:"blob,omitempty"`
}

func comment(c record.Comment) commentJSON {
	return commentJSON{
		File: c.File, StartLine: c.StartLine, EndLine: c.EndLine, SelectedText: c.SelectedText, Comment: c.Comment,
		ID: c.ID, Side: string(c.Side), Severity: string(c.Severity), Commit: string(c.Commit), Blob: string(c.Blob),
	}
}

// findingComment returns an agent's finding in the form of a comment.
func findingComment(f reply.Finding) commentJSON {
	text := f.Issue
	if f.Fix != "" {
		text += "\n\nFix: " + f.Fix
	}
	return commentJSON{File: f.File, StartLine: f.Line, EndLine: max(f.Line, f.EndLine), Comment: text, ID: f.ID,
		Severity: string(f.Severity)}
}

// draftJSON is the draft of the person at the browser.
type draftJSON struct {
	Reviewer string        `json:"reviewer"`
	Comments []commentJSON `json:"comments"`
	Message  string        `json:"message"`
	Viewed   []string      `json:"viewed"`
}

func draft(d store.Draft) draftJSON {
	return draftJSON{Reviewer: d.Actor, Comments: each.Of(d.Comments, comment), Message: d.Message,
		Viewed: append([]string{}, d.Viewed...)}
}

func (s *Server) getDraft(r *http.Request) (any, error) {
	review, err := s.Store.Review(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	d, err := s.Store.Draft(review, s.Actor)
	if err != nil {
		return nil, err
	}
	return draft(d), nil
}

// draftComment is a comment for a draft.
type draftComment struct {
	commentJSON
	Was string `json:"was"` // the text that an earlier request with this id sent
}

// addDraftComment adds a comment to the draft. A browser chooses the comment's id, so that a request that it sends
// again changes the comment that is there: the answer to the first may be lost, and a page that is left sends what it
// has while the next page sends the same.
func (s *Server) addDraftComment(r *http.Request, in draftComment) (any, error) {
	review, err := s.Store.Review(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	c, err := s.place(r.Context(), review.Request.Subject, in.commentJSON)
	if err != nil {
		return nil, err
	}
	_, err = s.Store.EditDraft(r.Context(), review.ID, s.Actor, func(d *store.Draft) error {
		if there, err := d.Comment(in.ID); err == nil {
			there.Comment = joinedText(there.Comment, &in.Was, in.Comment)
			c = *there
			return nil
		}
		c.ID = in.ID
		c = d.Add(c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return comment(c), nil
}

// draftText is a new text of a comment of a draft.
type draftText struct {
	Comment string  `json:"comment"`
	Was     *string `json:"was"`
}

func (s *Server) setDraftComment(r *http.Request, in draftText) (any, error) {
	if strings.TrimSpace(in.Comment) == "" {
		return nil, badRequest("comment is empty")
	}
	return s.editDraft(r, func(d *store.Draft) error {
		c, err := d.Comment(r.PathValue("comment"))
		if err != nil {
			return err
		}
		c.Comment = joinedText(c.Comment, in.Was, in.Comment)
		return nil
	})
}

// joinedText returns the new text of a draft after a writer who saw was sends text. If another page has changed the
// draft meanwhile, its text is kept before the new one, unless one contains the other. If was is nil, text replaces the
// draft.
func joinedText(now string, was *string, text string) string {
	trimmed := strings.TrimSpace(now)
	switch {
	case was == nil, trimmed == strings.TrimSpace(*was), strings.Contains(text, trimmed):
		return text
	case strings.Contains(now, strings.TrimSpace(text)):
		return now
	}
	return now + "\n\n" + text
}

func (s *Server) removeDraftComment(r *http.Request) (any, error) {
	return s.editDraft(r, func(d *store.Draft) error { return d.Remove(r.PathValue("comment")) })
}

func (s *Server) setDraftMessage(r *http.Request, in struct {
	Message string  `json:"message"`
	Was     *string `json:"was"`
}) (any, error) {
	return s.editDraft(r, func(d *store.Draft) error {
		d.Message = joinedText(d.Message, in.Was, in.Message)
		return nil
	})
}

func (s *Server) setDraftViewed(r *http.Request, in struct {
	File   string `json:"file"`
	Viewed bool   `json:"viewed"`
}) (any, error) {
	if in.File == "" {
		return nil, badRequest("file is required")
	}
	review, err := s.Store.Review(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	file, err := s.fileOf(r.Context(), review, in.File)
	if err != nil {
		return nil, err
	}
	return s.editDraft(r, func(d *store.Draft) error {
		d.SetViewed(file.Path, in.Viewed)
		return nil
	})
}

func (s *Server) editDraft(r *http.Request, edit func(*store.Draft) error) (any, error) {
	d, err := s.Store.EditDraft(r.Context(), r.PathValue("id"), s.Actor, edit)
	if err != nil {
		return nil, err
	}
	return draft(d), nil
}

// place makes a comment from a request. It checks that the lines exist, and takes their text from the code.
func (s *Server) place(ctx context.Context, subject record.Subject, in commentJSON) (record.Comment, error) {
	severity := reply.Severity(in.Severity)
	switch {
	case strings.TrimSpace(in.Comment) == "":
		return record.Comment{}, badRequest("comment is empty")
	case severity != "" && severity != reply.Critical && severity != reply.Warning && severity != reply.Note:
		return record.Comment{}, badRequest("unknown severity %q: use critical, warning or note", in.Severity)
	case in.File == "" && in.StartLine != 0:
		return record.Comment{}, badRequest("lines need a file")
	}
	c, err := locate.AnchorComment(ctx, s.Store, subject, record.Comment{
		File: in.File, Side: record.Side(in.Side), StartLine: in.StartLine, EndLine: in.EndLine,
		SelectedText: in.SelectedText, Comment: in.Comment, Severity: severity,
	})
	if errors.Is(err, gitstore.ErrNotFound) {
		return c, badRequest("%v", err)
	}
	return c, err
}

// submitJSON is a person's answer to a request.
type submitJSON struct {
	Verdict  string        `json:"verdict"`  // approve, request_changes or comment, in any case; omitted: comment
	Decision string        `json:"decision"` // the same, under the name that existing clients know
	Message  *string       `json:"message"`  // omitted: the draft's
	Comments []commentJSON `json:"comments"` // in addition to the draft's
	Key      string        `json:"key"`      // sent again with the same key, it counts once
	Reviewer string        `json:"reviewer"` // omitted: the person at the browser, with the draft
}

// maxSubmission is the maximum size in bytes of the text of one submission.
const maxSubmission = 200 << 10

// submit records a decision with the comments of the draft and those sent with it.
func (s *Server) submit(r *http.Request, in submitJSON) (any, error) {
	review, err := s.Store.Review(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	person, err := s.person(r.Context(), review, in)
	if err != nil {
		return nil, err
	}
	if review.Sent(person.Actor, person.Key) { // the draft that it was made from is gone
		return summary(review.Summary()), nil
	}
	return s.moved(s.Submit(r.Context(), review.ID, person))
}

// person returns the submission in in. It includes the draft unless it is in somebody else's name.
func (s *Server) person(ctx context.Context, review record.Review, in submitJSON) (record.Person, error) {
	if in.Verdict != "" && in.Decision != "" && !strings.EqualFold(in.Verdict, in.Decision) {
		return record.Person{}, badRequest("verdict and decision differ: send one of them")
	}
	verdict := strings.ToLower(cmp.Or(in.Verdict, in.Decision))
	p := record.Person{Actor: strings.TrimSpace(in.Reviewer), Decision: record.Decision(verdict), Key: in.Key}
	if p.Actor == "" || record.SameActor(p.Actor, s.Actor) {
		d, err := s.Store.Draft(review, s.Actor)
		if err != nil {
			return p, err
		}
		p.Actor, p.Message, p.Comments = s.Actor, d.Message, d.Comments
	}
	if in.Message != nil {
		p.Message = *in.Message
	}
	size := len(p.Message)
	for _, sent := range in.Comments {
		if sent.ID != "" && slices.ContainsFunc(p.Comments, func(c record.Comment) bool { return c.ID == sent.ID }) {
			continue
		}
		c, err := s.place(ctx, review.Request.Subject, sent)
		if err != nil {
			return p, err
		}
		if size += len(c.Comment) + len(c.SelectedText); size > maxSubmission {
			return p, store.ErrDraftFull
		}
		p.Comments = append(p.Comments, c)
	}
	return p, nil
}
