package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/suggest"
)

// The panel of comments lists all that was said of a review in the order of the change. Without a
// script it is a page of its own.

// What the panel can show: the states of a remark, and more.
const (
	standsPending  = "pending"  // a draft
	standsOpen     = "open"     // nobody answered
	standsAnswered = "answered" // deferred: somebody will look again
	standsResolved = "resolved" // fixed, gone or refuted
	showAll        = "all"
	showMine       = "mine"
)

// Stands is where a remark is on its way.
func (r remark) Stands() string {
	switch {
	case r.Draft:
		return standsPending
	case r.Refuted():
		return standsResolved
	case r.Open:
		return standsOpen
	case r.State() == string(record.AnswerDeferred):
		return standsAnswered
	}
	return standsResolved
}

// Settled reports whether the remark is folded to a line.
func (r remark) Settled() bool { return r.Stands() == standsResolved && !r.Refuted() }

// fits reports whether the remark is among those that show names.
func (r remark) fits(show, actor string) bool {
	switch show {
	case showAll:
		return true
	case showMine:
		return r.Draft || r.Author == actor
	case standsOpen:
		return r.Stands() == standsOpen || r.Draft
	}
	return r.Stands() == show
}

// threadsView is the panel.
type threadsView struct {
	page
	Show    string
	Choices []threadChoice
	Threads []remark
}

// threadChoice is something that the panel can show.
type threadChoice struct {
	Show  string
	Count int
}

// URL is where the panel shows that.
func (v threadsView) URL(show string) string {
	return v.ReviewPath() + "/comments?show=" + url.QueryEscape(show)
}

// URL leads to the remark in the change: without a script to its file alone.
func (r remark) URL() string {
	u := url.URL{Path: "/review/" + r.Review, Fragment: r.ID}
	if r.File != "" {
		u.Path += "/diff"
		u.RawQuery = url.Values{"path": {r.File}}.Encode()
	}
	return u.String()
}

// newThreads is the panel with those remarks that show names: without a word for it those that are
// open, where there are any.
func newThreads(common page, remarks []remark, show string) threadsView {
	v := threadsView{page: common, Show: show}
	for _, choice := range []string{standsOpen, standsAnswered, standsResolved, showAll, showMine} {
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
		if v.Show = standsOpen; v.Choices[0].Count == 0 {
			v.Show = showAll
		}
	}
	for _, r := range remarks {
		if r.fits(v.Show, common.Actor) {
			v.Threads = append(v.Threads, r)
		}
	}
	return v
}

// inOrder are remarks as the change goes: first what is of the whole, last what is of other files.
func inOrder(remarks []*remark, list *fileList) []remark {
	at := func(r *remark) int {
		if r.File == "" {
			return -1
		}
		if list == nil {
			return 0
		}
		if f, known := list.find(r.File); known {
			return f.Index
		}
		return len(list.files)
	}
	drafts := map[bool]int{true: 1} // behind what was said before
	slices.SortStableFunc(remarks, func(a, b *remark) int {
		return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.File, b.File), cmp.Compare(a.End, b.End), cmp.Compare(drafts[a.Draft], drafts[b.Draft]), a.At.Compare(b.At))
	})
	sorted := make([]remark, len(remarks))
	for i, r := range remarks {
		sorted[i] = *r
	}
	return sorted
}

// threads is the panel, or with the form value fragment what a script puts into it.
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
	return p.show(w, http.StatusOK, name, newThreads(o.page, inOrder(o.remarks, o.files), r.FormValue("show")))
}

// Talked is what the panel holds, in a line.
func (v reviewView) Talked() (counts struct{ All, Open int }) {
	count := func(r remark) {
		counts.All++
		if r.fits(standsOpen, "") {
			counts.Open++
		}
	}
	for _, sub := range v.Submissions {
		for _, r := range sub.Remarks {
			count(r)
		}
	}
	for range v.Draft.Comments {
		count(remark{Draft: true})
	}
	return counts
}

// proposal is what a remark suggests, and what became of that.
type proposal struct {
	ID      string
	Review  string
	Branch  string
	Commit  string // that applied it, "" for none
	Several bool   // its comment suggests more
}

// Command is the line that applies it.
func (s proposal) Command() string { return "git runr inbox apply " + s.Review + " " + s.ID }

// Merge is the line that takes it over.
func (s proposal) Merge() string { return "git merge " + s.Branch }

// Applied is a commit that applied what the remark suggests, "" for none.
func (r remark) Applied() string {
	for _, s := range r.Proposals {
		if s.Commit != "" {
			return s.Commit
		}
	}
	return ""
}

// propose gives the remarks of a review what can be done with what they suggest.
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
					ID: c.ID, Review: review.ID, Branch: suggest.Branch(review), Commit: there[c.ID].Short(), Several: c.ID != c.Finding,
				})
			}
		}
		r.Runs = runs[r.ID]
		r.CanHand = r.CanAnswer && review.Request.Subject.Commit != "" && (r.Stands() == standsOpen || r.Stands() == standsAnswered)
	}
	return nil
}

// handed are the runs to which findings of a review were handed, by the ids of those.
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

// HandCommand is the line that hands the remark to a run.
func (r remark) HandCommand() string {
	return "git runr run --review " + r.Review + " --finding " + r.ID
}

// postThread carries out a line that stands beside a remark.
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
		return badRequest("finding %q is none", finding)
	}
	if err := refusal(p.Do(r.Context(), append([]string{"-q"}, args...)...)); err != nil {
		return err
	}
	return p.toThread(w, r, review.ID, finding)
}

// toThread goes back to where a form of a remark was.
func (p *pages) toThread(w http.ResponseWriter, r *http.Request, review, finding string) error {
	finding, _, _ = strings.Cut(finding, ".")
	u := url.URL{Path: "/review/" + review, Fragment: finding}
	if show := r.PostForm.Get("show"); show != "" {
		u.Path += "/comments"
		u.RawQuery = url.Values{"show": {show}}.Encode()
		u.Fragment = "t-" + finding
	}
	http.Redirect(w, r, u.String(), http.StatusSeeOther)
	return nil
}

// quotes are the lines that findings speak of which suggest others, by the ids of the findings:
// agents give numbers. What cannot be read is left out.
func (p *pages) quotes(ctx context.Context, review record.Review) map[string][]string {
	quotes := map[string][]string{}
	for _, c := range suggest.Of(review) {
		if at, err := c.Anchored(ctx, p.Store, review.Request.Subject); err == nil {
			quotes[c.Finding] = quoteOf(at)
		}
	}
	return quotes
}
