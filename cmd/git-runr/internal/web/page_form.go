package web

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/loop/locate"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/store"
)

// The forms work without scripts. With scripts, drafts are sent to the API and the page stays as it is.

// composeView is the form for a comment.
type composeView struct {
	page
	Review   string
	ID       string // of the draft comment to edit, "" for a new one
	File     string
	Side     record.Side
	Start    string
	End      string
	Text     string
	Back     string
	Severity reply.Severity
}

// commentForm shows the form for a comment on the file path, or for the draft comment edit.
func (p *pages) commentForm(w http.ResponseWriter, r *http.Request, review record.Review) error {
	v := composeView{
		page: p.page(r, "Comment", "inbox"), Review: review.ID, File: r.FormValue("path"), Side: record.SideNew,
		Start: r.FormValue("start"), End: r.FormValue("end"),
	}
	if r.FormValue("side") == string(record.SideOld) {
		v.Side = record.SideOld
	}
	if id := r.FormValue("edit"); id != "" {
		d, err := p.Store.Draft(review, p.Actor)
		if err != nil {
			return err
		}
		c, err := d.Comment(id)
		if err != nil {
			return err
		}
		v.ID, v.File, v.Side, v.Text, v.Severity = id, c.File, shown.SideOf(*c), c.Comment, c.Severity
		v.Start, v.End = strconv.Itoa(c.StartLine), strconv.Itoa(c.EndLine)
	}
	v.Back = reviewURL(review.ID, v.File)
	return p.show(w, http.StatusOK, "comment.html", v)
}

// reviewURL returns the address of a review's page, at the given file if any.
func reviewURL(id, file string) string {
	u := url.URL{Path: "/review/" + id}
	if file != "" {
		u.Fragment = fileKey(file)
	}
	return u.String()
}

// postComment adds a comment to the draft, or changes or removes the one with the given id.
func (p *pages) postComment(w http.ResponseWriter, r *http.Request, review record.Review) error {
	id := r.PostForm.Get("id")
	r.SetPathValue("comment", id)
	var err error
	switch {
	case id == "":
		var in draftComment
		if in.commentJSON, err = commentFields(r); err == nil {
			_, err = p.addDraftComment(r, in)
		}
	case r.PostForm.Has("delete"):
		_, err = p.removeDraftComment(r)
	default:
		_, err = p.setDraftComment(r, draftText{Comment: r.PostForm.Get("comment")})
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, reviewURL(review.ID, r.PostForm.Get("file")), http.StatusSeeOther)
	return nil
}

// commentFields reads a comment from a form.
func commentFields(r *http.Request) (commentJSON, error) {
	in := commentJSON{
		File: strings.ReplaceAll(r.PostForm.Get("file"), "\r\n", "\n"), Side: r.PostForm.Get("side"),
		Severity: r.PostForm.Get("severity"),
		Comment:  strings.ReplaceAll(r.PostForm.Get("comment"), "\r\n", "\n"),
	}
	for name, to := range map[string]*int{"start": &in.StartLine, "end": &in.EndLine} {
		value := strings.TrimSpace(r.PostForm.Get(name))
		if value == "" {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return in, badRequest("line %q is not a number", value)
		}
		*to = n
	}
	return in, nil
}

// preview renders a comment as it will be shown.
func (p *pages) preview(w http.ResponseWriter, r *http.Request) error {
	in, err := commentFields(r)
	if err != nil {
		return err
	}
	quoted := quotedLines{file: in.File}
	if in.File != "" && in.StartLine > 0 {
		review, err := p.Store.Review(r.Context(), r.PathValue("id"))
		if err != nil {
			return err
		}
		c, err := locate.AnchorComment(r.Context(), p.Store, review.Request.Subject, record.Comment{File: in.File,
			Side: record.Side(in.Side), StartLine: in.StartLine, EndLine: in.EndLine})
		if err != nil {
			return err
		}
		quoted.lines = shown.QuoteOf(c)
	}
	return p.show(w, http.StatusOK, "preview", markdownHTML(in.Comment, quoted))
}

