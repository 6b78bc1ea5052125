package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/cmd/git-runr/internal/shown"
	"github.com/git-runr/git-runr/gitstore/each"
	"github.com/git-runr/git-runr/loop/prose"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/reply"
	"github.com/git-runr/git-runr/loop/safetext"
	"github.com/git-runr/git-runr/loop/suggest"
)

// The panel of comments lists all remarks of a review in the order of the change. Without scripts it is a separate
// page.

// What the panel can show in addition to the values of shown.Standing.
const (
	showAll  = "all"
	showMine = "mine"
)

// Settled reports whether the remark is folded to one line.
func (r remark) Settled() bool { return r.Stands() == shown.Resolved && !r.Refuted() }

// fits reports whether the remark is included in show.
func (r remark) fits(show, actor string) bool {
	switch show {
	case showAll:
		return true
	case showMine:
		return r.Draft || r.Author == actor
	}
	return string(r.Stands()) == show || r.Draft && show == string(shown.Open)
}

// threadsView is the panel.
type threadsView struct {
	page
	Show    string
	Choices []threadChoice
	Threads []*remark
	Whole   replyForm
}

// replyForm is the replies of a thread, and the form to add one. Finding "" is the review as a whole.
type replyForm struct {
	Page                  page
	Review, Finding, Show string
	Replies               []replyView
}

// Thread returns the thread of the remark, which must not be a draft.
func (r remark) Thread() replyForm {
	return replyForm{r.Page, r.Review, r.ID, r.Show, r.Replies}
}

// Whole returns the thread of the review as a whole.
func (v reviewView) Whole() replyForm { return replyForm{v.page, v.Review.ID, "", "", v.Replies} }

// threadChoice is one of the selections that the panel offers.
type threadChoice struct {
	Show  string
	Count int
}

// URL returns the address of the panel that shows show.
func (v threadsView) URL(show string) string {
	return v.ReviewPath() + "/comments?show=" + url.QueryEscape(show)
}

// URL returns the address of the remark in the change: the page of its file, for use without scripts.
func (r remark) URL() string {
	u := url.URL{Path: "/review/" + r.Review, Fragment: r.ID}
	if r.File != "" {
		u.Path += "/diff"
		u.RawQuery = url.Values{"path": {r.File}}.Encode()
	}
	return u.String()
}

// newThreads returns the panel with the remarks in show. If show is unknown, it shows the open ones, or all if none is
// open.
func newThreads(common page, remarks []*remark, show string) threadsView {
	v := threadsView{page: common, Show: show}
	for _, choice := range []string{string(shown.Open), string(shown.Answered), string(shown.Resolved), showAll,
		showMine} {
		n := 0
		for _, r := range remarks {
			if r.fits(choice, common.Actor) {
				n++
			}
		}
		v.Choices = append(v.Choices, threadChoice{choice, n})
	}
	known := slices.ContainsFunc(v.Choices, func(c threadChoice) bool { return c.Show == show })
	if !known {
		if v.Show = string(shown.Open); v.Choices[0].Count == 0 {
			v.Show = showAll
		}
	}
	for _, r := range remarks {
		if r.fits(v.Show, common.Actor) {
			r.Show = v.Show
			v.Threads = append(v.Threads, r)
		}
	}
	return v
}

// threads serves the panel, or with the form value fragment only its content for a script.
func (p *pages) threads(w http.ResponseWriter, r *http.Request, review record.Review) error {
	o, err := p.open(r, review)
	if err != nil && !gone(err) {
		return err
	}
	name := "comments.html"
	if r.FormValue("fragment") != "" {
		name = "threads"
	}
	o.page.Title = "Comments on " + o.page.Title
	remarks := o.remarks
	if o.files != nil {
		remarks = shown.InOrder(remarks, o.files.index, len(o.files.files))
	}
	v := newThreads(o.page, remarks, r.FormValue("show"))
	v.Whole = replyForm{o.page, review.ID, "", v.Show, o.Replies}
	return p.show(w, http.StatusOK, name, v)
}

// Talked counts the remarks in the panel.
func (v reviewView) Talked() (counts struct{ All, Open int }) {
	counts.All, counts.Open = len(v.said.Remarks), v.said.Unsettled()+len(v.Draft.Comments)
	return counts
}

// proposal is a change that a remark suggests, and its state.
type proposal struct {
	ID      string
	Review  string
	Branch  string
	Commit  string // the commit that applied it, or ""
	Several bool   // its comment suggests several changes
}

// Command returns the command that applies the change.
func (s proposal) Command() string { return "git runr inbox apply " + s.Review + " " + s.ID }

