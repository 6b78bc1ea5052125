package web

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/git-runr/git-runr/cmd/git-runr/internal/render"
	"github.com/git-runr/git-runr/diagnose"
	"github.com/git-runr/git-runr/loop"
	"github.com/git-runr/git-runr/loop/record"
	"github.com/git-runr/git-runr/loop/store"
	"github.com/git-runr/git-runr/loop/workspace"
)

// aPage is how many reviews or runs one page lists.
const aPage = 50

// inboxView is the list of reviews.
type inboxView struct {
	page
	Status     string
	Tabs       []tab
	Reviews    []record.ReviewSummary
	Total      int
	From, To   int // positions of the shown ones, from 1
	Prev, Next string
	Passed     []record.ReviewSummary // shown reviews that passed and wait for nobody in particular
	EmptyAtAll bool                   // there is no review of any status
	NotHere    string                 // why reviews may not be in this clone
	search
}

// inboxLine is a review in the list with the page that its times need.
type inboxLine struct {
	record.ReviewSummary
	Page page
}

// Wanted returns the first line of the request's message.
func (l inboxLine) Wanted() string { return firstLine(l.Message) }

// tab is one status of the inbox.
type tab struct {
	Name, Label, URL string
	Count            int
	Current          bool
}

// inboxTabs lists the statuses in the order of the work.
var inboxTabs = []struct{ name, label string }{
	{record.StatusWaiting, "Inbox"}, {"open", "Open"}, {"submitted", "Submitted"}, {"claimed", "Claimed"},
	{"resolved", "Resolved"}, {"cancelled", "Cancelled"}, {"all", "All"},
}

func (p *pages) inbox(w http.ResponseWriter, r *http.Request) error {
	v := inboxView{page: p.page(r, "Inbox", "inbox"), Status: cmp.Or(r.FormValue("status"), record.StatusWaiting)}
	v.Watched = "*"
	fits, err := record.StatusFilter(v.Status)
	if err != nil {
		return badRequest("%v", err)
	}
	if v.search, err = newSearch(r, p.Store); err != nil {
		return err
	}
	var wanted func(record.ReviewSummary) bool
	if wanted, err = v.search.test(r.Context(), p.Store, p.Actor); err != nil {
		return err
	}
	number := pageNumber(r)
	since, err := loop.ClosedSince(p.Store)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	reviews, total, err := p.Store.Reviews(r.Context(),
		store.Filter{Skip: (number - 1) * aPage, Limit: aPage, Status: fits, ClosedSince: since, Counts: counts,
			Review: wanted, Carried: true})
	if err != nil {
		return err
	}
	v.Total, v.EmptyAtAll = total, len(counts) == 0 && !v.Narrows()
	ids := make([]string, len(reviews))
	for i, review := range reviews {
		ids[i] = review.ID
		if review.Outcome == record.OutcomePassed && v.Status == record.StatusWaiting && !v.Narrows() {
			v.Passed = append(v.Passed, review)
		} else {
			v.Reviews = append(v.Reviews, review)
		}
	}
	v.From, v.To = shownOf(len(reviews), number)
	v.Prev, v.Next = neighbours("/review", v.Status, v.values(), number, total)
	for _, t := range inboxTabs {
		fits, _ := record.StatusFilter(t.name) // cannot fail: the names are our own
		shown := tab{Name: t.name, Label: t.label, URL: listURL("/review", t.name, v.values(), 1),
			Current: t.name == v.Status}
		for status, n := range counts {
			if fits(status) {
				shown.Count += n
			}
		}
		v.Tabs = append(v.Tabs, shown)
	}
	if len(counts) == 0 {
		v.NotHere = p.NotHere(r.Context())
	}
	v.short = p.Store.ShortIDs(ids)
	return p.show(w, http.StatusOK, "inbox.html", v)
}

// pageNumber returns the requested page, from 1.
func pageNumber(r *http.Request) int {
	n, err := strconv.Atoi(r.FormValue("page"))
	if err != nil {
		return 1
	}
	return min(max(n, 1), 1_000_000)
}

// shownOf returns the positions of the first and last item on a page with n items.
func shownOf(n, number int) (from, to int) {
	if n == 0 {
		return 0, 0
	}
	return (number-1)*aPage + 1, (number-1)*aPage + n
}

// neighbours returns the addresses of the previous and next page, or "".
func neighbours(path, status string, q url.Values, number, total int) (prev, next string) {
	if number > 1 {
		prev = listURL(path, status, q, number-1)
	}
	if number*aPage < total {
		next = listURL(path, status, q, number+1)
	}
	return prev, next
}

// listURL returns the address of a page of a list that is filtered by q.
func listURL(path, status string, q url.Values, number int) string {
	q = maps.Clone(q)
	if status != "" && status != record.StatusWaiting {
		q.Set("status", status)
	}
	if number > 1 {
		q.Set("page", strconv.Itoa(number))
	}
	return (&url.URL{Path: path, RawQuery: q.Encode()}).String()
}

// runsView is the list of runs.
type runsView struct {
	page
	Runs       []runLine
	Total      int
	From, To   int
	Prev, Next string
}

// runState is the state of a run in the words of the terminal.
type runState struct{ Word, Why string }

func stateOf(run record.RunSummary) runState {
	word, why := render.RunWords(run)
	return runState{word, why}
}

type runLine struct {
	record.RunSummary
	Live bool
}

func (p *pages) runs(w http.ResponseWriter, r *http.Request) error {
	v := runsView{page: p.page(r, "Runs", "runs")}
	v.Watched = "*"
	number := pageNumber(r)
	runs, total, err := p.Store.Runs(r.Context(), store.Filter{Skip: (number - 1) * aPage, Limit: aPage})
	if err != nil {
		return err
	}
	v.From, v.To = shownOf(len(runs), number)
	v.Total = total
	ids := make([]string, len(runs))
	for i, run := range runs {
		ids[i] = run.ID
		run.Status = workspace.Status(p.Store, run)
		v.Runs = append(v.Runs, runLine{run, run.Status == record.RunRunning && workspace.Live(p.Store, run.ID)})
	}
	v.Prev, v.Next = neighbours("/runs", "", url.Values{}, number, total)
	v.short = p.Store.ShortIDs(ids)
	return p.show(w, http.StatusOK, "runs.html", v)
}

// metricsDays is how far back the page of metrics looks.
const metricsDays = 30

func (p *pages) metrics(w http.ResponseWriter, r *http.Request) error {
	m, err := p.Measure(r.Context(), p.Now().AddDate(0, 0, -metricsDays))
	if err != nil {
		return err
	}
	return p.show(w, http.StatusOK, "metrics.html", struct {
		page
		Days int
		diagnose.Metrics
	}{p.page(r, "Metrics", "metrics"), metricsDays, m})
}

// percent returns the count of a row in percent of the highest of its group, for the width of a bar.
func percent(of diagnose.MetricGroup, row diagnose.MetricRow) int {
	most := 1
	for _, r := range of.Rows {
		most = max(most, r.Count)
	}
	return 100 * row.Count / most
}