// remarkFragment serves one comment or finding, for a script that has just changed it.
func (p *pages) remarkFragment(w http.ResponseWriter, r *http.Request, review record.Review) error {
	v, id := reviewView{page: p.page(r, "", ""), Review: review}, r.FormValue("comment")
	remarks, err := p.remarks(r.Context(), &v)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(remarks, func(r *remark) bool { return r.ID == id })
	if at < 0 {
		return &record.NotFoundError{What: "comment", ID: id}
	}
	return p.show(w, http.StatusOK, "remark", remarks[at])
}

// postSubmit submits the reader's answer with the draft.
func (p *pages) postSubmit(w http.ResponseWriter, r *http.Request, review record.Review) error {
	message := strings.ReplaceAll(r.PostForm.Get("message"), "\r\n", "\n")
	_, err := p.submit(r, submitJSON{Decision: r.PostForm.Get("decision"), Message: &message, Key: r.PostForm.Get("key")})
	if err != nil {
		return err
	}
	http.Redirect(w, r, (&url.URL{Path: "/review/" + review.ID, RawQuery: "sent=1"}).String(), http.StatusSeeOther)
	return nil
}

// postViewed marks a file as viewed, or removes the mark.
func (p *pages) postViewed(w http.ResponseWriter, r *http.Request, review record.Review) error {
	file, err := p.fileOf(r.Context(), review, r.PostForm.Get("file"))
	if err != nil {
		return err
	}
	_, err = p.editDraft(r, func(d *store.Draft) error {
		d.SetViewed(file.Path, !d.HasViewed(file.Path))
		return nil
	})
	if err != nil {
		return err
	}
	http.Redirect(w, r, reviewURL(review.ID, file.Path), http.StatusSeeOther)
	return nil
}

// postState changes a review's state; the last part of the path says how.
func (p *pages) postState(w http.ResponseWriter, r *http.Request) error {
	ctx, id, note := r.Context(), r.PathValue("id"), strings.TrimSpace(r.PostForm.Get("note"))
	hold := record.Hold{Actor: p.Actor, Lease: p.Lease, Force: r.PostForm.Get("force") != ""}
	var review record.Review
	var err error
	switch path.Base(r.URL.Path) {
	case "claim":
		review, _, err = p.Claim(ctx, id, hold)
	case "release":
		review, err = p.Release(ctx, id, hold)
	case "resolve":
		review, err = p.Resolve(ctx, id, hold, note)
	case "reopen":
		review, err = p.Reopen(ctx, id, p.Actor)
	case "cancel":
		review, err = p.Store.CancelReview(ctx, id, p.Actor, note)
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, reviewURL(review.ID, ""), http.StatusSeeOther)
	return nil
}

// postReply records the reader's reply in a thread.
func (p *pages) postReply(w http.ResponseWriter, r *http.Request) error {
	said := record.Reply{Finding: r.PostForm.Get("finding"),
		Text: strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n"), Actor: p.Actor}
	review, err := p.Store.Reply(r.Context(), r.PathValue("id"), said)
	if err != nil {
		return err
	}
	return p.toThread(w, r, review.ID, said.Finding)
}

// postAnswer records an answer to one finding or comment.
func (p *pages) postAnswer(w http.ResponseWriter, r *http.Request) error {
	in := answerJSON{Finding: r.PostForm.Get("finding"), Answer: r.PostForm.Get("answer"),
		Reason: r.PostForm.Get("reason")}
	if in.Answer == string(record.AnswerFixed) {
		in.Commit = strings.TrimSpace(r.PostForm.Get("commit"))
	} else if strings.TrimSpace(in.Reason) == "" {
		return badRequest("%s needs a reason", in.Answer)
	}
	if _, err := p.answer(r, in); err != nil {
		return err
	}
	return p.toThread(w, r, r.PathValue("id"), in.Finding)
}