// Merge returns the command that merges the applied changes.
func (s proposal) Merge() string { return "git merge " + s.Branch }

// Applied returns the commit that applied a suggestion of the remark, or "".
func (r remark) Applied() string {
	for _, s := range r.Proposals {
		if s.Commit != "" {
			return s.Commit
		}
	}
	return ""
}

// propose adds to the remarks of a review their suggestions and the runs that they were handed to.
func (p *pages) propose(ctx context.Context, review record.Review, remarks []*remark) error {
	all := suggest.Of(review)
	if p.Do == nil || len(all) == 0 && review.Request.Subject.Commit == "" {
		return nil
	}
	there, err := suggest.On(ctx, p.Store, review)
	if err != nil {
		return err
	}
	runs, err := p.handed(ctx, review)
	if err != nil {
		return err
	}
	for _, r := range remarks {
		if r.Draft {
			continue
		}
		for _, c := range all {
			if c.Finding == r.ID {
				r.Proposals = append(r.Proposals, proposal{
					ID: c.ID, Review: review.ID, Branch: suggest.Branch(review), Commit: there[c.ID].Short(),
					Several: c.ID != c.Finding,
				})
			}
		}
		r.Runs = runs[r.ID]
		r.CanHand = r.CanAnswer && review.Request.Subject.Commit != "" &&
			(r.Stands() == shown.Open || r.Stands() == shown.Answered)
	}
	return nil
}

// handed returns the runs that findings of a review were handed to, by finding id.
func (p *pages) handed(ctx context.Context, review record.Review) (map[string][]record.RunSummary, error) {
	ids, err := p.runsOf(ctx, review)
	if err != nil {
		return nil, err
	}
	handed := map[string][]record.RunSummary{}
	for _, id := range ids {
		run, err := p.Store.Run(ctx, id)
		if gone(err) {
			continue // its log is not in this clone
		}
		if err != nil {
			return nil, err
		}
		for _, f := range run.Plan.Findings {
			handed[f.ID] = append(handed[f.ID], run.Summary())
		}
	}
	return handed, nil
}

// HandCommand returns the command that hands the remark to a run.
func (r remark) HandCommand() string {
	return "git runr run --review " + r.Review + " --finding " + r.ID
}

// postThread runs a command that is offered next to a remark.
func (p *pages) postThread(w http.ResponseWriter, r *http.Request, review record.Review) error {
	finding := r.PostForm.Get("finding")
	args := map[string][]string{
		"apply": {"inbox", "apply", review.ID, finding},
		"hand":  {"run", "--review", review.ID, "--finding", finding, "--detached"},
	}[r.PathValue("act")]
	switch {
	case p.Do == nil || args == nil:
		return errNoPage
	case finding == "" || strings.HasPrefix(finding, "-"):
		return badRequest("there is no finding %q", finding)
	}
	if err := refusal(p.Do(r.Context(), append([]string{"-q"}, args...)...)); err != nil {
		return err
	}
	return p.toThread(w, r, review.ID, finding)
}

// commits returns a function that maps a commit's id, or its first digits, to the address of the reviews of that
// commit, or to "" if the commit is not in this clone.
func (p *pages) commits(ctx context.Context) func(id string) string {
	return func(id string) string {
		commit, err := p.repo.Resolve(ctx, id)
		if err != nil {
			return ""
		}
		return (&url.URL{Path: "/review", RawQuery: url.Values{"status": {"all"}, "q": {string(commit)}}.Encode()}).String()
	}
}

// toThread redirects to the thread that a form was part of.
func (p *pages) toThread(w http.ResponseWriter, r *http.Request, review, finding string) error {
	finding, _, _ = strings.Cut(finding, ".")
	u := url.URL{Path: "/review/" + review, Fragment: cmp.Or(finding, "talk")}
	if show := r.PostForm.Get("show"); show != "" {
		u.Path += "/comments"
		u.RawQuery = url.Values{"show": {show}}.Encode()
		u.Fragment = "t-" + cmp.Or(finding, "whole")
	}
	http.Redirect(w, r, u.String(), http.StatusSeeOther)
	return nil
}

// quotes returns the quoted lines of findings that suggest changes, by finding id: agents give only line numbers. Lines
// that cannot be read are omitted.
func (p *pages) quotes(ctx context.Context, review record.Review) map[string][]string {
	quotes := map[string][]string{}
	for _, c := range suggest.Of(review) {
		if at, err := c.Anchored(ctx, p.Store, review.Request.Subject); err == nil {
			quotes[c.Finding] = shown.QuoteOf(at)
		}
	}
	return quotes
}

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

