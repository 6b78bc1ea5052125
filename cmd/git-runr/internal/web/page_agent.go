package web

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
)

// forAgent serves the text for an agent: the output of git runr show, including the reader's draft. The form value
// comment restricts it to one comment or finding; decision is the decision that the reader is about to make.
func (p *pages) forAgent(w http.ResponseWriter, r *http.Request, review record.Review) error {
	draft, err := p.Store.Draft(review, p.Actor)
	if err != nil {
		return err
	}
	if len(draft.Comments) > 0 || strings.TrimSpace(draft.Message) != "" {
		pending := record.Submission{Reviewer: p.Actor, Decision: record.CommentOnly, Comments: draft.Comments,
			Report: reply.Report{Summary: draft.Message}}
		if said := record.Decision(r.FormValue("decision")); said.Words() != "" {
			pending.Decision = said
		}
		review.Submissions = append(slices.Clip(review.Submissions), pending)
	}
	if id := r.FormValue("comment"); id != "" {
		if review.Submissions = onlyRemark(review.Submissions, id); len(review.Submissions) == 0 {
			return &record.NotFoundError{What: "comment", ID: id}
		}
	}
	doc := render.NewReviewDocument(review)
	if err := doc.Place(r.Context(), p.Store); err != nil {
		return err
	}
	var out bytes.Buffer
	render.Review(&out, doc)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err = w.Write(out.Bytes())
	return err
}

// onlyRemark reduces submissions to the comment or finding with an id.
func onlyRemark(all []record.Submission, id string) []record.Submission {
	for _, sub := range all {
		sub.Comments = slices.DeleteFunc(slices.Clone(sub.Comments), func(c record.Comment) bool { return c.ID != id })
		found := slices.DeleteFunc(slices.Clone(sub.Report.Findings), func(f reply.Finding) bool { return f.ID != id })
		if len(sub.Comments)+len(found) > 0 {
			sub.Report = reply.Report{Verdict: sub.Report.Verdict, Effective: sub.Report.Effective, Findings: found}
			return []record.Submission{sub}
		}
	}
	return nil
}