// remark is a finding, a comment or a draft comment as the page shows it.
type remark struct {
	*shown.Remark
	Body, Fix template.HTML
	Elsewhere bool // its lines are not among the shown ones
	Review    string
	CanAnswer bool
	CanHand   bool       // it can be handed to a run
	Proposals []proposal // changes that it suggests
	Runs      []record.RunSummary
	Replies   []replyView
	Page      page   // which its forms and times need
	Show      string // what the panel that contains it shows; "" elsewhere
}

// replyView is a reply in a thread.
type replyView struct {
	record.Reply
	Body template.HTML
}

// replies returns the replies in the thread of a finding, or for "" those to the review as a whole.
func (p *pages) replies(ctx context.Context, review record.Review, finding string) []replyView {
	return each.Of(review.RepliesTo(finding), func(said record.Reply) replyView {
		return replyView{said, markdownHTML(said.Text, quotedLines{commit: p.commits(ctx)})}
	})
}

// Version returns a text that changes whenever the remark's thread does.
func (r remark) Version() string {
	return fmt.Sprintf("%d-%d-%d-%s-%s", len(r.Replies), len(r.Answers), len(r.Runs), r.State(), r.Applied())
}

// First returns the first line, for lists.
func (r remark) First() string { return firstLine(r.Text) }

// Later says where its lines are in the newest version, if they moved.
func (r remark) Later() string { return shown.Later(r.Now) }

func newRemark(on page, review record.Review, said *shown.Remark, commit func(string) string) *remark {
	quoted := quotedLines{said.Made.File, said.Quote, commit}
	r := &remark{Remark: said, Page: on, Review: review.ID, Body: markdownHTML(said.Text, quoted)}
	if said.Fix != "" {
		r.Fix = markdownHTML(said.Fix, quoted)
	}
	r.CanAnswer = !r.Draft && (review.Status == record.ReviewSubmitted || review.Status == record.ReviewClaimed)
	return r
}

// submissionView is one reviewer's answer.
type submissionView struct {
	record.Submission
	Summary template.HTML
	Words   template.HTML // the answer itself, if it says more
	Remarks []*remark
	Above   int // findings that are shown with a reviewer who reported them first
}

// Badge describes the reviewer's result.
func (s submissionView) Badge() string {
	if words := s.Decided(); words != "" {
		return words
	}
	if s.Outcome == record.OutcomeNothing {
		return s.Census.NothingSaid()
	}
	if s.Report.Effective == reply.Checked {
		return record.Says(s.Reviewer, s.Report.Says(), len(s.Report.Findings))
	}
	badge := strings.ToLower(strings.ReplaceAll(s.Said(), "_", " "))
	if s.Outcome == record.OutcomePartial {
		badge += ", not of all"
	}
	return badge
}

// Class returns the CSS class for the result; "quiet" if only rules, or an author who approves, looked.
func (s submissionView) Class() string {
	if s.Report.Effective == reply.Checked || s.Decided() != s.Decision.Words() {
		return "quiet"
	}
	return outcomeClass(s.Outcome)
}

func outcomeClass(o record.Outcome) string {
	return cmp.Or(map[record.Outcome]string{record.OutcomePassed: "good", record.OutcomeFailed: "bad"}[o], "quiet")
}

// submissions returns the answers of a review with their remarks. remarks must correspond to said.Remarks.
func submissions(said *shown.Review, remarks []*remark, commit func(string) string) []submissionView {
	views := make([]submissionView, len(said.Submissions))
	for i, sub := range said.Submissions {
		v := submissionView{Submission: sub, Summary: markdownHTML(sub.Report.Summary, quotedLines{commit: commit})}
		if prose := sub.Report.Prose(); prose != "" {
			v.Words = markdownHTML(prose, quotedLines{commit: commit})
		}
		n := len(said.Of(i))
		v.Remarks, remarks = remarks[:n:n], remarks[n:]
		v.Above = len(sub.Report.Findings) + len(sub.Comments) - n
		views[i] = v
	}
	return views
}

// firstLine returns the beginning of a text, for a list.
func firstLine(s string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(s), "\n")
	if strings.HasPrefix(line, "```") {
		if _, rest, _ = strings.Cut(rest, "\n```"); strings.TrimSpace(rest) != "" && more {
			return firstLine(rest)
		}
		line = "suggestion"
	}
	return prose.CutColumns(safetext.Line(strings.Join(strings.Fields(line), " ")), 120)
}
